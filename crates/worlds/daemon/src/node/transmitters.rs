//! Which neighbour a link address belongs to: from a frame's Ethernet header to a node's address.
//!
//! Frames on the air are not authenticated: a neighbour can claim any address (docs/security.md).

use std::net::{Ipv4Addr, Ipv6Addr};

use rustc_hash::FxHashMap;
use wayhop_core::Mac;

/// Bounds the link addresses that are remembered: they can be forged.
const MAX_REMEMBERED: usize = 4096;

/// The neighbours by their link addresses.
#[derive(Debug, Default)]
pub(crate) struct Transmitters {
    by_mac: FxHashMap<Mac, Ipv4Addr>,
    by_mac6: FxHashMap<Mac, Ipv6Addr>,
}

impl Transmitters {
    /// The neighbour with this link address.
    pub(crate) fn addr(&self, mac: Mac) -> Option<Ipv4Addr> {
        self.by_mac.get(&mac).copied()
    }
    /// The IPv6 address of the neighbour with this link address.
    pub(crate) fn addr6(&self, mac: Mac) -> Option<Ipv6Addr> {
        self.by_mac6.get(&mac).copied()
    }

    /// A neighbour showed itself.
    pub(crate) fn learn(&mut self, addr: Ipv4Addr, mac: Mac) {
        if self.addr(mac) == Some(addr) {
            return;
        }
        if self.by_mac.len() >= MAX_REMEMBERED {
            // Neighbours that still send are learned again at once.
            self.by_mac.clear();
        }
        self.by_mac.insert(mac, addr);
    }

    /// A neighbour showed itself by IPv6. A link-local address tells less than one that the node is known by everywhere.
    pub(crate) fn learn6(&mut self, addr: Ipv6Addr, mac: Mac) {
        let known = self.addr6(mac);
        if known == Some(addr) || known.is_some() && addr.is_unicast_link_local() {
            return;
        }
        if self.by_mac6.len() >= MAX_REMEMBERED {
            self.by_mac6.clear();
        }
        self.by_mac6.insert(mac, addr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_address_belongs_to_its_last_sender_and_forged_ones_are_bounded() {
        let mut t = Transmitters::default();
        let mac = |n: usize| Mac([2, 0, 0, 0, (n >> 8) as u8, n as u8]);
        t.learn(Ipv4Addr::new(10, 0, 0, 1), mac(1));
        t.learn(Ipv4Addr::new(10, 0, 0, 2), mac(1));
        assert_eq!((t.addr(mac(1)), t.addr(mac(2))), (Some(Ipv4Addr::new(10, 0, 0, 2)), None));
        (0..3 * MAX_REMEMBERED).for_each(|n| t.learn(Ipv4Addr::new(10, 0, 0, 3), mac(n)));
        assert!(t.by_mac.len() <= MAX_REMEMBERED);
        let of = |n: u16| Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, n);
        t.learn6("fe80::1".parse().unwrap(), mac(1));
        t.learn6(of(1), mac(1));
        t.learn6("fe80::1".parse().unwrap(), mac(1));
        assert_eq!((t.addr6(mac(1)), t.addr6(mac(2))), (Some(of(1)), None));
        (0..3 * MAX_REMEMBERED).for_each(|n| t.learn6(of(1), mac(n)));
        assert!(t.by_mac6.len() <= MAX_REMEMBERED);
    }
}
