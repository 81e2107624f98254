//! The check: silent neighbours, forgotten entries, packets that have waited too long.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Time};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;

impl Engine {
    /// Sees to it that a check runs at this time.
    pub(crate) fn check_at(&mut self, cx: &mut Cx<'_>, due: Time) {
        if due < self.next_check {
            self.next_check = due;
            cx.set_timer(Timer::Check.key(), due);
        }
    }

    /// Neighbours that have been silent for too long, destinations lost long ago, packets that have waited too long.
    pub(crate) fn check(&mut self, cx: &mut Cx<'_>) {
        self.next_check = Time::NEVER;
        let now = cx.now();
        let is_silent = |at: Option<Time>| at.is_some_and(|at| at <= now);
        let silent = self.table.iter().filter(|(_, e)| is_silent(e.silent_at)).map(|(a, _)| a);
        for neighbour in silent.collect::<Vec<_>>() {
            cx.note("neighbour_lost", neighbour, 0);
            self.link_broken(cx, neighbour);
        }
        let keep = self.params.delete_period();
        let forgotten = |e: &crate::routing_table::RouteEntry| {
            !e.is_valid() && !e.is_neighbour() && e.lost_since + keep <= now
        };
        let old: Vec<Ipv4Addr> = self.table.iter().filter(|(_, e)| forgotten(e)).map(|(a, _)| a).collect();
        for a in old {
            self.table.remove(a);
        }
        while let Some(p) = self.buffer.take_expired(now) {
            self.end_unreachable(cx, p, DropReason::BufferTimeout);
        }
        if let Some(next) = self.next_due() {
            self.check_at(cx, next);
        }
    }

    fn next_due(&self) -> Option<Time> {
        let keep = self.params.delete_period();
        let of = |e: &crate::routing_table::RouteEntry| match e.silent_at {
            Some(at) => at,
            None if e.is_valid() => Time::NEVER,
            None => e.lost_since + keep,
        };
        self.table.iter().map(|(_, e)| of(e)).chain(self.buffer.next_expiry()).min()
    }
}
