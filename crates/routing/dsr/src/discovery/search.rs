//! A Route Discovery at its initiator: one request after the other, longer and longer apart (RFC 4728 section 8.2.1).

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Span};
use wayhop_wire::dsr::{AddrList, DsrOption, LinkMetrics, RouteRequest};
use wayhop_wire::ipv4;

use crate::engine::state::Engine;
use crate::engine::timers::Timer;

impl Engine {
    /// Asks for a route, if it is time to.
    pub(crate) fn seek(&mut self, cx: &mut Cx<'_>, target: Ipv4Addr, who: Demand) -> Prospect {
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
            if limit > 0 && attempts > limit && who != Demand::New {
                return Prospect::GiveUp;
            }
            if attempts == 0 {
                t.since = now;
            }
            t.attempts = attempts.saturating_add(1);
            t.last = Some(now);
            if who == Demand::Other && t.attempts > 1 {
                return Prospect::GiveUp;
            }
            t.ring_zero = ring_zero;
            if !ring_zero {
                t.propagated = Some(now);
            }
            self.request(cx, target, !ring_zero);
        } else if in_ring_zero && who != Demand::Other && last.is_some_and(|l| now >= l + patience) {
            t.ring_zero = false;
            t.propagated = Some(now);
            self.request(cx, target, true);
        }
        self.schedule_seek(cx, target);
        self.schedule_last_resort(cx, target);
        Prospect::GoesOn
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
        if !self.buffer.waits_for(target) {
            return;
        }
        if self.seek(cx, target, Demand::Waiting) == Prospect::GoesOn {
            return;
        }
        while let Some(p) = self.buffer.take(target) {
            cx.drop(p, DropReason::DiscoveryFailed);
        }
        cx.note("discovery_failed", target, 0);
    }

    /// A Route Request of this node for a target.
    pub(crate) fn next_request(&mut self, target: Ipv4Addr) -> DsrOption<'static> {
        let id = self.next_request_id;
        self.next_request_id = id.wrapping_add(1);
        DsrOption::RouteRequest(RouteRequest { id, target, addresses: AddrList::EMPTY })
    }

    /// Sends a Route Request, with a Route Error that was told to this node lately (section 3.4.4).
    fn request(&mut self, cx: &mut Cx<'_>, target: Ipv4Addr, propagating: bool) {
        let request = self.next_request(target);
        let metrics = self.links.etx.is_some().then_some(DsrOption::LinkMetrics(LinkMetrics::EMPTY));
        // The error first: who reads it shall not answer with the broken link.
        let error = self.error_to_spread(cx, propagating);
        let options: Vec<_> = error.into_iter().chain([request]).chain(metrics).collect();
        let Some(mut p) = self.control(cx, BROADCAST, &options) else { return };
        let ttl = if propagating { self.params.discovery_hop_limit } else { 1 };
        if ipv4::set_ttl(p.bytes_mut(), ttl).is_err() {
            return cx.drop(p, DropReason::Malformed);
        }
        cx.note("discovery_start", target, u64::from(propagating));
        self.broadcast_request(cx, p);
    }
}

/// For whom a route is wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// A packet of this node that has just come.
    New,
    /// A packet of this node that waits.
    Waiting,
    /// Somebody else's packet: one non-propagating request is all that it gets.
    Other,
}

/// Whether a discovery has hope.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Prospect {
    /// It goes on.
    GoesOn,
    /// The packet that wants it should be given up.
    GiveUp,
}
