//! Parameters that change while the node runs.

use std::sync::Arc;

use wayhop_core::parameters::{FromStart, keep_from_start, whole_set};
use wayhop_core::{Cx, Refused};

use crate::engine::state::Engine;
use crate::params::Params;

const FROM_START: [FromStart; 3] = [
    (&["start_jitter_ms"], "it says when the first update leaves"),
    (&["wait_after_reboot"], "it says how the node starts"),
    (&["buffer_timeout_ms"], "packets wait in the order in which their time ends"),
];

impl Engine {
    /// Replaces the parameters, or rejects all of them. The next full update leaves when it was
    /// planned, or sooner if the new period is shorter.
    pub(crate) fn set_parameters(&mut self, cx: &mut Cx<'_>, json: &str) -> Result<(), Refused> {
        let new = whole_set::<Params>(json, &self.params, "DSDV")?;
        new.check().map_err(Refused)?;
        keep_from_start(&*self.params, &new, &FROM_START)?;
        self.params = Arc::new(new);
        self.buffer.bound(self.params.buffer_packets, self.params.buffer_timeout());
        for destination in self.buffer.destinations() {
            self.drop_excess(cx, destination);
        }
        let period = wayhop_core::Span::from_millis(self.params.periodic_update_ms);
        self.plan_full_by(cx, cx.now() + period);
        self.check(cx);
        Ok(())
    }
}
