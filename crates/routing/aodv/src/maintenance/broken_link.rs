//! Broken links: packets and messages that a next hop did not acknowledge (sections 6.11 and 6.12).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span, TxId};
use wayhop_wire::aodv::Unreachable;
use wayhop_wire::ipv4;

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::maintenance::route_error::Audience;
use crate::params::{LocalRepair, OwnNumber};
use crate::routing_table::RouteState;

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
                let e = self.table.get(destination).filter(|e| e.state != RouteState::Invalid);
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
        let mut audience = Audience::default();
        let mut routes = 0;
        for i in 0..self.table.len() {
            let e = self.table.at_mut(i);
            let destination = e.destination;
            e.remove_precursor(next_hop);
            // A repair that kept its number hangs on its old link still; one that raised it is on its own.
            let hangs_on = match e.state {
                RouteState::Valid => true,
                RouteState::Repair => self.params.local_repair == LocalRepair::PastHalfWay,
                RouteState::Invalid => false,
            };
            if !hangs_on || e.next_hop != next_hop {
                continue;
            }
            routes += 1;
            self.invalidate(cx, destination, |seq| seq.map(|s| s.wrapping_add(1)));
            self.report(destination, &mut audience);
        }
        cx.note("link_broken", next_hop, routes);
        self.send_rerr(cx, audience, false, Span::ZERO);
    }

    /// Adds a destination to the next Route Error, if anybody is to hear of it.
    pub(crate) fn report(&mut self, destination: Ipv4Addr, audience: &mut Audience) {
        let Some(e) = self.table.get_mut(destination) else { return };
        if e.precursors().is_empty() && self.params.rerr_needs_precursors {
            return;
        }
        audience.add(e.precursors());
        if !self.params.keep_precursors {
            e.clear_precursors();
        }
        self.lost.push(Unreachable { destination, seq: e.seq.unwrap_or(0) });
    }
}
