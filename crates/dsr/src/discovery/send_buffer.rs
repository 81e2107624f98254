//! The Send Buffer (RFC 4728 section 4.2): packets that wait for a route.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Packet, Span, Time};

/// A packet that waits.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) packet: Packet,
    /// Where it goes.
    pub(crate) to: Ipv4Addr,
    /// How often it was salvaged; 0 for packets of this node.
    pub(crate) salvage: u8,
    /// Whether this node made it.
    pub(crate) own: bool,
    /// Since when it waits.
    pub(crate) since: Time,
}

/// A queue of bounded length and bounded waiting time.
#[derive(Clone)]
pub(crate) struct SendBuffer {
    queue: VecDeque<Held>,
    size: usize,
    timeout: Span,
}

impl SendBuffer {
    pub(crate) fn new(size: usize, timeout: Span) -> Self {
        Self { queue: VecDeque::new(), size, timeout }
    }
    /// Appends; gives back the oldest when there was no room.
    pub(crate) fn push(&mut self, h: Held) -> Option<Held> {
        let evicted = if self.queue.len() >= self.size { self.queue.pop_front() } else { None };
        self.queue.push_back(h);
        evicted
    }
    /// Bounds it anew, for the packets that wait already, too.
    pub(crate) fn bound(&mut self, size: usize, timeout: Span) {
        (self.size, self.timeout) = (size, timeout);
    }
    /// Takes the oldest packet if there are more than there is room for.
    pub(crate) fn take_excess(&mut self) -> Option<Held> {
        (self.queue.len() > self.size).then(|| self.queue.pop_front()).flatten()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
    pub(crate) fn get(&self, at: usize) -> Option<&Held> {
        self.queue.get(at)
    }
    pub(crate) fn take(&mut self, at: usize) -> Option<Held> {
        self.queue.remove(at)
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Held> {
        self.queue.iter()
    }
    /// Takes the oldest packet if it waited too long.
    pub(crate) fn take_expired(&mut self, now: Time) -> Option<Held> {
        // Packets wait in the order in which they came.
        let expired = self.queue.front().is_some_and(|h| now.since(h.since) >= self.timeout);
        if expired { self.queue.pop_front() } else { None }
    }
    /// When the oldest packet will have waited too long.
    pub(crate) fn next_expiry(&self) -> Option<Time> {
        self.queue.front().map(|h| h.since + self.timeout)
    }
    pub(crate) fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        for h in &self.queue {
            let waited = now.since(h.since).as_secs_f64();
            out.row("send_buffer", &[("to", &h.to), ("waited_s", &waited), ("own", &h.own)]);
            out.held("send_buffer", &h.packet);
        }
    }
}
