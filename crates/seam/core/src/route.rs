//! Rows of a node's forwarding table.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::{Addr, IfaceId};

/// A set of addresses that share their first `len` bits (RFC 4632).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Prefix {
    /// The first address; the bits after `len` are zero.
    pub addr: Addr,
    /// Bits that count: 0 to 32 with IPv4, 0 to 128 with IPv6.
    pub len: u8,
}

impl Prefix {
    /// This address alone.
    pub fn host(addr: impl Into<Addr>) -> Self {
        let addr = addr.into();
        Self { addr, len: longest(addr) }
    }
    /// The prefix of this length (at most 32 or 128) around an address.
    pub fn around(addr: impl Into<Addr>, len: u8) -> Self {
        let addr = addr.into();
        let len = len.min(longest(addr));
        Self { addr: Addr::from_bits(addr.to_bits() & mask(addr, len)), len }
    }
    /// Whether an address is in it.
    pub fn contains(self, a: impl Into<Addr>) -> bool {
        a.into().to_bits() & mask(self.addr, self.len) == self.addr.to_bits()
    }
    /// The address, if there is only one in it.
    pub const fn as_host(self) -> Option<Addr> {
        if self.len == longest(self.addr) { Some(self.addr) } else { None }
    }
    /// How many bits do not count.
    pub const fn free_bits(self) -> u8 {
        longest(self.addr) - self.len
    }
}

/// Bits of an address of this one's family.
const fn longest(a: Addr) -> u8 {
    if a.is_v4() { 32 } else { 128 }
}

/// The first `len` bits of an address of this one's family, and what is before them.
const fn mask(a: Addr, len: u8) -> u128 {
    match longest(a) - len {
        128 => 0,
        free => u128::MAX << free,
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_host() {
            Some(a) => a.fmt(f),
            None => write!(f, "{}/{}", self.addr, self.len),
        }
    }
}

impl<A: Into<Addr>> From<A> for Prefix {
    fn from(a: A) -> Self {
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
    /// A route to one node, `hops` hops away, by a neighbour on whichever interface it was last heard.
    pub fn to_host(destination: impl Into<Addr>, next_hop: impl Into<Addr>, hops: u32) -> Self {
        let (destination, next_hop) = (Prefix::host(destination), next_hop.into());
        Self { destination, next_hop, iface: IfaceId::ANY, metric: hops }
    }
    /// On this interface.
    #[must_use]
    pub const fn on(mut self, iface: IfaceId) -> Self {
        self.iface = iface;
        self
    }
}

/// A row of the forwarding table was used by a packet, or a packet ended here ([`crate::Interests::arrivals`]).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteUse {
    /// The packet's source.
    pub source: Addr,
    /// Its destination.
    pub destination: Addr,
    /// The neighbour it went to; of a packet that ended here, this node.
    pub next_hop: Addr,
    /// The interface it went by; of a packet that ended here, the one it came by, or any where the node cannot know.
    pub iface: IfaceId,
    /// The neighbour it came from; `None` for this node's own packets and where the node cannot know.
    pub previous_hop: Option<Addr>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn a_prefix_contains_what_shares_its_bits() {
        let v4 = |a, b, c, d| Addr::from(Ipv4Addr::new(a, b, c, d));
        let net = Prefix::around(v4(10, 1, 2, 3), 16);
        assert_eq!(net.to_string(), "10.1.0.0/16");
        assert!(net.contains(v4(10, 1, 255, 255)) && !net.contains(v4(10, 2, 0, 0)));
        assert!(Prefix::around(Addr::BROADCAST, 0).contains(Addr::UNSPECIFIED));
        assert_eq!(Prefix::host(v4(10, 0, 0, 1)).as_host(), Some(v4(10, 0, 0, 1)));
        assert_eq!(Prefix::around(v4(10, 0, 0, 1), 99), Prefix::host(v4(10, 0, 0, 1)));
    }

    #[test]
    fn a_prefix_of_one_family_contains_nothing_of_the_other() {
        let v6: Addr = "fd00:77::9".parse().unwrap();
        let net = Prefix::around(v6, 64);
        assert_eq!((net.to_string(), net.free_bits()), ("fd00:77::/64".into(), 64));
        assert!(net.contains(v6) && !net.contains("fd00:77:0:1::9".parse::<Addr>().unwrap()));
        assert_eq!(Prefix::host(v6).as_host(), Some(v6));
        assert_eq!(Prefix::host(v6).to_string(), "fd00:77::9");
        let (all4, all6) = (Prefix::around(Addr::UNSPECIFIED, 0), Prefix::around(v6, 0));
        assert!(!all4.contains(v6) && all6.contains(v6));
    }
}
