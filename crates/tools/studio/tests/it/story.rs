//! The story of a packet and its frames match the run: tables and captures written by hand.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use wayhop_core::{DropReason, IfaceId, NodeId, PacketId, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    CaptureReader, CapturedFrame, Direction, FrameEvent, HopEvent, HopKind, Outputs, ReceptionEvent, RunDir,
};

use crate::asking::Server;
use crate::recorded::{hop, recorder, summary};

const PACKET: u64 = 40;

/// An RTS from 02:00:00:00:00:01 to 02:00:00:00:00:02.
fn rts() -> Vec<u8> {
    [&[0xb4, 0, 9, 0][..], &[2, 0, 0, 0, 0, 2], &[2, 0, 0, 0, 0, 1]].concat()
}

/// A data frame whose payload is 28 octets `n`.
fn data(n: u8) -> Vec<u8> {
    let header = [&[8, 0, 9, 0][..], &[2, 0, 0, 0, 0, 2], &[2, 0, 0, 0, 0, 1], &[0; 8]].concat();
    [&header[..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 6], &[n; 28]].concat()
}

fn frame(us: u64, node: u32, direction: Direction, bytes: &[u8]) -> FrameEvent<'_> {
    FrameEvent {
        time: Time::from_nanos(us * 1_000),
        node: NodeId(node),
        iface: IfaceId(0),
        direction,
        bytes,
        original_len: bytes.len() as u32 + 500,
        signal_dbm: f32::NAN,
        noise_dbm: f32::NAN,
        rate_100kbps: 20,
        channel_mhz: 914,
        retries: 0,
        bad_fcs: false,
        comment: "",
    }
}

fn event(us: u64, node: u32, kind: HopKind) -> HopEvent {
    HopEvent {
        time: Time::from_nanos(us * 1_000),
        packet: PacketId(PACKET),
        node: NodeId(node),
        kind,
        reason: (kind == HopKind::Drop).then_some(DropReason::MacRetries),
        ..hop(4 * PACKET)
    }
}

fn reception(sent_us: u64, us: u64, frame: &'static str, outcome: &'static str) -> ReceptionEvent {
    ReceptionEvent {
        time: Time::from_nanos(us * 1_000),
        sent: Time::from_nanos(sent_us * 1_000),
        node: Some(NodeId(1)),
        iface: IfaceId(0),
        sender: NodeId(0),
        frame,
        packet: Some(PacketId(PACKET)),
        flow: hop(4 * PACKET).flow,
        attempt: 1,
        outcome,
        signal_dbm: -70.0,
        mean_signal_dbm: -70.0,
        needed_dbm: -64.0,
        other: None,
        other_frame: None,
        other_packet: None,
    }
}

/// Node 0 sends the packet to node 1, which drops it. Before and after, both have frames of others. `snaplen`: with captures.
fn packet_run(at: &Path, snaplen: Option<u32>) {
    let outputs = Outputs { receptions: true, captures: snaplen, ..Outputs::default() };
    let mut recorder = recorder(at, &outputs);
    for (us, node, kind) in [
        (1_000, 0, HopKind::Send),
        (2_000, 0, HopKind::Transmit),
        (3_025, 1, HopKind::Receive),
        (3_050, 1, HopKind::Drop),
    ] {
        recorder.hop(&event(us, node, kind));
    }
    recorder.reception(&reception(1_500, 1_800, "rts", "received"));
    recorder.reception(&reception(2_000, 3_000, "data", "received"));
    if snaplen.is_some() {
        let (rts, ours, other) = (rts(), data(1), data(9));
        for n in 0..20 {
            recorder.frame(&frame(40 * n, (n % 2) as u32, Direction::Rx, &other));
        }
        recorder.frame(&frame(1_500, 0, Direction::Tx, &rts));
        recorder.frame(&frame(1_700, 0, Direction::Rx, &other));
        // At the end of its preamble.
        recorder.frame(&frame(2_096, 0, Direction::Tx, &ours));
        recorder.frame(&frame(2_900, 1, Direction::Rx, &other));
        recorder.frame(&frame(3_000, 1, Direction::Rx, &ours));
        recorder.frame(&frame(3_010, 1, Direction::Tx, &other));
        recorder.frame(&frame(5_000, 0, Direction::Tx, &other));
    }
    recorder.finish(&mut summary(), wayhop_trace::RunStatus::Complete).expect("room on the disk");
}

fn served(snaplen: Option<u32>) -> (TempDir, Server) {
    let folder = TempDir::new().expect("a directory");
    packet_run(&folder.path().join("a"), snaplen);
    let server = Server::of(folder.path());
    (folder, server)
}

#[test]
fn a_story_is_what_wayhop_why_tells() {
    let (folder, server) = served(None);
    let told = server.get("/api/story?run=a&packet=40").json();
    let story = &told["stories"][0];
    let run = RunDir::open(folder.path().join("a"), CLASSIFIER).expect("the run");
    let expected = wayhop_trace::stories(&run, wayhop_trace::PacketQuery::Packet(PACKET)).expect("its story");
    assert_eq!(story["steps"], serde_json::to_value(&expected[0].steps).unwrap());
    assert_eq!((&story["packet"], &story["more"]), (&40.into(), &0.into()));
    let whats: Vec<_> =
        story["steps"].as_array().unwrap().iter().map(|s| s["what"].as_str().unwrap()).collect();
    assert_eq!(whats, ["send", "rts", "data", "receive", "drop"]);
    // Node 0 handed it to its interface for 10.0.0.2, which is node 1.
    assert_eq!(story["hops"], serde_json::json!([{"time_ns": 1_000_000, "node": 0, "peer": 1}]));
    let by_flow = server.get("/api/story?run=a&flow=0&seq=40").json();
    assert_eq!(by_flow, told);
}

#[test]
fn a_packet_that_the_run_does_not_have_is_an_error_that_helps() {
    let (_folder, server) = served(None);
    let none = server.get("/api/story?run=a&packet=41");
    assert_eq!(none.status, 404);
    assert!(none.error().contains("no packet 41") && none.error().contains("wayhop why"), "{}", none.error());
    for nonsense in ["", "&flow=1", "&packet=1&flow=1&seq=1", "&packet=-1", "&packet=x"] {
        assert_eq!(server.get(&format!("/api/story?run=a{nonsense}")).status, 400, "{nonsense}");
    }
}

#[test]
fn the_frames_of_a_packet_are_its_own_and_no_others() {
    let (folder, server) = served(Some(64));
    let answer = server.get("/api/frames?run=a&packet=40").json();
    let frames = answer["frames"].as_array().unwrap();
    let told: Vec<_> =
        frames.iter().map(|f| (f["node"].as_u64(), f["time_ns"].as_u64(), f["sent"].as_bool())).collect();
    assert_eq!(
        told,
        [
            (Some(0), Some(1_500_000), Some(true)),
            (Some(0), Some(2_096_000), Some(true)),
            (Some(1), Some(3_000_000), Some(false)),
        ]
    );
    assert_eq!(frames[0]["link"]["kind"], "RTS");
    assert_eq!(frames[1]["link"]["transmitter"], "02:00:00:00:00:01");
    assert!(frames[2]["octets"].as_str().unwrap().ends_with(&"01".repeat(28)));
    assert_eq!(answer["file"], "a-packet-40.pcapng");

    let file = server.get("/api/frames.pcapng?run=a&packet=40");
    assert!(
        file.head.contains("content-disposition: attachment; filename=\"a-packet-40.pcapng\""),
        "{}",
        file.head
    );
    let mut reader = CaptureReader::new(&file.body[..]).expect("a capture");
    let (mut frame, mut read) = (CapturedFrame::default(), Vec::new());
    while reader.next_into(&mut frame).expect("a frame") {
        read.push((frame.time_ns, frame.sent, frame.link_type));
    }
    let expected: Vec<_> = told.iter().map(|(_, at, sent)| (*at, *sent, 127)).collect();
    assert_eq!(read, expected);
    tshark_reads_it(&folder, &file.body);
}

/// tshark sees the nodes' names and the frames.
fn tshark_reads_it(folder: &TempDir, file: &[u8]) {
    let path = folder.path().join("file.pcapng");
    fs::write(&path, file).expect("room");
    let fields =
        ["-T", "fields", "-e", "frame.interface_name", "-e", "wlan.fc.type_subtype", "-e", "frame.len"];
    let out =
        Command::new("tshark").arg("-r").arg(&path).args(fields).output().expect("tshark; .ci/install test");
    let lines = String::from_utf8_lossy(&out.stdout);
    let told: Vec<Vec<&str>> = lines.lines().map(|l| l.split('\t').collect()).collect();
    let kinds: Vec<_> = told.iter().map(|l| (l[0], l[1])).collect();
    assert_eq!(kinds, [("n0", "0x001b"), ("n0", "0x0020"), ("n1", "0x0020")], "{lines}");
    // The radiotap header, the RTS, and what was not captured of it.
    let octets: usize = told[0][2].parse().expect("a length");
    assert!(octets > rts().len() + 500, "{lines}");
}

/// The receiver has the RTS twice with a wrong FCS: once that of the story, once another node's with the same octets.
#[test]
fn frames_that_a_receiver_lost_are_in_the_file_with_their_comment() {
    let folder = TempDir::new().expect("a directory");
    let outputs = Outputs { receptions: true, captures: Some(64), ..Outputs::default() };
    let mut recorder = recorder(&folder.path().join("a"), &outputs);
    recorder.hop(&event(1_000, 0, HopKind::Send));
    recorder.hop(&event(30_000, 0, HopKind::Drop));
    recorder.reception(&reception(1_500, 1_852, "rts", "collision"));
    let rts = rts();
    let lost = |us, comment: &'static str| FrameEvent {
        bad_fcs: true,
        comment,
        original_len: rts.len() as u32,
        ..frame(us, 1, Direction::Rx, &rts)
    };
    recorder.frame(&FrameEvent { original_len: rts.len() as u32, ..frame(1_500, 0, Direction::Tx, &rts) });
    recorder.frame(&lost(1_852, "lost: a collision"));
    recorder.frame(&lost(9_000, "lost: another"));
    recorder.finish(&mut summary(), wayhop_trace::RunStatus::Complete).expect("room on the disk");
    let server = Server::of(folder.path());
    let answer = server.get("/api/frames?run=a&packet=40").json();
    let told =
        |f: &serde_json::Value| (f["node"].clone(), f["radio"]["bad_fcs"].clone(), f["comment"].clone());
    let frames: Vec<_> = answer["frames"].as_array().unwrap().iter().map(told).collect();
    let expected = [
        (0.into(), false.into(), serde_json::Value::Null),
        (1.into(), true.into(), "lost: a collision".into()),
    ];
    assert_eq!(frames, expected, "{answer}");
    let path = folder.path().join("file.pcapng");
    fs::write(&path, &server.get("/api/frames.pcapng?run=a&packet=40").body).expect("room");
    let fields = ["-T", "fields", "-e", "radiotap.flags.badfcs", "-e", "frame.comment"];
    let out =
        Command::new("tshark").arg("-r").arg(&path).args(fields).output().expect("tshark; .ci/install test");
    let lines = String::from_utf8_lossy(&out.stdout);
    assert!(lines.lines().nth(1).is_some_and(|l| l.ends_with("lost: a collision")), "{lines}");
}

#[test]
fn without_captures_an_error_says_how_to_have_them() {
    let (folder, server) = served(None);
    for address in ["/api/frames", "/api/frames.pcapng"] {
        let answer = server.get(&format!("{address}?run=a&packet=40"));
        assert_eq!(answer.status, 404);
        assert!(answer.error().contains("--captures"), "{}", answer.error());
    }
    // A pipe of that name is none either, and nobody waits for it.
    let captures = folder.path().join("a/captures");
    fs::create_dir(&captures).expect("a directory");
    assert!(Command::new("mkfifo").arg(captures.join("n0.pcapng")).status().expect("mkfifo").success());
    assert_eq!(server.get("/api/frames?run=a&packet=40").status, 404);
}

#[test]
fn a_damaged_capture_is_a_problem_and_the_rest_is_told() {
    let (folder, server) = served(Some(64));
    let path = folder.path().join("a/captures/n0.pcapng");
    fs::write(&path, b"\x0a\x0d\x0d\x0anonsense").expect("room");
    let answer = server.get("/api/frames?run=a&packet=40").json();
    assert!(answer["problems"][0].as_str().unwrap().contains("n0.pcapng"), "{answer}");
    assert_eq!(answer["frames"].as_array().unwrap().len(), 1);
    // Cut off in the middle: what is before is there.
    let whole = folder.path().join("a/captures/n1.pcapng");
    let length = fs::metadata(&whole).unwrap().len();
    fs::File::options().append(true).open(&whole).unwrap().write_all(&[6, 0, 0, 0, 99]).unwrap();
    assert!(fs::metadata(&whole).unwrap().len() > length);
    let answer = server.get("/api/frames?run=a&packet=40").json();
    assert_eq!(answer["frames"].as_array().unwrap().len(), 1, "{answer}");
}
