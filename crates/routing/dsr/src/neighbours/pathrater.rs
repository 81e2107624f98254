//! What a node thinks of others: the pathrater of Marti, Giuli, Lai and Baker (MobiCom 2000, section 3.2).
//!
//! A node that is met first is neutral. It rises a little for each 200 ms in which packets go over it, falls when its link breaks,
//! and misbehaves for good when the watchdog says so.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Span, Time};

use crate::cache::MOST_PENALTY;
use crate::cache::path::Path;

/// Ratings in hundredths.
const NEUTRAL: i32 = 50;
const HIGHEST: i32 = 80;
const LOWEST: i32 = 0;
const RISE: i32 = 1;
const FALL: i32 = 5;
const MISBEHAVING: i32 = -10_000;
/// How often a node that is in use rises.
const RISE_EVERY: Span = Span::from_millis(200);
/// The most nodes with a rating; of the others none is bad.
const MAX_NODES: usize = 1_024;

#[derive(Copy, Clone, Debug)]
struct Rating {
    hundredths: i32,
    /// When it rose last.
    rose: Time,
}

/// The ratings of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ratings(BTreeMap<Ipv4Addr, Rating>);

impl Ratings {
    fn of(&mut self, node: Ipv4Addr, now: Time) -> Option<&mut Rating> {
        let room = self.0.len() < MAX_NODES;
        match self.0.entry(node) {
            std::collections::btree_map::Entry::Occupied(e) => Some(e.into_mut()),
            std::collections::btree_map::Entry::Vacant(e) if room => {
                Some(e.insert(Rating { hundredths: NEUTRAL, rose: now }))
            }
            std::collections::btree_map::Entry::Vacant(_) => None,
        }
    }

    /// A packet is sent along a route.
    pub(crate) fn used(&mut self, route: &Path, now: Time) {
        for &node in route.nodes().iter().skip(1) {
            let Some(r) = self.of(node, now) else { continue };
            if r.hundredths >= LOWEST && now >= r.rose + RISE_EVERY {
                r.hundredths = (r.hundredths + RISE).min(HIGHEST);
                r.rose = now;
            }
        }
    }

    /// A node cannot be reached any more.
    pub(crate) fn lost(&mut self, node: Ipv4Addr) {
        if let Some(r) = self.0.get_mut(&node).filter(|r| r.hundredths >= LOWEST) {
            r.hundredths = (r.hundredths - FALL).max(LOWEST);
        }
    }

    /// A node misbehaves. False if that was known.
    pub(crate) fn misbehaves(&mut self, node: Ipv4Addr, now: Time) -> bool {
        self.of(node, now).is_some_and(|r| std::mem::replace(&mut r.hundredths, MISBEHAVING) != MISBEHAVING)
    }

    /// What speaks against a link to a node; `None` forbids it. The paper compares the average rating of a path's nodes; a sum
    /// over its links can only tell how much they lack.
    pub(crate) fn penalty(&self, node: Ipv4Addr) -> Option<u16> {
        let hundredths = self.0.get(&node).map_or(NEUTRAL, |r| r.hundredths);
        let lacks = 100 - hundredths;
        (hundredths >= LOWEST).then(|| (lacks * i32::from(MOST_PENALTY) / 100) as u16)
    }

    pub(crate) fn inspect(&self, out: &mut dyn Inspect) {
        for (node, r) in &self.0 {
            out.row("ratings", &[("node", node), ("rating", &(f64::from(r.hundredths) / 100.0))]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(n: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, n)
    }

    #[test]
    fn ratings_move_as_the_paper_says() {
        let mut r = Ratings::default();
        let route = Path::from_nodes([node(1), node(2), node(3)]);
        let rating = |r: &Ratings| r.0[&node(2)].hundredths;
        // 0.5 at first; 0.01 more every 200 ms, whatever the rate; 0.8 at most.
        (0..1_001u64).for_each(|k| r.used(&route, Time::ZERO + Span::from_millis(20 * k)));
        assert_eq!((rating(&r), r.penalty(node(2)), r.penalty(node(9))), (80, Some(200), Some(500)));
        (0..3).for_each(|_| r.lost(node(2)));
        assert_eq!(rating(&r), 65);
        (0..20).for_each(|_| r.lost(node(2)));
        assert_eq!(rating(&r), 0);
        assert!(r.misbehaves(node(2), Time::ZERO) && !r.misbehaves(node(2), Time::ZERO));
        r.used(&route, Time::ZERO + Span::from_secs(99));
        assert_eq!((rating(&r), r.penalty(node(2))), (-10_000, None));
    }

    #[test]
    fn forged_addresses_do_not_fill_the_memory() {
        let mut r = Ratings::default();
        for k in 0..5_000 {
            let _ = r.misbehaves(Ipv4Addr::from_bits(k), Time::ZERO);
        }
        assert_eq!(r.0.len(), MAX_NODES);
    }
}
