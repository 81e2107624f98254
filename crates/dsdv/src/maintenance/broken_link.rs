//! Broken links, silent neighbours, forgotten entries, the wait after a reboot.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Time};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;

impl Engine {
    /// A link is broken: every route over it is lost, and that is told at once.
    pub(crate) fn link_broken(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        let now = cx.now();
        let over = |e: &crate::routing_table::Entry| e.is_valid() && e.next_hop == neighbour;
        let lost: Vec<Ipv4Addr> = self.table.iter().filter(|(_, e)| over(e)).map(|(a, _)| a).collect();
        for &destination in &lost {
            self.lose(cx, destination);
            if let Some(e) = self.table.get_mut(destination) {
                e.tell_seq = true;
                e.tell_soon(now);
            }
        }
        if let Some(e) = self.table.get_mut(neighbour) {
            e.silent_at = None;
            e.sends_hellos = false;
        }
        cx.note("link_broken", neighbour, lost.len() as u64);
        self.set_trigger_timer(cx);
    }

    /// Ends a route under an odd number, and takes it from the host.
    fn lose(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let now = cx.now();
        let Some(e) = self.table.get_mut(destination).filter(|e| e.is_valid()) else { return };
        cx.note("route_broken", destination, e.hops.into());
        e.lose(now);
        self.publish(cx, destination);
        self.check_at(cx, now + self.params.delete_period());
    }

    /// Ends the route to a destination, or all. Their numbers stay, for without them routes could loop; the next update tells.
    pub(crate) fn purge(&mut self, cx: &mut Cx<'_>, destination: Option<Ipv4Addr>) {
        let meant = |a: Ipv4Addr| destination.is_none_or(|d| d == a);
        let all: Vec<Ipv4Addr> = self.table.iter().map(|(a, _)| a).filter(|&a| meant(a)).collect();
        for a in all {
            self.lose(cx, a);
        }
    }

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
        let forgotten = |e: &crate::routing_table::Entry| {
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
        let of = |e: &crate::routing_table::Entry| match e.silent_at {
            Some(at) => at,
            None if e.is_valid() => Time::NEVER,
            None => e.lost_since + keep,
        };
        self.table.iter().map(|(_, e)| of(e)).chain(self.buffer.next_expiry()).min()
    }

    /// Begins the wait after a reboot. Until it is over all neighbours have lost this node, and made the numbers of what they
    /// reached by it odd; so nobody sends by way of this node what it would send back. It lasts a period longer than neighbours
    /// wait, since what the old life sent last may have been under way.
    pub(crate) fn begin_wait(&mut self, cx: &mut Cx<'_>) {
        let period = wayhop_core::Span::from_millis(self.params.periodic_update_ms);
        self.quiet_until = cx.now() + self.params.neighbour_timeout() + period;
        cx.set_timer(Timer::Awake.key(), self.quiet_until);
    }

    /// The wait is over.
    pub(crate) fn awake(&mut self, cx: &mut Cx<'_>) {
        if !self.is_quiet(cx.now()) {
            self.plan_first_update(cx);
        }
    }
}
