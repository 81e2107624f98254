//! Packets in the Send Buffer: kept, sent when there is a route, dropped without one (RFC 4728 section 4.2).

use std::net::Ipv4Addr;

use wayhop_core::{Addr, Cx, Decision, DropReason, Packet, SendState, Span, WaitingPacket};

use crate::cache::Purpose;
use crate::cache::path::Path;
use crate::discovery::origin::Origin;
use crate::discovery::search::{Demand, Prospect};
use crate::engine::state::Engine;
use crate::engine::timers::Timer;

impl Engine {
    /// Keeps a packet until there is a route.
    pub(crate) fn hold(&mut self, cx: &mut Cx<'_>, packet: Packet, destination: Ipv4Addr, origin: Origin) {
        cx.state(SendState {
            packet: packet.meta.id,
            next_hop: Addr::UNSPECIFIED,
            decision: Decision::Waits,
            attempt: 0,
            hops: 0,
            queued: cx.queue_len(),
            timer: Span::ZERO,
            rtt: Span::ZERO,
            rtt_deviation: Span::ZERO,
        });
        self.buffer.push(WaitingPacket { packet, destination, since: cx.now(), state: origin });
        if let Some(oldest) = self.buffer.take_excess() {
            cx.drop(oldest, DropReason::BufferFull);
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
            let (to, own) = (h.destination, h.state == Origin::Own);
            let mut route = Path::EMPTY;
            if self.route_to(cx, to, Purpose::Send, &mut route) {
                self.free(cx, i, &route, Span::ZERO);
                continue;
            }
            let who = if own { Demand::Waiting } else { Demand::Other };
            if self.seek(cx, to, who) == Prospect::GiveUp {
                if let Some(h) = self.buffer.take_at(i) {
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
        while let Some(p) = self.buffer.take_expired(cx.now()) {
            cx.drop(p, DropReason::BufferTimeout);
        }
    }

    /// Sends the waiting packets that have a route now, each `spacing` after the one before.
    pub(crate) fn release(&mut self, cx: &mut Cx<'_>, spacing: Span) {
        let (mut i, mut delay) = (0, Span::ZERO);
        while let Some(to) = self.buffer.get(i).map(|h| h.destination) {
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
        let Some(h) = self.buffer.take_at(at) else { return };
        match h.state {
            Origin::Own => self.send_own(cx, h.packet, route, Decision::Discovered, delay),
            Origin::Other { salvage } => {
                // Somebody else's packet gets a way that begins here, which the salvage count says (section 8.1.4).
                let salvage = (salvage + 1).min(self.params.max_salvage_count.max(1));
                self.send_by(cx, h.packet, route, salvage, delay);
            }
        }
    }
}
