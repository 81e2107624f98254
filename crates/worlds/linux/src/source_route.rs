//! The routes of packets that this host sends from one of its addresses, whatever other routes there are.
//!
//! A rule (`ip rule from ADDRESS iif lo`) routes them by a separate table. Without a route there,
//! the rule changes nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_route::rule::RuleAttribute;

use crate::netlink::Netlink;
use crate::routing_table::Table;
use crate::rules::{THIS_HOST, lookup};

/// Before the rules that confine an interface, behind the one for this host's own addresses (0).
const PRIORITY: u32 = 118;
impl Netlink {
    /// Has what this host sends from an address routed by a table. Packets of sockets that are bound to an interface to which no
    /// route of the table leads go by the main one.
    pub fn follow_source(&mut self, source: Ipv4Addr, table: Table) -> io::Result<()> {
        let mut m = lookup(THIS_HOST, PRIORITY, table);
        m.header.src_len = 32;
        m.attributes.push(RuleAttribute::Source(IpAddr::V4(source)));
        self.add_rule(m)
    }

    /// Has it routed like all packets again; also where an earlier program that was killed left a rule.
    pub fn forget_source(&mut self, source: Ipv4Addr) -> io::Result<()> {
        let from = RuleAttribute::Source(IpAddr::V4(source));
        self.delete_rules(|n| {
            let mut found = n.rules_of(THIS_HOST)?;
            found.retain(|m| m.attributes.contains(&from));
            Ok(found)
        })
    }
}
