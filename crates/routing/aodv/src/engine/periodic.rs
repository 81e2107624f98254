//! The periodic check: expiries and repetitions.

use wayhop_core::{Cx, Span, Time};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::routing_table::RouteState;

impl Engine {
    /// Sees to it that a check runs at the first grid point after `due`.
    pub(crate) fn check_after(&mut self, cx: &mut Cx<'_>, due: Time) {
        if due >= self.next_check || due == Time::NEVER {
            return;
        }
        let grid = Span::from_millis(self.params.check_interval_ms.max(1)).as_nanos();
        let at =
            Time::from_nanos((due.max(cx.now()).as_nanos() / grid).saturating_add(1).saturating_mul(grid));
        if at < self.next_check {
            self.next_check = at;
            cx.set_timer(Timer::Check.key(), at);
        }
    }

    /// As [`Engine::check_after`], but a check at `due` itself will do.
    pub(crate) fn check_at(&mut self, cx: &mut Cx<'_>, due: Time) {
        self.check_after(cx, Time::from_nanos(due.as_nanos().saturating_sub(1)));
    }

    /// The periodic check: expired routes, entries and packets, lost neighbours, searches to repeat.
    pub(crate) fn check(&mut self, cx: &mut Cx<'_>) {
        self.next_check = Time::NEVER;
        self.expire_routes(cx);
        self.expire_waiting(cx);
        self.repeat_searches(cx);
        let next_loss = self.expire_neighbours(cx);
        let now = cx.now();
        let routes = self.table.iter().filter(|e| e.state != RouteState::Repair).map(|e| e.expires);
        if let Some(due) = routes.chain(self.buffer.next_expiry()).chain(next_loss).min() {
            self.check_after(cx, due.max(now));
        }
        if let Some(due) = self.next_repeat() {
            self.check_at(cx, due);
        }
    }
}
