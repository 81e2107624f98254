//! The search for a route at its originator: requests in growing rings, repeated and given up (sections 6.3 and 6.4).

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Span, Time};
use wayhop_wire::aodv::{Message, Rreq};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::params::{OwnNumber, SearchRule};
use crate::routing_table::{RouteEntry, RouteState};

/// The longest wait for a reply, and the silence after a failure, of `SearchRule::MeasuredLatency`.
const LONGEST_WAIT: Span = Span::from_secs(10);

/// What to do next for a destination.
enum SearchStep {
    Ask { ttl: u8, wait: Span },
    GiveUp { silence: Span },
}

impl Engine {
    /// Asks for a destination that has an entry, unless there is a route or it is too early to ask again.
    pub(crate) fn search(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let now = cx.now();
        let measured = self.params.search == SearchRule::MeasuredLatency;
        let Some(e) = self.table.get(destination) else { return };
        let wait_until = e.search().wait_until;
        let is_on = e.search().is_on();
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
            RouteState::Repair => self.repair_failed(cx, destination),
            _ if waits => self.next_step(cx, destination),
            // Nothing waits any more: its time was up, or it was pushed out.
            _ => e.reset_search(),
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
            SearchStep::Ask { ttl, wait } => self.ask(cx, destination, ttl, wait),
            SearchStep::GiveUp { silence } => {
                if let Some(e) = self.table.get_mut(destination) {
                    e.reset_search();
                    e.search_mut().wait_until = cx.now() + silence;
                    if self.params.search == SearchRule::RingTraversal {
                        e.last_ttl = 0;
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
    fn next_near(&self, e: &RouteEntry) -> SearchStep {
        let p = &self.params;
        if e.search().is_on() && e.search().nearby > p.rreq_retries {
            return SearchStep::GiveUp { silence: Span::ZERO };
        }
        SearchStep::Ask { ttl: 1, wait: p.ring_traversal_time(1) * (1u64 << e.search().nearby.min(16)) }
    }

    /// Sections 6.3 and 6.4.
    fn next_ring(&self, e: &RouteEntry) -> SearchStep {
        let p = &self.params;
        let grow = |ttl: u8| ttl.saturating_add(p.ttl_increment);
        // The threshold bounds the growth, not the first ring around a distance that was known.
        let (ttl, is_ring) = match (e.search().is_on(), e.last_hops) {
            (false, None) => (p.ttl_start, p.ttl_start <= p.ttl_threshold),
            (false, Some(hops)) => (grow(hops), true),
            (true, _) => (grow(e.last_ttl), grow(e.last_ttl) <= p.ttl_threshold),
        };
        if is_ring && ttl < p.net_diameter {
            return SearchStep::Ask { ttl, wait: p.ring_traversal_time(ttl) };
        }
        if e.search().at_full_ttl > p.rreq_retries {
            return SearchStep::GiveUp { silence: Span::ZERO };
        }
        let backoff = 1u64 << e.search().at_full_ttl.min(16);
        let wait = p.request_wait_ms.map_or(p.net_traversal_time() * backoff, Span::from_millis);
        SearchStep::Ask { ttl: p.net_diameter, wait }
    }

    /// As [`SearchRule::MeasuredLatency`] says.
    fn next_measured(&self, e: &RouteEntry) -> SearchStep {
        let p = &self.params;
        if e.search().at_full_ttl > p.rreq_retries {
            return SearchStep::GiveUp { silence: LONGEST_WAIT };
        }
        let last = e.last_hops.map(|hops| hops.max(e.last_ttl));
        let ttl = match last {
            Some(0) => p.ttl_start,
            Some(last) if last < p.ttl_threshold => last.saturating_add(p.ttl_increment),
            _ => p.net_diameter,
        };
        let times = e.search().at_full_ttl + u32::from(!matches!(last, Some(l) if l < p.ttl_threshold));
        let per_hop = e.search().latency_per_hop().unwrap_or(p.node_traversal_time());
        let wait = per_hop * 2 * u64::from(ttl) * u64::from(times.max(1));
        SearchStep::Ask { ttl, wait: wait.min(LONGEST_WAIT) }
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
        let s = e.search_mut();
        if s.since.is_none() {
            s.since = Some(now);
            cx.note("discovery_start", destination, ttl.into());
        }
        s.at_full_ttl += u32::from(full);
        s.nearby += u32::from(ttl == 1);
        s.asked = now;
        s.wait_until = now + wait;
        e.last_ttl = ttl;
        // Section 6.4: an entry that waits for a reply stays for twice NET_TRAVERSAL_TIME at least.
        e.expires = e.expires.max(now + self.params.net_traversal_time() * 2);
        let request = Rreq {
            gratuitous: self.params.gratuitous_rrep,
            // Others have the route to the own subnet, which leads back here.
            destination_only: self.params.destination_only || is_inside,
            ..Rreq::new((destination, known), self.request_id, (cx.addr(), self.seq))
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
        waits.map(|e| e.search().wait_until).min()
    }

    /// The search's packets may go.
    pub(crate) fn search_ended(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let now = cx.now();
        let Some(e) = self.table.get_mut(destination) else { return };
        if let Some(since) = e.search().since {
            cx.note("discovery_done", destination, now.since(since).as_micros());
            cx.clear_timer(Timer::Search(destination).key());
        }
        e.reset_search();
        e.last_ttl = e.hops;
    }
}
