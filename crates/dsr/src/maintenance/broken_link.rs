//! Forwarding along source routes, and what happens when a link breaks (RFC 4728 sections 8.1.5, 8.3 and 8.3.6).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Decision, DropReason, Packet, RxMeta, Span};
use wayhop_wire::dsr::{self, DsrOption, FlowState};
use wayhop_wire::ipv4::{self, protocol};

use crate::cache::Purpose;
use crate::cache::path::Path;
use crate::discovery::send_buffer::Held;
use crate::engine::state::Engine;
use crate::flow_state::flow_header;
use crate::forwarding::hop::Hop;
use crate::forwarding::icmp;
use crate::forwarding::view::{View, is_node};
use crate::maintenance::broken::Broken;

impl Engine {
    /// Sends a packet on to the next node of its source route (section 8.1.5).
    pub(crate) fn forward(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &RxMeta, state: Option<FlowState>) {
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
                Ok(()) => self.forward_in_flow(cx, p, rx, state),
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
            self.learn_flow(cx, &v, &way, state);
        }
        if v.ip.ttl() <= 1 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        let control = self.is_own_kind(&v);
        let leaves = self.is_way_out(left, sr.last_hop_external) && next_hop == v.ip.dst();
        // The octet that holds the low bits of Salvage and Segments Left (section 6.7).
        let at = v.source_route_at + 3;
        p.bytes_mut()[at] -= 1;
        let counted = ipv4::decrement_ttl(p.bytes_mut())
            .and_then(|_| state.map_or(Ok(()), |s| self.put_flow_header(&mut p, s)));
        if counted.is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        if leaves {
            return self.let_out(cx, p, next_hop);
        }
        let hops = left;
        self.transmit(
            cx,
            p,
            Hop { to: next_hop, control, decision: Decision::Forwarded, hops, delay: Span::ZERO },
        );
    }

    /// The MAC gave up sending `p` to `next_hop`.
    pub(crate) fn on_broken_link(&mut self, cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr, tries: u8) {
        let me = cx.addr();
        cx.note("link_broken", next_hop, tries.into());
        self.cache.remove_link(me, next_hop);
        self.links.failed(cx, me, next_hop);
        self.watch_lost(next_hop);
        self.flows.remove_link(me, me, next_hop);
        let again = self.broken.as_ref().is_some_and(|b| b.next_hop == next_hop && b.at == cx.now());
        if !again {
            self.broken = Some(Broken { next_hop, at: cx.now(), told: Vec::new() });
        }
        if View::new(p.bytes()).is_ok_and(|v| v.has_reply || v.request.is_some()) && self.params.blacklist {
            // The neighbour was heard - its request came through - but does not answer (sections 4.6 and 8.2.6).
            self.blacklist.add(next_hop, cx.now());
        }
        self.fail(cx, p, next_hop, true);
        cx.recall(next_hop);
    }

    /// A packet that waited for a broken link comes back (section 3.4.2).
    pub(crate) fn on_recalled(&mut self, cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr) {
        let tell = self.params.error_to_queued_sources;
        self.fail(cx, p, next_hop, tell);
    }

    /// Tells the node that chose a packet's route, once for a broken link, and tries to save the packet.
    fn fail(&mut self, cx: &mut Cx<'_>, mut p: Packet, next_hop: Ipv4Addr, tell: bool) {
        // Section 8.6.7: a salvaged packet has no Flow State header.
        let state = flow_header::take(&mut p);
        let plain = ipv4::Packet::new_checked(p.bytes()).is_ok_and(|ip| ip.protocol() != protocol::DSR);
        let by_flow = if plain && self.params.flow_state { self.way_of_flow(cx, &p, state) } else { None };
        let v = View::new(p.bytes()).ok();
        if v.is_some_and(|v| v.request.is_some()) {
            // A probe of a neighbour whose link may be unidirectional.
            return cx.consume(p);
        }
        if v.is_some_and(|v| v.source_route.is_none() && v.has_error && v.is_control()) {
            return self.on_flow_error_lost(cx, p);
        }
        let way = v.and_then(|v| v.way()).or(by_flow).filter(|w| w.ahead()[0] == next_hop);
        let error = match way {
            Some(w) if tell && self.is_untold(w.chosen_by().0.unwrap_or(w.nodes.nodes()[0])) => {
                self.error_for(cx, v.as_ref(), &w, next_hop)
            }
            _ => None,
        };
        let error = error.map(|(mut e, back)| {
            if v.is_none_or(|v| !self.is_own_kind(&v)) {
                self.load_notice(cx, &mut e, &p);
            }
            (e, back)
        });
        if self.params.error_before_salvage {
            if let Some(e) = error {
                self.send_error(cx, e);
            }
            self.save(cx, p, Some(next_hop));
        } else {
            self.save(cx, p, Some(next_hop));
            if let Some(e) = error {
                self.send_error(cx, e);
            }
        }
    }

    /// Whether a node has not been told of the link that broke just now; it will be.
    fn is_untold(&mut self, a: Ipv4Addr) -> bool {
        match &mut self.broken {
            Some(b) if b.told.contains(&a) => false,
            Some(b) => {
                b.told.push(a);
                true
            }
            None => true,
        }
    }

    /// Sends a packet by another route if that is allowed and there is one. `broken` is the neighbour that could not be
    /// reached.
    pub(crate) fn save(&mut self, cx: &mut Cx<'_>, mut p: Packet, broken: Option<Ipv4Addr>) {
        let me = cx.addr();
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let to = ip.dst();
        let v = View::new(p.bytes()).ok();
        let (control, has_reply) = v.map_or((false, false), |v| (self.is_own_kind(&v), v.has_reply));
        if self.is_answerable(cx, ip.src()) {
            if ip.src() == me && self.params.failure_notices && !control && broken.is_some() {
                let mut other = Path::EMPTY;
                if !self.cache.find(to, Purpose::Send, cx.now(), &mut other) {
                    self.tell_own_stack(cx, &p);
                }
            }
            if control && !self.params.resend_own_control {
                return cx.drop(p, DropReason::MacRetries);
            }
            return self.originate_as(cx, p, to, Decision::Rerouted);
        }
        let salvaged = v.and_then(|v| v.source_route).map_or(0, |s| s.salvage);
        if !self.params.salvage {
            return cx.drop(p, DropReason::NoOtherRoute);
        }
        if salvaged >= self.params.max_salvage_count {
            return cx.drop(p, DropReason::RerouteLimit);
        }
        let mut route = Path::EMPTY;
        let found = self.route_to(cx, to, Purpose::Salvage, &mut route);
        let names_link = |v: &View<'_>| broken.is_some_and(|b| reply_names_link(v, me, b));
        let useless =
            has_reply && (!self.params.salvage_replies || found && v.as_ref().is_some_and(names_link));
        // Over links that must work both ways a reply tests the way back; by another way it tests nothing.
        if useless && (control || !without_replies(&mut p)) {
            return cx.drop(p, DropReason::NoOtherRoute);
        }
        if found {
            cx.note("salvaged", to, u64::from(salvaged) + 1);
            return self.send_by(cx, p, &route, salvaged + 1, Span::ZERO);
        }
        if self.params.discover_for_salvage {
            return self.hold(cx, Held { packet: p, to, salvage: salvaged, own: false, since: cx.now() });
        }
        cx.drop(p, DropReason::NoOtherRoute);
    }
}

/// Whether a Route Reply of the packet lists the link, in either direction.
fn reply_names_link(v: &View<'_>, a: Ipv4Addr, b: Ipv4Addr) -> bool {
    v.replies().any(|r| {
        let route = Path::from_nodes([v.ip.dst()].into_iter().chain(r.addresses.iter()));
        route.has_link(a, b) || route.has_link(b, a)
    })
}

/// Takes the Route Replies out of a packet; false if that cannot be done.
fn without_replies(p: &mut Packet) -> bool {
    loop {
        let Ok(v) = View::new(p.bytes()) else { return false };
        let reply = v
            .dsr
            .options()
            .located()
            .find_map(|(range, o)| matches!(o, Ok(DsrOption::RouteReply(_))).then_some(range));
        let Some(range) = reply else { return true };
        if dsr::edit::remove_option(p, range).is_err() {
            return false;
        }
    }
}
