//! When a flow sends, and how much.

use wayhop_core::{Addr, FlowTag, Packet, PacketId, PacketMeta, Pool, Rng, Span, Time};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{icmp, icmpv6, ip, ipv4, udp};

use crate::{FlowConfig, FlowError, FlowKind, OnOff, Stamp};

/// The TTL of every packet at its source.
pub const INITIAL_TTL: u8 = 64;

/// The next IP identification of a node. Not 0, for which network stacks put in one of their own.
pub fn next_ip_id(id: &mut u16) -> u16 {
    *id = id.checked_add(1).unwrap_or(1);
    *id
}

/// The sending end of a flow.
///
/// A host calls [`Source::first_departure`] once; at each departure it calls [`Source::build`], then
/// [`Source::next_departure`]. Random draws come from the stream that the host keeps for this flow.
#[derive(Clone, Debug)]
pub struct Source {
    config: FlowConfig,
    flow: u32,
    addresses: (Addr, Addr),
    sent: u64,
    last_departure: Option<Time>,
    /// Packets that the burst under way still has, without the one that is due.
    burst_left: u64,
    /// Which packet of the schedule is due.
    scheduled: usize,
}

impl Source {
    /// The source of the flow with this index in the scenario, between these addresses.
    pub fn new(
        flow: u32,
        config: FlowConfig,
        src: impl Into<Addr>,
        dst: impl Into<Addr>,
    ) -> Result<Self, FlowError> {
        config.check()?;
        Ok(Self {
            config,
            flow,
            addresses: (src.into(), dst.into()),
            sent: 0,
            last_departure: None,
            burst_left: 0,
            scheduled: 0,
        })
    }

    /// When the first packet is due; `None` if the flow sends nothing.
    pub fn first_departure(&mut self, rng: &mut Rng) -> Option<Time> {
        let start = self.config.start;
        let at = match &self.config.kind {
            FlowKind::Cbr { .. } | FlowKind::Ping { .. } | FlowKind::Tcp(_) => start,
            FlowKind::Poisson { interval } => start + exponential(*interval, rng),
            FlowKind::OnOff(bursts) => start + next_of_burst(bursts, &mut self.burst_left, rng),
            FlowKind::Trace(schedule) => start + schedule.packets().first()?.after,
        };
        self.unless_over(at)
    }

    /// When the packet after the one that was built at `now` is due; `None` if that was the last.
    pub fn next_departure(&mut self, now: Time, rng: &mut Rng) -> Option<Time> {
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
            // A connection sends by itself once it has begun.
            FlowKind::Tcp(_) => return None,
        };
        // Time goes on: a source that draws zero for ever must not stop the run.
        self.unless_over(now + wait.max(Span::from_nanos(1)))
    }

    /// The packet that departs at `now`, under the name `id`.
    ///
    /// `ip_id` is the IP identification. The host counts it for each node, over all of its flows: DSR's passive
    /// acknowledgement tells packets apart by it (RFC 4728 section 3.4.1), so it must differ between packets of one node
    /// that are under way at the same time, also where fragmentation is forbidden.
    pub fn build(&mut self, now: Time, id: PacketId, ip_id: u16, pool: &mut Pool) -> Packet {
        let (src, dst) = self.addresses;
        let seq = self.sent as u32;
        self.sent += 1;
        self.last_departure = Some(now);

        // Both transport headers have 8 octets, and `check` bounds the payload.
        let payload_bytes = self.payload_bytes();
        let transport_len = udp::HEADER_LEN + payload_bytes as usize;
        let meta = PacketMeta { id, flow: Some(FlowTag { flow: self.flow, seq }), born: now };
        let header_len = ip::Repr::header_len(dst);
        let mut p = pool.zeroed(header_len + transport_len, meta);
        let (header, transport) = p.bytes_mut().split_at_mut(header_len);
        Stamp { seq, sent: now }.emit(&mut transport[udp::HEADER_LEN..]);
        let protocol = match self.config.kind {
            // Of TCP flows a connection makes the packets, not this.
            FlowKind::Cbr { .. }
            | FlowKind::Poisson { .. }
            | FlowKind::OnOff(_)
            | FlowKind::Trace(_)
            | FlowKind::Tcp(_) => {
                let r = udp::Repr {
                    src_port: self.config.src_port,
                    dst_port: self.config.dst_port,
                    payload_len: payload_bytes as u16,
                };
                r.emit(transport, src, dst);
                ipv4::protocol::UDP
            }
            FlowKind::Ping { .. } => {
                if let (Some(src), Some(dst)) = (src.v6(), dst.v6()) {
                    icmpv6::emit_echo_request(transport, self.config.src_port, seq as u16, src, dst);
                    next_header::ICMPV6
                } else {
                    icmp::emit_echo_request(transport, self.config.src_port, seq as u16);
                    ipv4::protocol::ICMP
                }
            }
        };
        let (ttl, tos, payload_len) = (INITIAL_TTL, self.config.tos, transport_len as u16);
        ip::Repr { src, dst, protocol, ttl, tos, id: ip_id, payload_len }.emit(header);
        p
    }

    /// What it was made from.
    pub fn config(&self) -> &FlowConfig {
        &self.config
    }
    /// How many packets were built.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// How long the flow was active, if the run ends at `end`: from its start to its stop or to the end of the run. A flow
    /// that sent all of its `max_packets` was active until one mean interval after the last of them.
    pub fn active_time(&self, end: Time) -> Span {
        let mut until = self.config.stop.map_or(end, |stop| stop.min(end));
        if let Some(last) = self.last_departure.filter(|_| self.is_exhausted()) {
            until = until.min(last + self.config.kind.mean_interval());
        }
        until.since(self.config.start)
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
        let stopped = self.config.stop.is_some_and(|stop| at >= stop);
        (!stopped && !self.is_exhausted()).then_some(at)
    }
    fn is_exhausted(&self) -> bool {
        let is_played = match &self.config.kind {
            FlowKind::Trace(schedule) => self.scheduled >= schedule.packets().len(),
            _ => false,
        };
        is_played || self.config.max_packets.is_some_and(|n| self.sent >= n)
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

fn exponential(mean: Span, rng: &mut Rng) -> Span {
    Span::from_secs_f64(rng.exponential(mean.as_secs_f64()))
}
