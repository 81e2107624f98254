//! A graph of links with lifetimes: the Link-MaxLife cache of RFC 4728 appendix A.
//!
//! Every link of every route learned is an edge. A lookup is a shortest-path search (Dijkstra): fewest hops, and of equals
//! the route whose shortest-lived link lives longest; or, when the [`Judge`] says so, the lowest sum of link costs.
//!
//! A new link lives as long as the less stable of its ends is stable, at least [`MIN_LIFETIME`]; a link that is learned
//! again lives at least as long as a new one would. An end's stability begins at [`INIT_STABILITY`], grows by
//! [`STABILITY_INCREASE`] times the time since a link of it was used last whenever that link is used again, and is halved
//! when a link of it breaks. A link in use lives for [`USE_EXTENDS`] at least. Its first use adds nothing to the stability
//! of its ends, for there is no time since the last.
//!
//! External hops are edges apart from the link of the same ends inside the network: they may begin or end a route as the
//! route said that taught them, and only where no route without them is known (section 4.1).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::{Inspect, Maybe, Span, Time};
use wayhop_link_quality::etx::Cost;

use super::judge::Judge;
use super::{Provenance, Purpose, RouteCache};
use crate::Path;

/// Stability of a node of which nothing is known (InitStability).
pub const INIT_STABILITY: Span = Span::from_secs(25);
/// By how much use makes the ends of a link more stable (StabilityIncrFactor).
pub const STABILITY_INCREASE: u64 = 4;
/// A break divides the stability of the ends by this (StabilityDecrFactor is 0.5).
pub const STABILITY_DIVISOR: u64 = 2;
/// No link is given a shorter lifetime (MinLifetime).
pub const MIN_LIFETIME: Span = Span::from_secs(1);
/// A link in use lives at least this long (UseExtends).
pub const USE_EXTENDS: Span = Span::from_secs(120);

/// How often links whose time has ended are taken out; a lookup sees in between that it has.
const SWEEP: Span = Span::from_secs(1);

/// A Route Cache of links.
#[derive(Clone, Default)]
pub struct LinkCache {
    nodes: Vec<CachedNode>,
    at: FxHashMap<Ipv4Addr, u16>,
    links: usize,
    max_nodes: usize,
    max_links: usize,
    max_hops: u8,
    next_sweep: Time,
    labels: Vec<Label>,
    queue: BinaryHeap<Reverse<(Rank, u16)>>,
}

#[derive(Clone, Hash)]
struct CachedNode {
    addr: Ipv4Addr,
    stability: Span,
    out: Vec<CachedLink>,
    /// How many edges end here.
    into: u16,
    touched: Time,
}

#[derive(Copy, Clone, Hash)]
struct CachedLink {
    to: u16,
    /// Not a link of this network: [`FIRST`] and [`LAST`] say where in a route it may stand.
    external: u8,
    until: Time,
    used: Option<Time>,
    cost: Option<Cost>,
}

const FIRST: u8 = 1;
const LAST: u8 = 2;

/// How good a route is; smaller is better. Every part only grows along a route, so Dijkstra's search is right.
type Rank = (u32, u32, u8, Reverse<Time>);
const WORST: Rank = (u32::MAX, u32::MAX, u8::MAX, Reverse(Time::ZERO));

#[derive(Copy, Clone)]
struct Label {
    rank: Rank,
    before: u16,
    external: u8,
}

/// A search: where to, when, and whether by External hops.
#[derive(Copy, Clone)]
struct CacheQuery {
    to: u16,
    external: bool,
    now: Time,
}

impl LinkCache {
    /// A cache of at most `max_nodes` nodes (this one included) and `max_links` links, with routes
    /// of at most `max_hops` hops.
    pub fn new(max_nodes: u16, max_links: u16, max_hops: u8) -> Self {
        Self {
            max_nodes: max_nodes.clamp(2, u16::MAX - 1).into(),
            max_links: max_links.max(1).into(),
            max_hops,
            ..Self::default()
        }
    }

    /// The stability of a node: for how long a new link to it would be kept.
    pub fn stability(&self, a: Ipv4Addr) -> Span {
        self.at.get(&a).map_or(INIT_STABILITY, |&i| self.nodes[usize::from(i)].stability)
    }
    /// Until when a link inside the network is kept.
    pub fn link_until(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<Time> {
        self.edge(from, to).map(|e| e.until)
    }

    fn edge(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<&CachedLink> {
        let (from, to) = (*self.at.get(&from)?, *self.at.get(&to)?);
        self.nodes[usize::from(from)].out.iter().find(|e| e.to == to && e.external == 0)
    }

    /// The index of a node, added if it is missing. The nodes in `keep` may not be replaced.
    fn node(&mut self, a: Ipv4Addr, keep: &Path, now: Time) -> Option<u16> {
        if let Some(&i) = self.at.get(&a) {
            self.nodes[usize::from(i)].touched = now;
            return Some(i);
        }
        let fresh = |out| CachedNode { addr: a, stability: INIT_STABILITY, out, into: 0, touched: now };
        let i = if self.nodes.len() < self.max_nodes {
            self.nodes.push(fresh(Vec::new()));
            self.nodes.len() - 1
        } else {
            // Place 0 is this node. Those without links go first, then the one untouched for longest.
            let victim = (1..self.nodes.len())
                .filter(|&i| !keep.contains(self.nodes[i].addr))
                .min_by_key(|&i| (self.nodes[i].into > 0, self.nodes[i].touched))?;
            self.detach(victim as u16);
            let old = &mut self.nodes[victim];
            self.at.remove(&old.addr);
            *old = fresh(core::mem::take(&mut old.out));
            victim
        };
        self.at.insert(a, i as u16);
        Some(i as u16)
    }

    /// Takes out every edge from and to a node.
    fn detach(&mut self, i: u16) {
        for k in 0..self.nodes.len() {
            self.retain(k, |from, e| from != i && e.to != i);
        }
    }

    /// Keeps the edges out of the node at place `k` for which `keep` holds.
    fn retain(&mut self, k: usize, keep: impl Fn(u16, &CachedLink) -> bool) {
        let mut j = 0;
        while let Some(e) = self.nodes[k].out.get(j).copied() {
            if keep(k as u16, &e) {
                j += 1;
                continue;
            }
            self.nodes[k].out.remove(j);
            self.nodes[usize::from(e.to)].into -= 1;
            self.links -= 1;
        }
    }

    fn sweep(&mut self, now: Time) {
        if now < self.next_sweep {
            return;
        }
        self.next_sweep = now + SWEEP;
        for k in 0..self.nodes.len() {
            self.retain(k, |_, e| e.until > now);
        }
    }

    /// Makes room for one more link by removing the one that expires first.
    fn make_room(&mut self) {
        if self.links < self.max_links {
            return;
        }
        let edges =
            self.nodes.iter().enumerate().flat_map(|(k, n)| n.out.iter().map(move |e| (e.until, k, e)));
        let Some((k, to, external)) =
            edges.min_by_key(|(until, ..)| *until).map(|(_, k, e)| (k, e.to, e.external))
        else {
            return;
        };
        self.retain(k, |_, e| e.to != to || e.external != external);
    }

    /// Adds a link or lets it live longer; true when it is new.
    fn add_link(&mut self, from: u16, to: u16, external: u8, now: Time) -> bool {
        let (a, b) = (usize::from(from), usize::from(to));
        let lifetime = self.nodes[a].stability.min(self.nodes[b].stability).max(MIN_LIFETIME);
        let until = now + lifetime;
        let same = |e: &&mut CachedLink| e.to == to && (e.external == 0) == (external == 0);
        if let Some(e) = self.nodes[a].out.iter_mut().find(same) {
            let dead = e.until <= now;
            if dead {
                (e.used, e.cost) = (None, None);
            }
            let new_place = e.external | external != e.external;
            e.external |= external;
            e.until = e.until.max(until);
            return dead || new_place;
        }
        self.make_room();
        self.nodes[a].out.push(CachedLink { to, external, until, used: None, cost: None });
        self.nodes[b].into += 1;
        self.links += 1;
        true
    }

    fn search(&mut self, s: CacheQuery, judge: &dyn Judge) -> bool {
        self.labels.clear();
        self.labels.resize(self.nodes.len(), Label { rank: WORST, before: 0, external: 0 });
        self.queue.clear();
        let start: Rank = (0, 0, 0, Reverse(Time::NEVER));
        self.labels[0].rank = start;
        self.queue.push(Reverse((start, 0)));
        while let Some(Reverse((rank, at))) = self.queue.pop() {
            if rank > self.labels[usize::from(at)].rank {
                continue;
            }
            if at == s.to {
                return true;
            }
            if rank.2 >= self.max_hops {
                continue;
            }
            let here = &self.nodes[usize::from(at)];
            for e in &here.out {
                let allowed = e.external == 0
                    || s.external
                        && (e.external & FIRST != 0 && at == 0 || e.external & LAST != 0 && e.to == s.to);
                if !allowed || e.until <= s.now {
                    continue;
                }
                let to = self.nodes[usize::from(e.to)].addr;
                let Some(penalty) = judge.penalty(here.addr, to) else { continue };
                let cost = if judge.by_cost() {
                    let own = if at == 0 { judge.measured(to) } else { None };
                    own.or(e.cost).unwrap_or(Cost::UNKNOWN)
                } else {
                    Cost::ONE
                };
                let rank: Rank = (
                    rank.0 + u32::from(penalty),
                    rank.1 + cost.0,
                    rank.2 + 1,
                    Reverse(rank.3.0.min(e.until)),
                );
                let label = &mut self.labels[usize::from(e.to)];
                if rank < label.rank {
                    *label = Label { rank, before: at, external: e.external };
                    self.queue.push(Reverse((rank, e.to)));
                }
            }
        }
        false
    }

    /// The route that the last search found.
    fn found(&self, to: u16, out: &mut Path) {
        let mut back = Path::EMPTY;
        let mut at = to;
        while at != 0 && back.push(self.nodes[usize::from(at)].addr) {
            at = self.labels[usize::from(at)].before;
        }
        back.push(self.nodes[0].addr);
        *out = back.reversed();
        let kind = |a: Ipv4Addr| self.at.get(&a).map_or(0, |&i| self.labels[usize::from(i)].external);
        out.set_first_external(out.next_hop().is_some_and(|a| kind(a) & FIRST != 0));
        out.set_last_external(kind(self.nodes[usize::from(to)].addr) & LAST != 0);
    }

    /// Notes that a route is used for a packet that this node originates or salvages.
    fn used(&mut self, route: &Path, now: Time) {
        for (i, w) in route.nodes().windows(2).enumerate() {
            let (Some(&a), Some(&b)) = (self.at.get(&w[0]), self.at.get(&w[1])) else { continue };
            let external = i == 0 && route.first_external() || i + 2 == route.len() && route.last_external();
            let same = |e: &&mut CachedLink| e.to == b && (e.external != 0) == external;
            let Some(e) = self.nodes[usize::from(a)].out.iter_mut().find(same) else { continue };
            let since = e.used.map_or(Span::ZERO, |t| now.since(t));
            e.used = Some(now);
            e.until = e.until.max(now + USE_EXTENDS);
            for k in [a, b] {
                let n = &mut self.nodes[usize::from(k)];
                n.stability += since * STABILITY_INCREASE;
                n.touched = now;
            }
        }
    }
}

#[cfg(test)]
impl core::hash::Hash for LinkCache {
    fn hash<H: core::hash::Hasher>(&self, to: &mut H) {
        // The rest is an index, scratch space, and bounds that do not change.
        let Self {
            nodes,
            at: _,
            links: _,
            max_nodes: _,
            max_links: _,
            max_hops: _,
            next_sweep,
            labels: _,
            queue: _,
        } = self;
        (nodes, next_sweep).hash(to);
    }
}

impl RouteCache for LinkCache {
    fn boxed(&self) -> Box<dyn RouteCache> {
        Box::new(self.clone())
    }
    fn add(&mut self, route: &Path, _: Provenance, now: Time) -> bool {
        self.sweep(now);
        let Some((&first, rest)) = route.nodes().split_first() else { return false };
        let Some(mut from) = self.node(first, route, now) else { return false };
        let mut new = false;
        for (i, &a) in rest.iter().enumerate() {
            let mut external = 0;
            if i == 0 && route.first_external() {
                external |= FIRST;
            }
            if i + 1 == rest.len() && route.last_external() {
                external |= LAST;
            }
            let Some(to) = self.node(a, route, now) else { break };
            new |= self.add_link(from, to, external, now);
            from = to;
        }
        new
    }

    fn find_by(
        &mut self,
        to: Ipv4Addr,
        what_for: Purpose,
        now: Time,
        judge: &dyn Judge,
        out: &mut Path,
    ) -> bool {
        let Some(&target) = self.at.get(&to).filter(|&&i| i != 0) else { return false };
        let inside = CacheQuery { to: target, external: false, now };
        let found = self.search(inside, judge)
            || what_for != Purpose::Answer && self.search(CacheQuery { external: true, ..inside }, judge);
        if !found {
            return false;
        }
        self.found(target, out);
        if matches!(what_for, Purpose::Send | Purpose::Salvage) {
            self.used(out, now);
        }
        true
    }

    fn remove_link(&mut self, from: Ipv4Addr, to: Ipv4Addr) -> bool {
        let (Some(&a), Some(&b)) = (self.at.get(&from), self.at.get(&to)) else { return false };
        let before = self.links;
        self.retain(a.into(), |_, e| e.to != b);
        let known = self.links < before;
        if known {
            for k in [a, b] {
                let n = &mut self.nodes[usize::from(k)];
                n.stability = n.stability / STABILITY_DIVISOR;
            }
        }
        known
    }

    fn set_cost(&mut self, from: Ipv4Addr, to: Ipv4Addr, cost: Cost) {
        let (Some(&a), Some(&b)) = (self.at.get(&from), self.at.get(&to)) else { return };
        let inside = |e: &&mut CachedLink| e.to == b && e.external == 0;
        if let Some(e) = self.nodes[usize::from(a)].out.iter_mut().find(inside) {
            e.cost = Some(cost);
        }
    }
    fn cost(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<Cost> {
        self.edge(from, to)?.cost
    }

    fn purge(&mut self, to: Option<Ipv4Addr>) {
        let to = to.map(|a| self.at.get(&a).copied());
        for k in 0..self.nodes.len() {
            self.retain(k, |_, e| to.is_some_and(|to| to != Some(e.to)));
        }
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        for n in &self.nodes {
            for e in n.out.iter().filter(|e| e.until > now) {
                let left = e.until.since(now).as_secs_f64();
                let etx = Maybe(e.cost.map(Cost::etx));
                let external = e.external != 0;
                let to = self.nodes[usize::from(e.to)].addr;
                out.row(
                    "link_cache",
                    &[
                        ("from", &n.addr),
                        ("to", &to),
                        ("external", &external),
                        ("left_s", &left),
                        ("etx", &etx),
                    ],
                );
            }
        }
        for n in &self.nodes {
            let s = n.stability.as_secs_f64();
            out.row("stability", &[("node", &n.addr), ("stability_s", &s)]);
        }
    }
}
