//! Where packets go that this host sends from one of its addresses, wherever other routes would lead them.
//!
//! A rule (`ip rule from ADDRESS iif lo`) has them routed by a table of their own. Without a route there, the rule changes nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{RouteAttribute, RouteHeader, RouteMessage};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};

use crate::netlink::Netlink;
use crate::rules::rule;

/// Before the rules that confine an interface, behind the one for this host's own addresses (0).
const PRIORITY: u32 = 118;
/// Tables of this program begin here; the number of the interface that they belong to is added.
const FIRST: u32 = 0x5944_0000;
/// As the kernel counts what this host itself sends.
const THIS_HOST: &str = "lo";

/// A table of the kernel's routes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Table {
    /// That of all packets.
    Main,
    /// That of packets from one address, which belongs to the interface of this number.
    Own(u32),
}

impl Table {
    const fn number(self) -> u32 {
        match self {
            Self::Main => RouteHeader::RT_TABLE_MAIN as u32,
            Self::Own(ifindex) => FIRST | (ifindex & 0xffff),
        }
    }

    /// Puts a route there. A number of more than eight bits is in an attribute.
    pub(crate) fn of(self, mut m: RouteMessage) -> RouteMessage {
        m.header.table = u8::try_from(self.number()).unwrap_or_default();
        m.attributes.push(RouteAttribute::Table(self.number()));
        m
    }
}

impl Netlink {
    /// Has what this host sends from an address routed by a table. Packets of sockets that are bound to an interface to which no
    /// route of the table leads go by the main one.
    pub fn follow_source(&mut self, source: Ipv4Addr, table: Table) -> io::Result<()> {
        let mut m = rule(THIS_HOST, PRIORITY, RuleAction::ToTable);
        m.header.src_len = 32;
        m.attributes.push(RuleAttribute::Source(IpAddr::V4(source)));
        m.attributes.push(RuleAttribute::Table(table.number()));
        self.create(RouteNetlinkMessage::NewRule(m))
    }

    /// Has it routed like all packets again; also where an earlier program that was killed left a rule.
    pub fn forget_source(&mut self, source: Ipv4Addr) -> io::Result<()> {
        let from = RuleAttribute::Source(IpAddr::V4(source));
        let found: Vec<RuleMessage> =
            self.rules_of(THIS_HOST)?.into_iter().filter(|m| m.attributes.contains(&from)).collect();
        found.into_iter().try_for_each(|m| self.order(RouteNetlinkMessage::DelRule(m), 0))
    }
}
