//! Requests heard (section 6.5): the first copy counts.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;

use rustc_hash::FxHashSet;
use wayhop_core::{Span, Time};

/// (originator, id) of requests, each for a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestIds {
    set: FxHashSet<(Ipv4Addr, u32)>,
    order: VecDeque<(Time, Ipv4Addr, u32)>,
}

impl RequestIds {
    /// Remembers a request until `now + memory`; false if it was there already. The oldest makes room.
    pub(crate) fn first(&mut self, key: (Ipv4Addr, u32), now: Time, memory: Span, limit: usize) -> bool {
        while self.order.front().is_some_and(|(until, ..)| *until <= now) {
            self.forget_oldest();
        }
        if !self.set.insert(key) {
            return false;
        }
        if self.order.len() >= limit {
            self.forget_oldest();
        }
        self.order.push_back((now + memory, key.0, key.1));
        true
    }
    fn forget_oldest(&mut self) {
        if let Some((_, originator, id)) = self.order.pop_front() {
            self.set.remove(&(originator, id));
        }
    }
    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }
}

impl Hash for RequestIds {
    fn hash<H: Hasher>(&self, to: &mut H) {
        let mut all: Vec<_> = self.order.iter().collect();
        all.sort_unstable();
        all.hash(to);
    }
}
