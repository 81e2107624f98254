//! Our lines beside ns-2.35's own, for the same events.

use std::net::Ipv4Addr;

use wayhop_core::{DropReason, FlowTag, NodeId, PacketId, Position, Time};

use super::Lines;
use crate::fixture::hop;
use crate::{HopEvent, HopKind, NodeInfo, PacketClass, PositionEvent};

const ALL: Ipv4Addr = Ipv4Addr::BROADCAST;
const NONE: Ipv4Addr = Ipv4Addr::UNSPECIFIED;

fn addr(n: u32) -> Ipv4Addr {
    NodeId(n).default_addr()
}

fn lines() -> Lines {
    let nodes: Vec<_> = (0..50).map(|n| NodeInfo::with_radio(n.to_string(), addr(n))).collect();
    Lines::new(&nodes)
}

/// A data packet from node 32 to node 22.
fn data(ns: u64, kind: HopKind, node: u32, bytes: u32, ttl: u8, peer: Ipv4Addr) -> HopEvent {
    HopEvent {
        time: Time::from_nanos(ns),
        packet: PacketId(0),
        flow: Some(FlowTag { flow: 4, seq: 0 }),
        node: NodeId(node),
        bytes,
        source: addr(32).into(),
        destination: addr(22).into(),
        peer: peer.into(),
        kind,
        ttl,
        ..hop(0)
    }
}

fn text(events: &[HopEvent]) -> String {
    let (mut l, mut out) = (lines(), Vec::new());
    for e in events {
        l.hop(&mut out, e).expect("memory");
    }
    String::from_utf8(out).expect("text")
}

/// What ns-2.35 wrote for a CBR packet over two hops (AODV), the durations of its MAC frames (`102`) zeroed, and at `f`, where
/// it repeats what the MAC received, the whole bracket; at `r AGT` it shows AODV's packets with their IP header (84), DSR's
/// without (64).
const NS2: &str = "\
s 9.665135000 _32_ AGT  --- 0 cbr 64 [0 0 0 0] ------- [32:0 22:0 32 0] [0] 0 0
r 9.665135000 _32_ RTR  --- 0 cbr 64 [0 0 0 0] ------- [32:0 22:0 32 0] [0] 0 0
s 11.525767965 _32_ RTR  --- 0 cbr 84 [0 0 0 0] ------- [32:0 22:0 30 49] [0] 0 0
r 11.528883089 _49_ RTR  --- 0 cbr 84 [0 31 20 800] ------- [32:0 22:0 30 49] [0] 1 0
f 11.528883089 _49_ RTR  --- 0 cbr 84 [0 0 0 0] ------- [32:0 22:0 29 22] [0] 1 0
r 11.530397278 _22_ AGT  --- 0 cbr 64 [0 16 31 800] ------- [32:0 22:0 29 22] [0] 2 0
";

#[test]
fn a_data_packet_has_the_lines_that_ns2_writes() {
    let at_49 = 11_528_883_089;
    let ours = text(&[
        data(9_665_135_000, HopKind::Originate, 32, 84, 32, NONE),
        data(11_525_767_965, HopKind::Send, 32, 84, 30, addr(49)),
        data(11_526_000_000, HopKind::Transmit, 32, 84, 30, addr(49)),
        data(at_49, HopKind::Receive, 49, 84, 30, addr(32)),
        data(at_49, HopKind::Forward, 49, 84, 29, addr(22)),
        data(11_530_397_278, HopKind::Deliver, 22, 84, 29, addr(49)),
    ]);
    assert_eq!(ours, NS2);
}

#[test]
fn routing_messages_and_drops_have_the_columns_that_scripts_read() {
    let rreq = HopEvent {
        flow: None,
        class: PacketClass::Control(wayhop_protocols::class("aodv", "rreq").unwrap()),
        messages: wayhop_protocols::messages("aodv", &["rreq"]).unwrap(),
        destination: ALL.into(),
        ..data(9_665_135_000, HopKind::Send, 32, 48, 30, ALL)
    };
    let heard = HopEvent { kind: HopKind::Receive, node: NodeId(10), peer: addr(32).into(), ..rreq };
    let class = PacketClass::Control(wayhop_protocols::class("dsr", "rreq").unwrap());
    let messages = wayhop_protocols::messages("dsr", &["rreq"]).unwrap();
    let dsr = HopEvent { class, messages, destination: ALL.into(), ..rreq };
    let lost = HopEvent {
        reason: Some(DropReason::ArpFull),
        ..data(27_202_241_093, HopKind::Drop, 32, 84, 29, addr(49))
    };
    let late = HopEvent { reason: Some(DropReason::BufferTimeout), peer: NONE.into(), ..lost };
    // The first two lines are ns-2.35's, but for the sequence numbers in the message, which are in no hop event.
    let expected = "\
s 9.665135000 _32_ RTR  --- 0 AODV 48 [0 0 0 0] ------- [32:255 -1:255 30 0] [0x2 0 0 [0 0] [32 0]] (REQUEST)
r 9.665135000 _10_ RTR  --- 0 AODV 48 [0 ffffffff 20 800] ------- [32:255 -1:255 30 0] [0x2 0 0 [0 0] [32 0]] (REQUEST)
s 9.665135000 _32_ RTR  --- 0 DSR 48 [0 0 0 0] ------- [32:255 -1:255 30 0] 0 [1 0] [0 0 0 0->0] [0 0 0 0->0]
D 27.202241093 _32_ IFQ  ARP 0 cbr 84 [0 0 0 0] ------- [32:0 22:0 29 49] [0] 0 0
D 27.202241093 _32_ RTR TOUT 0 cbr 84 [0 0 0 0] ------- [32:0 22:0 29 0] [0] 0 0
";
    assert_eq!(text(&[rreq, heard, dsr, lost, late]), expected);
}

#[test]
fn movement_lines_come_in_order_of_time_even_if_told_ahead() {
    let (mut l, mut out) = (lines(), Vec::new());
    let leg = |s: u64, until: u64, vx: f64| PositionEvent {
        time: Time::from_nanos(s * 1_000_000_000),
        until: Time::from_nanos(until * 1_000_000_000),
        node: NodeId(0),
        at: Position::new(871.73, 58.43, 0.0),
        velocity: Position::new(vx, 4.0, 0.0),
    };
    l.movement(&leg(20, 30, 3.0));
    l.movement(&leg(0, 10, -3.0));
    l.movement(&PositionEvent { velocity: Position::default(), ..leg(10, 20, 0.0) });
    l.hop(&mut out, &data(9_665_135_000, HopKind::Originate, 32, 84, 32, NONE)).expect("memory");
    l.moves_until(&mut out, Time::NEVER).expect("memory");
    let out = String::from_utf8(out).expect("text");
    let all: Vec<&str> = out.lines().collect();
    assert_eq!(all[0], "M 0.00000 0 (871.73, 58.43, 0.00), (841.73, 98.43), 5.00");
    assert!(all[1].starts_with("s 9.665135000 _32_ AGT"));
    assert_eq!(all[3], "M 20.00000 0 (871.73, 58.43, 0.00), (901.73, 98.43), 5.00");
    assert_eq!(all.len(), 4, "a pause is no movement");
}
