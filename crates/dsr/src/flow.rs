//! Flow state: data packets without source routes (RFC 4728 sections 3.5 and 8.6).
//!
//! A source announces a flow by some packets that carry the route, a Flow State header and a Timeout option; then it sends
//! packets that carry the Flow State header alone or, for the newest flow to a destination, nothing at all. Forwarding
//! nodes look them up in the Flow Table.

use wayhop_core::{Addr, Cx, Decision, DropReason, Packet, Span};
use wayhop_wire::dsr::{self, Builder, DsrOption, FlowState, RouteError, RouteErrorKind};
use wayhop_wire::ipv4::{self, protocol};

use crate::acks::Hop;
use crate::engine::Engine;
use crate::flow_table::Flow;
use crate::path::Path;
use crate::view::Way;

/// Takes the Flow State header off a packet, if there is one.
pub(crate) fn take_header(p: &mut Packet) -> Option<FlowState> {
    let (_, header) = dsr::edit::parse(p.bytes()).ok()?;
    let state = header.flow_state()?;
    dsr::edit::remove_header(p).ok()?;
    Some(state)
}

impl Engine {
    /// Puts a Flow State header in front of what follows the IP header.
    pub(crate) fn put_flow_header(
        &mut self,
        p: &mut Packet,
        state: FlowState,
    ) -> Result<(), wayhop_wire::Error> {
        // The Next Header is the packet's protocol, which `insert_header` writes.
        dsr::edit::insert_header(p, Builder::flow_state(&mut self.scratch, protocol::NO_NEXT_HEADER, state))
    }

    /// Sends a data packet of this node along the flow that has this route, or a shorter one (section 8.6.1).
    pub(crate) fn send_in_flow(&mut self, cx: &mut Cx<'_>, mut p: Packet, found: &Path, delay: Span) {
        let (me, now) = (cx.addr(), cx.now());
        // A packet that came back carries the headers of its last attempt.
        while dsr::edit::remove_header(&mut p).is_ok() {}
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let (to, ttl) = (ip.dst(), ip.ttl());
        let mut route = *found;
        if let Some(f) = self.flows.default_flow(me, to, now).filter(|f| f.route.len() <= found.len()) {
            route = f.route;
        }
        let Some(next_hop) = route.next_hop() else { return cx.drop(p, DropReason::NoRoute) };
        if self.flows.along(me, to, &route, now).is_none() {
            self.flows.create(&route, next_hop, ttl, now);
        }
        let default = self.flows.default_id(me, to);
        let lifetime = Span::from_secs(self.params.flow_timeout_s.into());
        let again = Span::from_millis(self.params.flow_announce_ms.into());
        let Some(f) = self.flows.along(me, to, &route, now) else { return cx.drop(p, DropReason::NoRoute) };
        let announce = f.announced < self.params.flow_announcements || now.since(f.announced_at) > again;
        if announce {
            f.may_be_default &= f.ttl == ttl;
            f.announced += 1;
            f.announced_at = now;
        }
        f.expires = now + lifetime;
        let bare = !announce && default == Some(f.id) && f.may_be_default && f.ttl == ttl;
        let state = FlowState { hop_count: 0, flow_id: f.id };
        let seconds = announce.then_some(self.params.flow_timeout_s);
        let written = match (announce, bare) {
            (true, _) => self
                .put_source_route(&mut p, &route, 0, seconds)
                .and_then(|()| self.put_flow_header(&mut p, state)),
            (false, false) => self.put_flow_header(&mut p, state),
            (false, true) => Ok(()),
        };
        if written.is_err() {
            return cx.drop(p, DropReason::TooLong);
        }
        let hops = route.hops();
        self.transmit(cx, p, Hop { to: next_hop, control: false, decision: Decision::Flow, hops, delay });
    }

    /// Records the flow of a packet that carries its route and lifetime (section 8.6.3). `p` has its Flow State header off.
    pub(crate) fn learn_flow(
        &mut self,
        cx: &Cx<'_>,
        way: &Way,
        state: FlowState,
        (source, ttl): (Addr, u8),
        seconds: u16,
    ) {
        let (Some(destination), Some(next_hop)) = (way.nodes.last(), way.ahead().get(1).copied()) else {
            return;
        };
        let now = cx.now();
        let expires = now + Span::from_secs(seconds.min(self.params.flow_timeout_s).into());
        if let Some(f) = self.flows.get(source, destination, state.flow_id, now) {
            f.expires = f.expires.max(expires);
            return;
        }
        let f = Flow {
            source,
            destination,
            id: state.flow_id,
            next_hop,
            hop_count: way.receiver as u8,
            ttl,
            expires,
            route: way.nodes,
            announced: 0,
            announced_at: now,
            may_be_default: false,
        };
        self.flows.insert(f, now);
    }

    /// Forwards a packet without source route by its flow, or by the default flow if it has no Flow State header either
    /// (section 8.6.4). `p` has the header off.
    pub(crate) fn forward_in_flow(&mut self, cx: &mut Cx<'_>, mut p: Packet, state: Option<FlowState>) {
        let now = cx.now();
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let (from, to, ttl) = (ip.src(), ip.dst(), ip.ttl());
        if from == cx.addr() {
            return cx.drop(p, DropReason::Loop);
        }
        let lifetime = Span::from_secs(self.params.flow_timeout_s.into());
        let flow = match state {
            Some(s) => self.flows.get(from, to, s.flow_id, now),
            // Section 3.5.7: a lower TTL than expected is the sign of a loop.
            None => self.flows.default_flow(from, to, now).filter(|f| ttl >= f.ttl),
        };
        let Some(f) = flow else { return self.unknown_flow(cx, p, state) };
        if ttl <= 1 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        f.expires = f.expires.max(now + lifetime);
        let next_hop = f.next_hop;
        let hops = f.way().ahead().len();
        // Section 8.6.3: with another TTL than expected a packet needs a header that names the flow.
        let state =
            state.or_else(|| (ttl != f.ttl).then_some(FlowState { hop_count: f.hop_count, flow_id: f.id }));
        let written = ipv4::decrement_ttl(p.bytes_mut()).and_then(|_| match state {
            Some(s) => self.put_flow_header(&mut p, s),
            None => Ok(()),
        });
        if written.is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        let decision = Decision::Flow;
        self.transmit(cx, p, Hop { to: next_hop, control: false, decision, hops, delay: Span::ZERO });
    }

    /// A packet's flow is not known here: its source is told, and the packet is salvaged if that can be done.
    pub(crate) fn unknown_flow(&mut self, cx: &mut Cx<'_>, p: Packet, state: Option<FlowState>) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let (source, destination) = (ip.src(), ip.dst());
        let kind = match state {
            Some(s) => RouteErrorKind::UnknownFlow { destination, flow_id: s.flow_id },
            None => RouteErrorKind::DefaultFlowUnknown { destination },
        };
        let e = RouteError { salvage: 0, source: cx.addr(), destination: source, kind };
        let error = self.control(cx, source, &[DsrOption::RouteError(e)]);
        cx.note("flow_unknown", source, state.map_or(0, |s| s.flow_id.into()));
        if self.params.error_before_salvage {
            if let Some(e) = error {
                self.originate(cx, e, source);
            }
            self.save(cx, p, None);
        } else {
            self.save(cx, p, None);
            if let Some(e) = error {
                self.originate(cx, e, source);
            }
        }
    }

    /// The way of a packet without source route that this node sent to a neighbour, by its flow.
    pub(crate) fn way_of_flow(&mut self, cx: &Cx<'_>, p: &Packet, state: Option<FlowState>) -> Option<Way> {
        let now = cx.now();
        let ip = ipv4::Packet::new_checked(p.bytes()).ok()?;
        let (from, to) = (ip.src(), ip.dst());
        match state {
            Some(s) => self.flows.get(from, to, s.flow_id, now),
            None => self.flows.default_flow(from, to, now),
        }
        .map(|f| f.way())
    }
}
