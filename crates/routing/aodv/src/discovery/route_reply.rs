//! Route Replies: sent, received, forwarded (sections 6.6 and 6.7).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span, Time};
use wayhop_wire::aodv::{Message, Rrep, Rreq};
use wayhop_wire::ipv4;

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::forwarding::head::{Head, is_destination};
use crate::forwarding::output::reply_to;
use crate::params::{LocalRepair, OwnNumber};
use crate::routing_table::seq::newest;
use crate::routing_table::subnet::network;
use crate::routing_table::{RouteEntry, RouteState};

impl Engine {
    /// Answers a request if this node may; its hop count is already this node's distance from the originator.
    pub(crate) fn answer(&mut self, cx: &mut Cx<'_>, head: &Head, m: &Rreq) -> bool {
        let own = cx.addr();
        if self.leaves_answer(own, m.destination, m.originator) {
            return false;
        }
        let serves = self.serves(own, m.destination);
        if m.destination == own || serves.is_some() {
            self.answer_for_self(cx, m, serves.unwrap_or(0));
            return true;
        }
        if self.leads_to(m.destination) {
            self.answer_as_gateway(cx, head, m);
            return true;
        }
        let now = cx.now();
        let Some(e) = self.way(own, m.destination) else { return false };
        if m.destination_only || !self.is_offered(e) || !Self::is_fresh_enough(e, m) {
            return false;
        }
        let (key, next_hop, hops) = (e.destination, e.next_hop, e.hops);
        let reply = reply_to(m, e.seq.unwrap_or(0), self.remaining(now, e));
        let reply = Rrep { prefix_size: e.prefix, hop_count: hops, ..reply };
        let back = self.send_reply(cx, reply);
        // Sections 6.6.2 (the neighbour that asked) and 6.7 (the one that the reply went to, which a stale request makes
        // another one).
        if let Some(e) = self.table.get_mut(key) {
            e.add_precursor(head.source);
            if let Some(back) = back {
                e.add_precursor(back);
            }
        }
        if let Some(e) = self.table.get_mut(m.originator) {
            e.add_precursor(next_hop);
        }
        if m.gratuitous {
            self.tell_destination(cx, m, next_hop);
        }
        true
    }

    /// The route to an address, or one under repair that is offered meanwhile.
    fn way(&self, own: Ipv4Addr, a: Ipv4Addr) -> Option<&RouteEntry> {
        self.best(own, a)
            .or_else(|| self.table.get(a).filter(|e| e.state == RouteState::Repair && self.is_offered(e)))
    }

    /// Whether an entry may be offered to others.
    fn is_offered(&self, e: &RouteEntry) -> bool {
        let while_repairing = self.params.local_repair == LocalRepair::PastHalfWay;
        e.is_valid() || (e.state == RouteState::Repair && while_repairing)
    }

    /// The lifetime to state for an entry, in ms.
    fn remaining(&self, now: Time, e: &RouteEntry) -> u32 {
        if e.state == RouteState::Repair {
            return u32::MAX;
        }
        let ms = u32::try_from(e.expires.since(now).as_millis()).unwrap_or(u32::MAX);
        if self.params.reply_lifetime_whole_seconds { ms / 1_000 * 1_000 } else { ms }
    }

    /// Raises this node's number to what a request for it says, as [`OwnNumber`] has it (sections 6.1, 6.6.1, 6.13).
    pub(crate) fn heed_number(&mut self, m: &Rreq) {
        if m.unknown_seq {
            return;
        }
        let is_next = m.destination_seq == self.seq.wrapping_add(1);
        if self.params.own_number != OwnNumber::IncrementIfNext || is_next {
            self.seq = newest(self.seq, m.destination_seq);
        }
    }

    /// Section 6.6.1, or 7 for an address of a subnet that this node is the router of; its own number is the subnet's.
    fn answer_for_self(&mut self, cx: &mut Cx<'_>, m: &Rreq, prefix_size: u8) {
        self.heed_number(m);
        if self.params.own_number == OwnNumber::Even {
            self.seq = self.seq.wrapping_add(1);
            self.seq = self.seq.wrapping_add(self.seq % 2);
        }
        let lifetime_ms = u32::try_from(self.params.my_route_timeout_ms).unwrap_or(u32::MAX);
        self.send_reply(cx, Rrep { prefix_size, ..reply_to(m, self.seq, lifetime_ms) });
    }

    /// Section 6.6.3: a reply to the destination, as if it had asked for the originator.
    fn tell_destination(&mut self, cx: &mut Cx<'_>, m: &Rreq, next_hop: Ipv4Addr) {
        let now = cx.now();
        let Some(e) = self.table.get_mut(m.originator) else { return };
        e.add_precursor(next_hop);
        let lifetime_ms = u32::try_from(e.expires.since(now).as_millis()).unwrap_or(u32::MAX);
        let reply = Rrep::new(m.originator, m.originator_seq, m.destination, lifetime_ms);
        let hop_count = e.hops;
        self.send_reply(cx, Rrep { hop_count, ..reply });
    }

    /// Sends a reply to the next hop towards its originator, and says to whom.
    pub(crate) fn send_reply(&mut self, cx: &mut Cx<'_>, mut reply: Rrep) -> Option<Ipv4Addr> {
        let next_hop = self.way(cx.addr(), reply.originator)?.next_hop;
        reply.ack_required = self.params.rrep_ack;
        let p = self.new_message(cx, &Message::Rrep(reply), None, next_hop, self.params.net_diameter);
        self.dispatch_reply(cx, p, next_hop);
        Some(next_hop)
    }

    fn dispatch_reply(&mut self, cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr) {
        if self.params.rrep_ack {
            self.await_ack(cx, next_hop);
        }
        Self::unicast(cx, p, next_hop, ids::RREP);
    }

    /// A reply from a neighbour (section 6.7).
    pub(crate) fn on_rrep(&mut self, cx: &mut Cx<'_>, p: Packet, head: &Head, mut m: Rrep) {
        let is_sound = match m.prefix_size {
            0 => is_destination(m.destination),
            bits => ipv4::is_host(m.destination) && ipv4::is_host(network(m.destination, bits)),
        };
        if !is_sound || !ipv4::is_host(m.originator) || m.hop_count == u8::MAX {
            return cx.drop(p, DropReason::Malformed);
        }
        if m.ack_required {
            let ack = self.new_message(cx, &Message::RrepAck, None, head.source, 1);
            Self::unicast(cx, ack, head.source, ids::CONTROL);
        }
        let own = cx.addr();
        let is_own = if m.prefix_size == 0 {
            m.destination == own
        } else {
            self.serves(own, own).is_some_and(|bits| {
                m.prefix_size <= bits && network(own, m.prefix_size) == network(m.destination, m.prefix_size)
            })
        };
        if is_own {
            self.touch_neighbour(cx, head.source);
            return cx.consume(p);
        }
        m.hop_count += 1;
        // Section 6.7 has the neighbour's entry made first, without a number, so that the reply is news about the neighbour, too.
        // Here numbers stay: if the entry were made first, an equal number would be no news, and nobody else would get the reply.
        let is_news = self.forward_route(cx, head.source, &m);
        self.touch_neighbour(cx, head.source);
        // Destination and originator are the same: a Hello sent to one node, not a reply.
        let has_arrived = m.originator == own || m.originator == m.destination;
        if !is_news || has_arrived || self.is_quiet(cx.now()) {
            return cx.consume(p);
        }
        self.pass_on(cx, p, head, m);
    }

    /// Enters the route that a reply offers; false if what is known is better. The hop count is already this node's distance.
    fn forward_route(&mut self, cx: &mut Cx<'_>, from: Ipv4Addr, m: &Rrep) -> bool {
        let now = cx.now();
        // Section 5.2: what is known of a subnet is kept with respect to the subnet.
        let key = if m.prefix_size == 0 { m.destination } else { network(m.destination, m.prefix_size) };
        let e = self.entry(cx, key);
        // An entry for fewer addresses must not replace a subnet's: the sequence number of the
        // others would be forgotten before DELETE_PERIOD ends.
        let leaves_some_out = e.prefix > 0 && (m.prefix_size == 0 || m.prefix_size > e.prefix);
        let is_other = e.prefix != m.prefix_size
            && (leaves_some_out || e.state != RouteState::Invalid || e.search().is_on());
        if is_other || !e.accepts(m.destination_seq, m.hop_count) {
            if !is_other && e.contradicts(from, m.destination_seq) {
                self.ask_next_hop(cx, key);
            }
            return false;
        }
        if e.prefix != m.prefix_size {
            self.table.set_prefix(key, m.prefix_size);
        }
        let e = self.entry(cx, key);
        let was_in_repair = e.state == RouteState::Repair;
        let expires = now + self.params.believed(Span::from_millis(m.lifetime_ms.into()));
        self.set_route(cx, key, from, m.hop_count, m.destination_seq, expires);
        let asked = self.table.get(m.destination).map_or(Time::ZERO, |e| e.search().asked);
        if m.originator == cx.addr()
            && asked > Time::ZERO
            && let Some(e) = self.table.get_mut(m.destination)
        {
            e.search_mut().add_latency(now.since(asked) / u64::from(m.hop_count.max(1)));
        }
        if was_in_repair && self.params.local_repair == LocalRepair::PastHalfWay {
            cx.note("repair_done", m.destination, m.hop_count.into());
        }
        self.search_ended(cx, m.destination);
        let spacing = Span::from_millis(self.params.buffer_spacing_ms);
        self.release(cx, m.destination, spacing);
        if m.prefix_size > 0 {
            self.subnet_found(cx, key, m.prefix_size);
        }
        true
    }

    /// Passes a reply on towards its originator.
    fn pass_on(&mut self, cx: &mut Cx<'_>, mut p: Packet, head: &Head, mut m: Rrep) {
        let Some(back) = self.way(cx.addr(), m.originator).map(|e| e.next_hop) else {
            return cx.drop(p, DropReason::NoRoute);
        };
        if head.ttl <= 1 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        m.ack_required = self.params.rrep_ack;
        self.rewrite(cx, &mut p, head.payload.clone(), &Message::Rrep(m), back, head.ttl - 1);
        self.dispatch_reply(cx, p, back);
        // Section 6.7: the lifetime of the route used, and the precursors.
        let until = cx.now() + self.params.active_route_timeout();
        let way_back = self.table.key(m.originator);
        if let Some(e) = self.table.get_mut(way_back) {
            e.extend(until);
        }
        let way = if m.prefix_size == 0 { m.destination } else { network(m.destination, m.prefix_size) };
        if let Some(e) = self.table.get_mut(way) {
            e.add_precursor(back);
        }
        if self.params.neighbour_routes
            && let Some(e) = self.table.get_mut(head.source)
        {
            e.add_precursor(back);
        }
    }

    /// Writes a valid route into the table and the host's.
    pub(crate) fn set_route(
        &mut self,
        cx: &mut Cx<'_>,
        destination: Ipv4Addr,
        next_hop: Ipv4Addr,
        hops: u8,
        seq: u32,
        expires: Time,
    ) {
        let place = self.place(cx, destination);
        let e = self.table.at_mut(place);
        e.learn_seq(seq);
        e.set_wanted_until(expires);
        self.make_valid(cx, place, next_hop, hops, expires);
    }

    /// Makes the entry at a place valid, whatever its number.
    pub(crate) fn make_valid(
        &mut self,
        cx: &mut Cx<'_>,
        place: usize,
        next_hop: Ipv4Addr,
        hops: u8,
        expires: Time,
    ) {
        let e = self.table.at_mut(place);
        let is_same = e.is_valid() && e.next_hop == next_hop && e.hops == hops;
        let repaired_from = (e.state == RouteState::Repair).then_some(e.last_hops.unwrap_or(e.hops));
        e.state = RouteState::Valid;
        e.next_hop = next_hop;
        e.hops = hops;
        e.expires = expires;
        let (destination, prefix) = (e.destination, e.prefix);
        if !is_same {
            cx.note("route_added", destination, hops.into());
        }
        if !is_same || self.table.has_subnets() {
            self.publish(cx, destination, prefix);
        }
        self.check_after(cx, expires);
        if let Some(old) = repaired_from
            && self.params.local_repair == LocalRepair::WithinTtl
        {
            self.repaired(cx, destination, old, hops);
        }
    }
}
