//! What a node learns from packets that pass by (RFC 4728 sections 3.3.1 and 8.1.4).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Span};
use wayhop_wire::dsr::{self, DsrOption, RouteReply, RouteRequest};
use wayhop_wire::ipv4::{self, protocol};

use crate::cache::Provenance;
use crate::cache::path::Path;
use crate::discovery::blacklist::OneWay;
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::forwarding::view::{RouteView, View, is_node, usable};

impl Engine {
    /// Puts a route into the cache, cut to the length allowed, and lets packets go that waited for it.
    pub(crate) fn learn(&mut self, cx: &mut Cx<'_>, route: &Path, how: Provenance) {
        let mut cut = *route;
        cut.truncate(self.max_nodes());
        self.without_false_end(&mut cut);
        let new = self.cache.add(&cut, how, cx.now());
        if new
            && how == Provenance::Asked
            && let Some(to) = cut.last()
        {
            cx.note("route_added", to, cut.hops() as u64);
        }
        if new && self.params.release_on_any_route && !self.buffer.is_empty() {
            self.release(cx, Span::ZERO);
        }
    }

    /// The Route Errors and Route Replies of a packet, in their order (section 8.1.4).
    pub(crate) fn on_reports(&mut self, cx: &mut Cx<'_>, v: &View<'_>, rx: &Reception) {
        let (to, received) = (v.destination(), !rx.overheard);
        for o in v.dsr.options() {
            match o {
                Ok(DsrOption::RouteError(e)) => self.on_route_error(cx, v, &e, received),
                Ok(DsrOption::RouteReply(r)) if to != cx.addr() => self.learn_reply(cx, to, &r, rx),
                Ok(DsrOption::RouteReply(r)) if received => self.on_answer(cx, v, &r, rx),
                _ => {}
            }
        }
        if received && v.has_error && to == cx.addr() {
            self.unwrap_error(cx, v);
        }
    }

    /// Learns from the source route of a packet that came to this node (`received`), or that it overheard.
    pub(crate) fn learn_passed(&mut self, cx: &mut Cx<'_>, way: &RouteView, received: bool, is_reply: bool) {
        let me = cx.addr();
        let here = way.nodes.position(me);
        let forwards = self.params.learn_ahead_of_replies || !is_reply;
        if forwards {
            match here {
                Some(at) => self.learn_from(cx, &way.nodes, at),
                // Heard from the transmitter: it is a neighbour, and knows the rest of the way.
                None if !received && self.trusts(way.transmitter(), cx) => {
                    let mut p = Path::starting_at(me, &way.nodes.nodes()[way.receiver - 1..]);
                    if way.receiver == 1 && way.nodes.first_external() {
                        // An External hop may not stand inside a route (section 4.1).
                        p.truncate(2);
                    } else {
                        p.set_last_external(way.nodes.last_external());
                    }
                    self.learn(cx, &p, Provenance::Overheard);
                }
                None => {}
            }
        }
        if self.params.learn_reverse_routes
            && self.trusts(way.transmitter(), cx)
            && here.is_none_or(|at| at >= way.receiver)
        {
            let mut p = Path::from_nodes([me].into_iter().chain(way.passed().iter().rev().copied()));
            p.set_last_external(way.nodes.first_external());
            self.learn(cx, &p, Provenance::Overheard);
        }
    }

    /// Learns the rest of a route from this node's place on it.
    fn learn_from(&mut self, cx: &mut Cx<'_>, route: &Path, at: usize) {
        let rest = &route.nodes()[at..];
        if rest.len() < 2 {
            return;
        }
        let mut p = Path::starting_at(rest[0], &rest[1..]);
        p.set_last_external(route.last_external());
        p.set_first_external(at == 0 && route.first_external());
        self.learn(cx, &p, Provenance::Overheard);
    }

    /// Learns the way back that a Route Request recorded.
    pub(crate) fn learn_request(&mut self, cx: &mut Cx<'_>, v: &View<'_>, r: &RouteRequest<'_>) {
        let initiator = v.ip.src();
        let last = r.addresses.last().unwrap_or(initiator);
        if !self.params.learn_from_requests || !self.params.learn_reverse_routes || !self.trusts(last, cx) {
            return;
        }
        let me = cx.addr();
        let p = Path::from_nodes([me].into_iter().chain(r.addresses.iter().rev()).chain([initiator]));
        if usable(&p) && p.len() == r.addresses.len() + 2 {
            self.learn(cx, &p, Provenance::Overheard);
            if v.metrics.is_some() {
                self.learn_costs(
                    &Path::from_nodes(p.reversed().nodes().iter().copied().take(p.hops())),
                    v.metrics,
                );
            }
        }
    }

    /// Learns the link that an Acknowledgement shows from its source to its destination (section 8.1.4), if the source is
    /// the neighbour that is heard.
    pub(crate) fn learn_acks(&mut self, cx: &mut Cx<'_>, v: &View<'_>, rx: &Reception) {
        let me = cx.addr();
        for o in v.dsr.options() {
            let Ok(DsrOption::Ack { source, destination, .. }) = o else { continue };
            if source != rx.from || rx.broadcast || !self.trusts(source, cx) {
                continue;
            }
            let known = [me, source, destination];
            let route = Path::from_nodes(known.into_iter().take(if destination == me { 2 } else { 3 }));
            // Back over the link that it came by, which is one of the two directions that 3.3.1 lets be cached.
            if self.params.learn_reverse_routes && usable(&route) {
                self.learn(cx, &route, Provenance::Overheard);
            }
        }
    }

    /// Learns from a Route Reply for somebody else, which this node forwards unless it overheard it.
    pub(crate) fn learn_reply(&mut self, cx: &mut Cx<'_>, to: Ipv4Addr, r: &RouteReply<'_>, rx: &Reception) {
        let me = cx.addr();
        let mut route = Path::from_nodes([to].into_iter().chain(r.addresses.iter()));
        if route.len() != r.addresses.len() + 1 || !usable(&route) {
            return;
        }
        route.set_last_external(r.last_hop_external);
        if !rx.overheard && !self.params.learn_from_forwarded_replies {
            return;
        }
        if let Some(at) = route.position(me) {
            self.learn_from(cx, &route, at);
        } else if self.params.learn_from_forwarded_replies && self.trusts(rx.from, cx) {
            // The transmitter is a neighbour; the route from it on is as good as for those on it.
            if let Some(at) = route.position(rx.from) {
                let mut p = Path::starting_at(me, &route.nodes()[at..]);
                p.set_last_external(route.last_external());
                self.learn(cx, &p, Provenance::Overheard);
            }
        }
    }

    /// Whether a neighbour that is heard may be taken for one that hears this node.
    pub(crate) fn trusts(&self, neighbour: Ipv4Addr, cx: &Cx<'_>) -> bool {
        self.blacklist.is_empty() || self.blacklist.state(neighbour, cx.now()) != Some(OneWay::Probable)
    }

    /// A packet between two other nodes, heard in promiscuous mode.
    pub(crate) fn overhear(&mut self, cx: &mut Cx<'_>, bytes: &[u8], next_hop: Ipv4Addr, rx: &Reception) {
        let me = cx.addr();
        self.links.hear(rx, cx.now());
        let Ok(ip) = ipv4::Packet::new_snapped(bytes) else { return };
        if ip.src() == me || next_hop == me {
            return;
        }
        if ip.protocol() != protocol::DSR {
            return self.overhear_flow(cx, &ip, rx);
        }
        if self.params.overheard_once && !self.heard.is_new(&ip) {
            return;
        }
        let Ok(v) = View::new(bytes) else { return };
        self.learn_location(cx, &v);
        if v.has_ack {
            self.on_acks(cx, &v);
            self.learn_acks(cx, &v, rx);
        }
        if v.has_error || v.has_reply {
            self.on_reports(cx, &v, rx);
        }
        if v.request.is_some() {
            return;
        }
        if v.source_route.is_none() && !v.is_control() {
            let flow = dsr::Packet::new_checked(ip.payload()).ok().and_then(|d| d.flow_state());
            return self.overhear_flow(cx, &ip, &Reception { flow, ..*rx });
        }
        // A frame whose transmitter and receiver are not those of its source route teaches nothing.
        let Some(way) = v.way().filter(|w| w.transmitter() == rx.from && w.ahead()[0] == next_hop) else {
            return;
        };
        self.learn_passed(cx, &way, false, v.has_reply);
        if v.is_control() {
            return;
        }
        self.held_replies.cancel(cx, &way);
        if self.params.gratuitous_replies {
            self.shorten(cx, &way);
        }
    }

    /// Whether an address of a request or reply could be a node's.
    pub(crate) fn all_nodes(list: impl IntoIterator<Item = Ipv4Addr>) -> bool {
        list.into_iter().all(is_node)
    }
}
