//! Route Replies: from the target, from the cache, and received (RFC 4728 sections 8.2.3 to 8.2.6).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Packet, Span};
use wayhop_wire::dsr::{AddrList, DsrOption, LinkMetrics, RouteReply, RouteRequest};

use crate::cache::path::Path;
use crate::cache::{Provenance, Purpose};
use crate::discovery::held_replies::{HeldReply, MAX_HELD};
use crate::engine::reception::Reception;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::view::{View, usable};

impl Engine {
    /// Answers a Route Request for this node (section 8.2.4). Every copy is answered.
    pub(crate) fn reply_as_target(&mut self, cx: &mut Cx<'_>, initiator: Ipv4Addr, r: &RouteRequest<'_>) {
        let me = cx.addr();
        let route = Path::from_nodes([initiator].into_iter().chain(r.addresses.iter()).chain([me]));
        if route.len() != r.addresses.len() + 2 || route.len() > self.max_nodes() {
            return;
        }
        let back = route.reversed();
        self.learn(cx, &back, Provenance::Asked);
        let Some(p) = self.reply_packet(cx, &route) else { return };
        cx.note("reply_sent", initiator, route.hops() as u64);
        let jitter = cx.rng().jitter(self.params.jitter());
        self.send_by(cx, p, &back, 0, jitter);
    }

    /// Answers a Route Request from the cache if that is allowed (section 8.2.3), and gives the route from here to the
    /// target.
    pub(crate) fn reply_from_cache(
        &mut self,
        cx: &mut Cx<'_>,
        initiator: Ipv4Addr,
        r: &RouteRequest<'_>,
    ) -> Option<Path> {
        let me = cx.addr();
        let mut rest = Path::EMPTY;
        if !self.route_to(cx, r.target, Purpose::Answer, &mut rest) {
            return None;
        }
        let so_far = || [initiator].into_iter().chain(r.addresses.iter());
        let route = Path::from_nodes(so_far().chain(rest.nodes().iter().copied()));
        let len = r.addresses.len() + 1 + rest.len();
        if route.len() != len || len > self.max_nodes() || route.repeats() {
            return None;
        }
        let back = Path::from_nodes(so_far().chain([me])).reversed();
        self.learn(cx, &back, Provenance::Asked);
        let packet = self.reply_packet(cx, &route)?;
        cx.note("reply_from_cache", initiator, route.hops() as u64);
        let h = u64::from(self.params.cached_reply_delay_us);
        if h == 0 || self.held_replies.0.len() == MAX_HELD {
            self.send_by(cx, packet, &back, 0, Span::ZERO);
            return Some(rest);
        }
        // Section 8.2.5: d = H * (h - 1 + r).
        let hops = route.hops();
        let h = Span::from_micros(h);
        let due = cx.now() + h * (hops as u64 - 1) + cx.rng().jitter(h);
        self.held_replies.0.push(HeldReply { packet, back, initiator, target: r.target, hops, due });
        self.set_reply_timer(cx);
        Some(rest)
    }

    fn set_reply_timer(&self, cx: &mut Cx<'_>) {
        if let Some(due) = self.held_replies.0.iter().map(|h| h.due).min() {
            cx.set_timer(Timer::HeldReply.key(), due);
        }
    }

    /// Sends the held-back replies whose time has come.
    pub(crate) fn send_due_replies(&mut self, cx: &mut Cx<'_>) {
        while let Some(at) = self.held_replies.0.iter().position(|h| h.due <= cx.now()) {
            let h = self.held_replies.0.swap_remove(at);
            self.send_by(cx, h.packet, &h.back, 0, Span::ZERO);
        }
        self.set_reply_timer(cx);
    }

    /// A packet with a Route Reply that gives this route to the route's first node.
    pub(crate) fn reply_packet(&mut self, cx: &mut Cx<'_>, route: &Path) -> Option<Packet> {
        let addresses = AddrList::from(&route.nodes()[1..]);
        let option =
            DsrOption::RouteReply(RouteReply { last_hop_external: route.last_external(), addresses });
        if self.links.etx.is_none() {
            return self.control(cx, route.first()?, &[option]);
        }
        let costs = self.costs_of(cx, route);
        let mut entries = core::mem::take(&mut self.entries);
        let metrics = DsrOption::LinkMetrics(LinkMetrics::build(&mut entries, costs));
        let p = self.control(cx, route.first()?, &[option, metrics]);
        self.entries = entries;
        p
    }

    /// A Route Reply to this node (section 8.2.6).
    pub(crate) fn on_answer(&mut self, cx: &mut Cx<'_>, v: &View<'_>, r: &RouteReply<'_>, rx: &Reception) {
        let me = cx.addr();
        if !rx.broadcast {
            self.on_acked(cx, rx.from);
        }
        let mut route = Path::from_nodes([me].into_iter().chain(r.addresses.iter()));
        if route.len() != r.addresses.len() + 1 || !usable(&route) {
            return;
        }
        route.set_last_external(r.last_hop_external);
        let Some(target) = route.last().filter(|_| route.len() > 1) else { return };
        self.learn(cx, &route, Provenance::Asked);
        self.learn_costs(&route, v.metrics);
        if self.answers(cx, target)
            && let Some(since) = self.requests.found(target)
        {
            cx.note("discovery_done", target, cx.now().since(since).as_micros());
            cx.clear_timer(Timer::Discovery(target).key());
        }
        if !self.buffer.is_empty() {
            self.release(cx, Span::from_millis(self.params.send_buffer_release_spacing_ms.into()));
        }
    }
}
