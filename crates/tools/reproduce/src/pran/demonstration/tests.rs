//! The paper's measures on a table of packets made by hand, whose sums are known.

use wayhop_core::{NodeId, PacketId, Position, Time};
use wayhop_report::{Row, Section};
use wayhop_trace::{HopEvent, HopKind, Lateness, Observer, PacketClass, PositionEvent};

use super::lap::{Lap, LapRun, ROBOT, STATION};
use super::programs::ProgramOutputs;
use super::sections;
use super::traffic::{Count, OverheadKind, Traffic};
use crate::testing::{self, at, find};

fn hop(packet: u64, ms: u64, node: u32, kind: HopKind, bytes: u32) -> HopEvent {
    let (packet, node) = (PacketId(packet), NodeId(node));
    HopEvent { time: at(ms), packet, flow: None, node, bytes, ..testing::hop(kind) }
}

/// Five packets and seven routing messages.
fn script() -> Traffic {
    use HopKind::{Deliver, Drop, Forward, Originate, Receive, Send, Transmit};
    let mut t = Traffic::default();
    for e in [
        // Two hops in 10 ms, with 24 octets of source route on each.
        hop(1, 1_000, 5, Originate, 100),
        hop(1, 1_001, 5, Send, 124),
        hop(1, 1_002, 5, Transmit, 124),
        hop(1, 1_003, 5, Transmit, 124),
        hop(1, 1_004, 4, Receive, 124),
        hop(1, 1_005, 4, Forward, 124),
        hop(1, 1_008, 0, Receive, 124),
        hop(1, 1_010, 0, Deliver, 100),
        // One hop in 30 ms, with 12.
        hop(2, 2_000, 5, Originate, 50),
        hop(2, 2_001, 5, Send, 62),
        hop(2, 2_029, 0, Receive, 62),
        hop(2, 2_030, 0, Deliver, 50),
        // Never leaves.
        hop(3, 9_900, 5, Originate, 100),
        hop(3, 12_000, 5, Drop, 100),
        // Arrives twice, and a copy of it ends; no header.
        hop(4, 10_000, 5, Originate, 50),
        hop(4, 10_001, 5, Send, 50),
        hop(4, 10_400, 0, Receive, 50),
        hop(4, 10_500, 0, Deliver, 50),
        hop(4, 10_600, 0, Deliver, 50),
        hop(4, 10_700, 3, Drop, 50),
        // Under way at the end.
        hop(5, 19_000, 5, Originate, 100),
        hop(5, 19_001, 5, Send, 124),
        // A packet from before the watch.
        hop(6, 19_500, 0, Deliver, 100),
    ] {
        t.hop(&e);
    }
    for (class, kind, bytes) in [
        ("rreq", Send, 40),
        ("rreq", Transmit, 40),
        ("rreq", Receive, 40),
        ("rreq", Forward, 44),
        ("rrep", Send, 48),
        ("rrep", Forward, 48),
        ("rerr", Send, 44),
        ("rerr", Drop, 44),
        ("ack", Send, 30),
    ] {
        let class = PacketClass::Control(wayhop_protocols::class("dsr", class).unwrap());
        t.hop(&HopEvent { class, ..hop(9, 500, 5, kind, bytes) });
    }
    t
}

fn leg(node: NodeId, from_s: u64, until: Time, x: f64, vx: f64) -> PositionEvent {
    PositionEvent {
        time: at(1_000 * from_s),
        until,
        node,
        at: Position::new(x, 0.0, 0.0),
        velocity: Position::new(vx, 0.0, 0.0),
    }
}

/// Ten metres away and back in 20 s.
fn lap() -> Lap {
    let mut l = Lap::default();
    l.position(&leg(STATION, 0, Time::NEVER, 0.0, 0.0));
    l.position(&leg(ROBOT, 0, at(10_000), 0.0, 1.0));
    l.position(&leg(ROBOT, 10, at(20_000), 10.0, -1.0));
    l
}

fn run(verdict: &str) -> LapRun {
    let lateness = Lateness { verdict: verdict.to_owned(), ..Lateness::default() };
    LapRun { traffic: script(), lap: lap(), seen: ProgramOutputs::default(), lateness, duration_s: 20.0 }
}

fn row<'a>(all: &'a [Section], artefact: &str, row: &str, quantity: &str) -> &'a Row {
    find(all.iter().flat_map(|s| &s.rows).filter(|r| r.artefact == artefact), row, quantity)
}

#[test]
fn delivery_and_latency_count_each_packet_once_in_the_interval_in_which_it_was_sent() {
    let shares = script().by_interval(10.0);
    let found: Vec<_> = shares.iter().map(|s| (s.sent, s.arrived, s.latency_ms())).collect();
    assert_eq!(found, [(3, 2, Some(20.0)), (1, 1, Some(500.0))]);
    let whole = script().born(|_| true);
    assert_eq!((whole.delivered_pct(), whole.latency_ms()), (Some(75.0), Some(180.0)));
    assert_eq!((whole.hops_mean(), whole.most_hops), (Some(4.0 / 3.0), 2));
    let nothing = script().born(|t| t < at(500));
    assert_eq!((nothing.delivered_pct(), nothing.latency_ms()), (None, None));
}

#[test]
fn overhead_counts_each_network_layer_transmission_and_what_dsr_adds_to_data() {
    let t = script();
    let count = |packets, bytes| Count { packets, bytes };
    assert_eq!(t.overhead(OverheadKind::Request), count(2, 84));
    assert_eq!(t.overhead(OverheadKind::Reply), count(2, 96));
    assert_eq!(t.overhead(OverheadKind::Error), count(1, 44));
    assert_eq!(t.overhead(OverheadKind::SourceRoute), count(4, 24 + 24 + 12 + 24));
    assert_eq!(t.overhead(OverheadKind::Other), count(1, 30));
}

#[test]
fn a_route_error_on_a_request_counts_as_both_and_its_octets_once() {
    let mut t = script();
    let class = PacketClass::Control(wayhop_protocols::class("dsr", "rreq").unwrap());
    let messages = wayhop_protocols::messages("dsr", &["rreq", "rerr"]).unwrap();
    t.hop(&HopEvent { class, messages, ..hop(10, 501, 5, HopKind::Send, 52) });
    assert_eq!(t.overhead(OverheadKind::Request), Count { packets: 3, bytes: 84 + 52 });
    assert_eq!(t.overhead(OverheadKind::Error), Count { packets: 2, bytes: 44 });
    assert_eq!(t.errors_on_requests, 1);
}

#[test]
fn the_robot_is_where_its_legs_say() {
    let l = lap();
    assert_eq!(l.place(ROBOT, 15.0), Some(Position::new(5.0, 0.0, 0.0)));
    assert_eq!(l.place(ROBOT, 60.0), Some(Position::default()), "it stays where its last leg ends");
    assert_eq!(l.place(NodeId(3), 1.0), None);
    assert_eq!(l.farthest_s(ROBOT, STATION, 20.0), Some(10.0));
}

#[test]
fn the_rows_say_what_the_paper_says_of_its_graphs() {
    let all = sections::all(&[run("ok")], &[], &[]);
    let ours = |artefact, what, quantity| row(&all, artefact, what, quantity).ours;
    assert_eq!(ours("Figure 8", "Whole run", "delivered_pct"), Some(75.0));
    assert_eq!(ours("Figure 8", "Worst 10 s", "of_the_lap_pct"), Some(25.0));
    // The far quarter is from 7.5 to 12.5 s: one packet lost, one delivered.
    assert_eq!(ours("Figure 8", "Far quarter of the lap", "delivered_pct"), Some(50.0));
    assert_eq!(ours("Figure 8", "Worse in the far quarter than in the rest", "holds"), Some(1.0));
    assert_eq!(ours("Figure 9", "Worst 10 s", "of_the_lap_pct"), Some(75.0));
    assert_eq!(ours("Figure 9", "Rest of the lap", "latency_ms"), Some(20.0));
    // As many Requests as Replies, more Replies than Errors.
    assert_eq!(ours("Figure 7", "More Requests than Replies", "holds"), Some(0.0));
    assert_eq!(ours("Figure 7", "More Replies than Errors", "holds"), Some(1.0));
    assert_eq!(ours("Figure 7", "Source route in data", "bytes"), Some(84.0));
    let dip = row(&all, "Figure 8", "Worst 10 s", "of_the_lap_pct").paper.unwrap();
    assert!((dip - 38.46).abs() < 0.01, "300 of 780 s");
    assert_eq!(row(&all, "Section 6.2.1", "Longest route of 1 % or more", "hops").paper, Some(5.0));
}

#[test]
fn a_degraded_run_says_so_in_every_row_and_one_on_time_in_none() {
    let late = sections::all(&[run("ok"), run("degraded")], &[], &[]);
    let rows = || late.iter().flat_map(|s| &s.rows);
    assert!(rows().all(|r| r.note.starts_with("Degraded: this machine was too slow in 1 of 2 runs.")));
    let on_time = sections::all(&[run("ok")], &[], &[]);
    assert!(on_time.iter().flat_map(|s| &s.rows).all(|r| !r.note.contains("Degraded")));
}

#[test]
fn without_a_whole_lap_there_are_rows_without_numbers() {
    let none = sections::all(&[], &[], &[]);
    assert!(none.iter().flat_map(|s| &s.rows).all(|r| r.ours.is_none() && r.note.starts_with("No lap")));
    assert!(none.iter().all(|s| s.figures.iter().all(|f| f.name == "Figure 7")));
}
