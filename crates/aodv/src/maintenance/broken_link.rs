//! Broken links, expiry, local repair (sections 6.10 to 6.12).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span, Time, TxId};
use wayhop_wire::aodv::Unreachable;
use wayhop_wire::ipv4;

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::maintenance::audience::Audience;
use crate::maintenance::repairs::Repairs;
use crate::params::{LocalRepair, OwnNumber};
use crate::routing_table::{Entry, State};

/// `LOCAL_ADD_TTL` (section 10).
const LOCAL_ADD_TTL: u8 = 2;

/// How many hops a packet has come: senders start at one of a few usual TTLs.
fn hops_so_far(p: &Packet) -> u8 {
    let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return 0 };
    let start = [30, 64, 128, u8::MAX].into_iter().find(|&s| s >= ip.ttl()).unwrap_or(u8::MAX);
    start - ip.ttl()
}

impl Engine {
    /// A data packet was not acknowledged: the link is broken (sections 6.11 i and 6.12).
    pub(crate) fn data_lost(&mut self, cx: &mut Cx<'_>, next_hop: Ipv4Addr, p: Packet) {
        let Some((source, destination)) = ipv4::ends(p.bytes()) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let may_ask = self.may_ask(cx.now());
        match self.params.local_repair {
            LocalRepair::PastHalfWay => {
                let e = self.table.get(destination).filter(|e| e.state != State::Invalid);
                if e.is_some_and(|e| hops_so_far(&p) > e.hops) {
                    return self.repair_past_half_way(cx, p, destination);
                }
            }
            LocalRepair::WithinTtl if source != cx.addr() && may_ask => {
                let e = self.table.get(destination).filter(|e| e.is_valid() && e.next_hop == next_hop);
                if let Some(hops) = e.map(|e| e.hops).filter(|&h| h <= self.params.max_repair_ttl()) {
                    return self.repair_within_ttl(cx, p, next_hop, source, destination, hops);
                }
            }
            _ => {}
        }
        cx.recall(next_hop);
        self.link_broken(cx, next_hop);
        if self.table.valid(destination).is_none() {
            self.tell_source(cx, &p);
        }
        if self.may_go_on(cx.addr(), source, destination) {
            self.route_or_search(cx, p, source, destination);
        } else {
            cx.drop(p, DropReason::MacRetries);
        }
    }

    /// A control message to one neighbour was not acknowledged.
    pub(crate) fn control_lost(&mut self, cx: &mut Cx<'_>, next_hop: Ipv4Addr, id: Option<TxId>, p: Packet) {
        cx.drop(p, DropReason::MacRetries);
        if id == Some(ids::RREP) {
            self.reply_unanswered(cx, next_hop);
        }
        if self.params.control_loss_breaks_link {
            cx.recall(next_hop);
            self.link_broken(cx, next_hop);
        }
    }

    /// Invalidates every route over a neighbour and reports it (section 6.11 i).
    pub(crate) fn link_broken(&mut self, cx: &mut Cx<'_>, next_hop: Ipv4Addr) {
        if self.params.own_number == OwnNumber::Even {
            self.seq = self.seq.wrapping_add(2);
        }
        self.lost.clear();
        let mut audience = Audience::default();
        let mut routes = 0;
        for i in 0..self.table.len() {
            let e = self.table.at_mut(i);
            let destination = e.destination;
            e.precursors.remove(next_hop);
            // A repair that kept its number hangs on its old link still; one that raised it is on its own.
            let hangs_on = match e.state {
                State::Valid => true,
                State::Repair => self.params.local_repair == LocalRepair::PastHalfWay,
                State::Invalid => false,
            };
            if !hangs_on || e.next_hop != next_hop {
                continue;
            }
            routes += 1;
            self.invalidate(cx, destination, |seq| seq.map(|s| s.wrapping_add(1)));
            self.report(destination, &mut audience);
        }
        cx.note("link_broken", next_hop, routes);
        if !self.lost.is_empty() {
            self.send_rerr(cx, audience, false, Span::ZERO);
        }
    }

    /// Adds a destination to the next Route Error, if anybody is to hear of it.
    pub(crate) fn report(&mut self, destination: Ipv4Addr, audience: &mut Audience) {
        let Some(e) = self.table.get_mut(destination) else { return };
        if e.precursors.is_empty() && self.params.rerr_needs_precursors {
            return;
        }
        audience.add(&e.precursors);
        if !self.params.keep_precursors {
            e.precursors.clear();
        }
        self.lost.push(Unreachable { destination, seq: e.seq.unwrap_or(0) });
    }

    /// Marks a route invalid, keeps what is to be remembered of it, and takes it from the host.
    pub(crate) fn invalidate(
        &mut self,
        cx: &mut Cx<'_>,
        destination: Ipv4Addr,
        number: impl FnOnce(Option<u32>) -> Option<u32>,
    ) {
        let delete = cx.now() + self.params.delete_period();
        let Some(e) = self.table.get_mut(destination) else { return };
        let (prefix, was_valid) = (e.prefix, e.is_valid());
        if was_valid {
            cx.note("route_broken", destination, e.hops.into());
        }
        e.seq = number(e.seq);
        e.state = State::Invalid;
        if e.hops == u8::MAX {
            e.hops = e.last_hops.unwrap_or(0);
        } else {
            e.last_hops = Some(e.hops);
        }
        e.expires = delete;
        if was_valid {
            self.publish(cx, destination, prefix);
        }
        self.check_after(cx, delete);
    }

    /// Routes not used for their lifetime become invalid; invalid ones not needed for theirs are forgotten.
    pub(crate) fn expire_routes(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        for i in (0..self.table.len()).rev() {
            let e = self.table.at(i);
            let destination = e.destination;
            if e.expires >= now {
                continue;
            }
            match e.state {
                State::Valid => self.expire(cx, destination),
                State::Invalid if !e.search.is_on() && !self.buffer.waits_for(destination) => {
                    self.forget(cx, destination);
                }
                _ => {}
            }
        }
    }

    /// Deletes an entry.
    pub(crate) fn forget(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let Some(e) = self.table.get(destination) else { return };
        let (prefix, was_valid) = (e.prefix, e.is_valid());
        self.table.remove(destination);
        if was_valid || prefix > 0 {
            self.publish(cx, destination, prefix);
        }
    }

    /// Ends a route without a word to its users.
    fn expire(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        self.invalidate(cx, destination, |seq| seq.map(|s| s.wrapping_add(1)));
        if let Some(e) = self.table.get_mut(destination).filter(|_| !self.params.keep_precursors) {
            e.precursors.clear();
        }
    }

    /// Ends the route to a destination, or all, as if their lifetimes had ended: their numbers stay, for without them
    /// routes could loop.
    pub(crate) fn purge(&mut self, cx: &mut Cx<'_>, destination: Option<Ipv4Addr>) {
        for i in 0..self.table.len() {
            let e = self.table.at(i);
            let meant = destination.is_none_or(|d| d == e.destination);
            if meant && e.is_valid() {
                let destination = e.destination;
                self.expire(cx, destination);
            }
        }
    }

    /// Section 6.12: a new number, a ring that reaches the destination and the source, and one discovery period.
    fn repair_within_ttl(
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
            e.state = State::Repair;
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
    fn repair_past_half_way(&mut self, cx: &mut Cx<'_>, p: Packet, destination: Ipv4Addr) {
        self.keep(cx, p, destination);
        if let Some(e) = self.table.get_mut(destination) {
            if e.state == State::Valid {
                cx.uninstall(destination);
            }
            e.state = State::Repair;
            cx.note("repair_start", destination, e.hops.into());
        }
        self.search(cx, destination);
        // The deadline takes a point in time for a duration (see `Params::ns2`).
        let wait_until = self.table.get(destination).map_or(Time::ZERO, |e| e.search.wait_until);
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
            if self.table.get(destination).is_some_and(|e| e.state == State::Repair) {
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
            e.search.reset();
        }
        self.lost.clear();
        let mut audience = Audience::default();
        self.report(destination, &mut audience);
        if !self.lost.is_empty() {
            self.send_rerr(cx, audience, false, Span::ZERO);
        }
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
        if self.params.local_repair != LocalRepair::WithinTtl || new <= old || e.precursors.is_empty() {
            return;
        }
        let mut audience = Audience::default();
        audience.add(&e.precursors);
        self.lost.clear();
        self.lost.push(Unreachable { destination, seq: e.seq.unwrap_or(0) });
        self.send_rerr(cx, audience, true, Span::ZERO);
    }

    /// Makes sure of a route to a neighbour that was heard, with an unknown number (sections 6.5 and 6.7). What is known
    /// better stays.
    pub(crate) fn touch_neighbour(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        if !self.params.neighbour_routes {
            return;
        }
        let until = cx.now() + self.params.active_route_timeout();
        self.direct_route(cx, neighbour, until);
    }

    /// A route of one hop that lasts at least until then.
    pub(crate) fn direct_route(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr, until: Time) {
        let e = self.entry(cx, neighbour);
        let is_direct = |e: &Entry| e.next_hop == neighbour;
        if e.is_valid() && (is_direct(e) || e.seq.is_some()) {
            if is_direct(e) {
                e.extend(until);
            }
            return;
        }
        let was_searched = e.search.is_on();
        self.make_valid(cx, neighbour, neighbour, 1, until);
        if was_searched {
            self.search_ended(cx, neighbour);
        }
        self.release(cx, neighbour, Span::ZERO);
    }
}
