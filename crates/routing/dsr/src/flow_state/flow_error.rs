//! Errors about flows: a node that does not know a packet's flow notifies its source (RFC 4728
//! sections 3.5.4 and 8.6.3).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Decision, DropReason, Packet, Span};
use wayhop_wire::dsr::{DsrOption, RouteError, RouteErrorKind};
use wayhop_wire::ipv4;

use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::forwarding::hop::Hop;
use crate::forwarding::view::View;

impl Engine {
    /// A packet's flow is not known here: its source is told, and the packet is salvaged if that can be done.
    pub(crate) fn unknown_flow(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &Reception) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let (source, destination) = (ip.src(), ip.dst());
        let kind = match rx.flow {
            Some(s) => RouteErrorKind::UnknownFlow { destination, flow_id: s.flow_id },
            None => RouteErrorKind::DefaultFlowUnknown { destination },
        };
        let e = RouteError { salvage: 0, source: cx.addr(), destination: source, kind };
        let error = self.control(cx, source, &[DsrOption::RouteError(e)]);
        cx.note("flow_unknown", source, rx.flow.map_or(0, |s| s.flow_id.into()));
        if self.params.error_before_salvage {
            if let Some(e) = error {
                self.send_flow_error(cx, e, source, rx);
            }
            self.save(cx, p, None);
        } else {
            self.save(cx, p, None);
            if let Some(e) = error {
                self.send_flow_error(cx, e, source, rx);
            }
        }
    }

    /// The nodes before this one know the flow, so the error goes back over them without a route of its own.
    fn send_flow_error(&mut self, cx: &mut Cx<'_>, e: Packet, to: Ipv4Addr, rx: &Reception) {
        if !self.params.flow_errors_by_hop || rx.broadcast {
            return self.originate(cx, e, to);
        }
        // How far away the source is, only the nodes between know.
        self.transmit(cx, e, error_hop(rx.from, 1));
    }

    /// Sends a control packet without source route on: an error about a flow goes to the flow's previous hop (section
    /// 8.6.3). Others have no way to go.
    pub(crate) fn forward_flow_error(&mut self, cx: &mut Cx<'_>, mut p: Packet) {
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let named = v.errors().filter(|e| e.destination == v.ip.dst()).find_map(|e| match e.kind {
            RouteErrorKind::UnknownFlow { destination, flow_id } => Some((destination, Some(flow_id))),
            RouteErrorKind::DefaultFlowUnknown { destination } => Some((destination, None)),
            _ => None,
        });
        let (to, ttl) = (v.ip.dst(), v.ip.ttl());
        let previous = named.and_then(|(destination, id)| {
            let f = self.flows.get((to, destination), id, cx.now())?;
            f.previous_hop().map(|previous| error_hop(previous, f.hop_count.into()))
        });
        let Some(hop) = previous else { return cx.drop(p, DropReason::NoRoute) };
        if ttl <= 1 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        match ipv4::decrement_ttl(p.bytes_mut()) {
            Ok(_) => self.transmit(cx, p, hop),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }

    /// An error that went back hop by hop did not reach the next of them. Who began it tries a route of the cache; others
    /// give it up, since the interface needs links that work both ways (section 8.6.3).
    pub(crate) fn on_flow_error_lost(&mut self, cx: &mut Cx<'_>, p: Packet) {
        match ipv4::Packet::new_checked(p.bytes()).map(|ip| (ip.src(), ip.dst())) {
            Ok((source, to)) if source == cx.addr() => self.originate(cx, p, to),
            Ok(_) => cx.drop(p, DropReason::MacRetries),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }
}

/// The hop of an error to the node before this one on the flow; the source is `hops` away.
fn error_hop(to: Ipv4Addr, hops: usize) -> Hop {
    Hop { to, control: true, decision: Decision::Forwarded, hops, delay: Span::ZERO }
}
