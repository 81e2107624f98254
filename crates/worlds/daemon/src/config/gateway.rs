//! The gateway settings of a node's configuration.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{Configured, Outside, Prefix, Span};
use wayhop_document::{Document, Error};
use wayhop_scenario::parse_prefix;
use wayhop_wire::ipv4;

/// A gateway to networks outside the mesh (docs/concepts/gateway.md). The host becomes a router
/// between the mesh and the uplink only; the node undoes this when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// The interface to the outside, such as `eth0`. Its address and routes are configured on the host.
    pub uplink: String,
    /// The IPv4 prefixes that it reaches, except for the mesh's own addresses.
    #[serde(default = "everything")]
    pub reaches: Vec<String>,
    /// Translates packets from the mesh to the uplink's address (NAT). Connections can then be opened from
    /// the mesh only. Without it, the networks outside need a route to the mesh's prefix through this host.
    #[serde(default = "yes")]
    pub translate: bool,
    /// IPv4 addresses outside, such as `198.51.100.1`, that answer pings. While none of them answers through
    /// the uplink, the gateway is offline, as without a carrier. Without this key, a carrier is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<Ipv4Addr>,
    /// Ping interval, in milliseconds.
    #[serde(default = "probe_every_ms")]
    pub probe_every_ms: u64,
    /// After this many unanswered pings in a row the gateway counts as offline, until the next answer.
    #[serde(default = "probe_misses")]
    pub probe_misses: u32,
}

/// Each address that is asked costs a packet in each round.
const MOST_ASKED: usize = 8;
/// What may be given for it.
const EVERY_MS: std::ops::RangeInclusive<u64> = 100..=3_600_000;
const MISSES: std::ops::RangeInclusive<u32> = 1..=1_000;

fn probe_every_ms() -> u64 {
    2_000
}
fn probe_misses() -> u32 {
    3
}
fn everything() -> Vec<String> {
    vec!["0.0.0.0/0".to_owned()]
}
fn yes() -> bool {
    true
}

/// The same, checked; of a gateway or of a node that uses gateways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgePlan {
    /// Which addresses are the mesh's, and what this node leads to.
    pub outside: Outside,
    /// What it reaches by gateways.
    pub by_gateways: Vec<Prefix>,
    /// The interface that leads out.
    pub uplink: Option<String>,
    /// Whether packets leave with its address.
    pub translate: bool,
    /// Who is asked whether the interface leads somewhere.
    pub asked: Option<ProbeTargets>,
}

/// Who is asked whether an uplink leads somewhere, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeTargets {
    /// Addresses outside.
    pub addresses: Vec<Ipv4Addr>,
    /// The time from one request to the next.
    pub every: Span,
    /// After how many unanswered probes in a row the gateway is offline.
    pub misses: u32,
}

impl EdgePlan {
    /// Whether this node sends packets for an address outside into the mesh.
    pub fn seeks(&self, a: Ipv4Addr) -> bool {
        self.outside.is_beyond(a) && self.by_gateways.iter().any(|p| p.contains(a))
    }
}

/// Checks both keys.
pub(crate) fn edge(
    gateway: Option<&Gateway>,
    by_gateways: &[String],
    (mesh, taken): (Prefix, &[&str]),
    protocol: &Configured,
    doc: &Document,
) -> Result<Option<EdgePlan>, Error> {
    let key = if gateway.is_some() { "gateway" } else { "outside" };
    if gateway.is_none() && by_gateways.is_empty() {
        return Ok(None);
    }
    if protocol.name() == "none" {
        return Err(doc.error(key, "gateways need a routing protocol", "choose another protocol"));
    }
    if gateway.is_some() && !by_gateways.is_empty() {
        let remedy = "remove `outside`: a gateway uses its own uplink";
        return Err(doc.error("outside", "this node is itself a gateway", remedy));
    }
    let mut edge = EdgePlan {
        outside: Outside { mesh, reaches: Vec::new() },
        by_gateways: prefixes(by_gateways, "outside", mesh, doc)?,
        uplink: None,
        translate: false,
        asked: None,
    };
    if let Some(g) = gateway {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !crate::config::interface_name::is_interface_name(&g.uplink) || !g.uplink.chars().all(plain) {
            let remedy = "give 1 to 15 letters, digits, `-`, `_` and `.`";
            let what = format!("{:?} is not an interface name", g.uplink);
            return Err(doc.error("gateway.uplink", what, remedy));
        }
        if taken.contains(&g.uplink.as_str()) {
            let remedy = "give the interface that connects this host to the outside";
            let what = format!("{} is an interface of the mesh", g.uplink);
            return Err(doc.error("gateway.uplink", what, remedy));
        }
        if g.reaches.is_empty() {
            let remedy = "give prefixes such as \"0.0.0.0/0\", or remove the key";
            return Err(doc.error("gateway.reaches", "the gateway reaches nothing", remedy));
        }
        edge.outside.reaches = prefixes(&g.reaches, "gateway.reaches", mesh, doc)?;
        (edge.uplink, edge.translate) = (Some(g.uplink.clone()), g.translate);
        edge.asked = asked(g, mesh, doc)?;
    }
    Ok(Some(edge))
}

fn asked(g: &Gateway, mesh: Prefix, doc: &Document) -> Result<Option<ProbeTargets>, Error> {
    let without_use = [
        ("gateway.probe_every_ms", g.probe_every_ms != probe_every_ms()),
        ("gateway.probe_misses", g.probe_misses != probe_misses()),
    ];
    if let (true, Some((key, _))) = (g.probe.is_empty(), without_use.iter().find(|(_, given)| *given)) {
        let remedy = "set gateway.probe to the addresses to ping, or remove the key";
        return Err(doc.error(key, "there are no addresses to ping", remedy));
    }
    if !EVERY_MS.contains(&g.probe_every_ms) {
        let what = format!("{} ms is not between 100 and 3600000", g.probe_every_ms);
        return Err(doc.error("gateway.probe_every_ms", what, "give 2000, or remove the key"));
    }
    if !MISSES.contains(&g.probe_misses) {
        let what = format!("{} is not between 1 and 1000", g.probe_misses);
        return Err(doc.error("gateway.probe_misses", what, "give 3, or remove the key"));
    }
    if g.probe.len() > MOST_ASKED {
        let what = format!("{} addresses are too many", g.probe.len());
        return Err(doc.error("gateway.probe", what, "give at most 8"));
    }
    let is_no_use = |a: Ipv4Addr| !ipv4::is_host(a) || mesh.contains(a);
    if let Some((i, a)) = g.probe.iter().enumerate().find(|(_, a)| is_no_use(**a)) {
        let what = format!("{a} is not the address of a host outside the mesh, {mesh}");
        let remedy = "give one that answers pings through the uplink";
        return Err(doc.error(&format!("gateway.probe[{i}]"), what, remedy));
    }
    let asked = ProbeTargets {
        addresses: g.probe.clone(),
        every: Span::from_millis(g.probe_every_ms),
        misses: g.probe_misses,
    };
    Ok((!g.probe.is_empty()).then_some(asked))
}

fn prefixes(texts: &[String], key: &str, mesh: Prefix, doc: &Document) -> Result<Vec<Prefix>, Error> {
    let one = |(i, text): (usize, &String)| {
        let key = format!("{key}[{i}]");
        let p = parse_prefix(text).filter(|p| p.addr.is_v4()).ok_or_else(|| {
            let remedy = "give an IPv4 address or prefix such as \"192.0.2.0/24\"";
            doc.error(&key, format!("{text:?} is not a prefix"), remedy)
        })?;
        if p.len >= mesh.len && mesh.contains(p.addr) {
            let what = format!("{p} is in the mesh, {mesh}");
            return Err(doc.error(&key, what, "give a prefix outside the mesh, or remove it"));
        }
        Ok(p)
    };
    texts.iter().enumerate().map(one).collect()
}
