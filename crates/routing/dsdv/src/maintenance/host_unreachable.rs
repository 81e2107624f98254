//! Notices for transport protocols about packets without a route.

use wayhop_core::{Cx, DropReason, Packet};

use crate::engine::state::Engine;

impl Engine {
    /// Ends a data packet that has no route, with a notice to its source.
    pub(crate) fn end_unreachable(&mut self, cx: &mut Cx<'_>, p: Packet, why: DropReason) {
        self.tell_source(cx, &p);
        cx.drop(p, why);
    }

    /// Sends the notice about a packet, if the protocol is told to and there is a way back.
    pub(crate) fn tell_source(&mut self, cx: &mut Cx<'_>, about: &Packet) {
        if self.params.failure_notices {
            let table = &self.table;
            let next_hop = |to| table.valid(to).map(|e| e.next_hop);
            self.notices.tell_source(cx, about, &mut self.ip_id, next_hop);
        }
    }
}
