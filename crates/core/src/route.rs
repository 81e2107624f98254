//! Rows of a node's forwarding table.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::{Addr, IfaceId};

/// A set of addresses that share their first `len` bits (RFC 4632).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Prefix {
    /// The first address; the bits after `len` are zero.
    pub addr: Addr,
    /// Bits that count, 0 to 32.
    pub len: u8,
}

impl Prefix {
    /// This address alone.
    pub const fn host(addr: Addr) -> Self {
        Self { addr, len: 32 }
    }
    /// The prefix of this length (at most 32) around an address.
    pub const fn around(addr: Addr, len: u8) -> Self {
        let len = if len > 32 { 32 } else { len };
        Self { addr: Addr::from_bits(addr.to_bits() & mask(len)), len }
    }
    /// Whether an address is in it.
    pub const fn contains(self, a: Addr) -> bool {
        a.to_bits() & mask(self.len) == self.addr.to_bits()
    }
    /// The address, if there is only one in it.
    pub const fn as_host(self) -> Option<Addr> {
        if self.len == 32 { Some(self.addr) } else { None }
    }
}

/// The first `len` bits.
const fn mask(len: u8) -> u32 {
    if len == 0 { 0 } else { u32::MAX << (32 - len as u32) }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_host() {
            Some(a) => a.fmt(f),
            None => write!(f, "{}/{}", self.addr, self.len),
        }
    }
}

impl From<Addr> for Prefix {
    fn from(a: Addr) -> Self {
        Self::host(a)
    }
}

/// A row of the node's forwarding table. The node adds its owner: the engine that installed it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Where to.
    pub destination: Prefix,
    /// By which neighbour.
    pub next_hop: Addr,
    /// On which interface; [`IfaceId::ANY`] leaves the choice to the node.
    pub iface: IfaceId,
    /// Cost, in the owner's unit; hops with DSR, AODV and DSDV. Among routes to one prefix the least wins.
    pub metric: u32,
}

impl Route {
    /// A route to one node, so many hops away, by a neighbour wherever it was heard last.
    pub const fn to_host(destination: Addr, next_hop: Addr, hops: u32) -> Self {
        Self { destination: Prefix::host(destination), next_hop, iface: IfaceId::ANY, metric: hops }
    }
    /// On this interface.
    #[must_use]
    pub const fn on(mut self, iface: IfaceId) -> Self {
        self.iface = iface;
        self
    }
}

/// A row of the forwarding table was used by a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteUse {
    /// The packet's source.
    pub source: Addr,
    /// Its destination.
    pub destination: Addr,
    /// The neighbour it went to.
    pub next_hop: Addr,
    /// The interface it went by.
    pub iface: IfaceId,
    /// The neighbour it came from; `None` for this node's own packets and where the node cannot know.
    pub previous_hop: Option<Addr>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_contains_what_shares_its_bits() {
        let net = Prefix::around(Addr::new(10, 1, 2, 3), 16);
        assert_eq!(net.to_string(), "10.1.0.0/16");
        assert!(net.contains(Addr::new(10, 1, 255, 255)) && !net.contains(Addr::new(10, 2, 0, 0)));
        assert!(Prefix::around(Addr::BROADCAST, 0).contains(Addr::UNSPECIFIED));
        assert_eq!(Prefix::host(Addr::new(10, 0, 0, 1)).as_host(), Some(Addr::new(10, 0, 0, 1)));
    }
}
