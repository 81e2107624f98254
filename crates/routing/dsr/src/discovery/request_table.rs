//! The Route Request Table (RFC 4728 section 4.3): requests seen, and the earliest time of this
//! node's next request.

use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Time};

use crate::Params;

/// What is known of requests heard from one initiator.
#[derive(Clone, Hash)]
struct Initiator {
    addr: Ipv4Addr,
    /// The last (identification, target) pairs, a ring.
    seen: Vec<(u16, Ipv4Addr)>,
    next: usize,
    newest: u16,
    used: Time,
}

/// What is known of this node's own requests for one target.
#[derive(Copy, Clone, Debug, Hash)]
pub(crate) struct Target {
    pub(crate) addr: Ipv4Addr,
    /// Discoveries since the last reply.
    pub(crate) attempts: u32,
    /// When the last discovery began; `None` when nothing forbids a new one.
    pub(crate) last: Option<Time>,
    /// Whether the last request was non-propagating and its propagating successor is still to come.
    pub(crate) ring_zero: bool,
    /// When the last propagating request since the last reply was sent.
    pub(crate) propagated: Option<Time>,
    /// When the first of the unanswered discoveries began.
    pub(crate) since: Time,
    used: Time,
}

/// The Route Request Table. Both halves are bounded and forget the entry that was unused for longest.
#[derive(Clone, Hash)]
pub(crate) struct RequestTable {
    initiators: Vec<Initiator>,
    targets: Vec<Target>,
    size: usize,
    ids: usize,
    in_order: bool,
}

impl RequestTable {
    pub(crate) fn new(p: &Params) -> Self {
        Self {
            initiators: Vec::new(),
            targets: Vec::new(),
            size: p.request_table_size.into(),
            ids: p.request_table_ids.into(),
            in_order: p.request_ids_in_order,
        }
    }

    /// Whether a request was recorded before.
    pub(crate) fn seen(&self, initiator: Ipv4Addr, id: u16, target: Ipv4Addr) -> bool {
        self.initiators.iter().find(|i| i.addr == initiator).is_some_and(|i| {
            // Identifications wrap: "not newer" is decided on the circle.
            i.seen.contains(&(id, target)) || (self.in_order && (id.wrapping_sub(i.newest) as i16) <= 0)
        })
    }

    /// Records a request.
    pub(crate) fn record(&mut self, initiator: Ipv4Addr, id: u16, target: Ipv4Addr, now: Time) {
        let at = match self.initiators.iter().position(|i| i.addr == initiator) {
            Some(at) => at,
            None if self.initiators.len() < self.size => {
                let seen = Vec::with_capacity(self.ids);
                self.initiators.push(Initiator { addr: initiator, seen, next: 0, newest: id, used: now });
                self.initiators.len() - 1
            }
            None => {
                let at = (0..self.initiators.len()).min_by_key(|&k| self.initiators[k].used).unwrap_or(0);
                let i = &mut self.initiators[at];
                i.seen.clear();
                (i.addr, i.next, i.newest) = (initiator, 0, id);
                at
            }
        };
        let (ids, i) = (self.ids, &mut self.initiators[at]);
        i.used = now;
        if id.wrapping_sub(i.newest) as i16 > 0 {
            i.newest = id;
        }
        if i.seen.contains(&(id, target)) {
            return;
        }
        if i.seen.len() < ids {
            i.seen.push((id, target));
        } else {
            i.seen[i.next] = (id, target);
            i.next = (i.next + 1) % ids;
        }
    }

    /// The entry of a target of this node's own requests.
    pub(crate) fn target(&mut self, addr: Ipv4Addr, now: Time) -> &mut Target {
        let fresh = Target {
            addr,
            attempts: 0,
            last: None,
            ring_zero: false,
            propagated: None,
            since: now,
            used: now,
        };
        let at = match self.targets.iter().position(|t| t.addr == addr) {
            Some(at) => at,
            None if self.targets.len() < self.size => {
                self.targets.push(fresh);
                self.targets.len() - 1
            }
            None => {
                let at = (0..self.targets.len()).min_by_key(|&k| self.targets[k].used).unwrap_or(0);
                self.targets[at] = fresh;
                at
            }
        };
        let t = &mut self.targets[at];
        t.used = now;
        t
    }

    /// Notes that a target was found. Gives the time its discovery began, if one was going on.
    pub(crate) fn found(&mut self, addr: Ipv4Addr) -> Option<Time> {
        let t = self.targets.iter_mut().find(|t| t.addr == addr)?;
        let since = (t.attempts > 0).then_some(t.since);
        (t.attempts, t.last, t.ring_zero, t.propagated) = (0, None, false, None);
        since
    }

    /// When the last propagating request for a target that has not been found since was sent.
    pub(crate) fn propagated_at(&self, addr: Ipv4Addr) -> Option<Time> {
        self.targets.iter().find(|t| t.addr == addr)?.propagated
    }

    pub(crate) fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        let targets =
            if out.counted("request_targets", self.targets.len()) { &[][..] } else { &self.targets };
        for t in targets {
            let age = t.last.map_or_else(|| "none".to_owned(), |at| now.since(at).as_secs_f64().to_string());
            out.row("request_targets", &[("target", &t.addr), ("attempts", &t.attempts), ("age_s", &age)]);
        }
        if out.counted("request_ids", self.initiators.len()) {
            return;
        }
        for i in &self.initiators {
            let n = i.seen.len();
            out.row("request_ids", &[("initiator", &i.addr), ("ids", &n), ("newest", &i.newest)]);
        }
    }
}
