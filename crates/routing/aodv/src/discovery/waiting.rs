//! Packets that need a route: sent, kept until there is one, dropped (section 6.3).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span, TxSpec, WaitingPacket};
use wayhop_wire::ipv4;

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::forwarding::route_use::DataPath;
use crate::routing_table::RouteState;

impl Engine {
    /// Sends a packet if there is a route; else, if it is this node's or its route is under repair, keeps it and searches; else drops
    /// it and says so.
    pub(crate) fn route_or_search(
        &mut self,
        cx: &mut Cx<'_>,
        p: Packet,
        source: Ipv4Addr,
        destination: Ipv4Addr,
    ) {
        let own = cx.addr();
        if self.leads_to(destination) {
            // The host sends it on.
            return cx.deliver(p);
        }
        let way = self.best(own, destination).map(|e| (e.next_hop, e.prefix));
        let in_repair = self.table.get(destination).is_some_and(|e| e.state == RouteState::Repair);
        let quiet = self.is_quiet(cx.now());
        let may_forward = source == own || !quiet;
        match way {
            Some((next_hop, prefix)) if !quiet || source == own && next_hop == destination => {
                let used = DataPath { source, destination, next_hop, previous_hop: None };
                self.refresh(cx, &used);
                cx.send(p, TxSpec::unicast(next_hop).reported(ids::DATA));
                if prefix > 0 {
                    self.publish_row(cx, destination);
                }
            }
            _ if source == own
                || may_forward
                    && (self.serves(own, destination).is_some() || self.is_answerable(own, source)) =>
            {
                self.entry(cx, destination);
                self.keep(cx, p, destination);
                self.search(cx, destination);
            }
            _ if in_repair => self.keep(cx, p, destination),
            _ => self.no_route(cx, p, destination),
        }
    }

    /// A packet came back out of the interface queue: where to now?
    pub(crate) fn reroute(&mut self, cx: &mut Cx<'_>, p: Packet) {
        match ipv4::ends(p.bytes()) {
            Some((source, destination)) if self.may_go_on(cx.addr(), source, destination) => {
                self.route_or_search(cx, p, source, destination);
            }
            // The Route Error for the broken link has gone out already.
            _ => self.end_unreachable(cx, p, DropReason::NoRoute),
        }
    }

    /// Whether there is another way for a packet that the link did not take, or hope for one.
    pub(crate) fn may_go_on(&self, own: Ipv4Addr, source: Ipv4Addr, destination: Ipv4Addr) -> bool {
        let has_route = self.best(own, destination).is_some()
            || self.table.get(destination).is_some_and(|e| e.state == RouteState::Repair);
        (self.is_answerable(own, source) && self.params.rebuffer_own)
            || (self.params.reroute_queued && has_route)
    }

    pub(crate) fn keep(&mut self, cx: &mut Cx<'_>, p: Packet, destination: Ipv4Addr) {
        self.expire_waiting(cx);
        self.buffer.push(WaitingPacket { packet: p, destination, since: cx.now(), state: () });
        if let Some(oldest) = self.buffer.take_excess() {
            cx.drop(oldest, DropReason::BufferFull);
        }
        self.check_after(cx, cx.now() + Span::from_millis(self.params.buffer_timeout_ms));
    }

    pub(crate) fn expire_waiting(&mut self, cx: &mut Cx<'_>) {
        while let Some(p) = self.buffer.take_expired(cx.now()) {
            cx.drop(p, DropReason::BufferTimeout);
        }
    }

    /// Sends what waits for a destination that has a route now, `spacing` apart.
    pub(crate) fn release(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr, spacing: Span) {
        let Some(next_hop) = self.best(cx.addr(), destination).map(|e| e.next_hop) else { return };
        if self.is_quiet(cx.now()) && next_hop != destination {
            // Section 6.13: the way may lead back here, and packets on it would keep neighbours from forgetting so.
            return;
        }
        self.expire_waiting(cx);
        let mut delay = Span::ZERO;
        while let Some(p) = self.buffer.take(destination) {
            let source = ipv4::ends(p.bytes()).map_or(cx.addr(), |(s, _)| s);
            let used = DataPath { source, destination, next_hop, previous_hop: None };
            self.refresh(cx, &used);
            cx.send(p, TxSpec::unicast(next_hop).after(delay).reported(ids::DATA));
            delay += spacing;
        }
    }
}
