//! Making updates: full ones from time to time, and incremental ones when something happens.
//!
//! A full update contains all routes; an incremental one those that changed since the last full
//! one. New distances are repeated in each incremental update until the next full one, in case one
//! is lost; new numbers are sent once.

use wayhop_core::{Cx, Span, Time};
use wayhop_wire::dsdv;

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::output::jitter;
use crate::params::FullUpdate;
use crate::routing_table::RouteEntry;

/// More changes than this may make a full update of an incremental one, with [`FullUpdate::ThirdChanged`].
const FEW: usize = 3;

/// What became of an update.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum UpdateOutcome {
    Full,
    Incremental,
    /// There was nothing to tell.
    None,
}

impl Engine {
    /// The first update after the start.
    pub(crate) fn plan_first_update(&mut self, cx: &mut Cx<'_>) {
        let wait = jitter(cx, self.params.start_jitter_ms);
        self.plan_full(cx, cx.now() + wait);
    }

    /// The full update that is due.
    pub(crate) fn full_due(&mut self, cx: &mut Cx<'_>) {
        self.make_update(cx, true);
        self.last_update = Some(cx.now());
        self.plan_next_full(cx);
        self.begin_hellos(cx);
    }

    fn plan_next_full(&mut self, cx: &mut Cx<'_>) {
        let early = jitter(cx, self.params.periodic_jitter_ms);
        // A period of 0 would be an endless loop of updates; `Params::check` refuses it.
        let period = Span::from_millis(self.params.periodic_update_ms.max(1)).saturating_sub(early);
        let wait =
            if self.exits.take_repeat() { period.min(self.params.min_triggered_interval()) } else { period };
        self.plan_full(cx, cx.now() + wait.max(Span::from_millis(1)));
    }

    /// Sees to it that a full update leaves no later than this.
    pub(crate) fn plan_full_by(&mut self, cx: &mut Cx<'_>, at: Time) {
        if at < self.next_full && !self.is_quiet(cx.now()) {
            self.plan_full(cx, at);
        }
    }

    fn plan_full(&mut self, cx: &mut Cx<'_>, at: Time) {
        self.next_full = at;
        cx.set_timer(Timer::Full.key(), at);
    }

    /// When a triggered update may leave.
    pub(crate) fn earliest_trigger(&self, now: Time) -> Time {
        self.last_update.map_or(now, |last| (last + self.params.min_triggered_interval()).max(now))
    }

    /// Sets the timer for the first route that asks for an update.
    pub(crate) fn set_trigger_timer(&mut self, cx: &mut Cx<'_>) {
        let next = self.table.next_trigger().unwrap_or(Time::NEVER);
        if next == self.next_trigger {
            return;
        }
        self.next_trigger = next;
        if next == Time::NEVER {
            cx.clear_timer(Timer::Trigger.key());
        } else {
            cx.set_timer(Timer::Trigger.key(), next);
        }
    }

    /// Routes ask for an update. What one update tells serves all; where it comes too soon after the last, one of them goes on
    /// asking.
    pub(crate) fn triggers_due(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        self.next_trigger = Time::NEVER;
        if self.next_full <= now {
            // The full update of the same moment tells it all.
            self.full_due(cx);
        }
        while let Some(destination) = self.first_trigger(now) {
            let earliest = self.earliest_trigger(now);
            let asks_on = now < earliest;
            if asks_on {
                self.clear_triggers(|at| at < earliest);
            } else {
                match self.make_update(cx, false) {
                    UpdateOutcome::Full => {
                        self.last_update = Some(now);
                        self.plan_next_full(cx);
                    }
                    UpdateOutcome::Incremental => self.last_update = Some(now),
                    UpdateOutcome::None => {}
                }
                if !self.params.redundant_triggered {
                    self.clear_triggers(|at| at <= now);
                }
            }
            if let Some(e) = self.table.get_mut(destination) {
                e.trigger_at = asks_on.then_some(earliest);
            }
        }
        self.set_trigger_timer(cx);
    }

    /// The route that asked first, of those that ask now.
    fn first_trigger(&self, now: Time) -> Option<std::net::Ipv4Addr> {
        let due =
            self.table.iter().filter_map(|(a, e)| e.trigger_at.filter(|&at| at <= now).map(|at| (at, a)));
        due.min().map(|(_, a)| a)
    }

    fn clear_triggers(&mut self, which: impl Fn(Time) -> bool) {
        for (_, e) in self.table.iter_mut() {
            e.trigger_at = e.trigger_at.filter(|&at| !which(at));
        }
    }

    /// Sends a full update, or what changed; that becomes a full one where [`FullUpdate`] says so.
    fn make_update(&mut self, cx: &mut Cx<'_>, full: bool) -> UpdateOutcome {
        let now = cx.now();
        let changed = self.table.iter().filter(|(_, e)| e.is_due(now)).count();
        let full = full || self.is_too_much(changed);
        if !full && changed == 0 {
            return UpdateOutcome::None;
        }
        if full {
            // Each full update is news of this node, if of nobody else.
            self.seq = self.seq.wrapping_add(2);
        }
        self.entries.clear();
        if full || self.params.tell_own {
            self.tell_self(cx.addr());
        }
        for (destination, e) in self.table.iter_mut() {
            if if full { e.advertise_at <= now } else { e.is_due(now) } {
                self.entries.push(e.told(destination));
                e.tell_seq = false;
                e.tell_hops &= !full;
            }
        }
        let name = if full { "full_update" } else { "incremental_update" };
        cx.note(name, cx.addr(), self.entries.len() as u64);
        self.send_entries(cx);
        if full { UpdateOutcome::Full } else { UpdateOutcome::Incremental }
    }

    fn is_too_much(&self, changed: usize) -> bool {
        match self.params.full_update {
            FullUpdate::Overflow => {
                changed + usize::from(self.params.tell_own) > self.params.entries_per_packet()
            }
            // The table with this node's own entry.
            FullUpdate::ThirdChanged => changed > FEW && changed * 3 > self.table.len() + 1,
        }
    }
}

impl RouteEntry {
    /// What an update says of it: the distance by way of this node.
    fn told(&mut self, destination: std::net::Ipv4Addr) -> dsdv::UpdateEntry {
        self.told_hops = self.hops;
        let hop_count = if self.is_valid() { u32::from(self.hops) + 1 } else { dsdv::UNREACHABLE };
        dsdv::UpdateEntry { destination, hop_count, seq: self.seq }
    }
}
