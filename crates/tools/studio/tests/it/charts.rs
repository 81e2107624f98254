//! The data of charts is the data of the run.

use std::path::Path;

use tempfile::TempDir;
use wayhop_core::{
    Addr, Decision, DropReason, IfaceId, NodeId, PacketId, Position, SendState, Span, TcpConnection, TcpEnds,
    Time,
};
use wayhop_trace::{
    ConnectionEvent, HopEvent, HopKind, Outputs, PacketClass, PositionEvent, RunStatus, SendEvent, SizeEvent,
    TcpEvent,
};

use crate::asking::{Answer, Server};
use crate::recorded::{hop, recorder, summary};

const S: u64 = 1_000_000_000;
/// Segments of the TCP flow: more than an answer has.
const SEGMENTS: u64 = 70_000;

fn at(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn lost(ms: u64, node: u32, packet: u64, reason: DropReason) -> HopEvent {
    HopEvent {
        time: at(ms),
        node: NodeId(node),
        packet: PacketId(packet),
        kind: HopKind::Drop,
        reason: Some(reason),
        ..hop(0)
    }
}

fn rreq(ms: u64, node: u32, kind: HopKind) -> HopEvent {
    let class = PacketClass::Control(wayhop_protocols::class("dsr", "rreq").expect("DSR has it"));
    HopEvent { time: at(ms), node: NodeId(node), flow: None, kind, class, ..hop(0) }
}

fn sent(ms: u64, node: u32, queued: u32, hops: u8) -> SendEvent {
    let state = SendState {
        packet: PacketId(1),
        next_hop: Addr::UNSPECIFIED,
        decision: Decision::Cached,
        attempt: 1,
        hops,
        queued,
        timer: Span::ZERO,
        rtt: Span::ZERO,
        rtt_deviation: Span::ZERO,
    };
    SendEvent { time: at(ms), node: NodeId(node), state }
}

fn segment(us: u64, flow: u32, event: &'static str, octet: u64) -> TcpEvent {
    TcpEvent {
        time: Time::from_nanos(us * 1_000),
        flow,
        node: NodeId(0),
        event,
        octet,
        bytes: 1_000,
        acked: octet / 2,
        in_flight: 3,
        window: 1.5,
        threshold: 8.0,
        srtt: None,
        rto: Span::ZERO,
    }
}

fn size(s: u64, node: u32, what: &'static str, count: u64) -> SizeEvent {
    let iface = if what == "queue" { IfaceId(0) } else { IfaceId::ANY };
    SizeEvent { time: at(1_000 * s), node: NodeId(node), what, iface, count }
}

/// 20 s; node 1 stands at 7 m until 5 s and goes east at 2 m/s then.
pub(crate) fn charted(path: &Path) {
    let mut recorder = recorder(path, &Outputs { connections: true, sizes: true, ..Outputs::default() });
    for (from, until, velocity) in [(0, 5_000, 0.0), (5_000, 20_000, 2.0)] {
        recorder.position(&PositionEvent {
            time: at(from),
            until: at(until),
            node: NodeId(1),
            at: Position::new(7.0, 3.0, 0.0),
            velocity: Position::new(velocity, 0.0, 0.0),
        });
    }
    for event in [
        rreq(1_000, 0, HopKind::Send),
        lost(2_000, 1, 40, DropReason::NoRoute),
        rreq(2_500, 1, HopKind::Forward),
        rreq(2_500, 1, HopKind::Receive),
        // Of another program, and no routing packet.
        HopEvent { class: PacketClass::Data, ..rreq(2_600, 1, HopKind::Send) },
        lost(8_000, 1, 41, DropReason::QueueFull),
        lost(9_000, 2, 42, DropReason::NoRoute),
    ] {
        recorder.hop(&event);
    }
    for event in [sent(1_000, 0, 4, 2), sent(1_001, 0, 8, 0), sent(1_002, 1, 50, 3), sent(19_999, 0, 1, 5)] {
        recorder.sent(&event);
    }
    for event in [
        size(1, 0, "queue", 0),
        size(1, 0, "routes", 4),
        size(1, 1, "queue", 6),
        SizeEvent { iface: IfaceId(1), ..size(1, 1, "queue", 3) },
        size(1, 2, "queue", 0),
        size(5, 0, "queue", 1),
        size(5, 1, "queue", 0),
        size(5, 2, "queue", 0),
    ] {
        recorder.size(&event);
    }
    for n in 0..SEGMENTS {
        recorder.tcp(&segment(100 * n, 2, if n == 0 { "resend" } else { "send" }, n));
        recorder.tcp(&segment(100 * n, 3, "timeout", 9));
    }
    for n in 0..4 {
        recorder.connection(&looked(n, 5_000 + 500 * n, 1_000 * n, 500 * (n / 2)));
        recorder.connection(&ConnectionEvent { node: NodeId(2), ..looked(n, 5_000 + 500 * n, 1, 0) });
    }
    recorder.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
}

/// A connection of node 1's when octets up to `new` were sent once, and `again` of them again.
fn looked(n: u64, ms: u64, new: u64, again: u64) -> ConnectionEvent {
    let ends = TcpEnds {
        local: std::net::Ipv4Addr::new(10, 0, 0, 2).into(),
        local_port: 40_000,
        remote: "fd00::9".parse().expect("an address"),
        remote_port: 22,
    };
    let connection = TcpConnection {
        ends,
        state: "established",
        sent: new + again,
        sent_again: again,
        acked: new / 2,
        received: 10 * n,
        retransmissions: again as u32 / 500,
        in_flight: 1,
        window: 10,
        threshold: None,
        segment: 500,
        srtt: None,
        deviation: None,
        rto: Span::from_millis(200),
    };
    ConnectionEvent { time: at(ms), node: NodeId(1), connection }
}

#[test]
fn a_programs_connection_is_listed_and_told_look_by_look() {
    let (_folder, server) = served();
    assert_eq!(server.get("/api/run?run=a").json()["connections"], 8);
    let listed = server.get("/api/connections?run=a").json();
    assert_eq!((listed["connections"].as_array().map(Vec::len), &listed["left_out"]), (Some(2), &0.into()));
    let most = &listed["connections"][0];
    let expected = serde_json::json!({
        "node": 1, "local": "10.0.0.2", "local_port": 40000, "remote": "fd00::9", "remote_port": 22,
        "from_ns": 5_000_000_000_u64, "until_ns": 6_500_000_000_u64, "sent": 3_000, "received": 30, "retransmissions": 1,
    });
    assert_eq!(most, &expected);
    let of = "local=10.0.0.2&local_port=40000&remote=fd00::9&remote_port=22";
    let told = server.get(&format!("/api/connection?run=a&node=1&{of}"));
    assert_eq!(told.frame().0["is_whole"], true);
    assert_eq!(told.column("sent"), [0.0, 1_000.0, 2_000.0, 3_000.0]);
    assert_eq!(told.column("sent_again"), [0.0, 0.0, 500.0, 500.0]);
    assert_eq!(told.column("acked"), [0.0, 500.0, 1_000.0, 1_500.0]);
    assert_eq!(told.column("time_ns")[3], 6.5e9);
    assert_eq!(server.get(&format!("/api/connection?run=a&node=0&{of}")).frame().0["rows"], 0);
    let wrong =
        server.get("/api/connection?run=a&node=1&local=here&local_port=1&remote=fd00::9&remote_port=22");
    assert_eq!(wrong.status, 400);
}

fn served() -> (TempDir, Server) {
    let folder = TempDir::new().expect("a directory");
    charted(&folder.path().join("a"));
    let server = Server::of(folder.path());
    (folder, server)
}

#[test]
fn losses_have_time_place_and_cause() {
    let (_folder, server) = served();
    let losses = server.counted("/api/losses?run=a");
    assert_eq!(losses.column("time_ns"), [2 * S, 8 * S, 9 * S].map(|t| t as f64));
    assert_eq!(losses.column("packet"), [40.0, 41.0, 42.0]);
    assert_eq!(losses.column("node"), [1.0, 1.0, 2.0]);
    // 7 m, and 2 m/s for 3 s more; of node 2 nobody knows.
    assert_eq!(losses.column("x")[..2], [7.0, 13.0]);
    assert!(losses.column("x")[2].is_nan());
    assert_eq!(losses.column("y")[1], 3.0);
    let (head, _) = losses.frame();
    let reasons =
        losses.column("reason").iter().map(|r| head["reasons"][*r as usize - 1].clone()).collect::<Vec<_>>();
    assert_eq!(reasons, ["NO_ROUTE", "QUEUE_FULL", "NO_ROUTE"]);
    assert_eq!(server.counted("/api/losses?run=a&node=2").column("packet"), [42.0]);
}

#[test]
fn drops_are_counted_by_reason_and_routing_packets_by_type() {
    let (_folder, server) = served();
    let all = server.counted("/api/overview?run=a");
    assert_eq!(
        all.frame().0["kinds"],
        serde_json::json!(["drop/NO_ROUTE", "drop/QUEUE_FULL", "routing/rreq"])
    );
    let sum = |answer: &Answer, name: &str| answer.column(name).iter().sum::<f64>();
    let sums = ["drop/NO_ROUTE", "drop/QUEUE_FULL", "routing/rreq"].map(|kind| sum(&all, kind));
    // Received is not sent.
    assert_eq!(sums, [2.0, 1.0, 2.0]);
    let bins = all.column("drop/NO_ROUTE").len() as u64;
    let places: Vec<usize> =
        all.column("drop/NO_ROUTE").iter().enumerate().filter(|(_, n)| **n > 0.0).map(|(i, _)| i).collect();
    assert_eq!(places, [2, 9].map(|s| (s * bins / 20) as usize));
    let of_one = server.counted("/api/overview?run=a&node=1");
    assert_eq!((sum(&of_one, "drop/NO_ROUTE"), sum(&of_one, "routing/rreq")), (1.0, 1.0));
}

#[test]
fn a_figure_has_mean_and_greatest_value_where_there_was_one() {
    let (_folder, server) = served();
    let queued = server.get("/api/series?run=a&figure=queued&node=0");
    let (mean, most) = (queued.column("mean"), queued.column("most"));
    let bin = mean.len() / 20;
    assert_eq!((mean[bin], most[bin]), (6.0, 8.0));
    assert_eq!(mean.last(), Some(&1.0));
    assert_eq!(mean.iter().filter(|m| !m.is_nan()).count(), 2);
    let of_all = server.get("/api/series?run=a&figure=queued");
    assert_eq!(of_all.column("most")[bin], 50.0);
    // The length of a route that is not known yet is none.
    assert_eq!(server.get("/api/series?run=a&figure=hops&node=0").column("mean")[bin], 2.0);
    assert_eq!(server.get("/api/series?run=a&figure=secrets").status, 400);
}

#[test]
fn a_tcp_flow_comes_in_answers_that_leave_nothing_out() {
    let (_folder, server) = served();
    let (mut from, mut octets) = (0, Vec::new());
    let end = 20 * S;
    while from < end {
        let answer = server.get(&format!("/api/tcp?run=a&flow=2&from={from}&to={end}"));
        let (head, _) = answer.frame();
        assert!(answer.column("octet").len() <= 1 << 16);
        if from == 0 {
            assert_eq!(head["events"], serde_json::json!(["resend", "send"]));
            assert_eq!((answer.column("cwnd")[0], answer.column("bytes")[0]), (1.5, 1_000.0));
            assert_eq!(answer.column("acked")[5], 2.0);
        }
        octets.extend(answer.column("octet"));
        let until = head["until_ns"].as_u64().unwrap();
        assert!(until > from, "it goes on");
        from = until;
    }
    assert_eq!(octets, (0..SEGMENTS).map(|n| n as f64).collect::<Vec<_>>());
}

#[test]
fn sizes_are_means_over_the_nodes_and_an_empty_list_counts() {
    let (_folder, server) = served();
    let all = server.get("/api/sizes?run=a");
    assert_eq!(all.frame().0["lists"], serde_json::json!(["queue", "routes"]));
    let bin = all.column("mean/queue").len() / 20;
    // Of two interfaces together 9 packets, and three nodes.
    assert_eq!((all.column("mean/queue")[bin], all.column("most/queue")[bin]), (3.0, 9.0));
    assert_eq!((all.column("mean/routes")[bin], all.column("most/routes")[bin]), (4.0 / 3.0, 4.0));
    assert_eq!(all.column("mean/routes")[5 * bin], 0.0, "no row: no route");
    assert_eq!(all.column("mean/queue").iter().filter(|v| !v.is_nan()).count(), 2);
    let one = server.get("/api/sizes?run=a&node=0");
    assert_eq!((one.column("mean/queue")[5 * bin], one.column("mean/routes")[bin]), (1.0, 4.0));
    let rows = server.get("/api/rows?run=a&table=sizes&node=1&from=1000000000&to=1000000001").json();
    assert_eq!(rows["rows"][1]["interface"], 1);
}
