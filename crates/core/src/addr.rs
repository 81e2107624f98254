//! Who is who: nodes, network addresses, link addresses.

use core::fmt;
use core::net::Ipv4Addr;

/// A network address. Mesh protocols of this family (RFC 4728, RFC 3561) number nodes with IPv4 addresses.
pub type Addr = Ipv4Addr;

/// The limited broadcast address, 255.255.255.255.
pub const BROADCAST: Addr = Ipv4Addr::BROADCAST;

/// A node of a scenario, counted from 0 in the order of the scenario.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node's index into a table of all nodes.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// The address that the node gets unless the scenario names one: 10.0.0.1 for node 0, and so on upwards.
    pub const fn default_addr(self) -> Addr {
        Ipv4Addr::from_bits(0x0a00_0001 + self.0)
    }
    /// The node that [`NodeId::default_addr`] gave this address to.
    pub const fn from_default_addr(a: Addr) -> Option<Self> {
        match a.to_bits().checked_sub(0x0a00_0001) {
            Some(n) if n < 0x00ff_fffe => Some(Self(n)),
            _ => None,
        }
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The node that is meant: by its own name, its number, or `mesh-` and its number.
pub fn node_named(names: &[String], name: &str) -> Option<usize> {
    let number = name.strip_prefix("mesh-").unwrap_or(name).parse().ok();
    let own = names.iter().position(|n| n == name);
    own.or(number.filter(|&n: &usize| n < names.len()))
}

/// An IEEE 802 address.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// All stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// The locally administered address 02:00 followed by the four octets of `a`: a simulated interface's address.
    pub const fn from_addr(a: Addr) -> Self {
        let [b0, b1, b2, b3] = a.octets();
        if a.to_bits() == u32::MAX { Self::BROADCAST } else { Self([2, 0, b0, b1, b2, b3]) }
    }
    /// The network address inside an address that [`Mac::from_addr`] made.
    pub const fn to_addr(self) -> Option<Addr> {
        match self.0 {
            [0xff, 0xff, 0xff, 0xff, 0xff, 0xff] => Some(BROADCAST),
            [2, 0, b0, b1, b2, b3] => Some(Ipv4Addr::new(b0, b1, b2, b3)),
            _ => None,
        }
    }
    /// Whether a frame to this address goes to several stations.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_address_and_link_address_are_each_others_inverse() {
        for n in [0, 1, 254, 255, 65_535, 1_000_000] {
            let a = NodeId(n).default_addr();
            assert_eq!(NodeId::from_default_addr(a), Some(NodeId(n)));
            assert_eq!(Mac::from_addr(a).to_addr(), Some(a));
            assert!(!Mac::from_addr(a).is_group());
        }
        assert_eq!(NodeId::from_default_addr(Ipv4Addr::new(192, 168, 0, 1)), None);
        assert!(Mac::from_addr(BROADCAST).is_group());
    }
}
