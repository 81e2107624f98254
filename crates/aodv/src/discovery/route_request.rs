//! Searching for a route: packets that need one, own requests, others' requests (sections 6.3 to 6.5).

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Packet, Span, Time, TxSpec};
use wayhop_wire::aodv::{Message, Rreq};
use wayhop_wire::ipv4;

use crate::engine::ids;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::head::{Head, is_destination};
use crate::forwarding::route_use::Use;
use crate::params::{OwnNumber, SearchRule};
use crate::routing_table::seq::{newer, newest};
use crate::routing_table::{Entry, State};

/// The longest wait for a reply, and the silence after a failure, of `SearchRule::MeasuredLatency`.
const LONGEST_WAIT: Span = Span::from_secs(10);

/// What to do next for a destination.
enum Step {
    Ask { ttl: u8, wait: Span },
    GiveUp { silence: Span },
}

impl Engine {
    /// The entry for a destination. A full table loses its least useful row.
    pub(crate) fn entry(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) -> &mut Entry {
        let expires = cx.now() + self.params.delete_period();
        if self.table.get(destination).is_none() {
            if self.table.len() >= self.params.max_routes.max(1)
                && let Some(victim) = self.table.least_useful()
            {
                self.forget(cx, victim);
            }
            self.check_after(cx, expires);
        }
        self.table.get_or_add(destination, expires)
    }

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
        let in_repair = self.table.get(destination).is_some_and(|e| e.state == State::Repair);
        let quiet = self.is_quiet(cx.now());
        let may_forward = source == own || !quiet;
        match way {
            Some((next_hop, prefix)) if !quiet || source == own && next_hop == destination => {
                let used = Use { source, destination, next_hop, previous_hop: None };
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
            || self.table.get(destination).is_some_and(|e| e.state == State::Repair);
        (self.is_answerable(own, source) && self.params.rebuffer_own)
            || (self.params.reroute_queued && has_route)
    }

    pub(crate) fn keep(&mut self, cx: &mut Cx<'_>, p: Packet, destination: Ipv4Addr) {
        self.expire_waiting(cx);
        let timeout = Span::from_millis(self.params.buffer_timeout_ms);
        let limit = self.params.buffer_packets.max(1);
        if let Some(oldest) = self.buffer.push(p, destination, cx.now(), timeout, limit) {
            cx.drop(oldest, DropReason::BufferFull);
        }
        self.check_after(cx, cx.now() + timeout);
    }

    pub(crate) fn expire_waiting(&mut self, cx: &mut Cx<'_>) {
        while let Some(p) = self.buffer.take_expired(cx.now()) {
            cx.drop(p, DropReason::BufferTimeout);
        }
    }

    /// Asks for a destination that has an entry, unless there is a route or it is too early to ask again.
    pub(crate) fn search(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let now = cx.now();
        let measured = self.params.search == SearchRule::MeasuredLatency;
        let Some(e) = self.table.get(destination) else { return };
        let wait_until = e.search.wait_until;
        let is_on = e.search.is_on();
        if self.best(cx.addr(), destination).is_some() || (is_on && !measured) {
            return;
        }
        if wait_until <= now {
            self.next_step(cx, destination);
        } else if measured {
            self.check_at(cx, wait_until);
        }
    }

    /// The wait for a reply is over (`SearchRule::RingTraversal`).
    pub(crate) fn search_timeout(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let waits = self.buffer.waits_for(destination) && self.best(cx.addr(), destination).is_none();
        let Some(e) = self.table.get_mut(destination) else { return };
        match e.state {
            State::Repair => self.repair_failed(cx, destination),
            _ if waits => self.next_step(cx, destination),
            // Nothing waits any more: its time was up, or it was pushed out.
            _ => e.search.reset(),
        }
    }

    fn next_step(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let Some(e) = self.table.get(destination) else { return };
        let step = match self.params.search {
            SearchRule::RingTraversal if self.serves(cx.addr(), destination).is_some() => self.next_near(e),
            SearchRule::RingTraversal => self.next_ring(e),
            SearchRule::MeasuredLatency => self.next_measured(e),
        };
        match step {
            Step::Ask { ttl, wait } => self.ask(cx, destination, ttl, wait),
            Step::GiveUp { silence } => {
                if let Some(e) = self.table.get_mut(destination) {
                    e.search.reset();
                    e.search.wait_until = cx.now() + silence;
                    if self.params.search == SearchRule::RingTraversal {
                        e.search.last_ttl = 0;
                    }
                }
                cx.note("discovery_failed", destination, 0);
                self.give_up(cx, destination);
            }
        }
    }

    /// Ends what waits for a destination that nobody answered for.
    fn give_up(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        if self.serves(cx.addr(), destination).is_none() {
            return self.drop_waiting(cx, destination, DropReason::DiscoveryFailed);
        }
        while let Some(p) = self.buffer.take(destination) {
            self.tell_host_unreachable(cx, &p);
            cx.drop(p, DropReason::DiscoveryFailed);
        }
    }

    /// The search for a node of the own subnet goes to the neighbours only.
    fn next_near(&self, e: &Entry) -> Step {
        let p = &self.params;
        if e.search.is_on() && e.search.nearby > p.rreq_retries {
            return Step::GiveUp { silence: Span::ZERO };
        }
        Step::Ask { ttl: 1, wait: p.ring_traversal_time(1) * (1u64 << e.search.nearby.min(16)) }
    }

    /// Sections 6.3 and 6.4.
    fn next_ring(&self, e: &Entry) -> Step {
        let p = &self.params;
        let grow = |ttl: u8| ttl.saturating_add(p.ttl_increment);
        // The threshold bounds the growth, not the first ring around a distance that was known.
        let (ttl, is_ring) = match (e.search.is_on(), e.last_hops) {
            (false, None) => (p.ttl_start, p.ttl_start <= p.ttl_threshold),
            (false, Some(hops)) => (grow(hops), true),
            (true, _) => (grow(e.search.last_ttl), grow(e.search.last_ttl) <= p.ttl_threshold),
        };
        if is_ring && ttl < p.net_diameter {
            return Step::Ask { ttl, wait: p.ring_traversal_time(ttl) };
        }
        if e.search.at_full_ttl > p.rreq_retries {
            return Step::GiveUp { silence: Span::ZERO };
        }
        let backoff = 1u64 << e.search.at_full_ttl.min(16);
        let wait = p.request_wait_ms.map_or(p.net_traversal_time() * backoff, Span::from_millis);
        Step::Ask { ttl: p.net_diameter, wait }
    }

    /// As [`SearchRule::MeasuredLatency`] says.
    fn next_measured(&self, e: &Entry) -> Step {
        let p = &self.params;
        if e.search.at_full_ttl > p.rreq_retries {
            return Step::GiveUp { silence: LONGEST_WAIT };
        }
        let last = e.last_hops.map(|hops| hops.max(e.search.last_ttl));
        let ttl = match last {
            Some(0) => p.ttl_start,
            Some(last) if last < p.ttl_threshold => last.saturating_add(p.ttl_increment),
            _ => p.net_diameter,
        };
        let times = e.search.at_full_ttl + u32::from(!matches!(last, Some(l) if l < p.ttl_threshold));
        let per_hop = e.search.latency_per_hop().unwrap_or(p.node_traversal_time());
        let wait = per_hop * 2 * u64::from(ttl) * u64::from(times.max(1));
        Step::Ask { ttl, wait: wait.min(LONGEST_WAIT) }
    }

    /// Whether a request may leave now (sections 6.3 and 6.13).
    pub(crate) fn may_ask(&mut self, now: Time) -> bool {
        !self.is_quiet(now) && self.rreq_rate.has_room(now, self.params.rreq_rate_limit)
    }

    /// The numbers of the next request (sections 6.1 and 6.3).
    pub(crate) fn count_request(&mut self) {
        self.seq = match self.params.own_number {
            OwnNumber::Minimal | OwnNumber::IncrementIfNext => self.seq.wrapping_add(1),
            OwnNumber::Even => self.seq.wrapping_add(2),
        };
        self.request_id = self.request_id.wrapping_add(1);
    }

    /// Broadcasts a request (section 6.3).
    pub(crate) fn ask(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr, ttl: u8, wait: Span) {
        let now = cx.now();
        // Whatever the parameters: a request leaves the node, and the next one comes later.
        let (ttl, wait) = (ttl.max(1), wait.max(Span::from_millis(1)));
        if self.is_quiet(now) {
            cx.set_timer(Timer::Search(destination).key(), self.quiet_until);
            return;
        }
        if let Err(room) = self.rreq_rate.take(now, self.params.rreq_rate_limit) {
            cx.set_timer(Timer::Search(destination).key(), room);
            return;
        }
        self.count_request();
        let measured = self.params.search == SearchRule::MeasuredLatency;
        let full = ttl >= self.params.net_diameter;
        let known = self.table.number(destination);
        let is_inside = self.serves(cx.addr(), destination).is_some();
        let Some(e) = self.table.get_mut(destination) else { return };
        let s = &mut e.search;
        if s.since.is_none() {
            s.since = Some(now);
            cx.note("discovery_start", destination, ttl.into());
        }
        s.at_full_ttl += u32::from(full);
        s.nearby += u32::from(ttl == 1);
        s.last_ttl = ttl;
        s.asked = now;
        s.wait_until = now + wait;
        // Section 6.4: an entry that waits for a reply stays for twice NET_TRAVERSAL_TIME at least.
        e.expires = e.expires.max(now + self.params.net_traversal_time() * 2);
        let request = Rreq {
            join: false,
            repair: false,
            gratuitous: self.params.gratuitous_rrep,
            // Others have the route to the own subnet, which leads back here.
            destination_only: self.params.destination_only || is_inside,
            unknown_seq: known.is_none(),
            hop_count: 0,
            id: self.request_id,
            destination,
            destination_seq: known.unwrap_or(0),
            originator: cx.addr(),
            originator_seq: self.seq,
        };
        let p = self.new_message(cx, &Message::Rreq(request), None, BROADCAST, ttl);
        self.broadcast(cx, p, Span::ZERO);
        if measured {
            self.check_at(cx, now + wait);
        } else {
            cx.set_timer(Timer::Search(destination).key(), now + wait);
        }
    }

    /// Searches that the check repeats (`SearchRule::MeasuredLatency`).
    pub(crate) fn repeat_searches(&mut self, cx: &mut Cx<'_>) {
        if self.params.search != SearchRule::MeasuredLatency || self.buffer.is_empty() {
            return;
        }
        for destination in self.buffer.destinations() {
            self.entry(cx, destination);
        }
        // The newest entry first, as ns-2's list has it. This leaves alone what is not due.
        for i in (0..self.table.len()).rev() {
            let destination = self.table.at(i).destination;
            if self.buffer.waits_for(destination) {
                self.search(cx, destination);
            }
        }
    }

    /// When the next of these is due.
    pub(crate) fn next_repeat(&self) -> Option<Time> {
        if self.params.search != SearchRule::MeasuredLatency {
            return None;
        }
        let waits = self.buffer.iter().filter_map(|w| self.table.get(w.destination));
        waits.map(|e| e.search.wait_until).min()
    }

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
        if !self.seen.first((m.originator, m.id), now, memory, limit) {
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
        let was_searched = e.search.wait_until > Time::ZERO;
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

    /// The search's packets may go.
    pub(crate) fn search_ended(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let now = cx.now();
        let Some(e) = self.table.get_mut(destination) else { return };
        if let Some(since) = e.search.since {
            cx.note("discovery_done", destination, now.since(since).as_micros());
            cx.clear_timer(Timer::Search(destination).key());
        }
        e.search.reset();
        e.search.last_ttl = e.hops;
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
            let used = Use { source, destination, next_hop, previous_hop: None };
            self.refresh(cx, &used);
            cx.send(p, TxSpec::unicast(next_hop).after(delay).reported(ids::DATA));
            delay += spacing;
        }
    }

    /// Whether this node knows the destination well enough to answer a request (section 6.6 ii).
    pub(crate) fn is_fresh_enough(e: &Entry, m: &Rreq) -> bool {
        e.seq.is_some_and(|own| m.unknown_seq || !newer(m.destination_seq, own))
    }
}
