//! RREP-ACK and the blacklist: links that carry in one direction only (section 6.8).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Span};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::neighbours::table::NeighbourTable;

impl Engine {
    /// Starts the wait for an RREP-ACK.
    pub(crate) fn await_ack(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        if self.neighbours.acks.len() < NeighbourTable::LIMIT {
            self.neighbours.acks.push((neighbour, cx.now() + self.params.next_hop_wait()));
        }
        self.set_ack_timer(cx);
    }

    /// Replies that nobody acknowledged.
    pub(crate) fn acks_due(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        while let Some(i) = self.neighbours.acks.iter().position(|&(_, until)| until <= now) {
            let (neighbour, _) = self.neighbours.acks.remove(i);
            self.reply_unanswered(cx, neighbour);
        }
        self.set_ack_timer(cx);
    }

    fn set_ack_timer(&mut self, cx: &mut Cx<'_>) {
        if let Some(first) = self.neighbours.acks.iter().map(|&(_, until)| until).min() {
            cx.set_timer(Timer::Ack.key(), first);
        }
    }

    /// A reply did not get through: the link may be one-way (section 6.8).
    pub(crate) fn reply_unanswered(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        if !self.params.blacklist {
            return;
        }
        let now = cx.now();
        let until = now + Span::from_millis(self.params.blacklist_timeout_ms);
        let list = &mut self.neighbours.blacklist;
        list.retain(|&(a, u)| a != neighbour && u > now);
        if list.len() < NeighbourTable::LIMIT {
            list.push((neighbour, until));
            cx.note("blacklisted", neighbour, self.params.blacklist_timeout_ms);
        }
    }
}
