//! News of changes to this host, by any process.

use std::io;
use std::os::fd::BorrowedFd;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::exchange::NotificationSocket;
use crate::listing::{KernelRoute, LinkInfo};

/// A group of news (`RTNLGRP_...` of linux/rtnetlink.h) as a bit.
const fn group(number: u32) -> u32 {
    1 << (number - 1)
}
/// Interfaces; addresses, routes and rules of IPv4; addresses and routes of IPv6; settings of both (netconf).
const GROUPS: u32 = group(1) | group(5) | group(7) | group(8) | group(9) | group(11) | group(24) | group(25);

/// News of this host.
pub struct HostNews(NotificationSocket);

/// A change of this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostChange {
    /// An interface is new, or has changed.
    Link(LinkInfo),
    /// There is no interface with this number any more.
    Gone(u32),
    /// This route went, or another program made it.
    Route(KernelRoute),
    /// An address came or went.
    Address,
    /// A rule, or a setting.
    Other,
    /// The kernel had no room for some news: anything may have changed.
    Lost,
}

impl HostNews {
    /// Opens it in the network namespace of the calling thread.
    pub fn open() -> io::Result<Self> {
        NotificationSocket::open(NETLINK_ROUTE, GROUPS).map(Self)
    }

    /// To wait for news.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }

    /// What happened since the last look.
    pub fn take(&self) -> Vec<HostChange> {
        let mut changes = Vec::new();
        let is_lost = self.0.take(|m| {
            let change = match m {
                Some(RouteNetlinkMessage::NewLink(l)) => {
                    Some(LinkInfo::of(l).map_or(HostChange::Other, HostChange::Link))
                }
                Some(RouteNetlinkMessage::DelLink(l)) => {
                    let index = l.header.index;
                    Some(LinkInfo::of(l).map_or(HostChange::Other, |_| HostChange::Gone(index)))
                }
                Some(RouteNetlinkMessage::DelRoute(r)) => KernelRoute::of(&r).map(HostChange::Route),
                Some(RouteNetlinkMessage::NewRoute(r)) => {
                    KernelRoute::of(&r).filter(|r| !r.is_ours).map(HostChange::Route)
                }
                Some(RouteNetlinkMessage::NewAddress(_) | RouteNetlinkMessage::DelAddress(_)) => {
                    Some(HostChange::Address)
                }
                _ => Some(HostChange::Other),
            };
            changes.extend(change);
        });
        if is_lost {
            changes.push(HostChange::Lost);
        }
        changes
    }
}
