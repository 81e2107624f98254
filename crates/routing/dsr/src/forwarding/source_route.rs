//! Forwarding along source routes (RFC 4728 section 8.1.5).

use wayhop_core::{Cx, Decision, DropReason, Packet, Span};
use wayhop_wire::ipv4;

use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::flow_state::flow_header;
use crate::forwarding::hop::Hop;
use crate::forwarding::icmp;
use crate::forwarding::view::{View, is_node};

impl Engine {
    /// Sends a packet on to the next node of its source route (section 8.1.5).
    pub(crate) fn forward(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &Reception) {
        let me = cx.addr();
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let Some(sr) = v.source_route else {
            if !self.params.flow_state {
                return cx.drop(p, DropReason::NoRoute);
            }
            if v.is_control() {
                return self.forward_flow_error(cx, p);
            }
            return match flow_header::shed_hop_options(&mut p) {
                Ok(()) => self.forward_in_flow(cx, p, rx),
                Err(_) => cx.drop(p, DropReason::Malformed),
            };
        };
        let (n, left) = (sr.addresses.len(), usize::from(sr.segments_left));
        if left > n {
            if let Some(at) = icmp::segments_left_offset(p.bytes()) {
                self.parameter_problem(cx, &v, at);
            }
            return cx.drop(p, DropReason::Malformed);
        }
        if rx.broadcast || left == 0 || sr.addresses.at(n - left) != Some(me) {
            // Not the node that the source route means.
            return cx.drop(p, DropReason::Malformed);
        }
        let next_hop = sr.addresses.at(n - left + 1).unwrap_or(v.ip.dst());
        if !Self::all_nodes(sr.addresses.iter()) || !is_node(next_hop) {
            return cx.drop(p, DropReason::Malformed);
        }
        let visits = sr.addresses.iter().filter(|&a| a == me).count();
        if visits > 1 || (sr.salvage == 0 && v.ip.src() == me) || sr.addresses.has_duplicates() {
            return cx.drop(p, DropReason::Loop);
        }
        if let Some(way) = v.way().filter(|w| w.transmitter() == rx.from) {
            self.learn_passed(cx, &way, true, v.has_reply);
            if !v.is_control() {
                self.held_replies.cancel(cx, &way);
            }
            self.learn_flow(cx, &v, &way, rx);
        }
        if v.ip.ttl() <= 1 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        let control = self.is_own_kind(&v);
        // The destination is next, behind an External hop: here the packet leaves the mesh.
        let leaves = self.outside.is_some() && left == 1 && sr.last_hop_external && next_hop == v.ip.dst();
        // The octet that holds the low bits of Salvage and Segments Left (section 6.7).
        let at = v.source_route_at + 3;
        p.bytes_mut()[at] -= 1;
        let counted = ipv4::decrement_ttl(p.bytes_mut())
            .and_then(|_| rx.flow.map_or(Ok(()), |s| self.put_flow_header(&mut p, s)));
        if counted.is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        if leaves {
            return self.let_out(cx, p, next_hop);
        }
        let (decision, delay) = (Decision::Forwarded, Span::ZERO);
        self.transmit(cx, p, Hop { to: next_hop, control, decision, hops: left, delay });
    }
}
