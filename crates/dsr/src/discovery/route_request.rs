//! Looking for routes: the Send Buffer, and Route Requests on their way (RFC 4728 sections 8.2.1 and 8.2.2).

use std::net::Ipv4Addr;

use wayhop_core::{Addr, BROADCAST, Cx, Decision, DropReason, Packet, RxMeta, SendState, Span, TxSpec};
use wayhop_wire::dsr::{self, AddrList, DsrOption, LinkMetrics, RouteRequest};
use wayhop_wire::ipv4;

use crate::cache::Purpose;
use crate::cache::path::Path;
use crate::discovery::blacklist::OneWay;
use crate::discovery::send_buffer::Held;
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::forwarding::view::{View, is_node};

/// How many Route Requests of neighbours with a link taken for unidirectional are kept at once.
const MAX_UNIDIRECTIONAL_REQUESTS: usize = 8;

impl Engine {
    // ---- the initiator ----

    /// Keeps a packet until there is a route.
    pub(crate) fn hold(&mut self, cx: &mut Cx<'_>, h: Held) {
        cx.state(SendState {
            packet: h.packet.meta.id,
            next_hop: Addr::UNSPECIFIED,
            decision: Decision::Waits,
            attempt: 0,
            hops: 0,
            queued: cx.queue_len(),
            timer: Span::ZERO,
            rtt: Span::ZERO,
            rtt_deviation: Span::ZERO,
        });
        if let Some(evicted) = self.buffer.push(h) {
            cx.drop(evicted.packet, DropReason::BufferFull);
        }
        if self.params.send_buffer_check_max_ms > 0 {
            if !self.checking {
                self.checking = true;
                let at = cx.now() + self.first_check(cx);
                cx.set_timer(Timer::BufferCheck.key(), at);
            }
        } else if let Some(at) = self.buffer.next_expiry() {
            cx.set_timer(Timer::BufferExpiry.key(), at);
        }
    }

    /// How long until the first look into the Send Buffer. The looks go on all the time, but are not made while the buffer
    /// is empty: the time that is left of the interval in which a packet comes is uniform in an interval drawn with a
    /// probability proportional to its length.
    fn first_check(&self, cx: &mut Cx<'_>) -> Span {
        let (lo, hi) = self.check_range();
        let (a, b) = (lo * lo, hi * hi);
        let length = (a + (b - a) * cx.rng().unit()).sqrt();
        Span::from_secs_f64(length * cx.rng().unit() * 1e-3)
    }

    /// The shortest and the longest interval between looks into the Send Buffer, in milliseconds.
    fn check_range(&self) -> (f64, f64) {
        (self.params.send_buffer_check_min_ms.into(), self.params.send_buffer_check_max_ms.into())
    }

    /// The periodic look: every packet is sent, asked for again, or dropped.
    pub(crate) fn on_buffer_check(&mut self, cx: &mut Cx<'_>) {
        self.drop_expired(cx);
        let mut i = 0;
        while let Some(h) = self.buffer.get(i) {
            let (to, own) = (h.to, h.own);
            let mut route = Path::EMPTY;
            if self.route_to(cx, to, Purpose::Send, &mut route) {
                self.free(cx, i, &route, Span::ZERO);
                continue;
            }
            let who = if own { Wants::Waiting } else { Wants::Other };
            if self.seek(cx, to, who) == Seek::GiveUp {
                if let Some(h) = self.buffer.take(i) {
                    cx.drop(
                        h.packet,
                        if own { DropReason::DiscoveryFailed } else { DropReason::NoOtherRoute },
                    );
                }
                continue;
            }
            i += 1;
        }
        self.checking = !self.buffer.is_empty();
        if self.checking {
            let (lo, hi) = self.check_range();
            let next = Span::from_secs_f64(cx.rng().range(lo, hi) * 1e-3);
            cx.set_timer(Timer::BufferCheck.key(), cx.now() + next);
        }
    }

    /// Drops what waited too long.
    pub(crate) fn expire_buffer(&mut self, cx: &mut Cx<'_>) {
        self.drop_expired(cx);
        if let Some(at) = self.buffer.next_expiry() {
            cx.set_timer(Timer::BufferExpiry.key(), at);
        }
    }

    fn drop_expired(&mut self, cx: &mut Cx<'_>) {
        while let Some(h) = self.buffer.take_expired(cx.now()) {
            cx.drop(h.packet, DropReason::BufferTimeout);
        }
    }

    /// Sends the waiting packets that have a route now, each `spacing` after the one before.
    pub(crate) fn release(&mut self, cx: &mut Cx<'_>, spacing: Span) {
        let (mut i, mut delay) = (0, Span::ZERO);
        while let Some(to) = self.buffer.get(i).map(|h| h.to) {
            let mut route = Path::EMPTY;
            if self.route_to(cx, to, Purpose::Send, &mut route) {
                self.free(cx, i, &route, delay);
                delay += spacing;
            } else {
                i += 1;
            }
        }
    }

    /// Sends one waiting packet.
    fn free(&mut self, cx: &mut Cx<'_>, at: usize, route: &Path, delay: Span) {
        let Some(h) = self.buffer.take(at) else { return };
        if h.own {
            return self.send_own(cx, h.packet, route, Decision::Discovered, delay);
        }
        // Somebody else's packet gets a way that begins here, which the salvage count says (section 8.1.4).
        let salvage = (h.salvage + 1).min(self.params.max_salvage_count.max(1));
        self.send_by(cx, h.packet, route, salvage, delay);
    }

    /// Asks for a route, if it is time to.
    pub(crate) fn seek(&mut self, cx: &mut Cx<'_>, target: Ipv4Addr, who: Wants) -> Seek {
        let now = cx.now();
        let ring_zero = self.params.ring_zero_search;
        let patience = Span::from_millis(self.params.nonprop_request_timeout_ms.into());
        let t = self.requests.target(target, now);
        let (attempts, last, in_ring_zero) = (t.attempts, t.last, t.ring_zero);
        let due = match last {
            Some(last) => now >= last + self.params.backoff(attempts),
            None => true,
        };
        let t = self.requests.target(target, now);
        if due {
            let limit = self.params.max_request_rexmt;
            if limit > 0 && attempts > limit && who != Wants::New {
                return Seek::GiveUp;
            }
            if attempts == 0 {
                t.since = now;
            }
            t.attempts = attempts.saturating_add(1);
            t.last = Some(now);
            if who == Wants::Other && t.attempts > 1 {
                return Seek::GiveUp;
            }
            t.ring_zero = ring_zero;
            if !ring_zero {
                t.propagated = Some(now);
            }
            self.request(cx, target, !ring_zero);
        } else if in_ring_zero && who != Wants::Other && last.is_some_and(|l| now >= l + patience) {
            t.ring_zero = false;
            t.propagated = Some(now);
            self.request(cx, target, true);
        }
        self.schedule_seek(cx, target);
        self.schedule_last_resort(cx, target);
        Seek::GoesOn
    }

    /// Sets the timer for the next step of a discovery, unless the Send Buffer is looked at from time to time.
    fn schedule_seek(&mut self, cx: &mut Cx<'_>, target: Ipv4Addr) {
        if self.params.send_buffer_check_max_ms > 0 {
            return;
        }
        let patience = Span::from_millis(self.params.nonprop_request_timeout_ms.into());
        let t = *self.requests.target(target, cx.now());
        if let Some(last) = t.last {
            let wait = if t.ring_zero { patience } else { self.params.backoff(t.attempts) };
            cx.set_timer(Timer::Discovery(target).key(), last + wait);
        }
    }

    /// A discovery without an answer goes on, or ends.
    pub(crate) fn on_discovery_timer(&mut self, cx: &mut Cx<'_>, target: Ipv4Addr) {
        if !self.buffer.iter().any(|h| h.to == target) {
            return;
        }
        if self.seek(cx, target, Wants::Waiting) == Seek::GoesOn {
            return;
        }
        let mut i = 0;
        while let Some(h) = self.buffer.get(i) {
            if h.to != target {
                i += 1;
            } else if let Some(h) = self.buffer.take(i) {
                cx.drop(h.packet, DropReason::DiscoveryFailed);
            }
        }
        cx.note("discovery_failed", target, 0);
    }

    /// Sends a Route Request, with a Route Error that was told to this node lately (section 3.4.4).
    fn request(&mut self, cx: &mut Cx<'_>, target: Ipv4Addr, propagating: bool) {
        let request = DsrOption::RouteRequest(RouteRequest {
            id: self.next_request_id,
            target,
            addresses: AddrList::EMPTY,
        });
        self.next_request_id = self.next_request_id.wrapping_add(1);
        let metrics = DsrOption::LinkMetrics(LinkMetrics::EMPTY);
        let costs = self.links.etx.is_some();
        // The error first: who reads it shall not answer with the broken link.
        let p = match (self.error_to_spread(cx, propagating), costs) {
            (Some(e), false) => self.control(cx, BROADCAST, &[e, request]),
            (None, false) => self.control(cx, BROADCAST, &[request]),
            (Some(e), true) => self.control(cx, BROADCAST, &[e, request, metrics]),
            (None, true) => self.control(cx, BROADCAST, &[request, metrics]),
        };
        let Some(mut p) = p else { return };
        let ttl = if propagating { self.params.discovery_hop_limit } else { 1 };
        if ipv4::set_ttl(p.bytes_mut(), ttl).is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        cx.note("discovery_start", target, u64::from(propagating));
        self.broadcast_request(cx, p);
    }

    // ---- everybody else ----

    /// A Route Request of another node (section 8.2.2).
    pub(crate) fn on_route_request(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &RxMeta) {
        let me = cx.addr();
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let Some(r) = v.request else { return cx.drop(p, DropReason::Malformed) };
        let initiator = v.ip.src();
        if initiator == me || r.addresses.contains(me) {
            self.hears_me(me, initiator, &r, rx.neighbour4());
            return cx.consume(p);
        }
        let named = r.addresses.has_duplicates() || r.addresses.contains(initiator);
        if named || !Self::all_nodes(r.addresses.iter().chain([initiator])) || !is_target(r.target) {
            return cx.drop(p, DropReason::Malformed);
        }
        if r.target == me {
            // Also when the neighbour is on the blacklist: the first step of section 8.2.2.
            self.learn_request(cx, initiator, &r, v.metrics);
            self.requests.record(initiator, r.id, r.target, cx.now());
            self.reply_as_target(cx, initiator, &r);
            return Self::accept_at(cx, p, me);
        }
        if self.params.blacklist && !r.target.is_multicast() {
            match self.blacklist.state(rx.neighbour4(), cx.now()) {
                Some(OneWay::Probable) => return cx.consume(p),
                Some(OneWay::Questionable) => return self.doubt(cx, p, rx.neighbour4()),
                None => {}
            }
        }
        self.learn_request(cx, initiator, &r, v.metrics);
        if self.leads_to(r.target) {
            self.reply_as_gateway(cx, initiator, &r);
        }
        let full = r.addresses.len() + 1 >= self.max_nodes();
        let nonpropagating = v.ip.ttl() <= 1;
        if self.requests.seen(initiator, r.id, r.target) || full && !r.target.is_multicast() {
            return cx.consume(p);
        }
        self.requests.record(initiator, r.id, r.target, cx.now());
        if r.target.is_multicast() {
            return self.pass_on_to_group(cx, p, nonpropagating || full);
        }
        if (nonpropagating || self.params.reply_from_cache)
            && let Some(rest) = self.reply_from_cache(cx, initiator, &r)
        {
            return self.pass_on_by(cx, p, &rest);
        }
        if nonpropagating {
            return cx.consume(p);
        }
        self.append_own_metric(cx, &mut p, rx.neighbour4());
        self.propagate(cx, p);
    }

    /// Takes what a Route Request carries to the local stack, addressed to the request's target (section 8.2.2).
    pub(crate) fn accept_at(cx: &mut Cx<'_>, mut p: Packet, target: Ipv4Addr) {
        match ipv4::set_dst(p.bytes_mut(), target) {
            Ok(()) => Self::accept(cx, p),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }

    pub(crate) fn propagate(&mut self, cx: &mut Cx<'_>, mut p: Packet) {
        let done = dsr::edit::append_request_address(&mut p, cx.addr())
            .and_then(|()| ipv4::decrement_ttl(p.bytes_mut()).map(|_| ()));
        match done {
            Ok(()) => self.broadcast_request(cx, p),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }

    /// The request is answered; what else the packet carries goes on to the target (section 8.2.3).
    fn pass_on_by(&mut self, cx: &mut Cx<'_>, mut p: Packet, rest: &Path) {
        let located = View::new(p.bytes()).ok().filter(carries_more).and_then(|v| {
            v.dsr
                .options()
                .located()
                .find_map(|(range, o)| matches!(o, Ok(DsrOption::RouteRequest(_))).then_some(range))
        });
        let (Some(range), Some(target)) = (located, rest.last()) else { return cx.consume(p) };
        if dsr::edit::remove_option(&mut p, range).is_err() || ipv4::set_dst(p.bytes_mut(), target).is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        self.send_by(cx, p, rest, self.params.max_salvage_count.max(1), Span::ZERO);
    }

    // ---- one-way links ----

    /// A neighbour repeats a request with this node listed right before it: it heard this node (section 4.6).
    fn hears_me(&mut self, me: Ipv4Addr, initiator: Ipv4Addr, r: &RouteRequest<'_>, neighbour: Ipv4Addr) {
        let mut backwards = r.addresses.iter().rev();
        let repeated = backwards.next() == Some(neighbour) && backwards.next().unwrap_or(initiator) == me;
        if repeated {
            self.blacklist.remove(neighbour);
        }
    }

    /// Asks a neighbour whether it hears this node, by a unicast Route Request for itself, and keeps its own request
    /// meanwhile (section 8.2.2).
    fn doubt(&mut self, cx: &mut Cx<'_>, p: Packet, neighbour: Ipv4Addr) {
        let asked = self.unidirectional_requests.iter().any(|d| d.0 == neighbour);
        if asked || self.unidirectional_requests.len() == MAX_UNIDIRECTIONAL_REQUESTS {
            return cx.consume(p);
        }
        let request = DsrOption::RouteRequest(RouteRequest {
            id: self.next_request_id,
            target: neighbour,
            addresses: AddrList::EMPTY,
        });
        self.next_request_id = self.next_request_id.wrapping_add(1);
        let Some(mut probe) = self.control(cx, BROADCAST, &[request]) else { return cx.consume(p) };
        if ipv4::set_ttl(probe.bytes_mut(), 1).is_err() {
            cx.consume(p);
            return cx.drop(probe, DropReason::Malformed);
        }
        let id = self.tx_id();
        let spec = TxSpec::unicast(neighbour).with_priority(wayhop_core::Priority::Control).reported(id);
        cx.send(probe, spec);
        let until = cx.now() + Span::from_millis(self.params.nonprop_request_timeout_ms.into());
        self.unidirectional_requests.push((neighbour, p, until));
        cx.set_timer(Timer::Doubt.key(), until);
    }

    /// A unicast to or from a neighbour worked.
    pub(crate) fn on_acked(&mut self, cx: &mut Cx<'_>, neighbour: Ipv4Addr) {
        if self.blacklist.is_empty() {
            return;
        }
        self.blacklist.remove(neighbour);
        while let Some(at) = self.unidirectional_requests.iter().position(|d| d.0 == neighbour) {
            let (from, p, _) = self.unidirectional_requests.swap_remove(at);
            self.on_route_request(cx, p, &RxMeta::from(from, true));
        }
    }

    /// Gives up the requests of neighbours that did not answer.
    pub(crate) fn end_doubts(&mut self, cx: &mut Cx<'_>) {
        while let Some(at) = self.unidirectional_requests.iter().position(|d| d.2 <= cx.now()) {
            let (_, p, _) = self.unidirectional_requests.swap_remove(at);
            cx.consume(p);
        }
        if let Some(at) = self.unidirectional_requests.iter().map(|d| d.2).min() {
            cx.set_timer(Timer::Doubt.key(), at);
        }
    }
}

/// Whether a request may ask for this: a node, or a group for which it carries data.
fn is_target(a: Ipv4Addr) -> bool {
    is_node(a) || a.is_multicast()
}

/// Whether a request carries something for its target: data, or options besides Route Errors and positions, which are for everybody.
fn carries_more(v: &View<'_>) -> bool {
    use DsrOption::{Location, Pad1, PadN, RouteError, RouteRequest};
    !v.is_control()
        || v.dsr.options().any(|o| {
            !matches!(o, Ok(RouteRequest(_) | RouteError(_) | Location(_) | Pad1 | PadN(_)) | Err(_))
        })
}

/// For whom a route is wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// A packet of this node that has just come.
    New,
    /// A packet of this node that waits.
    Waiting,
    /// Somebody else's packet: one non-propagating request is all that it gets.
    Other,
}

/// Whether a discovery has hope.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seek {
    /// It goes on.
    GoesOn,
    /// The packet that wants it should be given up.
    GiveUp,
}
