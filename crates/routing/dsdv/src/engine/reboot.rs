//! The wait after a reboot.

use wayhop_core::Cx;

use crate::engine::state::Engine;
use crate::engine::timers::Timer;

impl Engine {
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
