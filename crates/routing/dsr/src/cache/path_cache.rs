//! Whole paths in two tiers: routes that are wanted, and routes that were merely heard.
//!
//! The organisation of Broch, Maltz, Johnson, Hu and Jetcheva (MobiCom 1998), which RFC 4728 section 4.1 calls a path
//! cache with preferences. Each tier is a fixed number of slots. A route that begins with a stored path replaces it; a
//! route that is the beginning of a stored path changes nothing; any other takes the first free slot, or the slot whose
//! turn it is. A route that is looked up for sending moves from the second tier to the first.

use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Span, Time};

use super::judge::Judge;
use super::path::bit;
use super::stored_path::StoredPath;
use super::{Provenance, Purpose, RouteCache};
use crate::Path;

/// A Route Cache of whole paths.
#[derive(Clone, Hash)]
pub struct PathCache {
    primary: Tier,
    secondary: Tier,
}

impl PathCache {
    /// A cache with this many slots; a path unused for `timeout` ([`Span::ZERO`]: never) is forgotten.
    pub fn new(primary: usize, secondary: usize, timeout: Span) -> Self {
        Self {
            primary: Tier::new("primary", primary, timeout),
            secondary: Tier::new("secondary", secondary, timeout),
        }
    }
}

#[cfg(test)]
impl PathCache {
    /// All paths.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Path> {
        self.primary.slots.iter().chain(&self.secondary.slots).map(|s| s.path.path())
    }
}

impl RouteCache for PathCache {
    fn boxed(&self) -> Box<dyn RouteCache> {
        Box::new(self.clone())
    }
    fn add(&mut self, route: &Path, how: Provenance, now: Time) -> bool {
        if route.len() < 2 {
            return false;
        }
        match how {
            Provenance::Asked => self.primary.add(route, now),
            Provenance::Overheard => self.secondary.add(route, now),
        }
    }

    fn find_by(
        &mut self,
        to: Ipv4Addr,
        what_for: Purpose,
        now: Time,
        judge: &dyn Judge,
        out: &mut Path,
    ) -> bool {
        let mut best = BestRoute { rank: u32::MAX, slot: usize::MAX, len: 0 };
        self.primary.search(to, what_for, now, judge, &mut best);
        let primary_rank = best.rank;
        self.secondary.search(to, what_for, now, judge, &mut best);
        if best.slot == usize::MAX {
            return false;
        }
        let in_secondary = best.rank < primary_rank;
        let tier = if in_secondary { &mut self.secondary } else { &mut self.primary };
        let found = &mut tier.slots[best.slot];
        let whole = found.path.path();
        *out = whole;
        out.truncate(best.len);
        if what_for == Purpose::Send {
            found.used = now;
            if in_secondary {
                self.secondary.clear(best.slot);
                self.primary.add(&whole, now);
            }
        }
        true
    }

    fn remove_link(&mut self, from: Ipv4Addr, to: Ipv4Addr) -> bool {
        // Both tiers, whatever the first says.
        self.primary.remove_link(from, to) | self.secondary.remove_link(from, to)
    }

    fn purge(&mut self, to: Option<Ipv4Addr>) {
        self.primary.purge(to);
        self.secondary.purge(to);
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        if out.counted("route_cache", self.primary.count(now) + self.secondary.count(now)) {
            return;
        }
        for tier in [&self.primary, &self.secondary] {
            for s in tier.slots.iter().filter(|s| tier.is_live(s, now)) {
                let unused = now.since(s.used);
                let route = s.path.path();
                let external = route.any_external();
                out.row(
                    "route_cache",
                    &[
                        ("tier", &tier.name),
                        ("route", &route),
                        ("hops", &route.hops()),
                        ("external", &external),
                        ("unused_s", &unused.as_secs_f64()),
                    ],
                );
            }
        }
    }
}

/// The best route found so far: lower ranks are better.
struct BestRoute {
    rank: u32,
    slot: usize,
    len: usize,
}

#[derive(Clone, Hash)]
struct Slot {
    path: StoredPath,
    used: Time,
}

#[derive(Clone, Default, Hash)]
struct Tier {
    name: &'static str,
    slots: Vec<Slot>,
    /// The second node of each slot's path, or [`FREE`]: what most comparisons end with, side by side.
    heads: Vec<u32>,
    /// The node behind that, or [`FREE`] if the path has none: what most of the others end with.
    thirds: Vec<u32>,
    /// A set that contains the nodes of each slot's path, and perhaps others: what most searches end with.
    members: Vec<u64>,
    size: usize,
    timeout: Span,
    victim: usize,
    /// When to look for unused paths again.
    next_sweep: Time,
}

/// No node's address.
const FREE: u32 = 0;
/// How often unused paths are looked for; a lookup sees in between that one has ended.
const SWEEP: Span = Span::from_secs(1);

impl Tier {
    fn new(name: &'static str, size: usize, timeout: Span) -> Self {
        Self { name, size, timeout, ..Self::default() }
    }

    fn is_live(&self, s: &Slot, now: Time) -> bool {
        !s.path.is_empty() && (self.timeout == Span::ZERO || now.since(s.used) < self.timeout)
    }

    /// The paths that are not forgotten.
    fn count(&self, now: Time) -> usize {
        self.slots.iter().filter(|s| self.is_live(s, now)).count()
    }

    fn put(&mut self, at: usize, route: &Path, now: Time) {
        self.heads[at] = head(route);
        self.thirds[at] = third_of(route);
        self.members[at] = set_of(route);
        self.slots[at] = Slot { path: StoredPath::new(route), used: now };
    }

    fn clear(&mut self, at: usize) {
        self.heads[at] = FREE;
        self.thirds[at] = FREE;
        self.members[at] = 0;
        self.slots[at].path = StoredPath::EMPTY;
    }

    /// Cuts a path to its first `len` nodes, of at least two.
    fn cut(&mut self, at: usize, len: usize) {
        self.slots[at].path.truncate(len);
        if len < 3 {
            self.thirds[at] = FREE;
        }
    }

    fn sweep(&mut self, now: Time) {
        if self.timeout == Span::ZERO || now < self.next_sweep {
            return;
        }
        self.next_sweep = now + SWEEP;
        for i in 0..self.slots.len() {
            if !self.is_live(&self.slots[i], now) {
                self.clear(i);
            }
        }
    }

    /// Adds a route; false when it was known.
    fn add(&mut self, route: &Path, now: Time) -> bool {
        self.sweep(now);
        let new = route.nodes();
        let (second, third) = (head(route), third_of(route));
        let mut next = 0;
        while let Some(i) = next_of(&self.heads, next, |head| head == second || head == FREE) {
            next = i + 1;
            // Neither is the beginning of the other if they part behind their first hop.
            if self.thirds[i] != third && self.thirds[i] != FREE && third != FREE {
                continue;
            }
            let old = &self.slots[i].path;
            let common = old.nodes().iter().zip(new).take_while(|(a, b)| a == b).count();
            if common == old.nodes().len() && !old.is(route) {
                self.put(i, route, now);
                return true;
            }
            if common == new.len() {
                self.slots[i].used = now;
                return false;
            }
        }
        if self.slots.len() < self.size {
            self.heads.push(second);
            self.thirds.push(third);
            self.members.push(set_of(route));
            self.slots.push(Slot { path: StoredPath::new(route), used: now });
            return true;
        }
        let v = self.victim;
        self.victim = (v + 1) % self.size;
        self.put(v, route, now);
        true
    }

    fn search(&self, to: Ipv4Addr, what_for: Purpose, now: Time, judge: &dyn Judge, best: &mut BestRoute) {
        let bit = bit(to);
        let mut next = 0;
        while let Some(slot) = next_of(&self.members, next, |set| set & bit != 0) {
            next = slot + 1;
            let s = &self.slots[slot];
            let all = s.path.nodes();
            let Some(at) = all.iter().position(|a| *a == to) else { continue };
            if at == 0 || !self.is_live(s, now) {
                continue;
            }
            let [first, last] = s.path.external_ends();
            let external = first || (last && at + 1 == all.len());
            if external && what_for == Purpose::Answer {
                continue;
            }
            // Section 4.1: any route without External hops before any with.
            let rank = at as u32 | u32::from(external) << 7;
            if rank >= best.rank {
                continue;
            }
            // What speaks against its links, before anything else.
            let nodes = all[..=at].windows(2);
            let against = nodes.map(|w| judge.penalty(w[0], w[1]).map(u32::from)).sum::<Option<u32>>();
            let Some(rank) = against.map(|p| p << 8 | rank) else { continue };
            if rank < best.rank {
                *best = BestRoute { rank, slot, len: at + 1 };
            }
        }
    }

    /// Cuts the paths before this node, or empties all slots.
    fn purge(&mut self, to: Option<Ipv4Addr>) {
        for i in 0..self.slots.len() {
            let at = match to {
                Some(to) => {
                    let at = self.slots[i].path.nodes().iter().position(|a| *a == to);
                    at.filter(|&at| at > 0)
                }
                None => Some(0),
            };
            match at {
                Some(0 | 1) => self.clear(i),
                Some(at) => self.cut(i, at),
                None => {}
            }
        }
    }

    fn remove_link(&mut self, from: Ipv4Addr, to: Ipv4Addr) -> bool {
        let mut known = false;
        let both = bit(from) | bit(to);
        let mut next = 0;
        while let Some(i) = next_of(&self.members, next, |set| set & both == both) {
            next = i + 1;
            let mut links = self.slots[i].path.nodes().windows(2);
            let Some(at) = links.position(|w| w[0] == from && w[1] == to) else { continue };
            known = true;
            if at == 0 {
                // A path of one node is no route.
                self.clear(i);
            } else {
                self.cut(i, at + 1);
            }
        }
        known
    }
}

/// The next place from `from` on whose value counts. Several are looked at side by side, since few count.
#[inline]
fn next_of<T: Copy>(values: &[T], from: usize, counts: impl Fn(T) -> bool) -> Option<usize> {
    const ABREAST: usize = 8;
    let mut at = from;
    while let Some(values) = values.get(at..at + ABREAST) {
        if values.iter().fold(false, |any, v| any | counts(*v)) {
            break;
        }
        at += ABREAST;
    }
    values.get(at..)?.iter().position(|v| counts(*v)).map(|further| at + further)
}

fn head(p: &Path) -> u32 {
    p.next_hop().map_or(FREE, Ipv4Addr::to_bits)
}

fn third_of(p: &Path) -> u32 {
    p.nodes().get(2).map_or(FREE, |a| a.to_bits())
}

fn set_of(p: &Path) -> u64 {
    p.nodes().iter().fold(0, |set, a| set | bit(*a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(n: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, n)
    }

    proptest! {
        #[test]
        fn what_is_kept_beside_the_paths_is_true_of_them(
            steps in proptest::collection::vec((0..4, proptest::collection::vec(1u8..7, 1..5)), 1..60),
        ) {
            let mut tier = Tier::new("primary", 6, Span::ZERO);
            for (what, nodes) in steps {
                let nodes: Vec<_> = nodes.into_iter().map(node).collect();
                match what {
                    0 => tier.purge(Some(nodes[0])),
                    1 if nodes.len() > 1 => drop(tier.remove_link(nodes[0], nodes[1])),
                    _ => {
                        let route = Path::starting_at(node(0), &nodes);
                        // Without a look at anything beside the paths.
                        let related = tier.slots.iter().map(|s| s.path.path()).find(|old| {
                            route.nodes().starts_with(old.nodes()) || old.nodes().starts_with(route.nodes())
                        });
                        let new = related.is_none_or(|old| old.len() < route.len());
                        prop_assert_eq!(tier.add(&route, Time::ZERO), new);
                    }
                }
                for (i, slot) in tier.slots.iter().enumerate() {
                    let path = slot.path.path();
                    prop_assert_eq!([tier.heads[i], tier.thirds[i]], [head(&path), third_of(&path)]);
                    prop_assert_eq!(set_of(&path) & !tier.members[i], 0);
                }
                let shown = tier.slots.iter().filter(|s| !s.path.is_empty()).count();
                prop_assert_eq!(tier.count(Time::ZERO), shown);
            }
        }
    }
}
