//! Local repair (section 6.12).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span, Time};
use wayhop_wire::aodv::Unreachable;
use wayhop_wire::ipv4;

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::maintenance::repairs::Repairs;
use crate::maintenance::route_error::Audience;
use crate::params::LocalRepair;
use crate::routing_table::RouteState;

/// `LOCAL_ADD_TTL` (section 10).
const LOCAL_ADD_TTL: u8 = 2;

impl Engine {
    /// Section 6.12: a new number, a ring that reaches the destination and the source, and one discovery period.
    pub(crate) fn repair_within_ttl(
        &mut self,
        cx: &mut Cx<'_>,
        p: Packet,
        next_hop: Ipv4Addr,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        hops: u8,
    ) {
        let to_source = self.table.valid(source).map_or(0, |e| e.hops);
        let ttl = hops.max(to_source / 2).saturating_add(LOCAL_ADD_TTL);
        if let Some(e) = self.table.get_mut(destination) {
            e.state = RouteState::Repair;
            e.raise_seq();
            // With a number raised, any distance is good news.
            e.hops = u8::MAX;
            e.last_hops = Some(hops);
            // Nothing that the old next hop says concerns this route any more.
            e.next_hop = Ipv4Addr::UNSPECIFIED;
            cx.uninstall(destination);
            cx.note("repair_start", destination, hops.into());
        }
        cx.recall(next_hop);
        self.link_broken(cx, next_hop);
        self.keep(cx, p, destination);
        let wait = self.params.ring_traversal_time(ttl);
        self.ask(cx, destination, ttl, wait);
    }

    /// `LocalRepair::PastHalfWay`.
    pub(crate) fn repair_past_half_way(&mut self, cx: &mut Cx<'_>, p: Packet, destination: Ipv4Addr) {
        self.keep(cx, p, destination);
        if let Some(e) = self.table.get_mut(destination) {
            if e.state == RouteState::Valid {
                cx.uninstall(destination);
            }
            e.state = RouteState::Repair;
            cx.note("repair_start", destination, e.hops.into());
        }
        self.search(cx, destination);
        // The deadline takes a point in time for a duration (see `Params::ns2`).
        let wait_until = self.table.get(destination).map_or(Time::ZERO, |e| e.search().wait_until);
        if self.repairs.0.len() < Repairs::LIMIT {
            self.repairs.0.insert((cx.now() + wait_until.since(Time::ZERO), destination));
        }
        if let Some((first, _)) = self.repairs.0.first() {
            cx.set_timer(Timer::Repair.key(), *first);
        }
    }

    /// A deadline of `LocalRepair::PastHalfWay`: what is not repaired by now goes down, silently.
    pub(crate) fn repair_deadline(&mut self, cx: &mut Cx<'_>) {
        while let Some(&(at, destination)) = self.repairs.0.first() {
            if at > cx.now() {
                cx.set_timer(Timer::Repair.key(), at);
                break;
            }
            self.repairs.0.pop_first();
            if self.table.get(destination).is_some_and(|e| e.state == RouteState::Repair) {
                self.invalidate(cx, destination, |seq| seq);
                cx.note("repair_failed", destination, 0);
            }
        }
    }

    /// Section 6.12: no reply came; the users hear of the break now.
    pub(crate) fn repair_failed(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        cx.note("repair_failed", destination, 0);
        self.invalidate(cx, destination, |seq| seq);
        if let Some(e) = self.table.get_mut(destination) {
            e.reset_search();
        }
        let mut audience = Audience::default();
        self.report(destination, &mut audience);
        self.send_rerr(cx, audience, false, Span::ZERO);
        // Own packets may have joined the wait: they are worth a search of their own.
        let mut own = Vec::new();
        while let Some(p) = self.buffer.take(destination) {
            match ipv4::ends(p.bytes()) {
                Some((source, _)) if source == cx.addr() => own.push(p),
                _ => self.end_unreachable(cx, p, DropReason::NoRoute),
            }
        }
        for p in own {
            self.route_or_search(cx, p, cx.addr(), destination);
        }
    }

    /// Section 6.12: a repair found a way; if it is longer, the users hear so (N flag).
    pub(crate) fn repaired(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr, old: u8, new: u8) {
        cx.note("repair_done", destination, new.into());
        let Some(e) = self.table.get(destination) else { return };
        if self.params.local_repair != LocalRepair::WithinTtl || new <= old || e.precursors().is_empty() {
            return;
        }
        let mut audience = Audience::default();
        audience.add(e.precursors());
        self.lost.push(Unreachable { destination, seq: e.seq.unwrap_or(0) });
        self.send_rerr(cx, audience, true, Span::ZERO);
    }
}
