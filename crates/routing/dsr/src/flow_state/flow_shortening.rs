//! Automatic route shortening for packets of flows (RFC 4728 sections 3.5.6, 5.2, 8.6.3 and 8.6.5).
//!
//! A packet of a flow does not list the nodes ahead, so a node that overhears one too early notes it. When
//! the packet arrives along its route, the source learns that the nodes in between can be skipped.

use wayhop_core::{Cx, Packet};
use wayhop_wire::dsr::FlowState;
use wayhop_wire::ipv4;

use crate::cache::path::Path;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::flow_state::shortening_table::FlowPacketKey;
use crate::forwarding::view::RouteView;

fn key(ip: &ipv4::Packet<'_>) -> FlowPacketKey {
    (ip.id(), ip.fragment_offset())
}

impl Engine {
    /// A packet without source route for another node: is it one of a flow that will bring it here later?
    pub(crate) fn overhear_flow(&mut self, cx: &Cx<'_>, ip: &ipv4::Packet<'_>, rx: &Reception) {
        if !self.params.flow_state || !self.params.flow_shortening || rx.broadcast {
            return;
        }
        let ends = (ip.src(), ip.dst());
        let Some(f) = self.flows.get(ends, rx.flow.map(|s| s.flow_id), cx.now()) else { return };
        // The place on the route of the node that it was sent to. Without Hop Count the TTL tells it.
        let due_at = match rx.flow {
            Some(s) => Some(s.hop_count.saturating_add(1)),
            None => ip.ttl().checked_sub(f.ttl).and_then(|ahead| f.hop_count.checked_sub(ahead)),
        };
        let Some(due_at) = due_at.filter(|&n| n > 0 && n < f.hop_count) else { return };
        // A frame from another node than the one before that place proves nothing.
        if f.route.nodes().get(usize::from(due_at) - 1) == Some(&rx.from) {
            self.ars.note((ends, f.id), key(ip), due_at);
        }
    }

    /// A packet of a flow has arrived along its route. If it was overheard before, tell its source
    /// the shorter route. `(route, hop_count, id)` are those of the flow.
    pub(crate) fn shorten_flow(
        &mut self,
        cx: &mut Cx<'_>,
        p: &Packet,
        (route, hop_count, id): (Path, u8, u16),
    ) {
        if !self.params.flow_shortening || !self.params.gratuitous_replies {
            return;
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return };
        let Some(due_at) = self.ars.take(((ip.src(), ip.dst()), id), key(&ip)) else { return };
        if due_at < hop_count {
            // As if its source route had been seen when it was overheard.
            self.shorten(cx, &RouteView { nodes: route, receiver: due_at.into() });
        }
    }

    /// A packet has reached its destination by a flow.
    pub(crate) fn end_of_flow(&mut self, cx: &mut Cx<'_>, p: &Packet, state: Option<FlowState>) {
        if !self.params.flow_state || !self.params.flow_shortening {
            return;
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return };
        let id = state.map(|s| s.flow_id);
        if let Some(f) = self.flows.get((ip.src(), ip.dst()), id, cx.now()) {
            let flow = (f.route, f.hop_count, f.id);
            self.shorten_flow(cx, p, flow);
        }
    }
}
