//! The routing table, which is the advertising table too.

pub(crate) mod seq;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};
use wayhop_wire::dsdv::{self, UNREACHABLE};

use crate::routing_table::seq::newer;

/// The distance to what cannot be reached.
pub(crate) const INFINITE: u8 = UNREACHABLE as u8;

/// What is known of one destination.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RouteEntry {
    pub(crate) next_hop: Ipv4Addr,
    /// Distance in hops; [`INFINITE`] without a way.
    pub(crate) hops: u8,
    pub(crate) seq: u32,
    /// Not in any update before this.
    pub(crate) advertise_at: Time,
    /// The next update tells it, because its number is new.
    pub(crate) tell_seq: bool,
    /// Each update up to the next full one tells it, because its distance changed.
    pub(crate) tell_hops: bool,
    /// When it asks for a triggered update.
    pub(crate) trigger_at: Option<Time>,
    /// The distance in the last update; 0 before the first.
    pub(crate) told_hops: u8,
    /// When it last changed by news.
    pub(crate) changed: Time,
    /// When its number was first heard.
    pub(crate) seq_since: Time,
    /// The settling time: how long after a number's first news the best ones come.
    pub(crate) settling: Span,
    /// Of a neighbour: when it is lost unless it is heard again.
    pub(crate) silent_at: Option<Time>,
    /// Of a neighbour: it sends Hellos.
    pub(crate) sends_hellos: bool,
    /// Of a destination without a way: since when.
    pub(crate) lost_since: Time,
}

/// An entry of an update, understood: the distance by way of its sender.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeardRoute {
    pub(crate) destination: Ipv4Addr,
    /// [`INFINITE`] without a way.
    pub(crate) hops: u8,
    pub(crate) seq: u32,
}

impl HeardRoute {
    /// What an entry says, unless it contradicts itself: a distance of 0 hops to the receiver's neighbour, or an infinite one
    /// under a number that only the destination gives.
    pub(crate) fn of(e: &dsdv::UpdateEntry) -> Option<Self> {
        let hops = if e.is_unreachable() { INFINITE } else { e.hop_count as u8 };
        let sound = hops != 0 && (hops < INFINITE || e.seq % 2 == 1);
        sound.then_some(Self { destination: e.destination, hops, seq: e.seq })
    }
    pub(crate) fn is_loss(&self) -> bool {
        self.hops == INFINITE
    }
}

/// What news are to what is known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Of a destination that was not known.
    First,
    /// A newer number: always accepted, from any neighbour.
    Newer,
    /// The same number and a shorter way.
    Shorter,
    /// An older loss of what can be reached: the sender is to be told.
    StaleLoss,
    /// Nothing new.
    Nothing,
}

impl RouteEntry {
    pub(crate) fn is_valid(&self) -> bool {
        self.hops < INFINITE
    }
    pub(crate) fn is_neighbour(&self) -> bool {
        self.silent_at.is_some()
    }
    /// Whether the next update tells it.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        (self.tell_seq || self.tell_hops) && self.advertise_at <= now
    }
    fn judge(&self, n: &HeardRoute) -> Judgement {
        if newer(n.seq, self.seq) {
            Judgement::Newer
        } else if n.seq == self.seq {
            if n.hops < self.hops { Judgement::Shorter } else { Judgement::Nothing }
        } else if n.is_loss() && self.is_valid() {
            Judgement::StaleLoss
        } else {
            Judgement::Nothing
        }
    }
}

/// All entries but the node's own, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoutingTable(BTreeMap<Ipv4Addr, RouteEntry>);

impl RoutingTable {
    pub(crate) fn get(&self, a: Ipv4Addr) -> Option<&RouteEntry> {
        self.0.get(&a)
    }
    pub(crate) fn get_mut(&mut self, a: Ipv4Addr) -> Option<&mut RouteEntry> {
        self.0.get_mut(&a)
    }
    /// The entry of a destination that can be reached.
    pub(crate) fn valid(&self, a: Ipv4Addr) -> Option<&RouteEntry> {
        self.get(a).filter(|e| e.is_valid())
    }
    pub(crate) fn judge(&self, n: &HeardRoute) -> Judgement {
        self.get(n.destination).map_or(Judgement::First, |e| e.judge(n))
    }
    pub(crate) fn insert(&mut self, a: Ipv4Addr, e: RouteEntry) {
        self.0.insert(a, e);
    }
    pub(crate) fn remove(&mut self, a: Ipv4Addr) {
        self.0.remove(&a);
    }
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &RouteEntry)> {
        self.0.iter().map(|(&a, e)| (a, e))
    }
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Ipv4Addr, &mut RouteEntry)> {
        self.0.iter_mut().map(|(&a, e)| (a, e))
    }
    /// Whom to forget when the table is full: of what cannot be reached and is no neighbour, what was lost first.
    pub(crate) fn least_useful(&self) -> Option<Ipv4Addr> {
        let lost = self.iter().filter(|(_, e)| !e.is_valid() && !e.is_neighbour());
        lost.min_by_key(|(_, e)| e.lost_since).map(|(a, _)| a)
    }
    /// When the first entry asks for a triggered update.
    pub(crate) fn next_trigger(&self) -> Option<Time> {
        self.iter().filter_map(|(_, e)| e.trigger_at).min()
    }
}
