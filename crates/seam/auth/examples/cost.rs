//! How long it takes to seal and to open a packet, in microseconds, as JSON: medians of many batches.

#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it measures; no model reads this clock"
)]

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use wayhop_auth::{Auth, Key, Keys, Verdict};
use wayhop_core::{Carrier, IfaceId, Mac, Packet, PacketMeta, Pool, Purpose, Time, stream};
use wayhop_wire::auth::Format;
use wayhop_wire::{aodv, ipv4, udp};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const ALL: Ipv4Addr = Ipv4Addr::BROADCAST;
const IFACE: IfaceId = IfaceId(0);
const BATCHES: usize = 501;
const BATCH: usize = 200;

fn node(own: Ipv4Addr) -> Auth {
    let keys = Keys::new(vec![Key::new(1, &[7; 32]).expect("a key")], true).expect("keys");
    let format = Format::new(Carrier::UdpPort(aodv::PORT), &aodv::AUTHENTICATION);
    Auth::new(keys, format, own, stream(1, Purpose::Authentication, u64::from(own.to_bits())))
}

/// An AODV datagram with `payload` bytes of payload.
fn packet(pool: &mut Pool, payload: usize) -> Packet {
    let udp_len = udp::HEADER_LEN + payload;
    let mut p = pool.zeroed(ipv4::HEADER_LEN + udp_len, PacketMeta::default());
    ipv4::Repr::new(A, ALL, 17, udp_len as u16).emit(p.bytes_mut());
    let repr = udp::Repr { src_port: aodv::PORT, dst_port: aodv::PORT, payload_len: payload as u16 };
    repr.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..], A, ALL);
    p
}

/// `b` verifies `a`.
fn meet(a: &mut Auth, b: &mut Auth, pool: &mut Pool) {
    let of_a = Mac::from_addr(A);
    let mut p = packet(pool, 24);
    a.seal(&mut p, of_a, ALL);
    assert_eq!(b.open(Time::ZERO, IFACE, &mut p, of_a, ALL).verdict, Verdict::Unknown);
    let mut exchange = |of: &mut Auth, mac| {
        let due = of.next_exchange(IFACE).expect("it has something to say");
        assert!(of.begin_exchange(due, IFACE));
        let mut p = pool.zeroed(0, PacketMeta::default());
        of.write_exchange(&mut p);
        of.seal_exchange(IFACE, &mut p, mac);
        p
    };
    let of_b = Mac::from_addr(B);
    let mut asks = exchange(b, of_b);
    a.open(Time::ZERO, IFACE, &mut asks, of_b, ALL);
    let mut answers = exchange(a, of_a);
    let verdict = b.open(Time::ZERO, IFACE, &mut answers, of_a, ALL).verdict;
    assert_eq!(verdict, Verdict::Exchange { verifies: true });
}

fn median(mut all: Vec<Duration>) -> f64 {
    all.sort_unstable();
    all[all.len() / 2].as_secs_f64() * 1e6 / BATCH as f64
}

/// Microseconds to seal, and to open, a packet with so much payload.
fn cost(payload: usize) -> (f64, f64) {
    let (mut a, mut b, mut pool) = (node(A), node(B), Pool::new());
    meet(&mut a, &mut b, &mut pool);
    let mac = Mac::from_addr(A);
    let (mut seals, mut opens) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        let mut all: Vec<Packet> = (0..BATCH).map(|_| packet(&mut pool, payload)).collect();
        let start = Instant::now();
        for p in &mut all {
            a.seal(p, mac, ALL);
        }
        seals.push(start.elapsed());
        let start = Instant::now();
        let good = all.iter_mut().filter_map(|p| match b.open(Time::ZERO, IFACE, p, mac, ALL).verdict {
            Verdict::Good => Some(()),
            _ => None,
        });
        assert_eq!(good.count(), BATCH);
        opens.push(start.elapsed());
        for p in all {
            pool.recycle(p);
        }
    }
    (median(seals), median(opens))
}

fn main() {
    let rows = [24, 512, 1_400].map(|payload| {
        let (seal, open) = cost(payload);
        format!("{{\"payload\": {payload}, \"seal_us\": {seal:.2}, \"open_us\": {open:.2}}}")
    });
    println!("[{}]", rows.join(", "));
}
