//! Salvaging: a packet whose link broke takes another route (RFC 4728 section 8.3.6).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Decision, DropReason, Packet, Span};
use wayhop_wire::dsr::{self, DsrOption};
use wayhop_wire::ipv4;

use crate::cache::Purpose;
use crate::cache::path::Path;
use crate::discovery::origin::Origin;
use crate::engine::state::Engine;
use crate::forwarding::view::{View, place_of};

impl Engine {
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
            return self.hold(cx, p, to, Origin::Other { salvage: salvaged });
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
        let Some(range) = place_of(&v.dsr, |o| matches!(o, DsrOption::RouteReply(_))) else { return true };
        if dsr::edit::remove_option(p, range).is_err() {
            return false;
        }
    }
}
