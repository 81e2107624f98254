//! Route Requests of others: heard, answered, passed on (RFC 4728 section 8.2.2).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span};
use wayhop_wire::dsr::{self, DsrOption};
use wayhop_wire::ipv4;

use crate::cache::path::Path;
use crate::discovery::blacklist::OneWay;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::forwarding::view::{View, is_node, place_of};

impl Engine {
    /// A Route Request of another node (section 8.2.2).
    pub(crate) fn on_route_request(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &Reception) {
        let me = cx.addr();
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let Some(r) = v.request else { return cx.drop(p, DropReason::Malformed) };
        let initiator = v.ip.src();
        if initiator == me || r.addresses.contains(me) {
            self.hears_me(&v, &r, me, rx.from);
            return cx.consume(p);
        }
        let named = r.addresses.has_duplicates() || r.addresses.contains(initiator);
        if named || !Self::all_nodes(r.addresses.iter().chain([initiator])) || !is_target(r.target) {
            return cx.drop(p, DropReason::Malformed);
        }
        if r.target == me {
            // Also when the neighbour is on the blacklist: the first step of section 8.2.2.
            self.learn_request(cx, &v, &r);
            self.requests.record(initiator, r.id, r.target, cx.now());
            self.reply_as_target(cx, initiator, &r);
            return Self::accept_at(cx, p, me);
        }
        if self.params.blacklist && !r.target.is_multicast() {
            match self.blacklist.state(rx.from, cx.now()) {
                Some(OneWay::Probable) => return cx.consume(p),
                Some(OneWay::Questionable) => return self.doubt(cx, p, rx.from),
                None => {}
            }
        }
        self.learn_request(cx, &v, &r);
        if self.leads_to(r.target) {
            self.reply_as_gateway(cx, initiator, &r);
        }
        let full = r.addresses.len() + 1 >= self.max_nodes();
        let nonpropagating = v.ip.ttl() <= 1;
        if self.requests.seen(initiator, r.id, r.target) || full && !r.target.is_multicast() {
            return cx.consume(p);
        }
        self.requests.record(initiator, r.id, r.target, cx.now());
        if r.target.is_multicast() {
            return self.pass_on_to_group(cx, p, nonpropagating || full);
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
