//! When a flow sends, and how much.

use std::net::{IpAddr, SocketAddr};

use wayhop_core::{
    Application, ApplicationCx, ApplicationDatagram, EchoReply, EchoRequest, Rng, Span, Time, TimerKey,
};

use crate::{FlowConfig, FlowKind, OnOff, Stamp};

/// The TTL of every packet at its source.
pub const INITIAL_TTL: u8 = 64;

/// The next packet is due.
const DEPARTURE: TimerKey = TimerKey(0);

/// The sending end of a flow: an application that sends by a schedule, whatever comes back.
///
/// The schedule belongs to the experiment, not to the node: it continues with the same draws while
/// the node is down, and skips the packets that were due meanwhile. Packets carry the time at which they were due.
#[derive(Clone, Debug)]
pub struct Source {
    config: FlowConfig,
    to: IpAddr,
    sent: u64,
    answered: u64,
    has_begun: bool,
    /// When the next packet is due; `None` before the first start, and after the last packet.
    due: Option<Time>,
    /// Packets that the burst under way still has, without the one that is due.
    burst_left: u64,
    /// Which packet of the schedule is due.
    scheduled: usize,
}

impl Source {
    /// The source of a flow that can be sent ([`FlowConfig::check`]), to this address.
    pub const fn new(config: FlowConfig, to: IpAddr) -> Self {
        Self { config, to, sent: 0, answered: 0, has_begun: false, due: None, burst_left: 0, scheduled: 0 }
    }

    /// When the first packet is due; `None` if the flow sends nothing.
    fn first_departure(&mut self, rng: &mut Rng) -> Option<Time> {
        let start = self.config.start;
        let at = match &self.config.kind {
            FlowKind::Cbr { .. } | FlowKind::Ping { .. } => start,
            FlowKind::Poisson { interval } => start + exponential(*interval, rng),
            FlowKind::OnOff(bursts) => start + next_of_burst(bursts, &mut self.burst_left, rng),
            FlowKind::Trace(schedule) => start + schedule.packets().first()?.after,
            // It has a client and a server.
            FlowKind::Tcp(_) => return None,
        };
        self.unless_over(at)
    }

    /// When the packet after the one that was due at `last` is due; `None` if that was the last.
    fn next_departure(&mut self, last: Time, rng: &mut Rng) -> Option<Time> {
        let wait = match &self.config.kind {
            FlowKind::Cbr { interval, jitter } if *jitter > 0.0 => {
                interval.mul_f64(rng.range(1.0 - jitter, 1.0 + jitter))
            }
            FlowKind::Cbr { interval, .. } | FlowKind::Ping { interval } => *interval,
            FlowKind::Poisson { interval } => exponential(*interval, rng),
            FlowKind::OnOff(bursts) => next_of_burst(bursts, &mut self.burst_left, rng),
            FlowKind::Trace(schedule) => {
                self.scheduled += 1;
                let after = schedule.packets().get(self.scheduled)?.after;
                // Packets at the same time are allowed, since their number is limited.
                return self.unless_over(self.config.start + after);
            }
            FlowKind::Tcp(_) => return None,
        };
        // Time goes on: a source that draws zero for ever must not stop the run.
        self.unless_over(last + wait.max(Span::from_nanos(1)))
    }

    /// Sends the packet that was due at `due`.
    fn send(&mut self, due: Time, cx: &mut ApplicationCx<'_>) {
        let number = self.sent as u32;
        self.sent += 1;
        let mut data = cx.zeroed(self.payload_bytes() as usize);
        Stamp { seq: number, sent: due }.emit(&mut data);
        let (to, ttl, tos) = (self.to, INITIAL_TTL, self.config.tos);
        if let FlowKind::Ping { .. } = self.config.kind {
            let (identifier, number) = (self.config.src_port, number as u16);
            cx.send_echo_request(EchoRequest { to, identifier, number, ttl, tos, data });
        } else {
            let to = SocketAddr::new(to, self.config.dst_port);
            cx.send_datagram(ApplicationDatagram { port: self.config.src_port, to, ttl, tos, data });
        }
    }

    /// The payload of the packet that is due, octets.
    fn payload_bytes(&self) -> u32 {
        match &self.config.kind {
            FlowKind::Trace(schedule) => {
                schedule.packets().get(self.scheduled).map_or(0, |p| p.payload_bytes)
            }
            _ => self.config.payload_bytes,
        }
    }

    fn unless_over(&self, at: Time) -> Option<Time> {
        let is_stopped = self.config.stop.is_some_and(|stop| at >= stop);
        let is_exhausted = self.config.max_packets.is_some_and(|n| self.sent >= n);
        (!is_stopped && !is_exhausted).then_some(at)
    }

    fn wait(&self, cx: &mut ApplicationCx<'_>) {
        if let Some(due) = self.due {
            cx.set_timer(DEPARTURE, due);
        }
    }
}

impl Application for Source {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        if !matches!(self.config.kind, FlowKind::Ping { .. }) {
            cx.listen(self.config.src_port);
        }
        if std::mem::replace(&mut self.has_begun, true) {
            return self.on_resume(cx);
        }
        self.due = self.first_departure(cx.rng());
        self.wait(cx);
    }

    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, _: TimerKey) {
        let Some(due) = self.due else { return };
        self.send(due, cx);
        self.due = self.next_departure(due, cx.rng());
        self.wait(cx);
    }

    /// Skips the packets that were due up to now.
    fn on_resume(&mut self, cx: &mut ApplicationCx<'_>) {
        while let Some(due) = self.due.filter(|due| *due <= cx.now()) {
            self.due = self.next_departure(due, cx.rng());
        }
        self.wait(cx);
    }

    fn on_echo_reply(&mut self, _: &mut ApplicationCx<'_>, _: EchoReply<'_>) {
        self.answered += 1;
    }

    /// The schedule continues.
    fn restart(&mut self) {}

    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("sent", self.sent as f64);
        if let FlowKind::Ping { .. } = self.config.kind {
            tell("answered", self.answered as f64);
        }
    }
}

/// How long until the next packet of a source with `left` packets in its burst. ns-2 draws in this order.
fn next_of_burst(bursts: &OnOff, left: &mut u64, rng: &mut Rng) -> Span {
    let mut wait = bursts.interval;
    if *left == 0 {
        *left = bursts.burst(rng);
        wait += bursts.silence(rng);
    }
    *left -= 1;
    wait
}

/// A time drawn from an exponential distribution.
pub(crate) fn exponential(mean: Span, rng: &mut Rng) -> Span {
    Span::from_secs_f64(rng.exponential(mean.as_secs_f64()))
}
