//! Flow state: data packets without source routes (RFC 4728 sections 3.5 and 8.6).
//!
//! A source announces a flow by some packets that carry the route, a Flow State header and a Timeout option; then it sends
//! packets that carry the Flow State header alone or, for the newest flow to a destination, nothing at all. Forwarding
//! nodes look them up in the Flow Table.

use wayhop_core::{Cx, Decision, DropReason, Packet, Span};
use wayhop_wire::Error;
use wayhop_wire::dsr::{self, Builder, DsrOption, FlowState};
use wayhop_wire::ipv4::{self, protocol};

use crate::cache::path::Path;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::flow_state::flow_header;
use crate::flow_state::flow_table::Flow;
use crate::forwarding::hop::Hop;
use crate::forwarding::view::{RouteView, View, is_node};

/// So often one packet may change flows at one node.
const MAX_CHANGES: usize = 8;

impl Engine {
    /// Puts a Flow State header in front of what follows the IP header.
    pub(crate) fn put_flow_header(&mut self, p: &mut Packet, state: FlowState) -> Result<(), Error> {
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
        let ends = (me, to);
        if let Some(f) = self.flows.get(ends, None, now).filter(|f| f.route.len() <= found.len()) {
            route = f.route;
        }
        let Some(next_hop) = route.next_hop() else { return cx.drop(p, DropReason::NoRoute) };
        if self.flows.along(ends, &route, now).is_none() && self.flows.create(&route, ttl, now).is_none() {
            return self.send_by(cx, p, &route, 0, delay);
        }
        let default = self.flows.default_id(ends);
        let lifetime = Span::from_secs(self.params.flow_timeout_s.into());
        let again = Span::from_millis(self.params.flow_announce_ms.into());
        let Some(f) = self.flows.along(ends, &route, now) else { return cx.drop(p, DropReason::NoRoute) };
        let announce = f.announced < self.params.flow_announcements || now.since(f.announced_at) > again;
        if announce {
            f.may_be_default &= f.ttl == ttl;
            f.announced += 1;
            f.announced_at = now;
        }
        if announce || self.params.flow_extended_by_use {
            f.expires = now + lifetime;
        }
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

    /// Records the flow of a packet that carries its route and lifetime (section 8.6.3), at the nodes that forward it and
    /// at its destination.
    pub(crate) fn learn_flow(&mut self, cx: &Cx<'_>, v: &View<'_>, way: &RouteView, rx: &Reception) {
        let (Some(s), Some(seconds), Some(destination)) = (rx.flow, v.timeout_s, way.nodes.last()) else {
            return;
        };
        // A destination has nothing to forward; its entry is there for shortening.
        if way.receiver + 1 == way.nodes.len() && !self.params.flow_shortening {
            return;
        }
        // A Flow ID of zero names no flow (section 3.5.4), and a Hop Count that is not this node's place no sound one.
        if s.flow_id == 0 || usize::from(s.hop_count) != way.receiver {
            return;
        }
        let (source, now) = (v.ip.src(), cx.now());
        let expires = now + Span::from_secs(seconds.min(self.params.flow_timeout_s).into());
        if let Some(f) = self.flows.get((source, destination), Some(s.flow_id), now) {
            f.expires = f.expires.max(expires);
            return;
        }
        let f = Flow {
            source,
            destination,
            id: s.flow_id,
            hop_count: s.hop_count,
            ttl: v.ip.ttl(),
            expires,
            route: way.nodes,
            announced: 0,
            announced_at: now,
            may_be_default: false,
        };
        self.flows.insert(f, now);
    }

    /// Forwards a packet without source route by its flow, or by the default flow if it has no Flow State header either
    /// (section 8.6.4). Options for later nodes may be there.
    pub(crate) fn forward_in_flow(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &Reception) {
        let now = cx.now();
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let (from, to, ttl, plain) = (ip.src(), ip.dst(), ip.ttl(), ip.protocol() != protocol::DSR);
        if from == cx.addr() {
            return cx.drop(p, DropReason::Loop);
        }
        let lifetime = Span::from_secs(self.params.flow_timeout_s.into());
        let flow = self.flows.get((from, to), rx.flow.map(|s| s.flow_id), now);
        // Section 3.5.7: a lower TTL than expected is the sign of a loop.
        let flow = flow.filter(|f| rx.flow.is_some() || ttl >= f.ttl);
        let Some((f, next_hop)) = flow.and_then(|f| f.next_hop().map(|next| (f, next))) else {
            return self.unknown_flow(cx, p, rx);
        };
        if ttl <= 1 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        if self.params.flow_extended_by_use {
            f.expires = f.expires.max(now + lifetime);
        }
        let way = (f.route, f.hop_count, f.id);
        let hops = f.route.hops() - usize::from(f.hop_count);
        // Section 8.6.3: with another TTL than expected, or with options, a packet needs a header that names the flow.
        let state = rx.flow.or_else(|| {
            (ttl != f.ttl || !plain).then_some(FlowState { hop_count: f.hop_count, flow_id: f.id })
        });
        self.shorten_flow(cx, &p, way);
        let written = ipv4::decrement_ttl(p.bytes_mut())
            .and_then(|_| state.map_or(Ok(()), |s| self.put_flow_header(&mut p, s)));
        if written.is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        let decision = Decision::Flow;
        self.transmit(cx, p, Hop { to: next_hop, control: false, decision, hops, delay: Span::ZERO });
    }

    /// A packet for this node that asks to be sent on along another flow (Destination and Flow ID option, section 8.6.3).
    pub(crate) fn change_flow(&mut self, cx: &mut Cx<'_>, mut p: Packet, mut rx: Reception) {
        for _ in 0..MAX_CHANGES {
            let change = View::new(p.bytes()).ok().and_then(|v| {
                v.dsr.options().located().find_map(|(range, o)| match o {
                    Ok(DsrOption::FlowId { flow_id, destination }) => Some((range, flow_id, destination)),
                    _ => None,
                })
            });
            let Some((range, flow_id, to)) = change else {
                self.end_of_flow(cx, &p, rx.flow);
                return Self::accept(cx, p);
            };
            let changed =
                dsr::edit::remove_option(&mut p, range).and_then(|()| ipv4::set_dst(p.bytes_mut(), to));
            if changed.is_err() || !is_node(to) {
                break;
            }
            rx.flow = Some(FlowState { hop_count: rx.flow.map_or(0, |s| s.hop_count), flow_id });
            if to != cx.addr() {
                return match flow_header::shed_hop_options(&mut p) {
                    Ok(()) => self.forward_in_flow(cx, p, &rx),
                    Err(_) => cx.drop(p, DropReason::Malformed),
                };
            }
        }
        cx.drop(p, DropReason::Malformed);
    }

    /// The way of a packet without source route that this node sent to a neighbour, by its flow.
    pub(crate) fn way_of_flow(
        &mut self,
        cx: &Cx<'_>,
        p: &Packet,
        state: Option<FlowState>,
    ) -> Option<RouteView> {
        self.flows.get(ipv4::ends(p.bytes())?, state.map(|s| s.flow_id), cx.now())?.way()
    }
}
