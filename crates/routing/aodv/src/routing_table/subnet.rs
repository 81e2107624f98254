//! Subnets (sections 5.2 and 7), and the route of an address.
//!
//! A subnet's entry has the subnet's address, which no node has.
//!
//! **Which route.** "Longest match first" (section 7) lets routes loop: where one node has lost its route to an address and
//! falls back on the subnet's, the next one may still use the longer match, back to the first. Here the numbers of an
//! address and of the subnets around it are one sequence - a subnet router answers with a number that is at least the
//! request's, as section 6.1 has it for any destination - and the freshest entry counts; among equals the shorter way; then
//! the longer match. So each hop is fresher or nearer than the one before, as with routes to nodes.

use std::net::Ipv4Addr;

use wayhop_wire::ipv4;

use crate::routing_table::seq::{newer, newest};
use crate::routing_table::{RouteEntry, RoutingTable};

/// A subnet, by its router's address.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Subnet {
    pub(crate) router: Ipv4Addr,
    /// Length of the prefix, 1 to 30: longer ones leave no address for the subnet itself.
    pub(crate) bits: u8,
}

/// The address of the subnet of this prefix length around an address.
pub(crate) fn network(a: Ipv4Addr, bits: u8) -> Ipv4Addr {
    let host_bits = 32 - u32::from(bits.clamp(1, 32));
    Ipv4Addr::from_bits(a.to_bits() >> host_bits << host_bits)
}

impl Subnet {
    /// Reads `10.0.0.5/29`: the router's address and the prefix length.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (router, bits) = text.split_once('/')?;
        let s = Self { router: router.parse().ok()?, bits: bits.parse().ok()? };
        ((1..=30).contains(&s.bits) && ipv4::is_host(s.router)).then_some(s)
    }
    pub(crate) fn contains(self, a: Ipv4Addr) -> bool {
        network(a, self.bits) == network(self.router, self.bits)
    }
    /// The subnets of a configuration. Of several routers of one subnet the lowest address serves (section 7).
    pub(crate) fn elect(texts: &[String]) -> Vec<Self> {
        let mut all: Vec<Self> = texts.iter().filter_map(|t| Self::parse(t)).collect();
        all.sort_unstable_by_key(|s| (u8::MAX - s.bits, s.router));
        all.dedup_by(|later, first| later.bits == first.bits && first.contains(later.router));
        all
    }
}

/// Addresses whose rows in the host's table come from a subnet's route.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct CoveredAddresses(pub(crate) Vec<Ipv4Addr>);

impl CoveredAddresses {
    /// Further addresses get no row: each of their packets asks.
    const LIMIT: usize = 1_024;

    /// Notes an address; false if there is no room for it.
    pub(crate) fn add(&mut self, a: Ipv4Addr) -> bool {
        let is_known = self.0.contains(&a);
        if !is_known && self.0.len() < Self::LIMIT {
            self.0.push(a);
            return true;
        }
        is_known
    }
}

impl RoutingTable {
    /// The entries that say something about an address: its own, and those of the subnets around it, the longest first.
    fn about(&self, a: Ipv4Addr) -> impl Iterator<Item = &RouteEntry> {
        let own = self.get(a).filter(|e| e.prefix == 0);
        let around = self
            .prefix_lengths()
            .filter_map(move |bits| self.get(network(a, bits)).filter(|e| e.prefix == bits));
        own.into_iter().chain(around)
    }
    /// The freshest number known for an address, of valid and invalid entries.
    pub(crate) fn number(&self, a: Ipv4Addr) -> Option<u32> {
        if !self.has_subnets() {
            return self.get(a).and_then(|e| e.seq);
        }
        self.about(a).filter_map(|e| e.seq).reduce(newest)
    }
    /// The route that packets for an address take.
    pub(crate) fn best(&self, a: Ipv4Addr) -> Option<&RouteEntry> {
        let own = self.valid(a).filter(|e| e.prefix == 0);
        if !self.has_subnets() || own.is_some_and(|e| e.next_hop == a) {
            return own;
        }
        let number = self.number(a);
        let fresh = |e: &&RouteEntry| match (e.seq, number) {
            (Some(has), Some(known)) => !newer(known, has),
            (None, known) => known.is_none(),
            (Some(_), None) => true,
        };
        self.about(a).filter(|e| e.is_valid()).filter(fresh).min_by_key(|e| e.hops)
    }
    /// The key of the entry that packets for an address use.
    pub(crate) fn key(&self, a: Ipv4Addr) -> Ipv4Addr {
        if self.has_subnets() { self.best(a).map_or(a, |e| e.destination) } else { a }
    }
    /// The entry over this next hop that a Route Error about an address concerns.
    pub(crate) fn key_over(&self, a: Ipv4Addr, next_hop: Ipv4Addr) -> Option<Ipv4Addr> {
        self.about(a).find(|e| e.is_valid() && e.next_hop == next_hop).map(|e| e.destination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_is_read_and_the_lowest_of_its_routers_serves() {
        let a = |n| Ipv4Addr::new(10, 0, 0, n);
        let texts = ["10.0.0.9/29", "10.0.0.12/29", "10.0.0.10/30", "10.0.0.1/0", "10.0.0.1/31", "x/8", "8"];
        let elected = Subnet::elect(&texts.map(str::to_owned));
        let expected = [Subnet { router: a(10), bits: 30 }, Subnet { router: a(9), bits: 29 }];
        assert_eq!(elected, expected);
        assert_eq!(network(a(13), 29), a(8));
        assert_eq!(network(Ipv4Addr::new(255, 1, 2, 3), 1), Ipv4Addr::new(128, 0, 0, 0));
        assert!(expected[1].contains(a(15)) && !expected[1].contains(a(16)));
    }
}
