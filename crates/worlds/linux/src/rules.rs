//! Keeping what comes by the mesh interface within the mesh where there can be no [eBPF](crate::ebpf).
//!
//! Two rules (`ip rule`) say that packets from the mesh interface go by the routes to the mesh, or nowhere. They do not touch
//! what is for this host itself.

use std::io;
use std::net::IpAddr;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::route::{RouteHeader, RouteProtocol};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use crate::netlink::{Netlink, ROUTE_PROTOCOL};
use crate::prefix::Prefix;

/// The first rule's place: behind the one for this host's own addresses (0), before the usual ones (32766).
const PRIORITY: u32 = 119;
/// How many rules confine an interface.
const RULES: usize = 2;

impl Netlink {
    /// Confines what comes by an interface to a mesh.
    pub fn confine(&mut self, interface: &str, mesh: Prefix) -> io::Result<()> {
        let mut within = rule(interface, PRIORITY, RuleAction::ToTable);
        within.header.dst_len = mesh.len();
        within.header.table = RouteHeader::RT_TABLE_MAIN;
        within.attributes.push(RuleAttribute::Destination(IpAddr::V4(mesh.network())));
        within.attributes.push(RuleAttribute::Table(RouteHeader::RT_TABLE_MAIN.into()));
        let nowhere = rule(interface, PRIORITY + 1, RuleAction::Blackhole);
        [nowhere, within].into_iter().try_for_each(|r| self.create(RouteNetlinkMessage::NewRule(r)))
    }

    /// Whether what comes by an interface is confined.
    pub fn is_confined(&mut self, interface: &str) -> io::Result<bool> {
        self.rules_of(interface).map(|found| found.len() == RULES)
    }

    /// Takes the rules of an interface away.
    pub fn free(&mut self, interface: &str) -> io::Result<()> {
        let found = self.rules_of(interface)?;
        found.into_iter().try_for_each(|m| self.order(RouteNetlinkMessage::DelRule(m), 0))
    }

    /// Rules of this program about what comes by an interface; by `lo`, about what this host itself sends.
    pub(crate) fn rules_of(&mut self, interface: &str) -> io::Result<Vec<RuleMessage>> {
        let mut found = Vec::new();
        let mut all = RuleMessage::default();
        all.header.family = AddressFamily::Inet;
        self.dump(RouteNetlinkMessage::GetRule(all), |m| {
            if let RouteNetlinkMessage::NewRule(m) = m
                && m.attributes.contains(&RuleAttribute::Iifname(interface.to_owned()))
                && m.attributes.contains(&RuleAttribute::Protocol(RouteProtocol::from(ROUTE_PROTOCOL)))
            {
                found.push(m);
            }
        })?;
        Ok(found)
    }

    /// Makes something in the kernel. What is there already, of an earlier life, is well.
    pub(crate) fn create(&mut self, message: RouteNetlinkMessage) -> io::Result<()> {
        match self.order(message, NLM_F_CREATE | NLM_F_EXCL) {
            Err(e) if e.raw_os_error() != Some(libc::EEXIST) => Err(e),
            _ => Ok(()),
        }
    }
}

/// A rule about what comes by an interface.
pub(crate) fn rule(interface: &str, priority: u32, action: RuleAction) -> RuleMessage {
    let mut m = RuleMessage::default();
    m.header.family = AddressFamily::Inet;
    m.header.action = action;
    m.attributes.push(RuleAttribute::Iifname(interface.to_owned()));
    m.attributes.push(RuleAttribute::Priority(priority));
    m.attributes.push(RuleAttribute::Protocol(RouteProtocol::from(ROUTE_PROTOCOL)));
    m
}
