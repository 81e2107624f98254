//! Changing parameters while the node runs.

use std::sync::Arc;

use wayhop_core::parameters::{FromStart, keep_from_start, whole_set};
use wayhop_core::{Cx, DropReason, Refused, Span};

use crate::engine::state::Engine;
use crate::params::{Hello, Params};

const FROM_START: [FromStart; 5] = [
    (&["own_number"], "the sequence number depends on it from the start"),
    (&["wait_after_reboot"], "it only applies when the node starts"),
    (&["first_number"], "it only applies when the node starts"),
    (&["passive_ack"], "the packets that the protocol overhears are fixed when the node starts"),
    (&["buffer_timeout_ms"], "waiting packets are ordered by their timeouts"),
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
