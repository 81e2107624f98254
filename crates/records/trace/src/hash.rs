//! One number for a whole run.

use wayhop_core::IfaceId;

use crate::HopEvent;

/// A hash of every hop event, in order. Two runs with the same hash did the same; it is the same on every machine, in
/// debug and release, and whatever is recorded besides. Not cryptographic.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TraceHash {
    a: u64,
    b: u64,
}

impl TraceHash {
    /// The hash of an empty trace.
    pub const fn new() -> Self {
        Self { a: 0x243f_6a88_85a3_08d3, b: 0x1319_8a2e_0370_7344 }
    }

    /// Takes in the next event, every field of it.
    #[inline]
    pub fn add(&mut self, e: &HopEvent) {
        let (flow, seq) = e.flow.map_or((u32::MAX, u32::MAX), |f| (f.flow, f.seq));
        self.fold(e.time.as_nanos(), e.packet.0);
        self.fold(pair(flow, seq), pair(e.node.0, e.bytes));
        self.fold(
            pair(e.source.to_bits() as u32, e.destination.to_bits() as u32),
            pair(e.peer.to_bits() as u32, signal_bits(e.signal_dbm)),
        );
        // Of IPv4 addresses that was all.
        for a in [e.source, e.destination, e.peer] {
            if !a.is_v4() {
                self.fold((a.to_bits() >> 64) as u64, a.to_bits() as u64);
            }
        }
        let reason = e.reason.map_or(0, |r| r as u64 + 1);
        let [low, high] = e.messages.bits().to_le_bytes();
        let small = (e.kind as u64)
            | u64::from(e.class.code()) << 8
            | u64::from(low) << 16
            | u64::from(e.ttl) << 24
            | reason << 32
            | u64::from(e.flow.is_some()) << 40
            | interface(e.iface) << 41
            | u64::from(high) << 48
            | u64::from(e.messages.salt()) << 56;
        self.fold(small, 0xa409_3822_299f_31d0);
    }

    /// 32 hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:016x}{:016x}", self.a, self.b)
    }

    /// A multiplication of 64 x 64 bits with its halves swapped: every bit of the input reaches both halves of the state in two steps.
    #[inline]
    fn fold(&mut self, x: u64, y: u64) {
        let m = u128::from(x ^ self.a) * u128::from((y ^ self.b) | 1);
        self.a = (m as u64) ^ self.b.rotate_left(29);
        self.b = ((m >> 64) as u64).wrapping_add(y).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ x;
    }
}

impl Default for TraceHash {
    fn default() -> Self {
        Self::new()
    }
}

/// The interface in seven bits: those of a node with one interface, and none, are 0.
fn interface(i: IfaceId) -> u64 {
    if i == IfaceId::ANY { 0 } else { u64::from(i.0 & 0x7f) }
}

fn pair(hi: u32, lo: u32) -> u64 {
    u64::from(hi) << 32 | u64::from(lo)
}

/// All NaNs alike: machines differ in the payload of the NaN that an operation makes.
fn signal_bits(v: f32) -> u32 {
    if v.is_nan() { 0x7fc0_0000 } else { v.to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::hop;
    use crate::{HopKind, PacketClass};
    use std::net::Ipv4Addr;
    use wayhop_core::{DropReason, FlowTag, NodeId, PacketId, Time};

    fn hash(events: &[HopEvent]) -> String {
        let mut h = TraceHash::new();
        for e in events {
            h.add(e);
        }
        h.hex()
    }

    #[test]
    fn every_field_and_the_order_count() {
        let base = hop(1);
        let other = Ipv4Addr::new(9, 9, 9, 9);
        let rerr = |of| PacketClass::Control(wayhop_protocols::class(of, "rerr").expect("a class"));
        let changed = [
            HopEvent { time: Time::from_nanos(2), ..base },
            HopEvent { packet: PacketId(77), ..base },
            HopEvent { flow: None, ..base },
            HopEvent { flow: Some(FlowTag { flow: 5, seq: 6 }), ..base },
            HopEvent { node: NodeId(7), ..base },
            HopEvent { bytes: 7, ..base },
            HopEvent { source: other.into(), ..base },
            HopEvent { destination: other.into(), ..base },
            HopEvent { peer: other.into(), ..base },
            HopEvent { signal_dbm: -1.0, ..base },
            HopEvent { kind: HopKind::Recall, ..base },
            HopEvent { class: PacketClass::Arp, ..base },
            HopEvent { class: rerr("dsr"), ..base },
            HopEvent { class: rerr("aodv"), ..base },
            HopEvent { messages: wayhop_protocols::messages("dsr", &["rerr"]).unwrap_or_default(), ..base },
            HopEvent { ttl: 9, ..base },
            HopEvent { iface: IfaceId(1), ..base },
            HopEvent { reason: Some(DropReason::NoRoute), ..base },
        ];
        let mut seen = vec![hash(&[base])];
        seen.extend(changed.iter().map(|e| hash(&[*e])));
        seen.push(hash(&[]));
        seen.push(hash(&[base, base]));
        seen.push(hash(&[base, changed[0]]));
        seen.push(hash(&[changed[0], base]));
        let n = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), n);
    }

    #[test]
    fn no_two_of_many_similar_traces_collide() {
        // 200,000 traces of two events that differ in few bits; a 64-bit half alone must keep them apart.
        let mut seen: Vec<(u64, u64)> = (0..200_000u64)
            .map(|i| {
                let mut h = TraceHash::new();
                h.add(&HopEvent { time: Time::from_nanos(i >> 9), ..hop(3) });
                h.add(&HopEvent { packet: PacketId(i & 511), ..hop(4) });
                (h.a, h.b)
            })
            .collect();
        seen.sort_unstable();
        assert!(seen.windows(2).all(|w| w[0].0 != w[1].0));
        seen.sort_unstable_by_key(|s| s.1);
        assert!(seen.windows(2).all(|w| w[0].1 != w[1].1));
    }

    #[test]
    fn nan_is_nan() {
        let a = HopEvent { signal_dbm: f32::from_bits(0x7fc0_0000), ..hop(1) };
        let b = HopEvent { signal_dbm: f32::from_bits(0xffc0_0001), ..hop(1) };
        assert_eq!(hash(&[a]), hash(&[b]));
    }
}
