//! The nodes' IPv6 addresses.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::Ipv6Addr;

use wayhop_core::{Addr, Prefix};
use wayhop_document::{Document, Result};

use crate::file::Scenario;
use crate::nodes::NodesIpv6;

/// The prefix of nodes whose scenario names none: a unique local one (RFC 4193).
const DEFAULT_PREFIX: (Ipv6Addr, u8) = (Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 0), 64);
/// Longer prefixes have no room for a number for each node.
const LONGEST_PREFIX: u8 = 96;

/// The nodes' IPv6 addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ipv6Plan {
    /// By node.
    pub addresses: Vec<Ipv6Addr>,
    /// Length of the prefix that they share. Every address in it is taken for a neighbour.
    pub prefix_len: u8,
}

/// Reads a prefix or an address such as "fd00:77::/64" or "10.0.0.1".
pub fn prefix(text: &str) -> Option<Prefix> {
    let (addr, len) = text.split_once('/').map_or((text, None), |(a, l)| (a, Some(l)));
    let addr: Addr = addr.parse().ok()?;
    let whole = Prefix::host(addr);
    let Some(len) = len else { return Some(whole) };
    let len = len.parse().ok().filter(|l| *l <= whole.len)?;
    Some(Prefix::around(addr, len))
}

/// The nodes' addresses: in the prefix of the scenario the first for node 0, and so on upwards, or those that it names.
pub(crate) fn resolve(scenario: &Scenario, nodes: usize) -> Result<Option<Ipv6Plan>> {
    let doc = &scenario.document;
    let (net, prefix_len) = match &scenario.nodes.ipv6 {
        None | Some(NodesIpv6::Default(false)) => {
            let named = scenario.nodes.single.iter().position(|n| n.address6.is_some());
            let Some(k) = named else { return Ok(None) };
            let remedy = "add nodes.ipv6 = true, or remove the address";
            return Err(doc.error(&format!("nodes.node[{k}].address6"), "this scenario has no IPv6", remedy));
        }
        Some(NodesIpv6::Default(true)) => DEFAULT_PREFIX,
        Some(NodesIpv6::Prefix(text)) => own_prefix(text, doc)?,
    };
    let first = net.to_bits() + 1;
    let mut addresses: Vec<_> = (0..nodes as u128).map(|i| Ipv6Addr::from_bits(first + i)).collect();
    for (k, node) in scenario.nodes.single.iter().enumerate() {
        let Some(given) = node.address6 else { continue };
        let usable = Addr::from(given).is_usable() && given.to_ipv4_mapped().is_none();
        if !usable || given.is_unicast_link_local() {
            let reason = format!("{given} cannot be a node's address");
            let remedy = "use a unicast address that is not link-local";
            return Err(doc.error(&format!("nodes.node[{k}].address6"), reason, remedy));
        }
        if let Some(own) = addresses.get_mut(node.id as usize) {
            *own = given;
        }
    }
    check_unique(&addresses, "give each node its own address", doc)?;
    Ok(Some(Ipv6Plan { addresses, prefix_len }))
}

pub(crate) fn check_unique<A: Copy + Ord + Display>(
    addresses: &[A],
    remedy: &str,
    doc: &Document,
) -> Result<()> {
    let mut by_address = BTreeMap::new();
    for (i, &a) in addresses.iter().enumerate() {
        if let Some(other) = by_address.insert(a, i) {
            let reason = format!("nodes {other} and {i} both have the address {a}");
            return Err(doc.error("nodes.node", reason, remedy));
        }
    }
    Ok(())
}

fn own_prefix(text: &str, doc: &Document) -> Result<(Ipv6Addr, u8)> {
    let read = text.contains('/').then(|| prefix(text)).flatten();
    let net = read.and_then(|p| Some((p.addr.v6()?, p.len)));
    net.filter(|(a, len)| {
        *len <= LONGEST_PREFIX && *len > 0 && !a.is_multicast() && !a.is_unicast_link_local()
    })
    .ok_or_else(|| {
        let reason = format!("{text:?} is not a valid prefix for node addresses");
        let such = format!("a unicast prefix of at most {LONGEST_PREFIX} bits, such as \"fd00:77::/64\"");
        doc.error("nodes.ipv6", reason, format!("use true, or {such}"))
    })
}
