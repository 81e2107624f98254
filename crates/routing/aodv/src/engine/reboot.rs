//! The wait after a reboot (section 6.13).

use wayhop_core::{Cx, Span};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;

impl Engine {
    /// Starts or restarts the wait after a reboot (section 6.13).
    pub(crate) fn begin_reboot_wait(&mut self, cx: &mut Cx<'_>) {
        self.quiet_until = cx.now() + self.params.delete_period();
        cx.set_timer(Timer::Awake.key(), self.quiet_until);
    }

    /// The wait is over: what was learned meanwhile carries packets.
    pub(crate) fn awake(&mut self, cx: &mut Cx<'_>) {
        if self.is_quiet(cx.now()) {
            return;
        }
        for i in 0..self.table.len() {
            let e = self.table.at(i);
            let (destination, is_node) = (e.destination, e.prefix == 0);
            if is_node && e.is_valid() {
                self.publish(cx, destination, 0);
            }
        }
        for destination in self.buffer.destinations() {
            self.release(cx, destination, Span::ZERO);
        }
    }
}
