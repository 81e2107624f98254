//! The addresses of the mesh in IPv6.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, Prefix};
use wayhop_wire::ip;

/// What the world around a node with IPv6 knows.
#[derive(Clone, Debug)]
pub(crate) struct Mesh6 {
    pub(crate) addr: Ipv6Addr,
    /// Sources that may be answered: the node's own prefix and the destinations of its static routes.
    pub(crate) reachable: Vec<Prefix>,
}

impl Mesh6 {
    /// Whether programs may get a packet that came by air. The stack trusts addresses of its own as a source.
    pub(crate) fn may_deliver(&self, ip: &ip::Packet<'_>) -> bool {
        let own = Addr::from(self.addr);
        let for_us = ip.dst == own || ip.dst.is_multicast();
        for_us && ip.src != own && self.reachable.iter().any(|p| p.contains(ip.src))
    }
}
