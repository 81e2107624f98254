//! What a node's configuration says of the world outside of the mesh.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{Configured, Outside, Prefix, Span};
use wayhop_document::{Document, Error};
use wayhop_scenario::parse_prefix;
use wayhop_wire::ipv4;

/// The node is a gateway: it leads out of the mesh (docs/concepts/gateway.md). It makes this host a router between the mesh and
/// the uplink, and nothing else; all of it is undone at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// The interface that leads out, such as `eth0`. The host has its address and its routes.
    pub uplink: String,
    /// What it reaches: IPv4 prefixes. Addresses of the mesh are never among it.
    #[serde(default = "everything")]
    pub reaches: Vec<String>,
    /// Whether packets from the mesh leave with the uplink's address (NAT), so that nobody outside need know the mesh; connections then begin
    /// in the mesh only. Without it the networks outside have a route to the mesh's prefix by this host.
    #[serde(default = "yes")]
    pub translate: bool,
    /// IPv4 addresses outside, such as `198.51.100.1`, that answer pings. While none of them answers by the uplink, the node leads nowhere, as if
    /// the uplink had no carrier. Without any, a carrier is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<Ipv4Addr>,
    /// How often they are pinged, in milliseconds.
    #[serde(default = "probe_every_ms")]
    pub probe_every_ms: u64,
    /// After so many pings in a row without an answer the node leads nowhere, until the next answer.
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
    /// How many in a row are without an answer when it leads nowhere.
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
        return Err(doc.error(
            key,
            "without a routing protocol nobody finds a gateway",
            "take another protocol",
        ));
    }
    if gateway.is_some() && !by_gateways.is_empty() {
        let remedy = "leave `outside` out: a gateway has its own way out";
        return Err(doc.error("outside", "this node is a gateway itself", remedy));
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
            return Err(doc.error(
                "gateway.uplink",
                format!("{:?} is no name of an interface", g.uplink),
                remedy,
            ));
        }
        if taken.contains(&g.uplink.as_str()) {
            let remedy = "name the interface that leads out of the mesh";
            return Err(doc.error("gateway.uplink", format!("{} is in the mesh", g.uplink), remedy));
        }
        if g.reaches.is_empty() {
            let remedy = "give prefixes such as \"0.0.0.0/0\", or leave the key out";
            return Err(doc.error("gateway.reaches", "a gateway that reaches nothing", remedy));
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
        let remedy = "give gateway.probe, the addresses to ping, or leave the key out";
        return Err(doc.error(key, "no address is pinged", remedy));
    }
    if !EVERY_MS.contains(&g.probe_every_ms) {
        let what = format!("{} ms are not between 100 and 3600000", g.probe_every_ms);
        return Err(doc.error("gateway.probe_every_ms", what, "give 2000, or leave the key out"));
    }
    if !MISSES.contains(&g.probe_misses) {
        let what = format!("{} is not between 1 and 1000", g.probe_misses);
        return Err(doc.error("gateway.probe_misses", what, "give 3, or leave the key out"));
    }
    if g.probe.len() > MOST_ASKED {
        let what = format!("{} addresses are more than are asked", g.probe.len());
        return Err(doc.error("gateway.probe", what, "give at most 8"));
    }
    let is_no_use = |a: Ipv4Addr| !ipv4::is_host(a) || mesh.contains(a);
    if let Some((i, a)) = g.probe.iter().enumerate().find(|(_, a)| is_no_use(**a)) {
        let what = format!("{a} is no address of a host outside of the mesh, {mesh}");
        let remedy = "give one that answers pings by the uplink";
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
            doc.error(&key, format!("{text:?} is no prefix"), remedy)
        })?;
        if p.len >= mesh.len && mesh.contains(p.addr) {
            return Err(doc.error(
                &key,
                format!("{p} is in the mesh, {mesh}"),
                "name what is outside, or take it out",
            ));
        }
        Ok(p)
    };
    texts.iter().enumerate().map(one).collect()
}
