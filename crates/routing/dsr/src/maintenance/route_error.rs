//! Route Errors: originating, reading and spreading them (RFC 4728 sections 8.3.4, 8.3.5 and 3.4.4).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, NodeId, Packet, Span, Time};
use wayhop_wire::dsr::{DsrOption, RouteError, RouteErrorKind};
use wayhop_wire::ipv4;

use crate::cache::Purpose;
use crate::cache::path::Path;
use crate::engine::state::Engine;
use crate::forwarding::view::{RouteView, View, is_node};
use crate::maintenance::broken::ToldError;
use crate::neighbours::watchdog;

/// The sum of one and the salvage count over the Route Errors of a packet may not pass this (section 8.3.4).
const MAX_TOTAL_SALVAGE: u32 = 15;
/// The most options that travel on behind a new Route Error.
const MAX_NESTED: usize = 4;

impl Engine {
    /// A Route Error. `received` says that the packet came to this node's interface.
    pub(crate) fn on_route_error(
        &mut self,
        cx: &mut Cx<'_>,
        v: &View<'_>,
        e: &RouteError<'_>,
        received: bool,
    ) {
        let me = cx.addr();
        let told = received && e.destination == me && v.destination() == me;
        match e.kind {
            RouteErrorKind::NodeUnreachable(to) => {
                self.cache.remove_link(e.source, to);
                self.links.failed(cx, e.source, to);
                self.rate_lost(to);
                self.flows.remove_link(me, e.source, to);
                if told {
                    cx.note("error_received", e.source, u64::from(to.to_bits()));
                }
                if told || self.takes_for_its_own(me, v) {
                    self.told = Some(ToldError { from: e.source, to, at: cx.now() });
                }
            }
            RouteErrorKind::UnknownFlow { destination, flow_id } if told => {
                self.flows.announce_again(me, destination, Some(flow_id));
            }
            RouteErrorKind::DefaultFlowUnknown { destination } if told => {
                self.flows.announce_again(me, destination, None);
            }
            RouteErrorKind::Unknown { kind: watchdog::REPORT, info } if told => self.believe(cx, info),
            RouteErrorKind::FlowStateNotSupported if told => self.flows.avoid(me, e.source),
            _ => {}
        }
    }

    /// Whether this node takes a packet's Route Errors for its own although they are for everybody.
    fn takes_for_its_own(&self, me: Ipv4Addr, v: &View<'_>) -> bool {
        self.params.first_node_takes_spread_errors && v.request.is_some() && me == NodeId(0).default_addr()
    }

    /// Sends on the options behind a Route Error to this node if they began as its own Route Errors (section 8.3.5).
    pub(crate) fn unwrap_error(&mut self, cx: &mut Cx<'_>, v: &View<'_>) {
        let me = cx.addr();
        let mut inner = v.errors().skip_while(|e| e.destination != me).peekable();
        let Some(salvage) = inner.next().map(|e| e.salvage) else { return };
        let Some(next) = inner.peek().filter(|e| e.source == me).map(|e| e.destination) else { return };
        if next == me {
            return;
        }
        let mut options = [DsrOption::Pad1; MAX_NESTED];
        let mut n = 0;
        for (slot, e) in options.iter_mut().zip(inner) {
            *slot = DsrOption::RouteError(e);
            n += 1;
        }
        let Some(p) = self.control(cx, next, &options[..n]) else { return };
        let mut route = Path::EMPTY;
        if salvage > 0 && self.cache.find(next, Purpose::Send, cx.now(), &mut route) {
            // Section 8.3.5: the count goes on where the packet that failed had come to.
            return self.send_by(cx, p, &route, salvage, Span::ZERO);
        }
        self.originate(cx, p, next);
    }

    /// The Route Error that the next Route Request carries, if there is one (section 3.4.4). It is taken along by requests
    /// until one propagates.
    pub(crate) fn error_to_spread(&mut self, cx: &Cx<'_>, propagating: bool) -> Option<DsrOption<'static>> {
        let told = self.told.filter(|_| self.params.propagate_errors)?;
        if propagating || !self.is_fresh(&told, cx.now()) {
            self.told = None;
        }
        self.is_fresh(&told, cx.now()).then(|| {
            let (source, kind) = (told.from, RouteErrorKind::NodeUnreachable(told.to));
            DsrOption::RouteError(RouteError { salvage: 0, source, destination: cx.addr(), kind })
        })
    }

    fn is_fresh(&self, told: &ToldError, now: Time) -> bool {
        now.since(told.at) < Span::from_millis(self.params.propagate_errors_ms.into())
    }

    /// The Route Error for a packet that could not be sent to `unreachable`, and the way to the node that chose the
    /// packet's route. `None` when that is this node, or when the packet has no usable source route.
    pub(crate) fn error_for(
        &mut self,
        cx: &mut Cx<'_>,
        v: Option<&View<'_>>,
        way: &RouteView,
        unreachable: Ipv4Addr,
    ) -> Option<(Packet, Path)> {
        let me = cx.addr();
        let (chooser, passed) = way.chosen_by();
        let to = chooser.filter(|&a| a != me)?;
        let salvage = v.and_then(|v| v.source_route).map_or(0, |s| s.salvage);
        let mut options = [DsrOption::Pad1; MAX_NESTED];
        let kind = RouteErrorKind::NodeUnreachable(unreachable);
        options[0] = DsrOption::RouteError(RouteError { salvage, source: me, destination: to, kind });
        let mut n = 1;
        let mut total = 1 + u32::from(salvage);
        for e in v.into_iter().flat_map(View::errors) {
            total += 1 + u32::from(e.salvage);
            if total > MAX_TOTAL_SALVAGE || n == MAX_NESTED {
                break;
            }
            options[n] = DsrOption::RouteError(e);
            n += 1;
        }
        let p = self.control(cx, to, &options[..n])?;
        // The way back over the hops that the packet came by: the same links, the other way round.
        Some((p, Path::from_nodes(passed.iter().rev().copied())))
    }

    /// Sends a Route Error that [`Engine::error_for`] made.
    pub(crate) fn send_error(&mut self, cx: &mut Cx<'_>, (p, back): (Packet, Path)) {
        if let Some(to) = back.last() {
            cx.note("error_sent", to, back.hops() as u64);
        }
        self.send_by(cx, p, &back, 0, Span::ZERO);
    }

    /// Tells a packet's source that this node does not implement flow state (section 6.4.2).
    /// The packet has its Flow State header off.
    pub(crate) fn refuse_flow_state(&mut self, cx: &mut Cx<'_>, p: &Packet) {
        let kind = RouteErrorKind::FlowStateNotSupported;
        if let Ok(v) = View::new(p.bytes()) {
            return self.report(cx, &v, kind);
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return };
        let (me, to) = (cx.addr(), ip.src());
        if to == me || !is_node(to) {
            return;
        }
        let e = RouteError { salvage: 0, source: me, destination: to, kind };
        if let Some(p) = self.control(cx, to, &[DsrOption::RouteError(e)]) {
            self.originate(cx, p, to);
        }
    }

    /// Tells a packet's source that this node does not implement something.
    pub(crate) fn report(&mut self, cx: &mut Cx<'_>, v: &View<'_>, kind: RouteErrorKind<'_>) {
        let me = cx.addr();
        let to = v.ip.src();
        // An error about an error could go on for ever.
        if to == me || v.has_error || !is_node(to) || self.is_beyond(to) {
            return;
        }
        let salvage = v.source_route.map_or(0, |s| s.salvage);
        let option = DsrOption::RouteError(RouteError { salvage, source: me, destination: to, kind });
        let back =
            v.way().map(|w| Path::from_nodes([me].into_iter().chain(w.passed().iter().rev().copied())));
        let Some(p) = self.control(cx, to, &[option]) else { return };
        match back.filter(|b| b.last() == Some(to) && !b.repeats()) {
            Some(back) => self.send_error(cx, (p, back)),
            None => self.originate(cx, p, to),
        }
    }
}
