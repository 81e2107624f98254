//! Route Requests of others: heard, answered, passed on (section 6.5).

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Packet, Span, Time};
use wayhop_wire::aodv::{Message, Rreq};
use wayhop_wire::ipv4;

use crate::engine::state::Engine;
use crate::forwarding::head::{Head, is_destination};
use crate::params::SearchRule;
use crate::routing_table::RouteEntry;
use crate::routing_table::seq::{newer, newest};

impl Engine {
    /// A request from a neighbour (section 6.5).
    pub(crate) fn on_rreq(&mut self, cx: &mut Cx<'_>, p: Packet, head: &Head, mut m: Rreq) {
        let now = cx.now();
        if !ipv4::is_host(m.originator) || !is_destination(m.destination) || m.hop_count == u8::MAX {
            return cx.drop(p, DropReason::Malformed);
        }
        if self.neighbours.is_blacklisted(head.source, now) {
            return cx.consume(p);
        }
        self.touch_neighbour(cx, head.source);
        if m.originator == cx.addr() {
            return cx.consume(p);
        }
        let memory = Span::from_millis(self.params.request_memory_ms);
        let limit = self.params.max_requests_remembered.max(1);
        let seen = self.seen.get_or_insert_default();
        if !seen.first((m.originator, m.id), now, memory, limit) {
            return cx.consume(p);
        }
        m.hop_count += 1;
        self.reverse_route(cx, head.source, &m);
        if self.is_quiet(now) {
            // Section 6.13: this is how a node that lost its own number gets it back.
            if m.destination == cx.addr() || self.serves(cx.addr(), m.destination).is_some() {
                self.heed_number(&m);
            }
            return cx.consume(p);
        }
        if self.answer(cx, head, &m) || head.ttl <= 1 {
            return cx.consume(p);
        }
        let own = cx.addr();
        let known = if m.destination == own { Some(self.seq) } else { self.table.number(m.destination) };
        if let Some(known) = known {
            m.destination_seq = if m.unknown_seq { known } else { newest(known, m.destination_seq) };
            m.unknown_seq = false;
        }
        let mut p = p;
        let payload = head.payload.clone();
        self.rewrite(cx, &mut p, payload, &Message::Rreq(m), BROADCAST, head.ttl - 1);
        let jitter = self.params.broadcast_jitter();
        self.broadcast(cx, p, jitter);
    }

    /// The route back to the originator; the request's hop count is already this node's distance.
    fn reverse_route(&mut self, cx: &mut Cx<'_>, from: Ipv4Addr, m: &Rreq) {
        let now = cx.now();
        let per_hop = self.params.node_traversal_time() * 2 * u64::from(m.hop_count);
        let lifetime = match self.params.reverse_route_ms {
            Some(ms) => Span::from_millis(ms),
            None => (self.params.net_traversal_time() * 2).saturating_sub(per_hop),
        };
        let active = self.params.active_route_timeout();
        let measured = self.params.search == SearchRule::MeasuredLatency;
        let e = self.entry(cx, m.originator);
        e.extend(now + lifetime);
        if !e.accepts(m.originator_seq, m.hop_count) {
            // Section 6.5: the number is copied if it is greater, and with it the rest; it is not.
            return;
        }
        let was_valid = e.is_valid();
        let was_searched = e.search().wait_until > Time::ZERO;
        let mut expires = now + lifetime;
        if was_valid {
            expires = expires.max(e.expires);
        }
        if measured && was_searched {
            // The route is wanted in this direction, too.
            expires = now + active;
        }
        self.set_route(cx, m.originator, from, m.hop_count, m.originator_seq, expires);
        if was_searched {
            self.search_ended(cx, m.originator);
        }
        self.release(cx, m.originator, Span::ZERO);
    }

    /// Whether this node knows the destination well enough to answer a request (section 6.6 ii).
    pub(crate) fn is_fresh_enough(e: &RouteEntry, m: &Rreq) -> bool {
        e.seq.is_some_and(|own| m.unknown_seq || !newer(m.destination_seq, own))
    }
}
