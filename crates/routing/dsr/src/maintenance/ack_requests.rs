//! Answering Acknowledgement Requests, and dropping what came before (RFC 4728 sections 8.3.3 and 8.6.3).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Priority, SendBuffer, TxSpec};
use wayhop_wire::Error;
use wayhop_wire::dsr::{self, DsrOption};

use crate::cache::path::Path;
use crate::cache::{Judge, Purpose};
use crate::discovery::origin::Origin;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::forwarding::view::{View, is_node, place_of};
use crate::maintenance::maintenance_buffer::Fingerprint;

impl Engine {
    /// Reads the acknowledgement options of a packet that came to this node's interface, answers its request, and gives it
    /// back without what was for this hop only; nothing if the packet came before (section 8.3.3).
    pub(crate) fn settle(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &Reception) -> Option<Packet> {
        let me = cx.addr();
        let Ok(v) = View::new(p.bytes()) else {
            cx.drop(p, DropReason::Malformed);
            return None;
        };
        if v.has_ack {
            self.on_acks(cx, &v);
        }
        let next = v.source_route.and_then(|s| s.next_index().and_then(|i| s.addresses.at(i)));
        // A packet of a flow does not say which node it is meant for; the frame did (section 8.6.3).
        let by_flow = self.params.flow_state && v.source_route.is_none();
        let to_me = by_flow || next.unwrap_or(v.ip.dst()) == me;
        let what = Fingerprint::of(&v);
        let destination = v.ip.dst() == me;
        if let Some((id, asker)) = v.ack_request.filter(|_| to_me) {
            self.answer(cx, &v, rx, id, asker);
        }
        let asked = v.ack_request.is_some();
        if to_me
            && !v.has_ack
            && (asked || self.maintains(cx, rx.from))
            && self.is_repeated(cx, &what, destination)
        {
            cx.drop(p, DropReason::Duplicate);
            return None;
        }
        if asked && remove_ack_request(&mut p).is_err() {
            cx.drop(p, DropReason::Malformed);
            return None;
        }
        Some(p)
    }

    /// Whether a packet that came to this node's interface came before.
    pub(crate) fn is_repeated(&mut self, cx: &Cx<'_>, what: &Fingerprint, destination: bool) -> bool {
        let now = cx.now();
        let held = |b: &SendBuffer<Origin>| {
            let others = b.iter().filter(|h| h.state != Origin::Own);
            others.filter_map(|h| Fingerprint::read(h.packet.bytes()).ok()).any(|f| f.was(what))
        };
        if !destination && (self.rexmt.holds(what) || held(&self.buffer)) {
            return true;
        }
        (destination || self.params.remember_forwarded) && self.seen.packet(what, destination, now)
    }

    /// Answers an Acknowledgement Request.
    fn answer(&mut self, cx: &mut Cx<'_>, v: &View<'_>, rx: &Reception, id: u16, asker: Option<Ipv4Addr>) {
        let me = cx.addr();
        if v.has_ack {
            // Only the node that the Acknowledgement is for answers, straight to the neighbour that sent it.
            let from = v.dsr.options().find_map(|o| match o {
                Ok(DsrOption::Ack { source, destination, .. }) if destination == me => Some(source),
                _ => None,
            });
            if let Some(to) = from.filter(|&to| v.ip.dst() == me && to != me && is_node(to)) {
                self.send_ack(cx, id, to, Some(Path::from_nodes([me, to])));
            }
            return;
        }
        let previous = match v.source_route {
            Some(s) => {
                // Where this node is listed; the destination comes after the last of the list.
                let here = s.addresses.len().saturating_sub(s.segments_left.into());
                here.checked_sub(1).and_then(|i| s.addresses.at(i)).unwrap_or(v.ip.src())
            }
            None => asker.unwrap_or(v.ip.src()),
        };
        // A request that does not come from the node that it names is not answered: nobody asked.
        if previous != rx.from || previous == me || !is_node(previous) {
            return;
        }
        let again = self.seen.answered(previous, id, cx.now());
        let mut route = Path::EMPTY;
        let known = self.route_to(cx, previous, Purpose::Send, &mut route);
        if !known && self.params.learn_reverse_routes {
            // Links are taken to work both ways.
            route = Path::from_nodes([me, previous]);
        }
        let mut around = Path::EMPTY;
        let judge = LinkAvoidance { me, not_by: previous };
        if again && self.cache.find_by(previous, Purpose::Check, cx.now(), &judge, &mut around) {
            // The first answer was lost, perhaps because the link works one way only (section 6.2 of the paper).
            self.send_ack(cx, id, previous, Some(around));
        }
        self.send_ack(cx, id, previous, Some(route).filter(|r| r.len() > 1));
    }

    /// Sends an Acknowledgement along a route, or when a route has been found. It is not acknowledged itself.
    fn send_ack(&mut self, cx: &mut Cx<'_>, id: u16, to: Ipv4Addr, route: Option<Path>) {
        let option = DsrOption::Ack { id, source: cx.addr(), destination: to };
        let Some(mut p) = self.control(cx, to, &[option]) else { return };
        let Some(route) = route else { return self.originate(cx, p, to) };
        let Some(next_hop) = route.next_hop() else { return cx.consume(p) };
        cx.note("ack_sent", to, id.into());
        // A neighbour needs no source route, and the option alone leaves nothing to learn.
        if route.hops() > 1 && self.put_source_route(&mut p, &route, 0, None).is_err() {
            return cx.drop(p, DropReason::TooLong);
        }
        cx.send(p, TxSpec::unicast(next_hop).with_priority(Priority::Control));
    }
}

/// Lets routes pass that do not begin with the hop to one neighbour.
struct LinkAvoidance {
    me: Ipv4Addr,
    not_by: Ipv4Addr,
}

impl Judge for LinkAvoidance {
    fn penalty(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<u16> {
        (from != self.me || to != self.not_by).then_some(0)
    }
}

/// Takes the Acknowledgement Request out of a packet.
fn remove_ack_request(p: &mut Packet) -> Result<(), Error> {
    let (_, header) = dsr::edit::parse(p.bytes())?;
    let found = place_of(&header, |o| matches!(o, DsrOption::AckRequest { .. }));
    found.map_or(Ok(()), |range| dsr::edit::remove_option(p, range))
}
