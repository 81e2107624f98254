//! The counts of sinks, and their summary.

use wayhop_core::{NodeId, Packet, PacketId, PacketMeta, Pool, Span, Time};
use wayhop_transport::{Arrival, FlowConfig, FlowKind, Sink, Summary, echo_reply};
use wayhop_wire::ipv4;

use crate::host::Host;

const CBR: FlowKind = FlowKind::Cbr { interval: Span::from_secs(1), jitter: 0.0 };
const PING: FlowKind = FlowKind::Ping { interval: Span::from_secs(1) };

fn source(kind: FlowKind, payload_bytes: u32) -> Host {
    Host::new(FlowConfig::new(kind, NodeId(0), NodeId(1), payload_bytes), 1)
}

/// The packets that a source sends once a second from 0 on.
fn packets(s: &mut Host, n: u64) -> Vec<Packet> {
    (0..n).map(|_| s.send()).collect()
}

fn summary(s: &Host, sink: &Sink, end: Time) -> Summary {
    Summary::new(&s.config, &s.departures, sink, end)
}

/// The packet after this many routers.
fn routed(mut p: Packet, routers: u8) -> Packet {
    for _ in 0..routers {
        ipv4::decrement_ttl(p.bytes_mut()).expect("a complete header");
    }
    p
}

#[test]
fn delays_hops_order_and_copies_are_counted() {
    let mut pool = Pool::new();
    let mut s = source(CBR, 8);
    let sent: Vec<Packet> = packets(&mut s, 5).into_iter().map(|p| routed(p, 2)).collect();
    let mut sink = Sink::new(1);
    let arrive = |sink: &mut Sink, k: usize, ms: u64| {
        sink.receive(sent[k].meta.born + Span::from_millis(ms), &sent[k])
    };
    // Packet 3 is lost; packet 1 comes after packet 2; packet 2 comes twice.
    assert_eq!(arrive(&mut sink, 0, 10), Arrival::First);
    assert_eq!(arrive(&mut sink, 2, 20), Arrival::First);
    assert_eq!(arrive(&mut sink, 1, 1_030), Arrival::First);
    assert_eq!(arrive(&mut sink, 2, 1_500), Arrival::Duplicate);
    let near = routed(pool.copy(&sent[4]), 1);
    assert_eq!(sink.receive(near.meta.born + Span::from_millis(40), &near), Arrival::First);

    let f = summary(&s, &sink, Time::from_secs_f64(8.0));
    assert_eq!((f.sent, f.received, f.duplicates, f.out_of_order), (5, 4, 1, 1));
    assert_eq!(f.delivery_ratio, Some(0.8));
    assert_eq!(f.goodput_bps, Some(4.0 * 8.0 * 8.0 / 8.0), "4 payloads of 8 octets in 8 s");
    assert_eq!(f.hops_mean, Some((3.0 + 3.0 + 3.0 + 4.0) / 4.0));
    let l = f.latency.expect("something arrived");
    assert_eq!((l.mean_ms, l.max_ms), ((10.0 + 20.0 + 1_030.0 + 40.0) / 4.0, 1_030.0));
    // Nearest rank: the second and the fourth of 10, 20, 40, 1030.
    assert!((l.p50_ms / 20.0 - 1.0).abs() < 0.008 && (l.p95_ms / 1_030.0 - 1.0).abs() < 0.008, "{l:?}");
    assert!((l.p99_ms / 1_030.0 - 1.0).abs() < 0.008);
}

#[test]
fn goodput_of_a_flow_that_loses_nothing_is_its_rate() {
    let config = FlowConfig { max_packets: Some(10), ..FlowConfig::new(CBR, NodeId(0), NodeId(1), 500) };
    let mut s = Host::new(config, 1);
    let mut sink = Sink::new(1);
    for p in packets(&mut s, 10) {
        sink.receive(p.meta.born + Span::from_millis(1), &p);
    }
    assert_eq!(summary(&s, &sink, Time::from_secs_f64(900.0)).goodput_bps, Some(4_000.0));
}

#[test]
fn a_flow_of_which_nothing_arrives_has_no_latency() {
    let f = summary(&source(CBR, 8), &Sink::new(1), Time::ZERO);
    assert_eq!((f.delivery_ratio, f.latency, f.hops_mean, f.goodput_bps), (None, None, None, None));
}

#[test]
fn a_ping_measures_the_round_trip_and_the_hops_of_the_reply() {
    let mut pool = Pool::new();
    let mut s = source(PING, 56);
    let mut sink = Sink::new(1);
    for (k, request) in packets(&mut s, 4).into_iter().enumerate() {
        if k == 2 {
            continue; // lost
        }
        let there = request.meta.born + Span::from_millis(7);
        let reply = echo_reply(&routed(request, 4), there, PacketId(100), 0, &mut pool).expect("a request");
        let back = there + Span::from_millis(10 * (k as u64 + 1));
        assert_eq!(sink.receive(back, &routed(reply, 3)), Arrival::First);
    }
    let f = summary(&s, &sink, Time::from_secs_f64(4.0));
    assert_eq!((f.sent, f.received, f.delivery_ratio, f.hops_mean), (4, 3, Some(0.75), Some(4.0)));
    let l = f.latency.expect("replies arrived");
    // 17, 27 and 47 ms.
    assert_eq!(l.max_ms, 47.0);
    assert!((l.mean_ms - 91.0 / 3.0).abs() < 1e-5, "{l:?}");
    assert!((l.p50_ms / 27.0 - 1.0).abs() < 0.008, "{l:?}");
}

#[test]
fn a_ping_without_room_for_a_stamp_counts_but_measures_no_time() {
    let mut pool = Pool::new();
    let mut s = source(PING, 15);
    let request = packets(&mut s, 1).remove(0);
    let reply = echo_reply(&request, Time::ZERO, PacketId(1), 0, &mut pool).expect("a request");
    let mut sink = Sink::new(1);
    assert_eq!(sink.receive(Time::from_secs_f64(1.0), &reply), Arrival::First);
    let f = summary(&s, &sink, Time::from_secs_f64(1.0));
    assert_eq!((f.received, f.latency), (1, None));
}

#[test]
fn what_belongs_to_no_flow_or_is_broken_is_foreign() {
    let mut pool = Pool::new();
    let p = packets(&mut source(CBR, 8), 1).remove(0);
    let mut sink = Sink::new(1);
    let mut untagged = pool.copy(&p);
    untagged.meta.flow = None;
    assert_eq!(sink.receive(Time::ZERO, &untagged), Arrival::Foreign);
    let mut cut = pool.copy(&p);
    cut.truncate(21);
    assert_eq!(sink.receive(Time::ZERO, &cut), Arrival::Foreign);
    let request = packets(&mut source(PING, 8), 1).remove(0);
    assert_eq!(sink.receive(Time::ZERO, &request), Arrival::Foreign, "requests are for the responder");
    let empty = pool.packet(&[], PacketMeta { flow: p.meta.flow, ..PacketMeta::default() });
    assert_eq!(sink.receive(Time::ZERO, &empty), Arrival::Foreign);
    let f = summary(&source(CBR, 8), &sink, Time::ZERO);
    assert_eq!((f.received, f.duplicates), (0, 0));
}
