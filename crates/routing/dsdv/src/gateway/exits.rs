//! What a node knows of the ways out of the mesh.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use wayhop_core::Outside;
use wayhop_wire::dsdv;

use crate::routing_table::seq::lost;

/// The most outside addresses with rows; a new one then replaces the oldest.
pub(crate) const MAX_ROWS: usize = 1_024;

/// What a node knows of the outside.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct Exits {
    /// `None` in a mesh without gateways.
    pub(crate) outside: Option<Outside>,
    /// Whether this node has ever announced an exit; it then continues to announce, even without one.
    pub(crate) has_told: bool,
    /// How many more full updates follow shortly, since a broadcast with a change of the own exit
    /// may be lost.
    pub(crate) repeats: u32,
    /// The addresses outside that have rows of the host's, the oldest first.
    pub(crate) rows: VecDeque<Ipv4Addr>,
}

/// The exit of a gateway.
pub(crate) fn exit_of(gateway: Ipv4Addr) -> Ipv4Addr {
    Ipv4Addr::from_bits(gateway.to_bits() | 0xf000_0000)
}
/// Whether a destination is an exit.
pub(crate) fn is_exit(a: Ipv4Addr) -> bool {
    a.to_bits() >> 28 == 0xf
}

impl Exits {
    /// Whether this node leads out of the mesh.
    pub(crate) fn is_gateway(&self) -> bool {
        self.outside.as_ref().is_some_and(|o| !o.reaches.is_empty())
    }
    /// Whether this node leads to an address.
    pub(crate) fn leads_to(&self, a: Ipv4Addr) -> bool {
        self.outside.as_ref().is_some_and(|o| o.leads_to(a))
    }
    /// Whether an address is outside of the mesh.
    pub(crate) fn is_beyond(&self, a: Ipv4Addr) -> bool {
        self.outside.as_ref().is_some_and(|o| o.is_beyond(a)) && !is_exit(a)
    }
    /// Whether this node may keep packets of this source: its own, and those that it brings into the mesh.
    pub(crate) fn is_answerable(&self, own: Ipv4Addr, source: Ipv4Addr) -> bool {
        source == own || self.is_gateway() && self.is_beyond(source)
    }
    /// Whether a full update that leaves now is followed by another one shortly; that one is counted.
    pub(crate) fn take_repeat(&mut self) -> bool {
        let repeats = self.repeats > 0;
        self.repeats = self.repeats.saturating_sub(1);
        repeats
    }
    /// A gateway's entry for its exit, if it has one to announce.
    pub(crate) fn told(&self, own: Ipv4Addr, seq: u32) -> Option<dsdv::UpdateEntry> {
        let destination = exit_of(own);
        match (self.is_gateway(), self.has_told) {
            (true, _) => Some(dsdv::UpdateEntry { destination, hop_count: 1, seq }),
            (false, true) => {
                Some(dsdv::UpdateEntry { destination, hop_count: dsdv::UNREACHABLE, seq: lost(seq) })
            }
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_a_reserved_address_that_names_its_gateway() {
        let gateway = Ipv4Addr::new(10, 1, 2, 3);
        assert_eq!(exit_of(gateway), Ipv4Addr::new(250, 1, 2, 3));
        assert!(is_exit(exit_of(gateway)) && !is_exit(gateway) && !is_exit(Ipv4Addr::new(239, 255, 0, 1)));
    }
}
