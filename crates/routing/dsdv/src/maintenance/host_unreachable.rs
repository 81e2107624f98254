//! Notices for transport protocols about packets without a route.

use wayhop_core::{Cx, DropReason, Packet};

use crate::engine::state::Engine;

impl Engine {
    /// Ends a data packet that has no route, with a notice to its source if the protocol is told to and there is a way back.
    pub(crate) fn end_unreachable(&mut self, cx: &mut Cx<'_>, p: Packet, why: DropReason) {
        if self.params.failure_notices {
            let next_hop = |to| self.table.valid(to).map(|e| e.next_hop);
            self.notices.tell_source(cx, &p, &mut self.ip_id, next_hop);
        }
        cx.drop(p, why);
    }
}
