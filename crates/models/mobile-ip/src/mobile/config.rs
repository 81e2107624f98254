//! What a mobile node is told.

use std::net::Ipv4Addr;

use crate::engine::LinkId;
use crate::security::Association;

/// What a mobile node is told.
#[derive(Clone, Debug)]
pub struct MobileConfig {
    /// The address by which all others know it.
    pub home: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// The key that they share.
    pub association: Association,
    /// Keys that it shares with foreign agents, by their addresses on its links.
    pub agents: Vec<(Ipv4Addr, Association)>,
    /// Whether it takes only these foreign agents.
    pub only_known_agents: bool,
    /// Its links, the one that it likes best first.
    pub links: Vec<MobileLink>,
    /// The lifetime that it asks for, in seconds.
    pub lifetime_s: u16,
    /// Whether what it sends from a co-located care-of address goes by its home agent (RFC 3024), or straight on.
    pub reverse_tunnel: bool,
}

/// A link of a mobile node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MobileLink {
    /// Its number.
    pub link: LinkId,
    /// How it is used.
    pub kind: LinkKind,
    /// Agents of a mesh that are solicited by their addresses, too: not every mesh floods what is for a group.
    pub ask: Vec<Ipv4Addr>,
}

/// How a link is used.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Where the home agent's advertisements are heard there, the mobile node is at home. Elsewhere foreign agents may be.
    Link,
    /// A mesh, in which the mobile node has an address, and foreign agents may be several hops away.
    Mesh,
    /// A network that gives the mobile node an address, where its tunnel ends.
    CoLocated,
}
