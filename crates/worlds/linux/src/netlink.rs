//! Routes and addresses of the kernel, and news of neighbours, over netlink.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::BorrowedFd;

use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressMessage, AddressScope};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::exchange::{Exchange, NotificationSocket};
use crate::prefix::Prefix;
use crate::routing_table::Table;

/// Who made a route: the number in its `protocol` field. Not used by any program that iproute2 names.
pub(crate) const ROUTE_PROTOCOL: u8 = 119;

/// The metric of routes to what is outside of the mesh: behind those of other programs.
const OUTSIDE_METRIC: u32 = 4_000;

// A group of news (linux/rtnetlink.h).
const RTMGRP_NEIGH: u32 = 4;

/// A socket for orders to the kernel.
pub struct Netlink(Exchange);

impl Netlink {
    /// Opens it in the network namespace of the calling thread.
    pub fn open() -> io::Result<Self> {
        Exchange::open(NETLINK_ROUTE).map(Self)
    }

    /// Adds or replaces the route to one host by a neighbour that needs no route itself.
    pub fn install(
        &mut self,
        (table, to): (Table, Ipv4Addr),
        via: Ipv4Addr,
        ifindex: u32,
        source: Ipv4Addr,
    ) -> io::Result<()> {
        let mut m = table.of(host_route(to, ifindex));
        m.header.flags = RouteFlags::Onlink;
        m.attributes.push(RouteAttribute::Gateway(RouteAddress::Inet(via)));
        m.attributes.push(RouteAttribute::PrefSource(RouteAddress::Inet(source)));
        self.order(RouteNetlinkMessage::NewRoute(m), NLM_F_CREATE | NLM_F_REPLACE)
    }

    /// Adds the route of an IPv6 prefix by an interface without link addresses, which takes it with it when it goes.
    pub fn route6(&mut self, net: Ipv6Addr, prefix_len: u8, ifindex: u32) -> io::Result<()> {
        let m = route(AddressFamily::Inet6, RouteAddress::Inet6(net), prefix_len, ifindex);
        self.order(RouteNetlinkMessage::NewRoute(m), NLM_F_CREATE)
    }

    /// Adds the route of an IPv4 network by an interface that has an address in it, as the kernel makes it with the address.
    pub fn connected(&mut self, net: Prefix, ifindex: u32, source: Ipv4Addr) -> io::Result<()> {
        let mut m = route_to(net.network(), net.len(), ifindex);
        m.header.protocol = RouteProtocol::Kernel;
        m.header.scope = RouteScope::Link;
        m.attributes.push(RouteAttribute::PrefSource(RouteAddress::Inet(source)));
        self.order(RouteNetlinkMessage::NewRoute(m), NLM_F_CREATE)
    }

    /// Adds the route of a network outside of the mesh by an interface without link addresses, which takes it with it when it
    /// goes. Other routes in the table to the same network come before it.
    pub fn outside(&mut self, table: Table, net: Prefix, ifindex: u32, source: Ipv4Addr) -> io::Result<()> {
        let mut m = table.of(route_to(net.network(), net.len(), ifindex));
        m.header.scope = RouteScope::Link;
        m.attributes.push(RouteAttribute::PrefSource(RouteAddress::Inet(source)));
        m.attributes.push(RouteAttribute::Priority(OUTSIDE_METRIC));
        self.create(RouteNetlinkMessage::NewRoute(m), 0)
    }

    /// Whether a route leads to an address by this interface. Without one the kernel would look for it on the link, by ARP.
    pub fn leads_to(&mut self, to: Ipv4Addr, ifindex: u32) -> io::Result<bool> {
        let mut m = host_route(to, ifindex);
        m.header.flags = RouteFlags::FibMatch;
        match self.order(RouteNetlinkMessage::GetRoute(m), 0) {
            Ok(()) => Ok(true),
            Err(e) => match e.raw_os_error() {
                Some(libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ENODEV) => Ok(false),
                _ => Err(e),
            },
        }
    }

    /// Removes the route to one host that this program made.
    pub fn remove(&mut self, (table, to): (Table, Ipv4Addr), ifindex: u32) -> io::Result<()> {
        self.order(RouteNetlinkMessage::DelRoute(table.of(host_route(to, ifindex))), 0)
    }

    /// Removes all routes by this interface that this program, or an earlier life of it, made. Returns how many.
    pub fn remove_all(&mut self, ifindex: u32) -> io::Result<usize> {
        let mut found = Vec::new();
        let mut all = RouteMessage::default();
        all.header.address_family = AddressFamily::Inet;
        self.dump(RouteNetlinkMessage::GetRoute(all), |m| {
            if let RouteNetlinkMessage::NewRoute(m) = m
                && m.attributes.contains(&RouteAttribute::Oif(ifindex))
                && m.header.protocol == RouteProtocol::from(ROUTE_PROTOCOL)
            {
                found.push(m);
            }
        })?;
        let count = found.len();
        for m in found {
            match self.order(RouteNetlinkMessage::DelRoute(m), 0) {
                // Somebody else was faster, or the interface is gone, and its routes with it.
                Err(e) if !matches!(e.raw_os_error(), Some(libc::ESRCH | libc::ENODEV)) => return Err(e),
                _ => {}
            }
        }
        Ok(count)
    }

    /// Gives an interface a host's address, of link scope: what the kernel asks and answers with in ARP. Having it already
    /// is no error.
    pub fn add_address(&mut self, addr: Ipv4Addr, ifindex: u32) -> io::Result<()> {
        self.create(RouteNetlinkMessage::NewAddress(host_address(addr, ifindex)), NLM_F_REPLACE)
    }

    /// Gives an interface an address with its network, which the kernel leads there. Having it already is no error.
    pub fn add_network_address(&mut self, addr: Ipv4Addr, prefix_len: u8, ifindex: u32) -> io::Result<()> {
        let mut m = host_address(addr, ifindex);
        m.header.prefix_len = prefix_len;
        m.header.scope = AddressScope::Universe;
        self.create(RouteNetlinkMessage::NewAddress(m), NLM_F_REPLACE)
    }

    /// Has the kernel ask and answer by ARP at an interface.
    pub fn set_arp_on(&mut self, ifindex: u32) -> io::Result<()> {
        let mut m = LinkMessage::default();
        m.header.index = ifindex;
        m.header.change_mask = LinkFlags::Noarp;
        self.order(RouteNetlinkMessage::SetLink(m), 0)
    }

    /// Takes it away.
    pub fn remove_address(&mut self, addr: Ipv4Addr, ifindex: u32) -> io::Result<()> {
        self.order(RouteNetlinkMessage::DelAddress(host_address(addr, ifindex)), 0)
    }

    /// The same; an address that is not there, or that went with its interface, is no error.
    pub fn forget_address(&mut self, addr: Ipv4Addr, ifindex: u32) -> io::Result<()> {
        match self.remove_address(addr, ifindex) {
            Err(e) if !matches!(e.raw_os_error(), Some(libc::EADDRNOTAVAIL | libc::ENODEV)) => Err(e),
            _ => Ok(()),
        }
    }

    /// Makes something in the kernel. What is there already, of an earlier life, is well.
    pub(crate) fn create(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        match self.order(message, NLM_F_CREATE | flags) {
            Err(e) if e.raw_os_error() == Some(libc::EEXIST) => Ok(()),
            outcome => outcome,
        }
    }

    /// Has the kernel do something, and waits until it is done.
    pub fn order(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.0.ask(message, NLM_F_ACK | flags, drop)
    }

    /// Has the kernel list what it has.
    pub(crate) fn dump(
        &mut self,
        what: RouteNetlinkMessage,
        row: impl FnMut(RouteNetlinkMessage),
    ) -> io::Result<()> {
        self.0.ask(what, NLM_F_DUMP, row)
    }
}

fn host_route(to: Ipv4Addr, ifindex: u32) -> RouteMessage {
    route_to(to, 32, ifindex)
}

pub(crate) fn route_to(to: Ipv4Addr, prefix_len: u8, ifindex: u32) -> RouteMessage {
    route(AddressFamily::Inet, RouteAddress::Inet(to), prefix_len, ifindex)
}

fn route(family: AddressFamily, to: RouteAddress, prefix_len: u8, ifindex: u32) -> RouteMessage {
    let mut m = RouteMessage::default();
    m.header = RouteHeader {
        address_family: family,
        destination_prefix_length: prefix_len,
        table: RouteHeader::RT_TABLE_MAIN,
        protocol: RouteProtocol::from(ROUTE_PROTOCOL),
        scope: RouteScope::Universe,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    m.attributes.push(RouteAttribute::Destination(to));
    m.attributes.push(RouteAttribute::Oif(ifindex));
    m
}

fn host_address(addr: Ipv4Addr, ifindex: u32) -> AddressMessage {
    let mut m = AddressMessage::default();
    m.header.family = AddressFamily::Inet;
    m.header.prefix_len = 32;
    m.header.index = ifindex;
    m.header.scope = AddressScope::Link;
    m.attributes.push(AddressAttribute::Local(addr.into()));
    m.attributes.push(AddressAttribute::Address(addr.into()));
    m
}

/// News of neighbours that the kernel asked for by ARP and did not find. It forwards by itself, so
/// nobody else would hear of them. Lost news comes again: with the next packet to the neighbour,
/// the kernel asks again.
pub struct NeighbourNews(NotificationSocket);

impl NeighbourNews {
    /// Opens it in the network namespace of the calling thread.
    pub fn open() -> io::Result<Self> {
        NotificationSocket::open(NETLINK_ROUTE, RTMGRP_NEIGH).map(Self)
    }

    /// To wait for news.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }

    /// Who did not answer since the last look, and the kernel's number of the interface on which.
    pub fn take(&self) -> Vec<(u32, Ipv4Addr)> {
        let mut missing = Vec::new();
        self.0.take(|m| {
            if let Some(RouteNetlinkMessage::NewNeighbour(n)) = m
                && n.header.state == NeighbourState::Failed
                && let Some(addr) = destination(&n)
            {
                missing.push((n.header.ifindex, addr));
            }
        });
        missing
    }
}

fn destination(n: &NeighbourMessage) -> Option<Ipv4Addr> {
    n.attributes.iter().find_map(|a| match a {
        NeighbourAttribute::Destination(NeighbourAddress::Inet(addr)) => Some(*addr),
        _ => None,
    })
}
