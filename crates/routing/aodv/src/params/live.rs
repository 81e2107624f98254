//! Parameters that change while the node runs.

use std::sync::Arc;

use wayhop_core::parameters::{FromStart, keep_from_start, whole_set};
use wayhop_core::{Cx, DropReason, Refused, Span};

use crate::engine::state::Engine;
use crate::params::{Hello, Params};

const FROM_START: [FromStart; 5] = [
    (&["own_number"], "the node's sequence number is counted by it from the start"),
    (&["wait_after_reboot"], "it says how the node starts"),
    (&["first_number"], "the node's numbers begin with it"),
    (&["passive_ack"], "the host asks at the start which packets the protocol wants to overhear"),
    (&["buffer_timeout_ms"], "packets wait in the order in which their time ends"),
];

impl Engine {
    /// Replaces the parameters, or rejects all of them.
    pub(crate) fn set_parameters(&mut self, cx: &mut Cx<'_>, json: &str) -> Result<(), Refused> {
        let new = whole_set::<Params>(json, &self.params, "AODV")?;
        new.check().map_err(Refused)?;
        keep_from_start(&*self.params, &new, &FROM_START)?;
        let was_silent = self.params.hello == Hello::Off;
        self.params = Arc::new(new);
        self.buffer.bound(self.params.buffer_packets, Span::from_millis(self.params.buffer_timeout_ms));
        while let Some(p) = self.buffer.take_excess() {
            cx.drop(p, DropReason::BufferFull);
        }
        if was_silent {
            self.start_hello(cx);
        }
        Ok(())
    }
}
