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
    /// The agent's address there, which becomes the care-of address of its visitors; in a scenario also the agent's node.
    pub care_of: Ipv4Addr,
    /// The links that mobile nodes visit.
    pub links: Vec<VisitedLink>,
    /// How often the agent advertises itself on links that are no mesh, in milliseconds.
    #[serde(default = "super::advertise_every_ms")]
    pub advertise_every_ms: u64,
    /// The longest lifetime of a visit, in seconds.
    #[serde(default = "super::lifetime_s")]
    pub lifetime_s: u16,
    /// How many mobile nodes may visit at a time.
    #[serde(default = "max_visitors")]
    pub max_visitors: u16,
    /// Mobile nodes with a key, by home address. A request of one of these without an authenticator for this agent is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mobiles: Vec<Peer>,
    /// Home agents with a key. A reply of one of these without an authenticator for this agent is not believed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub home_agents: Vec<Peer>,
}

/// A link that mobile nodes visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VisitedLink {
    /// Its interface: that of a wire or a WLAN, or the TUN of a `wayhop node`. It has an IPv4 address.
    pub interface: String,
    /// Whether it is the TUN of a mesh: then the agent does not advertise itself unasked, and may be several hops away.
    #[serde(default)]
    pub mesh: bool,
    /// Of a mesh of AODV or DSDV: its radio's interface, by which their packets come. DSR's come by the TUN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<String>,
}

fn max_visitors() -> u16 {
    64
}
