//! The addresses of the mesh.

use std::net::Ipv4Addr;

/// A mesh's network. What is said on the air about addresses outside of it is not believed: the air must not lead this
/// host's other traffic anywhere.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    network: u32,
    mask: u32,
}

impl Prefix {
    /// The network of this length around an address.
    pub fn around(addr: Ipv4Addr, len: u8) -> Self {
        let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
        Self { network: addr.to_bits() & mask, mask }
    }

    /// Its address without a host.
    pub fn network(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.network)
    }

    /// Its length.
    #[expect(clippy::len_without_is_empty, reason = "bits that are given, not elements of a collection")]
    pub fn len(self) -> u8 {
        self.mask.leading_ones() as u8
    }

    /// The bits that its addresses have in common.
    pub fn mask(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.mask)
    }

    /// Whether this may be a host's address in it.
    pub fn has_host(self, addr: Ipv4Addr) -> bool {
        let bits = addr.to_bits();
        bits & self.mask == self.network && bits != self.network && bits | self.mask != u32::MAX
    }

    /// Whether this is a destination that all hosts in it have in common.
    pub fn is_for_all(self, addr: Ipv4Addr) -> bool {
        let bits = addr.to_bits();
        addr.is_broadcast() || addr.is_multicast() || bits == self.network | !self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_strangers_and_from_addresses_that_nobody_has() {
        let p = Prefix::around(Ipv4Addr::new(10, 1, 2, 3), 16);
        assert_eq!((p.network(), p.len()), (Ipv4Addr::new(10, 1, 0, 0), 16));
        for host in [Ipv4Addr::new(10, 1, 2, 3), Ipv4Addr::new(10, 1, 0, 1), Ipv4Addr::new(10, 1, 255, 254)] {
            assert!(p.has_host(host) && !p.is_for_all(host), "{host}");
        }
        for other in [
            Ipv4Addr::new(10, 1, 0, 0),
            Ipv4Addr::new(10, 1, 255, 255),
            Ipv4Addr::new(10, 2, 2, 3),
            Ipv4Addr::new(192, 0, 2, 1),
            Ipv4Addr::UNSPECIFIED,
            Ipv4Addr::BROADCAST,
        ] {
            assert!(!p.has_host(other), "{other}");
        }
        assert!(p.is_for_all(Ipv4Addr::new(10, 1, 255, 255)) && p.is_for_all(Ipv4Addr::new(224, 0, 0, 1)));
        assert!(!p.is_for_all(Ipv4Addr::new(10, 2, 255, 255)));
    }
}
