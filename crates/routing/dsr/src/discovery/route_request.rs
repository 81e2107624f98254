//! Route Requests of others: heard, answered, passed on (RFC 4728 section 8.2.2).

use std::iter;
use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span};
use wayhop_wire::dsr::{self, DsrOption, RouteRequest};
use wayhop_wire::ipv4;

use crate::cache::path::{Path, repeats};
use crate::discovery::blacklist::OneWay;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::forwarding::view::{View, is_node, place_of};

impl Engine {
    /// A Route Request of another node (section 8.2.2).
    pub(crate) fn on_route_request(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &Reception) {
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let what = self.hear_request(cx, &v, rx);
        self.obey_request(cx, p, rx, what);
    }

    /// Learns from a Route Request and answers it if it is for this node; what is to become of the packet. Of a flood most copies
    /// are known already, and end here.
    pub(crate) fn hear_request(&mut self, cx: &mut Cx<'_>, v: &View<'_>, rx: &Reception) -> RequestIs {
        let me = cx.addr();
        let Some(r) = &v.request else { return RequestIs::Malformed };
        let initiator = v.ip.src();
        if initiator == me || r.addresses.contains(me) {
            self.hears_me(v, r, me, rx.from);
            return RequestIs::Known;
        }
        if !names_different_nodes(initiator, r) || !is_target(r.target) {
            return RequestIs::Malformed;
        }
        if r.target == me {
            // Also when the neighbour is on the blacklist: the first step of section 8.2.2.
            self.learn_request(cx, v, r);
            self.requests.record(initiator, r.id, r.target, cx.now());
            self.reply_as_target(cx, initiator, r);
            return RequestIs::ForMe;
        }
        if self.params.blacklist && !r.target.is_multicast() {
            match self.blacklist.state(rx.from, cx.now()) {
                Some(OneWay::Probable) => return RequestIs::Known,
                Some(OneWay::Questionable) => return RequestIs::Questionable,
                None => {}
            }
        }
        self.learn_request(cx, v, r);
        if self.leads_to(r.target) {
            self.reply_as_gateway(cx, initiator, r);
        }
        let full = !r.target.is_multicast() && self.is_full(r);
        if full || self.requests.seen(initiator, r.id, r.target) { RequestIs::Known } else { RequestIs::New }
    }

    /// Does with a Route Request's packet what [`Engine::hear_request`] said.
    pub(crate) fn obey_request(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &Reception, what: RequestIs) {
        match what {
            RequestIs::Known => cx.consume(p),
            RequestIs::Malformed => cx.drop(p, DropReason::Malformed),
            RequestIs::Questionable => self.doubt(cx, p, rx.from),
            RequestIs::ForMe => Self::accept_at(cx, p, cx.addr()),
            RequestIs::New => self.pass_on(cx, p, rx),
        }
    }

    /// Whether a request has no room for another node.
    fn is_full(&self, r: &RouteRequest<'_>) -> bool {
        r.addresses.len() + 1 >= self.max_nodes()
    }

    /// Answers a request from the cache, or passes it on.
    fn pass_on(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &Reception) {
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let Some(r) = v.request else { return cx.drop(p, DropReason::Malformed) };
        let initiator = v.ip.src();
        let nonpropagating = v.ip.ttl() <= 1;
        self.requests.record(initiator, r.id, r.target, cx.now());
        if r.target.is_multicast() {
            let ends_here = nonpropagating || self.is_full(&r);
            return self.pass_on_to_group(cx, p, ends_here);
        }
        if (nonpropagating || self.params.reply_from_cache)
            && let Some(rest) = self.reply_from_cache(cx, initiator, &r)
        {
            return self.pass_on_by(cx, p, &rest);
        }
        if nonpropagating {
            return cx.consume(p);
        }
        self.append_own_metric(cx, &mut p, rx.from);
        self.propagate(cx, p);
    }

    /// Takes what a Route Request carries to the local stack, addressed to the request's target (section 8.2.2).
    pub(crate) fn accept_at(cx: &mut Cx<'_>, mut p: Packet, target: Ipv4Addr) {
        match ipv4::set_dst(p.bytes_mut(), target) {
            Ok(()) => Self::accept(cx, p),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }

    pub(crate) fn propagate(&mut self, cx: &mut Cx<'_>, mut p: Packet) {
        let done = dsr::edit::append_request_address(&mut p, cx.addr())
            .and_then(|()| ipv4::decrement_ttl(p.bytes_mut()).map(|_| ()));
        match done {
            Ok(()) => self.broadcast_request(cx, p),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }

    /// The request is answered; what else the packet carries goes on to the target (section 8.2.3).
    fn pass_on_by(&mut self, cx: &mut Cx<'_>, mut p: Packet, rest: &Path) {
        let v = View::new(p.bytes()).ok().filter(carries_more);
        let located = v.and_then(|v| place_of(&v.dsr, |o| matches!(o, DsrOption::RouteRequest(_))));
        let (Some(range), Some(target)) = (located, rest.last()) else { return cx.consume(p) };
        if dsr::edit::remove_option(&mut p, range).is_err() || ipv4::set_dst(p.bytes_mut(), target).is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        self.send_by(cx, p, rest, self.params.max_salvage_count.max(1), Span::ZERO);
    }
}

/// What becomes of the packet of a Route Request that was heard.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestIs {
    /// It was heard before, is this node's own, or goes no further for another reason.
    Known,
    Malformed,
    /// It came over a link that may lead one way only.
    Questionable,
    /// This node was asked for.
    ForMe,
    New,
}

/// Whether a request's initiator and those that passed it on are nodes, and none is there twice.
fn names_different_nodes(initiator: Ipv4Addr, r: &RouteRequest<'_>) -> bool {
    let nodes = iter::once(initiator).chain(r.addresses);
    nodes.clone().all(is_node) && !repeats(nodes)
}

/// Whether a request may ask for this: a node, or a group for which it carries data.
fn is_target(a: Ipv4Addr) -> bool {
    is_node(a) || a.is_multicast()
}

/// Whether a request carries something for its target: data, or options besides Route Errors and positions, which are for everybody.
fn carries_more(v: &View<'_>) -> bool {
    use DsrOption::{Location, Pad1, PadN, RouteError, RouteRequest};
    !v.is_control()
        || v.dsr.options().any(|o| {
            !matches!(o, Ok(RouteRequest(_) | RouteError(_) | Location(_) | Pad1 | PadN(_)) | Err(_))
        })
}
