//! Automatic route shortening (RFC 4728 sections 3.4.3, 4.4 and 8.1.5).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Span, Time};
use wayhop_wire::dsr::{AddrList, DsrOption, RouteReply};

use crate::cache::Learned;
use crate::engine::Engine;
use crate::path::Path;
use crate::view::Way;

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
pub(crate) struct GratTable {
    rows: Vec<(Subject, Time)>,
    next: usize,
    size: usize,
    by_route: bool,
}

impl GratTable {
    pub(crate) fn new(size: usize, by_route: bool) -> Self {
        Self { rows: Vec::new(), next: 0, size, by_route }
    }

    /// Whether a reply may be sent now; if so, the next will have to wait for `holdoff`.
    fn admit(&mut self, way: &Way, now: Time, holdoff: Span) -> bool {
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

impl Engine {
    /// Looks at an overheard data packet whose receiver is somebody else: if this node comes later on its way, the node
    /// that chose the way is told of the shorter one.
    pub(crate) fn shorten(&mut self, cx: &mut Cx<'_>, way: &Way) {
        let me = cx.addr();
        let Some(ahead) = way.ahead().iter().position(|&a| a == me).filter(|&at| at > 0) else { return };
        // The skipped hops must be links of this network, and so must the ones that lead back.
        if way.nodes.first_external() {
            return;
        }
        let holdoff = Span::from_millis(self.params.grat_reply_holdoff_ms.into());
        if !self.grat.admit(way, cx.now(), holdoff) {
            return;
        }
        let mut shorter = Path::from_nodes(way.passed().iter().chain(&way.ahead()[ahead..]).copied());
        shorter.set_last_external(way.nodes.last_external());
        let back = Path::from_nodes([me].into_iter().chain(way.passed().iter().rev().copied()));
        let Some(to) = back.last() else { return };
        self.learn(cx, &back, Learned::Asked);
        let option = DsrOption::RouteReply(RouteReply {
            last_hop_external: shorter.last_external(),
            addresses: AddrList::from(&shorter.nodes()[1..]),
        });
        if let Some(p) = self.control(cx, to, &[option]) {
            cx.note("gratuitous_reply", to, shorter.hops() as u64);
            self.send_by(cx, p, &back, 0, Span::ZERO);
        }
    }
}
