//! Which neighbour a link address belongs to: the way back from a frame's Ethernet header to a node's address.
//!
//! What is on the air is not authenticated: a neighbour can claim any address (docs/security.md).

use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::Mac;

/// Bounds the link addresses that are remembered: they can be forged.
const MAX_REMEMBERED: usize = 4096;

/// The neighbours by their link addresses.
#[derive(Debug, Default)]
pub(crate) struct Transmitters(FxHashMap<Mac, Ipv4Addr>);

impl Transmitters {
    /// The neighbour with this link address.
    pub(crate) fn addr(&self, mac: Mac) -> Option<Ipv4Addr> {
        self.0.get(&mac).copied()
    }

    /// A neighbour showed itself.
    pub(crate) fn learn(&mut self, addr: Ipv4Addr, mac: Mac) {
        if self.addr(mac) == Some(addr) {
            return;
        }
        if self.0.len() >= MAX_REMEMBERED {
            // Whoever still speaks is learned again at once.
            self.0.clear();
        }
        self.0.insert(mac, addr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_address_belongs_to_whom_it_last_spoke_for_and_liars_do_not_fill_the_memory() {
        let mut t = Transmitters::default();
        let mac = |n: usize| Mac([2, 0, 0, 0, (n >> 8) as u8, n as u8]);
        t.learn(Ipv4Addr::new(10, 0, 0, 1), mac(1));
        t.learn(Ipv4Addr::new(10, 0, 0, 2), mac(1));
        assert_eq!((t.addr(mac(1)), t.addr(mac(2))), (Some(Ipv4Addr::new(10, 0, 0, 2)), None));
        (0..3 * MAX_REMEMBERED).for_each(|n| t.learn(Ipv4Addr::new(10, 0, 0, 3), mac(n)));
        assert!(t.0.len() <= MAX_REMEMBERED);
    }
}
