//! The routing table (section 6.2).

mod entries;
pub(crate) mod seq;
pub(crate) mod subnet;
mod subnet_routes;

use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;

use wayhop_core::{AddressList, Addressed, Span, Time};

use crate::routing_table::seq::{newer, newest};

/// Whether an entry can be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RouteState {
    /// Packets go this way.
    Valid,
    /// Kept for its sequence number and last distance.
    Invalid,
    /// Its link broke and this node looks for another way (section 6.12).
    Repair,
}

/// What is known of one destination. A node with Hellos has one for each neighbour, so it is small.
#[derive(Clone, Debug)]
pub(crate) struct RouteEntry {
    pub(crate) destination: Ipv4Addr,
    pub(crate) next_hop: Ipv4Addr,
    /// Its sequence number; `None` while unknown.
    pub(crate) seq: Option<u32>,
    /// Length of the prefix of a subnet's route; 0 for a node's.
    pub(crate) prefix: u8,
    pub(crate) state: RouteState,
    /// Distance in hops; of an invalid entry, the last one known.
    pub(crate) hops: u8,
    /// The distance at the last break; `None` if no route to it ever broke.
    pub(crate) last_hops: Option<u8>,
    /// The last TTL used in a search, or the distance that ended the last search; 0 at first.
    pub(crate) last_ttl: u8,
    /// When a valid entry becomes invalid, or an invalid one may be deleted.
    pub(crate) expires: Time,
    /// `None` while nobody searched for it or used it.
    of_use: Option<Box<RouteUsers>>,
}

/// What is known of a destination that somebody wants.
#[derive(Clone, Debug, Default, Hash)]
struct RouteUsers {
    /// Until when packets may come this way: a route that Hellos alone keep alive is no part of an active one.
    wanted_until: Time,
    precursors: Precursors,
    search: RouteSearch,
}

/// Those of an entry that nobody wants.
static NO_USERS: RouteUsers =
    RouteUsers { wanted_until: Time::ZERO, precursors: Precursors(Vec::new()), search: RouteSearch::NONE };

/// The course of the search for a destination.
#[derive(Clone, Debug, Hash)]
pub(crate) struct RouteSearch {
    /// When it began; `None` when there is none.
    pub(crate) since: Option<Time>,
    /// No further request before this.
    pub(crate) wait_until: Time,
    /// Requests sent with the full TTL.
    pub(crate) at_full_ttl: u32,
    /// Requests sent with a TTL of 1.
    pub(crate) nearby: u32,
    /// When the last request left.
    pub(crate) asked: Time,
    /// The last round-trip times per hop; zero where there is none yet.
    latencies: [Span; 3],
    next_latency: u8,
}

impl Default for RouteSearch {
    fn default() -> Self {
        Self::NONE
    }
}

impl RouteSearch {
    const NONE: Self = Self {
        since: None,
        wait_until: Time::ZERO,
        at_full_ttl: 0,
        nearby: 0,
        asked: Time::ZERO,
        latencies: [Span::ZERO; 3],
        next_latency: 0,
    };

    /// Ends the search.
    fn reset(&mut self) {
        self.since = None;
        self.wait_until = Time::ZERO;
        self.at_full_ttl = 0;
        self.nearby = 0;
    }
    pub(crate) fn is_on(&self) -> bool {
        self.since.is_some()
    }
    /// Remembers how long a hop took, there and back.
    pub(crate) fn add_latency(&mut self, per_hop: Span) {
        self.latencies[usize::from(self.next_latency)] = per_hop;
        self.next_latency = (self.next_latency + 1) % self.latencies.len() as u8;
    }
    /// The mean of what was remembered.
    pub(crate) fn latency_per_hop(&self) -> Option<Span> {
        let known = self.latencies.iter().filter(|&&l| l > Span::ZERO);
        let (n, sum) = known.fold((0, Span::ZERO), |(n, s), &l| (n + 1, s + l));
        (n > 0).then(|| sum / n)
    }
}

/// Neighbours that use a route, for Route Errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Precursors(Vec<Ipv4Addr>);

impl Precursors {
    /// Beyond this, one more makes no difference: the Route Error is broadcast.
    const LIMIT: usize = 32;

    fn add(&mut self, n: Ipv4Addr) {
        if self.0.len() < Self::LIMIT && !self.0.contains(&n) {
            self.0.push(n);
        }
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.0.iter().copied()
    }
}

impl Hash for Precursors {
    /// Their order says nothing.
    fn hash<H: Hasher>(&self, to: &mut H) {
        let mut all = self.0.clone();
        all.sort_unstable();
        all.hash(to);
    }
}

impl RouteEntry {
    fn new(destination: Ipv4Addr, expires: Time) -> Self {
        Self {
            destination,
            next_hop: Ipv4Addr::UNSPECIFIED,
            seq: None,
            prefix: 0,
            state: RouteState::Invalid,
            hops: 0,
            last_hops: None,
            last_ttl: 0,
            expires,
            of_use: None,
        }
    }
    fn users(&self) -> &RouteUsers {
        self.of_use.as_deref().unwrap_or(&NO_USERS)
    }
    /// The course of the search for it.
    pub(crate) fn search(&self) -> &RouteSearch {
        &self.users().search
    }
    /// The course of the search for it, to change it.
    pub(crate) fn search_mut(&mut self) -> &mut RouteSearch {
        &mut self.of_use.get_or_insert_default().search
    }
    /// Ends the search for it.
    pub(crate) fn reset_search(&mut self) {
        if let Some(users) = &mut self.of_use {
            users.search.reset();
        }
    }
    /// The neighbours that use it.
    pub(crate) fn precursors(&self) -> &Precursors {
        &self.users().precursors
    }
    /// Until when packets may come this way.
    pub(crate) fn wanted_until(&self) -> Time {
        self.users().wanted_until
    }
    /// Packets may come this way until then.
    pub(crate) fn set_wanted_until(&mut self, until: Time) {
        self.of_use.get_or_insert_default().wanted_until = until;
    }
    /// A neighbour uses it.
    pub(crate) fn add_precursor(&mut self, neighbour: Ipv4Addr) {
        self.of_use.get_or_insert_default().precursors.add(neighbour);
    }
    /// A neighbour uses it no more.
    pub(crate) fn remove_precursor(&mut self, neighbour: Ipv4Addr) {
        if let Some(users) = &mut self.of_use {
            users.precursors.0.retain(|&a| a != neighbour);
        }
    }
    /// Nobody uses it any more.
    pub(crate) fn clear_precursors(&mut self) {
        if let Some(users) = &mut self.of_use {
            users.precursors.0.clear();
        }
    }
    pub(crate) fn is_valid(&self) -> bool {
        self.state == RouteState::Valid
    }
    /// Whether news with this number and distance replace the entry (sections 6.2 and 6.7): they are newer; or as new
    /// and the entry is invalid or longer; or the entry's number is unknown. An entry under repair that kept its number is no worse than
    /// before.
    pub(crate) fn accepts(&self, seq: u32, hops: u8) -> bool {
        match self.seq {
            None => true,
            Some(own) if own == seq => self.state == RouteState::Invalid || hops < self.hops,
            Some(own) => newer(seq, own),
        }
    }
    /// Whether the next hop of a route knows a lower number than the route has, although the route is its word.
    pub(crate) fn contradicts(&self, from: Ipv4Addr, told: u32) -> bool {
        self.is_valid() && self.next_hop == from && self.seq.is_some_and(|own| newer(own, told))
    }
    /// A packet used it: lives until then, if it is valid.
    pub(crate) fn renew(&mut self, until: Time) {
        if self.is_valid() {
            self.expires = until;
            self.set_wanted_until(until);
        }
    }
    /// Its number as somebody reported it. The entry keeps its own if that is newer.
    pub(crate) fn learn_seq(&mut self, seq: u32) {
        self.seq = Some(self.seq.map_or(seq, |own| newest(own, seq)));
    }
    /// One more, if it is known: a broken or expired route (section 6.1).
    pub(crate) fn raise_seq(&mut self) {
        self.seq = self.seq.map(|s| s.wrapping_add(1));
    }
    /// A packet used it: lives at least until then, if it is valid.
    pub(crate) fn used(&mut self, until: Time) {
        self.extend(until);
        self.set_wanted_until(self.wanted_until().max(until));
    }
    /// Lives at least until then, if it is valid.
    pub(crate) fn extend(&mut self, until: Time) {
        if self.is_valid() {
            self.expires = self.expires.max(until);
        }
    }
}

impl Hash for RouteEntry {
    /// An entry that nobody wants any more is as one that nobody ever wanted.
    fn hash<H: Hasher>(&self, to: &mut H) {
        let Self { destination, next_hop, seq, prefix, state, hops, last_hops, last_ttl, .. } = self;
        (destination, next_hop, seq, prefix, state, hops, last_hops, last_ttl).hash(to);
        (self.expires, self.users()).hash(to);
    }
}

impl Addressed for RouteEntry {
    fn address(&self) -> Ipv4Addr {
        self.destination
    }
}

/// All entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoutingTable {
    entries: AddressList<RouteEntry>,
    /// How many entries there are of each prefix length of subnets, if there ever were any, and a bit for each length of
    /// which there is one.
    subnets: Option<Box<[u32; 32]>>,
    lengths: u32,
}

impl RoutingTable {
    pub(crate) fn get(&self, a: Ipv4Addr) -> Option<&RouteEntry> {
        self.entries.get(a)
    }
    pub(crate) fn get_mut(&mut self, a: Ipv4Addr) -> Option<&mut RouteEntry> {
        self.entries.get_mut(a)
    }
    /// Reads what a search for a destination will need.
    pub(crate) fn look_ahead(&self, a: Ipv4Addr) -> u8 {
        self.entries.look_ahead(a)
    }
    /// The valid entry for a destination.
    pub(crate) fn valid(&self, a: Ipv4Addr) -> Option<&RouteEntry> {
        self.get(a).filter(|e| e.is_valid())
    }
    /// Adds an entry for a destination that has none; it may be deleted from `expires` on.
    pub(crate) fn add(&mut self, a: Ipv4Addr, expires: Time) {
        self.entries.push(RouteEntry::new(a, expires));
    }
    /// The place of a destination's entry.
    pub(crate) fn find(&self, a: Ipv4Addr) -> Option<usize> {
        self.entries.find(a)
    }
    pub(crate) fn remove(&mut self, a: Ipv4Addr) {
        self.set_prefix(a, 0);
        if let Some(i) = self.entries.find(a) {
            self.entries.swap_remove(i);
        }
    }
    /// Makes an entry that of a subnet, or of a node (0). Prefix lengths are 31 at most.
    pub(crate) fn set_prefix(&mut self, a: Ipv4Addr, bits: u8) {
        let Some(e) = self.get_mut(a) else { return };
        let old = core::mem::replace(&mut e.prefix, bits & 31);
        if old == bits & 31 {
            return;
        }
        for (length, more) in [(old, false), (bits & 31, true)] {
            if length > 0 {
                let n = &mut self.subnets.get_or_insert_default()[usize::from(length)];
                *n = if more { *n + 1 } else { n.saturating_sub(1) };
                self.lengths = self.lengths & !(1 << length) | (u32::from(*n > 0) << length);
            }
        }
    }
    /// Whether any entry is a subnet's.
    pub(crate) fn has_subnets(&self) -> bool {
        self.lengths != 0
    }
    /// The prefix lengths of subnets, the longest first.
    pub(crate) fn prefix_lengths(&self) -> impl Iterator<Item = u8> {
        let lengths = self.lengths;
        (1..32).rev().filter(move |&bits| lengths >> bits & 1 == 1)
    }
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }
    pub(crate) fn at(&self, i: usize) -> &RouteEntry {
        &self.entries.rows()[i]
    }
    pub(crate) fn at_mut(&mut self, i: usize) -> &mut RouteEntry {
        self.entries.row_mut(i)
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &RouteEntry> {
        self.entries.rows().iter()
    }
    /// Whom to forget when the table is full: an invalid entry nobody is looking for, else any, and of these the one
    /// that ends first.
    pub(crate) fn least_useful(&self) -> Option<Ipv4Addr> {
        let rank = |e: &&RouteEntry| (e.search().is_on(), e.state != RouteState::Invalid, e.expires);
        self.iter().min_by_key(rank).map(|e| e.destination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stays_small() {
        assert_eq!(size_of::<RouteEntry>(), 40);
    }
}
