//! Packets that wait for a route (section 6.3).

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use wayhop_core::{Packet, Span, Time};

/// A first-in, first-out buffer for all destinations together.
#[derive(Clone, Default)]
pub(crate) struct Buffer {
    waiting: VecDeque<Waiting>,
}

#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) packet: Packet,
    pub(crate) destination: Ipv4Addr,
    pub(crate) until: Time,
}

impl Buffer {
    /// Adds a packet; gives back the oldest if there are more than `limit` now.
    pub(crate) fn push(
        &mut self,
        packet: Packet,
        destination: Ipv4Addr,
        now: Time,
        timeout: Span,
        limit: usize,
    ) -> Option<Packet> {
        self.waiting.push_back(Waiting { packet, destination, until: now + timeout });
        self.take_excess(limit)
    }
    /// Takes out the oldest packet if there are more than `limit`.
    pub(crate) fn take_excess(&mut self, limit: usize) -> Option<Packet> {
        (self.waiting.len() > limit).then(|| self.waiting.pop_front().map(|w| w.packet)).flatten()
    }
    /// Takes out the oldest packet for a destination.
    pub(crate) fn take(&mut self, destination: Ipv4Addr) -> Option<Packet> {
        let at = self.waiting.iter().position(|w| w.destination == destination)?;
        self.waiting.remove(at).map(|w| w.packet)
    }
    /// Takes out a packet that has waited too long. (All wait equally long, so the oldest goes first.)
    pub(crate) fn take_expired(&mut self, now: Time) -> Option<Packet> {
        if self.waiting.front()?.until >= now {
            return None;
        }
        self.waiting.pop_front().map(|w| w.packet)
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
    /// Whether anything waits for this destination.
    pub(crate) fn waits_for(&self, destination: Ipv4Addr) -> bool {
        self.waiting.iter().any(|w| w.destination == destination)
    }
    /// The destinations, each once, in the order of their oldest packets.
    pub(crate) fn destinations(&self) -> Vec<Ipv4Addr> {
        let mut all = Vec::new();
        for w in &self.waiting {
            if !all.contains(&w.destination) {
                all.push(w.destination);
            }
        }
        all
    }
    /// When the oldest packet's time is up.
    pub(crate) fn next_expiry(&self) -> Option<Time> {
        self.waiting.front().map(|w| w.until)
    }
    /// What waits, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }
}
