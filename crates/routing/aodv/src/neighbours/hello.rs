//! Hello messages (section 6.9).

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{BROADCAST, Cx, Span, Time};
use wayhop_wire::aodv::{Extension, Message, Rrep};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::neighbours::table::{Neighbour, NeighbourTable};
use crate::params::Hello;

impl Engine {
    pub(crate) fn start_hello(&mut self, cx: &mut Cx<'_>) {
        if self.params.hello != Hello::Off {
            // Nodes that start together shall not speak together.
            let first = cx.rng().jitter(self.params.hello_interval());
            cx.set_timer(Timer::Hello.key(), cx.now() + first);
        }
    }

    /// Each `HELLO_INTERVAL`: a Hello, unless another broadcast said the same (section 6.9).
    pub(crate) fn hello_due(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let interval = self.params.hello_interval().max(Span::from_millis(1));
        cx.set_timer(Timer::Hello.key(), now + interval);
        let is_wanted = match self.params.hello {
            Hello::Off => false,
            Hello::WhileActive => self.table.iter().any(|e| e.is_valid() && e.wanted_until() > now),
            Hello::Always | Hello::Periodic => true,
        };
        let spoke = self.params.hello != Hello::Periodic
            && self.neighbours.last_broadcast.is_some_and(|t| t + interval > now);
        if !is_wanted || spoke || self.is_quiet(now) {
            return;
        }
        let lifetime = interval * u64::from(self.params.allowed_hello_loss);
        let lifetime_ms = u32::try_from(lifetime.as_millis()).unwrap_or(u32::MAX);
        let hello = Rrep::new(cx.addr(), self.seq, cx.addr(), lifetime_ms);
        let millis = u32::try_from(interval.as_millis()).unwrap_or(u32::MAX);
        let extension =
            (millis != NeighbourTable::INTERVAL_MS).then_some(Extension::HelloInterval { millis });
        let p = self.new_message(cx, &Message::Rrep(hello), extension, BROADCAST, 1);
        self.broadcast(cx, p, Span::ZERO);
    }

    /// A Hello from a neighbour: a reply to all about itself. Any other reply to all only shows that it is there.
    pub(crate) fn on_hello(
        &mut self,
        cx: &mut Cx<'_>,
        neighbour: Ipv4Addr,
        m: &Rrep,
        interval_ms: Option<u32>,
    ) {
        let now = cx.now();
        if m.destination != neighbour || m.hop_count != 0 {
            return self.heard(neighbour, now);
        }
        self.watch.heard(neighbour);
        let interval_ms = interval_ms.unwrap_or(NeighbourTable::INTERVAL_MS);
        let n = Neighbour { addr: neighbour, interval_ms, heard: now };
        let lost_at = n.lost_at(&self.params);
        let known = &mut self.neighbours.hellos;
        if let Some(same) = known.get_mut(n.addr) {
            *same = n;
        } else {
            if known.len() >= NeighbourTable::LIMIT
                && let Some(oldest) = (0..known.len()).min_by_key(|&i| known.rows()[i].heard)
            {
                // Who was not heard for the longest time makes room.
                known.swap_remove(oldest);
            }
            known.push(n);
        }
        if self.params.hello_routes {
            self.hello_route(cx, neighbour, m.destination_seq, lost_at);
        }
        self.check_after(cx, lost_at);
    }

    /// A Hello is news about the way to its sender, one hop long, by the rules for replies: a number that is entered without
    /// its way would let a longer way pass for a newer one.
    fn hello_route(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr, seq: u32, until: Time) {
        let place = self.place(cx, neighbour);
        let e = self.table.at_mut(place);
        if !e.accepts(seq, 1) {
            if e.contradicts(neighbour, seq) {
                self.ask_next_hop(cx, neighbour);
            }
            return self.direct_route(cx, place, until);
        }
        let is_direct = e.is_valid() && e.next_hop == neighbour;
        let until = if is_direct { until.max(e.expires) } else { until };
        e.learn_seq(seq);
        // Not for packets: a Hello asks for nothing.
        self.make_valid(cx, place, neighbour, 1, until);
        self.search_ended(cx, neighbour);
        self.release(cx, neighbour, Span::ZERO);
    }

    /// Neighbours whose Hellos stayed away are lost (section 6.9). Returns when the next is, if it stays silent.
    pub(crate) fn expire_neighbours(&mut self, cx: &mut Cx<'_>) -> Option<Time> {
        let now = cx.now();
        let next = self.neighbours.next_loss(&self.params);
        if next.is_none_or(|at| at >= now) {
            return next;
        }
        let params = Arc::clone(&self.params);
        let is_lost = |n: &Neighbour| n.lost_at(&params) < now;
        while let Some(i) = self.neighbours.hellos.rows().iter().position(is_lost) {
            let lost = self.neighbours.hellos.swap_remove(i).addr;
            cx.note("neighbour_lost", lost, 0);
            if !self.params.keep_queued {
                cx.recall(lost);
            }
            self.link_broken(cx, lost);
        }
        self.neighbours.next_loss(&self.params)
    }
}
