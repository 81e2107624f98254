//! A foreign agent's.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Peer;

/// The configuration of a foreign agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignAgentParams {
    /// The interface towards the home agents, such as `eth0`; in a scenario the name of a wire.
    pub uplink: String,
    /// The agent's address, which is the care-of address of its visitors; in a scenario also the
    /// agent's node.
    pub care_of: Ipv4Addr,
    /// The links that mobile nodes visit.
    pub links: Vec<VisitedLink>,
    /// How often the agent advertises itself on links other than meshes, in milliseconds.
    #[serde(default = "super::advertise_every_ms")]
    pub advertise_every_ms: u64,
    /// The longest lifetime of a visit, in seconds.
    #[serde(default = "super::lifetime_s")]
    pub lifetime_s: u16,
    /// The maximum number of visiting mobile nodes.
    #[serde(default = "max_visitors")]
    pub max_visitors: u16,
    /// Mobile nodes with a key, by home address. Their requests are rejected without an
    /// authenticator for this agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mobiles: Vec<Peer>,
    /// Home agents with a key. Their replies are ignored without an authenticator for this agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub home_agents: Vec<Peer>,
}

/// A link that mobile nodes visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisitedLink {
    /// Its interface: a wire, a WLAN, or the TUN of a `wayhop node`. It must have an IPv4 address.
    pub interface: String,
    /// Whether it is the TUN of a mesh. There the agent only answers solicitations, and may be
    /// several hops away.
    #[serde(default)]
    pub mesh: bool,
    /// For a mesh with AODV or DSDV: its radio interface, which their packets use. DSR's packets use the TUN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<String>,
}

fn max_visitors() -> u16 {
    64
}
