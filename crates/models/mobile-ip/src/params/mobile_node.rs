//! A mobile node's.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Prefix;

use super::Peer;
use crate::security::Replay;

/// The configuration of a mobile node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MobileNodeParams {
    /// The permanent address of this host, with the home network's prefix length, such as
    /// `10.1.0.9/24`. Do not assign it to an interface: the mobile node assigns it to its TUN
    /// interface, or at home to the link there.
    pub home: String,
    /// The home agent's address; in a scenario also its node.
    pub home_agent: Ipv4Addr,
    /// The router at home. The default is the home agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<Ipv4Addr>,
    /// Security Parameter Index of the key, from 256 on.
    pub spi: u32,
    /// The key that the mobile node shares with its home agent, hexadecimal, of at least 16 octets.
    pub key: String,
    /// Replay protection: `timestamps` or `nonces`.
    #[serde(default)]
    pub replay: Replay,
    /// The links, in order of preference.
    pub links: Vec<OwnLink>,
    /// The lifetime to request, in seconds; registrations are renewed at half of it.
    #[serde(default = "super::lifetime_s")]
    pub lifetime_s: u16,
    /// Send packets through the home agent (RFC 3024) from a co-located care-of address. Otherwise
    /// they leave with the home address as their source, which many networks do not forward.
    #[serde(default = "yes")]
    pub reverse_tunnel: bool,
    /// Foreign agents with a key, by their addresses on the link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_agents: Vec<Peer>,
    /// Use only these foreign agents.
    #[serde(default)]
    pub only_known_agents: bool,
}

/// A link of a mobile node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnLink {
    /// Its interface. For a `mesh` or `co-located` link it may appear later; any may disappear and return.
    pub interface: String,
    /// `link`: the home network, or one with a foreign agent. `mesh`: the TUN of a `wayhop node`, behind which a foreign agent
    /// may be. `co-located`: a network that gives the interface an address and a default route.
    pub kind: OwnLinkKind,
    /// For a `mesh` with AODV or DSDV: its radio interface, which their packets use. DSR's packets
    /// use the TUN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<String>,
    /// For a `mesh`: its foreign agents. DSR floods solicitations; with other protocols, they are
    /// sent to these addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Ipv4Addr>,
}

/// What a mobile node makes of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnLinkKind {
    /// The home network, or one with a foreign agent.
    Link,
    /// A mesh.
    Mesh,
    /// A network that gives an address.
    CoLocated,
}

fn yes() -> bool {
    true
}

impl MobileNodeParams {
    /// The home address, and its network; nothing if they are wrong.
    pub fn home(&self) -> Option<(Ipv4Addr, Prefix)> {
        super::with_prefix(&self.home)
    }
}
