//! Nodes that come back without their number: the wait after a reboot, and the answer to a neighbour.

use wayhop_core::{Cx, Span, Time};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::routing_table::seq::{lost, newer};
use crate::routing_table::{HeardRoute, RouteEntry};

impl Engine {
    /// Begins the wait after a reboot. Until it is over all neighbours have lost this node, and made the numbers of what they
    /// reached by it odd; so nobody sends by way of this node what it would send back. It lasts a period longer than neighbours
    /// wait, since what the old life sent last may have been under way.
    pub(crate) fn begin_wait(&mut self, cx: &mut Cx<'_>) {
        let period = Span::from_millis(self.params.periodic_update_ms);
        self.quiet_until = cx.now() + self.params.neighbour_timeout() + period;
        cx.set_timer(Timer::Awake.key(), self.quiet_until);
    }

    /// A neighbour announces itself with an old number: it restarted, and no node accepts the
    /// number. Tell it the known one, so that it continues from there.
    pub(crate) fn answer_old_number(&mut self, now: Time, n: &HeardRoute) {
        // Messages that wait for a random time overtake each other.
        let jitter = Span::from_millis(self.params.broadcast_jitter_ms);
        // One that only does not know that it was lost is behind by one.
        let is_old = |e: &&mut RouteEntry| newer(e.seq, lost(n.seq)) && e.seq_since + jitter < now;
        if self.params.answer_old_number
            && let Some(e) = self.table.get_mut(n.destination).filter(is_old)
        {
            e.tell_soon(now);
        }
    }

    /// The wait is over.
    pub(crate) fn awake(&mut self, cx: &mut Cx<'_>) {
        if !self.is_quiet(cx.now()) {
            self.plan_first_update(cx);
        }
    }
}
