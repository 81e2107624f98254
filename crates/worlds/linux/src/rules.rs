//! Rules (`ip rule`) for packets from the mesh interface, and for packets to the outside of the mesh.
//!
//! Packets from the mesh interface use the routes to the mesh, or a table of routes to the outside. In a mesh
//! without gateways there is no such table, and they are dropped; where [eBPF](crate::ebpf) is available, it
//! does this without rules. None of the rules affects packets to this host itself.
//!
//! What this host sends from one of its addresses can have a table of its own (`ip rule from ADDRESS iif lo`). Without a
//! route there, the rule changes nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_core::NLM_F_EXCL;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::route::RouteProtocol;
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::netlink::{Netlink, ROUTE_PROTOCOL};
use crate::prefix::Prefix;
use crate::routing_table::Table;

/// The first rule's place: behind the one for this host's own addresses (0), before the usual ones (32766).
const PRIORITY: u32 = 119;
/// The place of the rules for what this host sends from one of its addresses: before those that confine an interface.
const SOURCE_PRIORITY: u32 = 118;
/// The place of the rules for what this host itself sends: right before the main table (32766), behind rules of other programs.
const OWN_PRIORITY: u32 = 32_765;
/// As the kernel counts what this host itself sends.
const THIS_HOST: &str = "lo";
/// How many rules there are of each kind.
const RULES: usize = 2;

impl Netlink {
    /// Has what comes by an interface go to the mesh, or by a table to what is outside of it, which may have a default route besides this
    /// host's own. Without a table it goes to the mesh or nowhere.
    pub fn confine(&mut self, interface: &str, mesh: Prefix, outside: Option<Table>) -> io::Result<()> {
        let mut within = lookup(interface, PRIORITY, Table::Main);
        within.header.dst_len = mesh.len();
        within.attributes.push(RuleAttribute::Destination(IpAddr::V4(mesh.network())));
        let beyond = match outside {
            Some(table) => lookup(interface, PRIORITY + 1, table),
            None => rule(interface, PRIORITY + 1, RuleAction::Blackhole),
        };
        [beyond, within].into_iter().try_for_each(|r| self.add_rule(r))
    }

    /// Has what this host sends to the outside of a mesh go by a table, if its other routes lead to the TUN of that mesh, and not
    /// elsewhere.
    pub fn lead_own_outside(&mut self, tun: u32) -> io::Result<()> {
        let table = Table::Outside(tun);
        let mut link = LinkMessage::default();
        link.header.index = tun;
        link.attributes.push(LinkAttribute::Group(table.number()));
        self.order(RouteNetlinkMessage::SetLink(link), 0)?;
        // The main table, as if it had no route by the TUN; and if there is none, the other one. Rules of one place are asked in the order
        // in which they were made.
        self.forget_own_outside(tun)?;
        let mut elsewhere = lookup(THIS_HOST, OWN_PRIORITY, Table::Main);
        elsewhere.attributes.push(RuleAttribute::SuppressIfGroup(table.number()));
        let by_mesh = lookup(THIS_HOST, OWN_PRIORITY, table);
        [elsewhere, by_mesh].into_iter().try_for_each(|r| self.add_rule(r))
    }

    /// Whether these rules are there.
    pub fn leads_own_outside(&mut self, tun: u32) -> io::Result<bool> {
        self.own_outside(tun).map(|found| found.len() == RULES)
    }

    /// Takes them away.
    pub fn forget_own_outside(&mut self, tun: u32) -> io::Result<()> {
        let found = self.own_outside(tun)?;
        self.delete(found)
    }

    fn own_outside(&mut self, tun: u32) -> io::Result<Vec<RuleMessage>> {
        let number = Table::Outside(tun).number();
        let names = [RuleAttribute::Table(number), RuleAttribute::SuppressIfGroup(number)];
        self.rules_of(THIS_HOST, |m| m.attributes.iter().any(|a| names.contains(a)))
    }

    /// Whether what comes by an interface is confined.
    pub fn is_confined(&mut self, interface: &str) -> io::Result<bool> {
        self.rules_of(interface, |_| true).map(|found| found.len() == RULES)
    }

    /// Takes the rules of an interface away.
    pub fn free(&mut self, interface: &str) -> io::Result<()> {
        let found = self.rules_of(interface, |_| true)?;
        self.delete(found)
    }

    /// Has what this host sends from an address routed by a table. Packets of sockets that are bound to an interface to which no
    /// route of the table leads go by the main one.
    pub fn follow_source(&mut self, source: Ipv4Addr, table: Table) -> io::Result<()> {
        let mut m = lookup(THIS_HOST, SOURCE_PRIORITY, table);
        m.header.src_len = 32;
        m.attributes.push(RuleAttribute::Source(IpAddr::V4(source)));
        self.add_rule(m)
    }

    /// Has it routed like all packets again; also where an earlier program that was killed left a rule.
    pub fn forget_source(&mut self, source: Ipv4Addr) -> io::Result<()> {
        let from = RuleAttribute::Source(IpAddr::V4(source));
        let found = self.rules_of(THIS_HOST, |m| m.attributes.contains(&from))?;
        self.delete(found)
    }

    fn delete(&mut self, rules: Vec<RuleMessage>) -> io::Result<()> {
        rules.into_iter().try_for_each(|m| self.order(RouteNetlinkMessage::DelRule(m), 0))
    }

    /// Rules of this program about what comes by an interface, those wanted; by `lo`, about what this host itself sends.
    fn rules_of(
        &mut self,
        interface: &str,
        wanted: impl Fn(&RuleMessage) -> bool,
    ) -> io::Result<Vec<RuleMessage>> {
        let mut found = Vec::new();
        let mut all = RuleMessage::default();
        all.header.family = AddressFamily::Inet;
        self.dump(RouteNetlinkMessage::GetRule(all), |m| {
            if let RouteNetlinkMessage::NewRule(m) = m
                && m.attributes.contains(&RuleAttribute::Iifname(interface.to_owned()))
                && m.attributes.contains(&RuleAttribute::Protocol(RouteProtocol::from(ROUTE_PROTOCOL)))
                && wanted(&m)
            {
                found.push(m);
            }
        })?;
        Ok(found)
    }

    fn add_rule(&mut self, rule: RuleMessage) -> io::Result<()> {
        self.create(RouteNetlinkMessage::NewRule(rule), NLM_F_EXCL)
    }
}

/// A rule that has what comes by an interface routed by a table.
fn lookup(interface: &str, priority: u32, table: Table) -> RuleMessage {
    let mut m = rule(interface, priority, RuleAction::ToTable);
    m.header.table = u8::try_from(table.number()).unwrap_or_default();
    m.attributes.push(RuleAttribute::Table(table.number()));
    m
}

/// A rule about what comes by an interface.
fn rule(interface: &str, priority: u32, action: RuleAction) -> RuleMessage {
    let mut m = RuleMessage::default();
    m.header.family = AddressFamily::Inet;
    m.header.action = action;
    m.attributes.push(RuleAttribute::Iifname(interface.to_owned()));
    m.attributes.push(RuleAttribute::Priority(priority));
    m.attributes.push(RuleAttribute::Protocol(RouteProtocol::from(ROUTE_PROTOCOL)));
    m
}
