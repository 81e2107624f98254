//! What arrives of a flow.

use wayhop_core::{Packet, Time};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{icmp, icmpv6, ip, ipv4, tcp, udp};

use crate::seen::Seen;
use crate::{Histogram, INITIAL_TTL, Stamp};

/// What a packet was to its sink.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The first with its number.
    First,
    /// One more with a number that had arrived.
    Duplicate,
    /// Not a packet that a sink counts: no flow tag, neither UDP nor TCP nor echo reply, or broken.
    Foreign,
}

/// The receiving end of a flow: for UDP and TCP segments at its destination, for echo replies back at its source.
///
/// Number and time of sending are the host's notes on the packet ([`wayhop_core::PacketMeta`]), so that payloads without
/// room for a [`Stamp`] are measured, too. The round-trip time of an echo comes from the stamp in its data: below 16
/// octets of data there is none.
///
/// A flow to all nodes has several receivers: each counts a packet once, and the figures are of all together.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    receivers: Vec<Receiver>,
    received: u64,
    /// Further copies of packets.
    pub(crate) duplicates: u64,
    /// Packets that came after one with a higher number (reordered, in the sense of RFC 4737), copies not counted.
    pub(crate) out_of_order: u64,
    payload_bytes: u64,
    hops_sum: u64,
    delay: Histogram,
}

/// The order in which packets came to one of them.
#[derive(Clone, Debug, Default)]
struct Receiver {
    seen: Seen,
    highest: Option<u32>,
}

impl Sink {
    /// A sink with this many receivers.
    pub fn new(receivers: usize) -> Self {
        Self { receivers: vec![Receiver::default(); receivers], ..Self::default() }
    }

    /// Takes a packet that was delivered at `now` to the only receiver.
    pub fn receive(&mut self, now: Time, p: &Packet) -> Arrival {
        self.receive_by(0, now, p)
    }

    /// Takes a packet that was delivered at `now` to this receiver, counted from 0.
    pub fn receive_by(&mut self, receiver: usize, now: Time, p: &Packet) -> Arrival {
        let Some(by) = self.receivers.get_mut(receiver) else { return Arrival::Foreign };
        let Some(tag) = p.meta.flow else { return Arrival::Foreign };
        let Ok(ip) = ip::Packet::new_checked(p.bytes()) else { return Arrival::Foreign };
        let Some(payload) = payload(&ip) else { return Arrival::Foreign };
        let sent = match ip.protocol {
            ipv4::protocol::UDP | ipv4::protocol::TCP => Some(p.meta.born),
            _ => Stamp::parse(payload).map(|s| s.sent),
        };
        if !by.seen.insert(tag.seq) {
            self.duplicates += 1;
            return Arrival::Duplicate;
        }
        self.received += 1;
        self.payload_bytes += payload.len() as u64;
        self.hops_sum += u64::from(INITIAL_TTL.saturating_sub(ip.ttl)) + 1;
        if let Some(sent) = sent {
            self.delay.record(now.since(sent));
        }
        match by.highest {
            Some(highest) if tag.seq < highest => self.out_of_order += 1,
            _ => by.highest = Some(tag.seq),
        }
        Arrival::First
    }

    /// How many receivers it has.
    pub fn receivers(&self) -> u64 {
        self.receivers.len() as u64
    }
    /// Packets received, each counted once.
    pub fn received(&self) -> u64 {
        self.received
    }
    /// UDP payload, or echo data, received, in octets, copies not counted.
    pub fn payload_bytes(&self) -> u64 {
        self.payload_bytes
    }
    /// One-way delays; of echoes, round-trip times.
    pub fn delay(&self) -> &Histogram {
        &self.delay
    }
    /// Mean number of hops, from the TTL at arrival: a neighbour's packet has made one hop.
    pub(crate) fn hops_mean(&self) -> Option<f64> {
        (self.received > 0).then(|| self.hops_sum as f64 / self.received as f64)
    }
}

/// The payload of a datagram or segment, or the data of an echo reply.
fn payload<'a>(ip: &ip::Packet<'a>) -> Option<&'a [u8]> {
    match ip.protocol {
        ipv4::protocol::UDP => udp::Packet::new_checked(ip.payload).ok().map(|u| u.payload()),
        ipv4::protocol::TCP => tcp::Packet::new_checked(ip.payload).ok().map(|s| s.payload()),
        ipv4::protocol::ICMP => match icmp::Repr::parse(ip.payload) {
            Ok(icmp::Repr::EchoReply { data, .. }) => Some(data),
            _ => None,
        },
        next_header::ICMPV6 => match icmpv6::Repr::parse(ip.payload, ip.src.v6()?, ip.dst.v6()?) {
            Ok(icmpv6::Repr::EchoReply { data, .. }) => Some(data),
            _ => None,
        },
        _ => None,
    }
}
