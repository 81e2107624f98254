//! A home agent's.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Prefix;

use super::Peer;

/// The configuration of a home agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HomeAgentParams {
    /// The interface on the home network, such as `eth0`; in a scenario the name of a wire.
    pub interface: String,
    /// The agent's address with the network's prefix length, such as `10.1.0.1/24`. The interface
    /// must have it.
    pub address: String,
    /// Additional interfaces for requests and reverse tunnels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uplinks: Vec<String>,
    /// How often the agent advertises itself, in milliseconds.
    #[serde(default = "super::advertise_every_ms")]
    pub advertise_every_ms: u64,
    /// The longest lifetime of a binding, in seconds.
    #[serde(default = "super::lifetime_s")]
    pub lifetime_s: u16,
    /// The mobile nodes that this agent serves.
    pub mobiles: Vec<Peer>,
    /// Foreign agents with a key. Their requests are rejected without an authenticator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_agents: Vec<Peer>,
}

impl HomeAgentParams {
    /// The agent's address, and its network; nothing if they are wrong.
    pub fn home(&self) -> Option<(Ipv4Addr, Prefix)> {
        super::with_prefix(&self.address)
    }
}
