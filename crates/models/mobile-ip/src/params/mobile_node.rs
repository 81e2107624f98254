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
    /// The address by which all others know this host, with the length of the home network's prefix: `10.1.0.9/24`. No interface
    /// has it: the mobile node gives it to its TUN interface, and at home to the link there.
    pub home: String,
    /// The home agent's address; in a scenario also its node.
    pub home_agent: Ipv4Addr,
    /// The router at home. Without it, the home agent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<Ipv4Addr>,
    /// Security Parameter Index of the key, from 256 on.
    pub spi: u32,
    /// The key that the mobile node shares with its home agent, hexadecimal, of at least 16 octets.
    pub key: String,
    /// Against replays: `timestamps` or `nonces`.
    #[serde(default)]
    pub replay: Replay,
    /// The links, the one that the mobile node likes best first.
    pub links: Vec<OwnLink>,
    /// The lifetime that the mobile node asks for, in seconds; it asks again when half of it is over.
    #[serde(default = "super::lifetime_s")]
    pub lifetime_s: u16,
    /// Whether packets from a co-located care-of address go by the home agent (RFC 3024). If not, they leave with the home address
    /// as their source, which many networks do not forward.
    #[serde(default = "yes")]
    pub reverse_tunnel: bool,
    /// Foreign agents with a key, by their addresses on the link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_agents: Vec<Peer>,
    /// Whether the mobile node takes no other foreign agents than these.
    #[serde(default)]
    pub only_known_agents: bool,
}

/// A link of a mobile node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnLink {
    /// Its interface. One of a `mesh` or a `co-located` link need not be there yet; any may go and come back.
    pub interface: String,
    /// `link`: the home network, or one with a foreign agent. `mesh`: the TUN of a `wayhop node`, behind which a foreign agent
    /// may be. `co-located`: a network that gives the interface an address and a default route.
    pub kind: OwnLinkKind,
    /// Of a `mesh` of AODV or DSDV: its radio's interface, by which their packets come. DSR's come by the TUN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<String>,
    /// Of a `mesh`: foreign agents there. DSR floods the question who is one; where another protocol routes, they are asked by
    /// these addresses.
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
