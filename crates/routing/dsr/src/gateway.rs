//! Destinations outside of the mesh (RFC 4728 sections 4.1, 6.3 and 6.7; Maltz, Broch and Johnson 1999, section 6.1).
//!
//! A gateway answers requests for what it leads to by a Route Reply in whose route it is the last but one, with the Last Hop
//! External bit, and passes the requests on: who has the address inside of the mesh answers, too, and its route is preferred. A
//! packet that comes to a gateway by such a route leaves the mesh there, without its DSR header; one that comes in has a source
//! route that lists the gateway as visited, with the First Hop External bit.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Outside, Packet};
use wayhop_wire::dsr::RouteRequest;
use wayhop_wire::ipv4;

use crate::cache::Provenance;
use crate::cache::path::Path;
use crate::engine::state::Engine;
use crate::forwarding::view::RouteView;

impl Engine {
    /// What is the mesh's, and what this node leads to, may have changed.
    pub(crate) fn set_outside(&mut self, cx: &mut Cx<'_>, outside: &Outside) {
        let is_gateway = !outside.reaches.is_empty();
        if is_gateway != self.outside.as_ref().is_some_and(|o| !o.reaches.is_empty()) {
            cx.note("gateway", cx.addr(), is_gateway.into());
        }
        self.outside = Some(outside.clone());
    }

    /// Whether this node leads to an address.
    pub(crate) fn leads_to(&self, a: Ipv4Addr) -> bool {
        self.outside.as_ref().is_some_and(|o| o.leads_to(a))
    }
    /// Whether an address is outside of the mesh, as far as this node knows: nobody there understands DSR.
    pub(crate) fn is_beyond(&self, a: Ipv4Addr) -> bool {
        self.outside.as_ref().is_some_and(|o| o.is_beyond(a))
    }
    /// Whether this node brings packets of this source into the mesh.
    pub(crate) fn brings_in(&self, source: Ipv4Addr) -> bool {
        self.outside.as_ref().is_some_and(|o| !o.reaches.is_empty() && o.is_beyond(source))
    }

    /// Answers a request for an address outside. Every copy is answered, as a target answers, so that the initiator gets the
    /// shortest way.
    pub(crate) fn reply_as_gateway(&mut self, cx: &mut Cx<'_>, initiator: Ipv4Addr, r: &RouteRequest<'_>) {
        let me = cx.addr();
        let so_far = || [initiator].into_iter().chain(r.addresses.iter()).chain([me]);
        let mut route = Path::from_nodes(so_far().chain([r.target]));
        let len = r.addresses.len() + 3;
        if route.len() != len || len > self.max_nodes() || route.repeats() {
            return;
        }
        route.set_last_external(true);
        let back = Path::from_nodes(so_far()).reversed();
        self.learn(cx, &back, Provenance::Asked);
        let Some(p) = self.reply_packet(cx, &route) else { return };
        cx.note("proxy_reply", initiator, route.hops() as u64);
        let jitter = cx.rng().jitter(self.params.jitter());
        self.send_by(cx, p, &back, 0, jitter);
    }

    /// A packet leaves the mesh here; its Segments Left and TTL are counted down as for any hop. Where this node does not lead to its destination
    /// (any more) the External hop is broken.
    pub(crate) fn let_out(&mut self, cx: &mut Cx<'_>, mut p: Packet, to: Ipv4Addr) {
        if !self.leads_to(to) {
            return self.on_broken_link(cx, p, to, 0);
        }
        // The router behind counts the TTL down for the same hop.
        let ttl = ipv4::Packet::new_checked(p.bytes()).map_or(0, |ip| ip.ttl());
        if ipv4::set_ttl(p.bytes_mut(), ttl.saturating_add(1)).is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        Self::accept(cx, p);
    }

    /// What is left to learn of a route: no gateway speaks for an address of the mesh, and an External hop of this node's own is
    /// none to a neighbour.
    pub(crate) fn without_false_end(&self, route: &mut Path) {
        let Some(outside) = self.outside.as_ref().filter(|_| route.last_external()) else { return };
        if route.len() == 2 || route.last().is_some_and(|a| !outside.is_beyond(a)) {
            route.truncate(route.len() - 1);
        }
    }

    /// Whether a packet that this node sends by a route of its own comes from outside.
    pub(crate) fn is_from_outside(&self, source: Ipv4Addr, route: &Path) -> bool {
        route.first() != Some(source) && self.brings_in(source)
    }

    /// Whether a packet is this node's to send again: its own, or one that it brought in.
    pub(crate) fn is_answerable(&self, cx: &Cx<'_>, source: Ipv4Addr) -> bool {
        source == cx.addr() || self.brings_in(source)
    }
}

impl RouteView {
    /// The node that chose the way, and what was passed from it on: of a packet from outside, the gateway.
    pub(crate) fn chosen_by(&self) -> (Option<Ipv4Addr>, &[Ipv4Addr]) {
        let skipped = usize::from(self.nodes.first_external() && self.receiver > 1);
        let passed = &self.passed()[skipped..];
        (passed.first().copied(), passed)
    }
}
