//! Links that may carry in one direction only: neighbours are asked before their requests count (RFC 4728 sections 4.6 and
//! 8.2.2).

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Packet, Span, TxSpec};
use wayhop_wire::dsr::RouteRequest;
use wayhop_wire::ipv4;

use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::view::View;

/// How many Route Requests of neighbours with a link taken for unidirectional are kept at once.
const MAX_UNIDIRECTIONAL_REQUESTS: usize = 8;

impl Engine {
    /// A neighbour repeats a request with this node listed right before it: it heard this node (section 4.6).
    pub(crate) fn hears_me(&mut self, v: &View<'_>, r: &RouteRequest<'_>, me: Ipv4Addr, neighbour: Ipv4Addr) {
        let mut backwards = r.addresses.iter().rev();
        let repeated = backwards.next() == Some(neighbour) && backwards.next().unwrap_or(v.ip.src()) == me;
        if repeated {
            self.blacklist.remove(neighbour);
        }
    }

    /// Asks a neighbour whether it hears this node, by a unicast Route Request for itself, and keeps its own request
    /// meanwhile (section 8.2.2).
    pub(crate) fn doubt(&mut self, cx: &mut Cx<'_>, p: Packet, neighbour: Ipv4Addr) {
        let asked = self.unidirectional_requests.iter().any(|d| d.0 == neighbour);
        if asked || self.unidirectional_requests.len() == MAX_UNIDIRECTIONAL_REQUESTS {
            return cx.consume(p);
        }
        let request = self.next_request(neighbour);
        let Some(mut probe) = self.control(cx, BROADCAST, &[request]) else { return cx.consume(p) };
        if ipv4::set_ttl(probe.bytes_mut(), 1).is_err() {
            cx.consume(p);
            return cx.drop(probe, DropReason::Malformed);
        }
        let id = self.tx_id();
        let spec = TxSpec::unicast(neighbour).with_priority(wayhop_core::Priority::Control).reported(id);
        cx.send(probe, spec);
        let until = cx.now() + Span::from_millis(self.params.nonprop_request_timeout_ms.into());
        self.unidirectional_requests.push((neighbour, p, until));
        cx.set_timer(Timer::Doubt.key(), until);
    }

    /// A unicast to or from a neighbour worked.
    pub(crate) fn on_acked(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        if self.blacklist.is_empty() {
            return;
        }
        self.blacklist.remove(neighbour);
        while let Some(at) = self.unidirectional_requests.iter().position(|d| d.0 == neighbour) {
            let (from, p, _) = self.unidirectional_requests.swap_remove(at);
            let rx = Reception { from, broadcast: true, signal_dbm: f32::NAN, overheard: false, flow: None };
            self.on_route_request(cx, p, &rx);
        }
    }

    /// Gives up the requests of neighbours that did not answer.
    pub(crate) fn end_doubts(&mut self, cx: &mut Cx<'_>) {
        while let Some(at) = self.unidirectional_requests.iter().position(|d| d.2 <= cx.now()) {
            let (_, p, _) = self.unidirectional_requests.swap_remove(at);
            cx.consume(p);
        }
        if let Some(at) = self.unidirectional_requests.iter().map(|d| d.2).min() {
            cx.set_timer(Timer::Doubt.key(), at);
        }
    }
}
