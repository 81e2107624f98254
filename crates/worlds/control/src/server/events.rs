//! The pending events of one subscriber.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::event::Event;
use crate::event_kind::EventKind;
use crate::limits::MAX_EVENTS;

/// A subscriber's queue.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) id: Option<u64>,
    pub(super) node: Option<u32>,
    pub(super) kinds: u16,
    queue: VecDeque<QueueEntry>,
    lost: u64,
}

#[derive(Debug)]
enum QueueEntry {
    Event(Arc<str>),
    Lost(u64),
}

impl Subscription {
    pub(super) fn new(id: Option<u64>, node: Option<u32>, kinds: &[EventKind]) -> Self {
        let kinds = if kinds.is_empty() { EventKind::USUAL } else { kinds };
        // What the run itself had no room for concerns every subscriber.
        let kinds = kinds.iter().fold(EventKind::Lost.bit(), |set, k| set | k.bit());
        Self { id, node, kinds, queue: VecDeque::new(), lost: 0 }
    }

    pub(super) fn wants(&self, e: &Event) -> bool {
        self.kinds & e.kind().bit() != 0 && self.node.is_none_or(|n| e.node().is_none_or(|at| at == n))
    }

    /// Puts an event's JSON into the queue, or counts it. The count takes its place in the order of events.
    pub(super) fn push(&mut self, json: &Arc<str>) {
        let room = MAX_EVENTS - self.queue.len().min(MAX_EVENTS);
        if room < 1 + usize::from(self.lost > 0) {
            self.lost += 1;
            return;
        }
        if self.lost > 0 {
            self.queue.push_back(QueueEntry::Lost(std::mem::take(&mut self.lost)));
        }
        self.queue.push_back(QueueEntry::Event(Arc::clone(json)));
    }

    /// Moves lines to `out` until it has this many octets.
    pub(super) fn write(&mut self, out: &mut VecDeque<u8>, limit: usize) {
        while out.len() < limit {
            let json: Arc<str> = match self.queue.pop_front() {
                Some(QueueEntry::Event(json)) => json,
                Some(QueueEntry::Lost(count)) => lost(count),
                None if self.lost > 0 => lost(std::mem::take(&mut self.lost)),
                None => return,
            };
            let id = self.id.map_or_else(|| "null".to_owned(), |id| id.to_string());
            out.extend(b"{\"id\":");
            out.extend(id.as_bytes());
            out.extend(b",\"event\":");
            out.extend(json.as_bytes());
            out.extend(b"}\n");
        }
    }
}

fn lost(count: u64) -> Arc<str> {
    json(&Event::Lost { count }).unwrap_or_default()
}

/// An event's JSON.
pub(super) fn json(e: &Event) -> Option<Arc<str>> {
    serde_json::to_string(e).ok().map(Arc::from)
}
