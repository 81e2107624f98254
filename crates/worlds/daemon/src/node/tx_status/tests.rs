//! Possible drivers: one that reports everything, one that reports nothing, one that stops reporting.

use proptest::prelude::*;
use wayhop_core::{PacketId, PacketMeta, Pool, Priority, Reporting, TxId};
use wayhop_wire::dsr::{DsrOption, edit};

use super::*;
use crate::node::host::Host;
use crate::node::test_hosts::{self, IFACE, address, at, data, mac};

const NOW: Time = Time::ZERO;

/// The frame of this number, with these octets.
fn frame(pool: &mut Pool, octets: u64, id: u64) -> Frame {
    let packet = pool.packet(&octets.to_be_bytes(), PacketMeta { id: PacketId(id), flow: None, born: NOW });
    Frame {
        packet,
        payload: Payload::Ip,
        iface: IFACE,
        next_hop: address(2).into(),
        receiver: mac(2),
        priority: Priority::Data,
        reporting: Reporting::Engine(0, TxId(id)),
        life: 0,
    }
}

fn told(f: &mut TxStatuses, octets: u64, acked: bool) -> Option<StatusVerdict> {
    f.told(&octets.to_be_bytes(), acked)
}

/// The number of a frame that arrived.
fn acked(v: Option<StatusVerdict>) -> Option<u64> {
    if let Some(StatusVerdict::Acked(f)) = v { Some(f.packet.meta.id.0) } else { None }
}

/// A driver that has reported three frames.
fn trusted() -> TxStatuses {
    let mut f = TxStatuses::default();
    f.watch();
    (0..3).for_each(|k| drop(told(&mut f, k, true)));
    f
}

#[test]
fn a_driver_is_trusted_after_three_reports_and_packets_are_kept_from_then_on() {
    let (mut f, mut pool) = (TxStatuses::default(), Pool::new());
    assert!(f.taken(NOW, frame(&mut pool, 1, 1)).is_some(), "one that is not watched");
    f.watch();
    for k in 0..3 {
        assert!(!f.is_trusted());
        assert!(f.taken(NOW, frame(&mut pool, k, k)).is_some(), "not kept yet");
        assert!(told(&mut f, k, true).is_none(), "and so nothing to be said");
    }
    assert!(f.is_trusted());
    assert!(f.news().is_some_and(|n| n.contains("reports")) && f.news().is_none());
    assert!(f.taken(NOW, frame(&mut pool, 7, 7)).is_none());
    assert_eq!(acked(told(&mut f, 7, true)), Some(7));
}

#[test]
fn a_packet_is_lost_when_its_second_try_fails_too() {
    let (mut f, mut pool) = (trusted(), Pool::new());
    f.taken(NOW, frame(&mut pool, 7, 7));
    let Some(StatusVerdict::Again(o)) = told(&mut f, 7, false) else { panic!("a first failure is vetoed") };
    f.taken(NOW, o);
    assert!(matches!(told(&mut f, 7, false), Some(StatusVerdict::Lost(_, 2))));
    f.taken(NOW, frame(&mut pool, 8, 8));
    let Some(StatusVerdict::Again(o)) = told(&mut f, 8, false) else { panic!("a first failure is vetoed") };
    f.taken(NOW, o);
    assert!(matches!(told(&mut f, 8, true), Some(StatusVerdict::Acked(_))));
}

#[test]
fn frames_with_the_same_octets_are_told_of_in_the_order_in_which_they_went() {
    let (mut f, mut pool) = (trusted(), Pool::new());
    f.taken(NOW, frame(&mut pool, 7, 1));
    f.taken(NOW, frame(&mut pool, 7, 2));
    for id in 1..3 {
        assert_eq!(acked(told(&mut f, 7, true)), Some(id));
    }
    assert!(told(&mut f, 7, true).is_none());
}

#[test]
fn a_driver_that_falls_silent_is_watched_again_and_keeps_nothing_back() {
    let (mut f, mut pool) = (trusted(), Pool::new());
    f.news();
    for k in 0..20 {
        f.taken(NOW, frame(&mut pool, 100 + k, k));
    }
    assert!(f.untold(NOW).is_none(), "it has time to tell");
    let later = NOW + PATIENCE;
    let given_back = std::iter::from_fn(|| f.untold(later)).count();
    assert_eq!((given_back, f.is_trusted(), f.is_watching()), (20, false, true));
    assert!(f.news().is_some_and(|n| n.contains("stopped reporting")));
    assert!(f.taken(later, frame(&mut pool, 1, 1)).is_some());
    (0..3).for_each(|k| drop(told(&mut f, k, true)));
    assert!(f.is_trusted(), "it tells again");
}

#[test]
fn a_driver_that_never_tells_is_given_up_with_a_line_for_the_log() {
    let (mut f, mut pool) = (TxStatuses::default(), Pool::new());
    f.watch();
    for k in 0..16 {
        assert!(f.taken(NOW, frame(&mut pool, k, k)).is_some());
    }
    assert!(f.untold(NOW + PATIENCE).is_none());
    assert!(!f.is_watching());
    assert!(f.news().is_some_and(|n| n.contains("although its driver claims to")));
}

#[derive(Clone, Debug)]
enum Step {
    Send(u64),
    Tell(u64, bool),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_u64..8).prop_map(Step::Send),
        4 => (0_u64..8, any::<bool>()).prop_map(|(k, acked)| Step::Tell(k, acked)),
        1 => (0_u64..3_000).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn every_packet_comes_out_once_whatever_the_driver_tells(steps in prop::collection::vec(step(), 0..2_000)) {
        let (mut f, mut pool, mut now) = (TxStatuses::default(), Pool::new(), NOW);
        f.watch();
        let (mut sent, mut ended, mut id) = (0, 0, 0);
        for s in steps {
            match s {
                Step::Send(k) => {
                    id += 1;
                    sent += 1;
                    ended += usize::from(f.taken(now, frame(&mut pool, k, id)).is_some());
                }
                Step::Tell(k, acked) => match told(&mut f, k, acked) {
                    Some(StatusVerdict::Again(o)) => ended += usize::from(f.taken(now, o).is_some()),
                    Some(StatusVerdict::Acked(_) | StatusVerdict::Lost(..)) => ended += 1,
                    None => {}
                },
                Step::Wait(ms) => now += Span::from_millis(ms),
            }
            ended += std::iter::from_fn(|| f.untold(now)).count();
            prop_assert!(f.len() <= MAX_OPEN);
        }
        ended += std::iter::from_fn(|| f.untold(now + PATIENCE)).count();
        prop_assert_eq!(sent, ended);
    }
}

// ---- with DSR ----

fn host(n: u8) -> Host {
    let (mut h, ..) = test_hosts::host("dsr", n);
    h.line(IFACE).tx_statuses.watch();
    h.start();
    h
}

/// The first frame that waits for the interface.
fn first(a: &Host) -> Option<Vec<u8>> {
    a.frames(IFACE).next().map(|(header, f)| [&header[..], f.packet.bytes()].concat())
}

/// The interface takes the first frame.
fn take(a: &mut Host) {
    if let Some((frame, status)) = a.sent(IFACE) {
        a.finished(frame, status);
    }
}

/// Carries all packets from one host to the other, and reports each as acknowledged. Returns the packets.
fn carry(from: &mut Host, to: &mut Host) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    loop {
        let Some(frame) = first(from) else { return packets };
        take(from);
        if frame[12..14] == [8, 6] {
            // The kernels' part: both know each other.
            from.learn(IFACE, to.node.addr(), to.node.mac(IFACE));
            continue;
        }
        to.frame_in(IFACE, &frame, false, f32::NAN);
        from.tx_status(IFACE, &frame[14..], true);
        packets.push(frame[14..].to_vec());
    }
}

/// The first host sends this many packets of data to the second, one every 100 ms. Returns all packets that it sent.
fn converse(a: &mut Host, b: &mut Host, count: u8) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    for i in 0..count {
        for later in 0..20 {
            let now = 100 * u64::from(i) + later;
            at(a, now);
            at(b, now);
            if later == 0 {
                data(a, i);
            }
            packets.extend(carry(a, b));
            carry(b, a);
        }
    }
    packets
}

fn has(packet: &[u8], wanted: fn(&DsrOption<'_>) -> bool) -> bool {
    edit::parse(packet).is_ok_and(|(_, h)| h.options().any(|o| o.is_ok_and(|o| wanted(&o))))
}

fn asks(packet: &[u8]) -> bool {
    has(packet, |o| matches!(o, DsrOption::AckRequest { .. }))
}

#[test]
fn dsr_asks_for_acknowledgements_unless_the_driver_reports_transmit_status() {
    let (mut a, mut b) = (host(1), host(2));
    let sent = converse(&mut a, &mut b, 12);
    let routed = sent.iter().filter(|p| has(p, |o| matches!(o, DsrOption::SourceRoute(_))));
    let asked: Vec<bool> = routed.map(|p| asks(p)).collect();
    assert!(a.line(IFACE).tx_statuses.is_trusted());
    assert_eq!(b.around.counters.delivered, 12);
    assert!(asked[..3].iter().any(|asks| *asks), "{asked:?}");
    assert!(!asked[asked.len() - 4..].iter().any(|asks| *asks), "{asked:?}");
}

#[test]
fn dsr_finds_another_route_when_the_driver_reports_a_packet_lost_twice() {
    let (mut a, mut b) = (host(1), host(2));
    converse(&mut a, &mut b, 8);
    assert!(a.line(IFACE).tx_statuses.is_trusted());
    at(&mut a, 1_000);
    data(&mut a, 99);
    for _ in 0..2 {
        let frame = first(&a).expect("the packet");
        assert!(has(&frame[14..], |o| matches!(o, DsrOption::SourceRoute(_))));
        take(&mut a);
        a.tx_status(IFACE, &frame[14..], false);
    }
    for now in 1_000..1_100 {
        at(&mut a, now);
    }
    let next: Vec<Vec<u8>> = a.frames(IFACE).map(|(_, f)| f.packet.bytes().to_vec()).collect();
    assert!(next.iter().any(|p| has(p, |o| matches!(o, DsrOption::RouteRequest(_)))), "{next:?}");
}
