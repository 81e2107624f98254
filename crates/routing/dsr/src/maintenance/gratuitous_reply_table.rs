//! The Gratuitous Route Reply Table (RFC 4728 section 4.4).

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};

use crate::cache::path::Path;
use crate::forwarding::view::RouteView;

/// What a silence is kept for.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
enum Subject {
    /// All packets of a source that a node transmits.
    Pair(Ipv4Addr, Ipv4Addr),
    /// One source route.
    Route(Path),
}

/// The Gratuitous Route Reply Table: about what this node keeps silent, and until when. A ring.
#[derive(Clone, Hash)]
pub(crate) struct GratuitousReplyTable {
    rows: Vec<(Subject, Time)>,
    next: usize,
    size: usize,
    by_route: bool,
}

impl GratuitousReplyTable {
    pub(crate) fn new(size: usize, by_route: bool) -> Self {
        Self { rows: Vec::new(), next: 0, size, by_route }
    }

    /// Whether a reply may be sent now; if so, the next will have to wait for `holdoff`.
    pub(crate) fn admit(&mut self, way: &RouteView, now: Time, holdoff: Span) -> bool {
        let subject = if self.by_route {
            Subject::Route(way.nodes)
        } else {
            Subject::Pair(way.nodes.nodes()[0], way.transmitter())
        };
        let until = now + holdoff;
        if let Some(row) = self.rows.iter_mut().find(|r| r.0 == subject) {
            let free = row.1 <= now;
            if free {
                row.1 = until;
            }
            return free;
        }
        if self.rows.len() < self.size {
            self.rows.push((subject, until));
        } else {
            self.rows[self.next] = (subject, until);
            self.next = (self.next + 1) % self.size;
        }
        true
    }
}
