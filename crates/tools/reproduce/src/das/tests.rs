//! The paper's definitions on runs made by hand, whose counts are known.

use std::net::Ipv4Addr;

use wayhop_core::{NodeId, Time, TraceNote};
use wayhop_report::{Row, Section};
use wayhop_trace::{Direction, FrameEvent, HopEvent, HopKind, NoteEvent, Observer};

use super::card::{self, Cards, OneHop};
use super::losses::{Discoveries, Losses};
use super::{latency, udp};
use crate::testing::{self, at, find};

const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 4);

fn found(node: u32, about: Ipv4Addr, ms: u64) -> NoteEvent {
    let note = TraceNote { what: "discovery_done", about: about.into(), value: ms * 1_000 };
    NoteEvent { time: Time::ZERO, node: NodeId(node), note }
}

fn discoveries(latencies_ms: &[u64]) -> Discoveries {
    let mut d = Discoveries::new(NodeId(0), FAR);
    for ms in latencies_ms {
        d.note(&found(0, FAR, *ms));
    }
    // Those of others, and for others, do not count.
    d.note(&found(1, FAR, 77));
    d.note(&found(0, Ipv4Addr::new(10, 0, 0, 2), 77));
    d
}

fn hop(kind: HopKind, node: u32, at_ms: u64) -> HopEvent {
    HopEvent { time: at(at_ms), node: NodeId(node), bytes: 1_500, ..testing::hop(kind) }
}

/// Ten packets over three hops: one dropped at node 1, three lost to node 2, two dropped there, one lost to node 3, three
/// received.
fn script() -> Losses {
    let mut l = Losses::new(3, FAR);
    for (kind, node, count) in [
        (HopKind::Originate, 0, 10),
        (HopKind::Drop, 0, 1),
        (HopKind::Send, 0, 9),
        (HopKind::Transmit, 0, 9),
        (HopKind::Receive, 1, 6),
        (HopKind::Drop, 1, 2),
        (HopKind::Transmit, 1, 4),
        (HopKind::Receive, 2, 3),
        (HopKind::Transmit, 2, 3),
        (HopKind::Receive, 3, 3),
        (HopKind::Deliver, 3, 3),
    ] {
        (0..count).for_each(|_| l.hop(&hop(kind, node, 0)));
    }
    // Routing messages are in no flow.
    l.hop(&HopEvent { flow: None, ..hop(HopKind::Drop, 0, 0) });
    for ms in [10, 10, 1_010] {
        l.note(&found(0, FAR, ms));
    }
    l
}

fn row<'a>(s: &'a Section, row: &str, quantity: &str) -> &'a Row {
    find(&s.rows, row, quantity)
}

#[test]
fn a_loss_belongs_to_the_node_that_drops_or_the_link_that_fails() {
    let mut runs: udp::ByLoad = udp::TENTHS.map(|_| vec![]).collect();
    runs[5] = vec![script()];
    let s = udp::losses("Table 4", 3, &runs, "");
    let share = |quantity| row(&s, "0.6 Mb/s", quantity).ours.unwrap();
    assert_eq!(
        ["node_1_drops_pct", "link_1_to_2_lost_pct", "node_2_drops_pct", "link_2_to_3_lost_pct"].map(share),
        [10.0, 30.0, 20.0, 10.0]
    );
    assert_eq!(["node_3_drops_pct", "link_3_to_4_lost_pct", "received_pct"].map(share), [0.0, 0.0, 30.0]);
    // The paper's, beside it; and nothing where there was no run.
    assert_eq!(row(&s, "0.6 Mb/s", "link_1_to_2_lost_pct").paper, Some(22.7));
    assert_eq!(row(&s, "0.5 Mb/s", "received_pct").ours, None);
}

#[test]
fn the_highest_clean_load_is_below_the_first_that_loses() {
    let clean = || {
        let mut l = Losses::new(3, FAR);
        (0..100).for_each(|_| l.hop(&hop(HopKind::Originate, 0, 0)));
        (0..98).for_each(|_| l.hop(&hop(HopKind::Deliver, 3, 0)));
        l
    };
    // Clean at 0.1, 0.2 and again at 0.9 Mb/s, 30 % between.
    let three: udp::ByLoad =
        udp::TENTHS.map(|t| vec![if matches!(t, 1 | 2 | 9) { clean() } else { script() }]).collect();
    let none = || udp::TENTHS.map(|_| vec![]).collect::<udp::ByLoad>();
    let s = udp::throughput(&[none(), none(), three, none()]);
    assert_eq!(row(&s, "3 hops", "max_error_free_mbps").ours, Some(0.2));
    assert!((row(&s, "3 hops", "max_received_mbps").ours.unwrap() - 0.9 * 0.98).abs() < 1e-9);
    assert_eq!(row(&s, "4 hops", "max_received_mbps").ours, None);
}

#[test]
fn table_2_counts_discoveries_at_the_first_request_and_tells_of_the_others() {
    let runs = [2, 6, 10, 14].map(|ms| vec![discoveries(&[ms, ms, ms + 2, 1_000 + ms])]);
    let s = latency::without_load(&runs, &[discoveries(&[4])]);
    assert_eq!(row(&s, "4 hops", "latency_ms").ours, Some((14.0 + 14.0 + 16.0) / 3.0));
    assert_eq!(row(&s, "4 hops", "repeated_pct").ours, Some(25.0));
    assert!((row(&s, "per hop after the first", "latency_ms").ours.unwrap() - 4.0).abs() < 1e-9);
    // 1.96 * 1.1547 / sqrt(3) / 14.667.
    assert!((row(&s, "4 hops", "ci95_of_mean_pct").ours.unwrap() - 8.909).abs() < 1e-3);
    assert_eq!(row(&s, "1 hop from a laptop", "latency_ms").ours, Some(4.0));
}

#[test]
fn table_3_leaves_the_first_discovery_of_a_run_out() {
    let (three, one) = (vec![script()], vec![Losses::new(1, FAR)]);
    let s = latency::with_load(&[&one, &[], &three, &[]], &[]);
    assert_eq!(row(&s, "3 hops", "latency_ms").ours, Some(510.0));
    assert_eq!(row(&s, "3 hops", "repeated_pct").ours, Some(50.0));
    let lonely = row(&s, "1 hop", "latency_ms");
    assert!(lonely.ours.is_none() && lonely.note.starts_with("No route over one hop was lost"), "{lonely:?}");
}

#[test]
fn bandwidth_and_airtime_are_those_of_the_script() {
    // 11 packets of 1472 octets of payload, 10 ms apart: ten of them in 0.1 s.
    let mut o = OneHop::default();
    let frame = |at_us: u64, node, direction, original_len| {
        let time = Time::from_nanos(at_us * 1_000);
        FrameEvent { time, node: NodeId(node), original_len, ..testing::frame(direction, &[]) }
    };
    for i in 0..11 {
        o.hop(&hop(HopKind::Deliver, 1, 10 * i));
        o.frame(&frame(10_000 * i, 0, Direction::Tx, 1_536));
        o.frame(&frame(10_000 * i + 6_330, 1, Direction::Rx, 1_536));
    }
    // A Hello does not count.
    o.frame(&frame(200_000, 0, Direction::Tx, 84));
    o.frame(&frame(200_500, 1, Direction::Rx, 84));
    let s = card::section(&Cards { mtu: [[vec![], vec![o]], [vec![], vec![]]], ..Cards::default() });
    assert!((row(&s, "PCMCIA", "max_send_mbps").ours.unwrap() - 1.1776).abs() < 1e-9);
    assert!((row(&s, "PCMCIA", "transmit_mtu_ms").ours.unwrap() - 6.33).abs() < 1e-9);
    assert_eq!(row(&s, "ISA", "max_send_mbps").ours, None);
}
