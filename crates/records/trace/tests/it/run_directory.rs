//! What a run leaves on disk, however it ends.

use std::fs;
use std::net::Ipv4Addr;

use crate::common::{hop, manifest, nodes, rows};
use parquet::record::RowAccessor as _;
use tempfile::TempDir;
use wayhop_core::{
    AccuracyFrom, Decision, DropReason, Fix, FixQuality, FixStatus, IfaceId, NodeId, PacketId, Position,
    SendState, Span, TcpConnection, TcpEnds, Time, TraceNote,
};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    ConnectionEvent, Counter, FlowSummary, GpsEvent, GpsSource, HopEvent, HopKind, Manifest, NoteEvent,
    Outputs, PacketClass, PositionEvent, Recorder, RunDir, RunStatus, SendEvent, SizeEvent, Summary, Tables,
    TcpEvent, TraceHash, export_csv,
};

fn start(dir: &TempDir, outputs: &Outputs) -> (RunDir, Recorder) {
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let recorder = Recorder::start(run.clone(), outputs, nodes(3)).expect("a recorder");
    (run, recorder)
}

fn summary() -> Summary {
    Summary {
        scenario: "three".to_owned(),
        seed: 7,
        flows: vec![FlowSummary { kind: "cbr".to_owned(), dst: 2, sent: Some(10), ..FlowSummary::default() }],
        ..Summary::default()
    }
}

#[test]
fn every_hop_event_is_a_row_with_all_its_fields() {
    let dir = TempDir::new().expect("a directory");
    let (_, mut r) = start(&dir, &Outputs::default());
    // More than two row groups, and not a multiple of the batch.
    let n = 300_001;
    for i in 0..n {
        r.hop(&hop(i));
    }
    r.hop(&HopEvent {
        kind: HopKind::Drop,
        reason: Some(DropReason::NoOtherRoute),
        flow: None,
        class: PacketClass::Control(wayhop_protocols::class("dsr", "rreq").unwrap()),
        messages: wayhop_protocols::messages("dsr", &["rreq", "rerr"]).unwrap(),
        ..hop(n)
    });
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");

    let rows = rows(dir.path(), "packets");
    assert_eq!(rows.len() as u64, n + 1);
    for i in [0, 1, 2, 5, 131_071, 131_072, 300_000] {
        let (row, e) = (&rows[i as usize], hop(i));
        assert_eq!(row.get_long(0).expect("time_ns"), i.cast_signed() * 1_000);
        assert_eq!(row.get_int(1).expect("node"), (i % 3) as i32);
        assert_eq!(row.get_string(2).expect("event"), e.kind.name());
        assert_eq!(row.get_long(3).expect("packet"), i.cast_signed() / 4);
        assert_eq!(row.get_int(4).ok(), e.flow.map(|f| f.flow as i32), "flow of {i}");
        assert_eq!(row.get_long(5).ok(), e.flow.map(|f| i64::from(f.seq)), "seq of {i}");
        assert_eq!(row.get_string(6).expect("class"), "cbr");
        assert!(row.get_string(7).is_err(), "data has no protocol");
        assert!(row.get_string(8).is_err(), "nor messages");
        assert_eq!(row.get_int(9).expect("bytes"), 92);
        assert_eq!(row.get_string(10).expect("source"), "10.0.0.1");
        assert_eq!(row.get_string(11).expect("destination"), "10.0.0.3");
        assert_eq!(row.get_string(12).ok().map(String::as_str), (i % 2 == 0).then_some("10.0.0.2"));
        assert_eq!(row.get_int(13).expect("ttl"), 63);
        assert_eq!(row.get_float(14).ok(), (i % 2 == 0).then_some(-61.5));
        assert!(row.get_string(15).is_err(), "no reason");
        assert_eq!(row.get_int(16).ok(), (i % 2 == 0).then_some(0), "interface of {i}");
    }
    let last = &rows[n as usize];
    let text = |c| last.get_string(c).expect("text").clone();
    assert_eq!([text(2), text(6), text(7)], ["drop", "rreq", "dsr"]);
    assert_eq!([text(8), text(15)], ["rreq+rerr", "NO_SALVAGE"]);
}

/// A row for each of the other tables; two for `sends`.
fn record_others(r: &mut Recorder) {
    r.position(&PositionEvent {
        time: Time::from_nanos(5),
        until: Time::NEVER,
        node: NodeId(1),
        at: Position::new(1.5, -2.25, 0.0),
        velocity: Position::new(0.5, 0.0, 0.0),
    });
    r.note(&NoteEvent {
        time: Time::from_nanos(6),
        node: NodeId(2),
        note: TraceNote { what: "route_learned", about: Ipv4Addr::new(10, 0, 0, 9).into(), value: 3 },
    });
    let state = SendState {
        packet: PacketId(4),
        next_hop: Ipv4Addr::new(10, 0, 0, 2).into(),
        decision: Decision::Retransmitted,
        attempt: 2,
        hops: 3,
        queued: 7,
        timer: Span::from_millis(190),
        rtt: Span::from_micros(30_500),
        rtt_deviation: Span::from_micros(5_000),
    };
    let waits =
        SendState { next_hop: Ipv4Addr::UNSPECIFIED.into(), decision: Decision::Waits, attempt: 0, ..state };
    let waits = SendState { hops: 0, timer: Span::ZERO, rtt: Span::ZERO, rtt_deviation: Span::ZERO, ..waits };
    r.tcp(&TcpEvent {
        time: Time::from_nanos(8),
        flow: 0,
        node: NodeId(0),
        event: "resend",
        octet: 2_920,
        bytes: 1_460,
        acked: 1_460,
        in_flight: 4_380,
        window: 2.5,
        threshold: 8.0,
        srtt: None,
        rto: Span::from_millis(1_500),
    });
    for state in [state, waits] {
        r.sent(&SendEvent { time: Time::from_nanos(7), node: NodeId(0), state });
    }
    r.counter(&Counter {
        iface: Some(wayhop_core::IfaceId(2)),
        node: NodeId(0),
        layer: "mac",
        name: "retries",
        value: 12,
    });
}

#[test]
fn the_other_tables_hold_what_was_recorded() {
    let dir = TempDir::new().expect("a directory");
    let (run, mut r) = start(&dir, &Outputs::default());
    record_others(&mut r);
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");

    let csv = |table| {
        let mut out = Vec::new();
        export_csv(&run, table, &mut out).expect("the table is there");
        String::from_utf8(out).expect("text")
    };
    assert_eq!(
        csv("positions"),
        "time_ns,node,x_m,y_m,z_m,vx_mps,vy_mps,vz_mps,until_ns,node_name\n5,1,1.5,-2.25,0,0.5,0,0,,n1\n"
    );
    assert_eq!(csv("events"), "time_ns,node,what,about,value,node_name\n6,2,route_learned,10.0.0.9,3,n2\n");
    assert_eq!(
        csv("sends"),
        "time_ns,node,packet,next_hop,decision,attempt,hops,queued,timer_us,rtt_us,rtt_deviation_us,node_name\n\
         7,0,4,10.0.0.2,retransmitted,2,3,7,190000,30500,5000,n0\n7,0,4,,waits,0,0,7,,,,n0\n"
    );
    assert_eq!(
        csv("tcp"),
        "time_ns,flow,node,event,octet,bytes,acked,in_flight,cwnd,ssthresh,srtt_us,rto_us,node_name\n\
         8,0,0,resend,2920,1460,1460,4380,2.5,8,,1500000,n0\n"
    );
    assert_eq!(csv("counters"), "node,layer,name,value,interface,node_name\n0,mac,retries,12,2,n0\n");
    assert_eq!(
        csv("nodes"),
        "node,name,address,interfaces,address6\n0,n0,10.0.0.1,radio,\n1,n1,10.0.0.2,radio,\n2,n2,10.0.0.3,radio,\n"
    );
    let flows = csv("flows");
    assert!(flows.ends_with("\n0,cbr,0,2,10,,,,,,,,,,,,,,,,,n0,n2\n"), "{flows}");
    assert!(csv("packets").starts_with("time_ns,node,event,"));
    assert_eq!(run.summary().expect("a summary"), summary());
    let names = fs::read_dir(dir.path()).expect("the directory").count();
    assert_eq!(names, 12, "nine tables, an index, manifest and summary; nothing left over");
}

#[test]
fn a_csv_cell_with_a_comma_or_a_quote_is_quoted() {
    let dir = TempDir::new().expect("a directory");
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let mut who = nodes(1);
    who[0].name = "a, \"b\"".to_owned();
    let r = Recorder::start(run.clone(), &Outputs::default(), who).expect("a recorder");
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
    let mut out = Vec::new();
    export_csv(&run, "nodes", &mut out).expect("the table is there");
    assert_eq!(
        String::from_utf8(out).expect("text"),
        "node,name,address,interfaces,address6\n0,\"a, \"\"b\"\"\",10.0.0.1,radio,\n"
    );
}

#[test]
fn the_hash_does_not_depend_on_what_is_recorded() {
    let dir = TempDir::new().expect("a directory");
    let all = Outputs {
        tables: true,
        captures: Some(Outputs::DEFAULT_SNAPLEN),
        ns2_trace: Some(dir.path().join("trace.tr")),
        ..Outputs::default()
    };
    let (_, mut writing) = start(&dir, &all);
    let mut hashing = Recorder::hash_only();
    let mut plain = TraceHash::new();
    for i in 0..20_000 {
        writing.hop(&hop(i));
        hashing.hop(&hop(i));
        plain.add(&hop(i));
    }
    assert_eq!(writing.hash(), plain);
    assert_eq!(hashing.hash(), plain);
    // From a second implementation of the hash, in Python: any machine and any build must get this.
    assert_eq!(plain.hex(), "736117f8625dce754f4d7bae7b183331");
}

/// All records of a table.
fn all_of<T>(
    read: impl FnOnce(&mut dyn FnMut(T) -> Result<(), String>) -> Result<(), wayhop_trace::Error>,
) -> Vec<T> {
    let mut all = Vec::new();
    let mut keep = |e| {
        all.push(e);
        Ok(())
    };
    read(&mut keep).expect("the table");
    all
}

#[test]
fn connections_and_tcp_senders_are_read_as_they_were_written() {
    let dir = TempDir::new().expect("a directory");
    let (run, mut r) = start(&dir, &Outputs { connections: true, ..Outputs::default() });
    let ends = TcpEnds {
        local: std::net::Ipv4Addr::new(10, 0, 0, 1).into(),
        local_port: 65_535,
        remote: "fd00:77::3".parse().expect("an address"),
        remote_port: 22,
    };
    let connection = TcpConnection {
        ends,
        state: "established",
        sent: 5_000_000_000,
        sent_again: 1_448,
        acked: 4_999_990_000,
        received: 7,
        retransmissions: 1,
        in_flight: 6,
        window: 10,
        threshold: Some(7),
        segment: 1_448,
        srtt: Some(Span::from_micros(12_345)),
        deviation: Some(Span::from_micros(77)),
        rto: Span::from_millis(204),
    };
    let unmeasured =
        TcpConnection { state: "syn_sent", threshold: None, srtt: None, deviation: None, ..connection };
    let written = [unmeasured, connection].map(|connection| ConnectionEvent {
        time: Time::from_nanos(12),
        node: NodeId(2),
        connection,
    });
    let event = TcpEvent {
        time: Time::from_nanos(9),
        flow: 3,
        node: NodeId(1),
        event: "resend",
        octet: 1_000,
        bytes: 500,
        acked: 900,
        in_flight: 600,
        window: 2.5,
        threshold: 8.0,
        srtt: Some(Span::from_micros(5)),
        rto: Span::from_millis(200),
    };
    for e in &written {
        r.connection(e);
    }
    r.tcp(&event);
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
    let tables = Tables::of(&run, "dsr");
    assert_eq!(all_of(|take| tables.connections(take)), written);
    assert_eq!(all_of(|take| tables.tcp(take)), [event]);

    let dir = TempDir::new().expect("a directory");
    let (run, r) = start(&dir, &Outputs::default());
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
    assert!(all_of(|take| Tables::of(&run, "dsr").connections(take)).is_empty());
    let e = export_csv(&run, "connections", &mut Vec::new()).expect_err("no table").to_string();
    assert!(e.contains("only emulations, labs and nodes"), "{e}");
}

#[test]
fn sizes_and_fixes_are_read_as_they_were_written() {
    let dir = TempDir::new().expect("a directory");
    let (run, mut r) = start(&dir, &Outputs { sizes: true, gps: true, ..Outputs::default() });
    let at = |s: u64| Time::from_nanos(s * 1_000_000_000);
    let sizes = [("queue", IfaceId(1), 7), ("route_cache", IfaceId::ANY, 64)]
        .map(|(what, iface, count)| SizeEvent { time: at(1), node: NodeId(2), what, iface, count });
    let about = std::net::Ipv4Addr::new(10, 0, 0, 1).into();
    let fix =
        Some(Fix { latitude_deg: 40.44, longitude_deg: -79.9425, heading_deg: 90.0, speed_m_per_s: 2.5 });
    let quality = Some(FixQuality {
        mode: 3,
        status: FixStatus::RtkFixed,
        time_unix_ns: Some(1_795_348_800_000_000_000),
        altitude_m: Some(300.5),
        accuracy_m: Some(0.013),
        vertical_m: Some(0.02),
        accuracy_from: Some(AccuracyFrom::Gst),
        satellites: Some(14),
        corrections_age_s: Some(1.5),
    });
    let lost = Some(FixQuality { status: FixStatus::None, mode: 1, ..FixQuality::default() });
    let fixes = [
        (GpsSource::Receiver, fix, quality),
        (GpsSource::Receiver, None, lost),
        (GpsSource::Heard, fix, None),
    ]
    .map(|(source, fix, quality)| GpsEvent { time: at(2), node: NodeId(0), about, source, fix, quality });
    for e in &sizes {
        r.size(e);
    }
    for e in &fixes {
        r.gps(e);
    }
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
    let tables = Tables::of(&run, "dsr");
    assert_eq!(all_of(|take| tables.sizes(take)), sizes);
    assert_eq!(all_of(|take| tables.gps(take)), fixes);

    // A run without these tables has no rows of them.
    let dir = TempDir::new().expect("a directory");
    let (run, r) = start(&dir, &Outputs::default());
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
    let tables = Tables::of(&run, "dsr");
    assert!(all_of(|take| tables.sizes(take)).is_empty() && all_of(|take| tables.gps(take)).is_empty());
    let e = export_csv(&run, "sizes", &mut Vec::new()).expect_err("no table").to_string();
    assert!(e.contains("sizes of queues and caches"), "{e}");
}

#[test]
fn the_manifest_says_how_the_run_ended() {
    let dir = TempDir::new().expect("a directory");
    let (run, r) = start(&dir, &Outputs::default());
    assert_eq!(run.manifest().expect("a manifest").status, RunStatus::Running);
    let e = run.summary().expect_err("no summary yet").to_string();
    assert!(e.contains("has recorded nothing yet"), "{e}");
    r.finish(&mut summary(), RunStatus::Interrupted).expect("room on the disk");
    let m = run.manifest().expect("a manifest");
    assert_eq!(m, Manifest { status: RunStatus::Interrupted, ..manifest() });
    assert_eq!(m.started, "2026-11-21T20:25:45Z");

    // A run that panics drops its recorder.
    let (run, mut r) = start(&dir, &Outputs::default());
    r.hop(&hop(0));
    drop(r);
    assert_eq!(run.manifest().expect("a manifest").status, RunStatus::Failed);
    assert_eq!(rows(dir.path(), "packets").len(), 1, "what was recorded is readable");
}

#[test]
fn a_killed_run_is_explained() {
    let dir = TempDir::new().expect("a directory");
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    // What SIGKILL leaves: the beginning of a table.
    fs::write(dir.path().join("packets.parquet"), b"PAR1\x15\x04").expect("a file");
    let e = export_csv(&run, "packets", &mut Vec::new()).expect_err("no footer").to_string();
    assert!(e.contains("packets.parquet") && e.contains("has recorded nothing yet"), "{e}");
    drop(run);
    let run = RunDir::open(dir.path(), CLASSIFIER).expect("a run");
    let e = export_csv(&run, "packets", &mut Vec::new()).expect_err("no footer").to_string();
    assert!(e.contains("packets.parquet") && e.contains("killed"), "{e}");
    let e = export_csv(&run, "flows", &mut Vec::new()).expect_err("no file").to_string();
    assert!(e.contains("flows.parquet") && e.contains("wayhop recover"), "{e}");
    let e = export_csv(&run, "events", &mut Vec::new()).expect_err("no file").to_string();
    assert!(e.contains("events.parquet") && e.contains("others of this run exist"), "{e}");
    fs::remove_file(dir.path().join("packets.parquet")).expect("a file");
    let e = export_csv(&run, "events", &mut Vec::new()).expect_err("no file").to_string();
    assert!(e.contains("recorded no tables"), "{e}");
    let e = export_csv(&run, "nonsense", &mut Vec::new()).expect_err("no such table").to_string();
    assert!(e.contains("packets, positions, flows"), "{e}");
}

#[test]
fn an_older_run_is_replaced_and_other_peoples_files_are_not() {
    let dir = TempDir::new().expect("a directory");
    let ns2_trace = Some(dir.path().join("trace.tr"));
    let (_, r) = start(&dir, &Outputs { captures: Some(200), ns2_trace, ..Outputs::default() });
    assert!(dir.path().join("trace.tr").exists());
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
    assert!(dir.path().join("captures/n0.pcapng").exists());
    fs::write(dir.path().join("notes.txt"), "mine").expect("a file");

    let (run, r) = start(&dir, &Outputs { tables: false, ..Outputs::default() });
    r.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
    assert!(!dir.path().join("captures").exists());
    assert!(!dir.path().join("packets.parquet").exists());
    assert!(!dir.path().join("trace.tr").exists());
    assert_eq!(fs::read_to_string(dir.path().join("notes.txt")).expect("still there"), "mine");
    assert!(run.summary().is_ok());
}

#[test]
fn a_directory_with_anything_else_in_it_is_refused_and_left_alone() {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("thesis.tex"), "years of work").expect("a file");
    for manifest_of_others in [None, Some("{\"name\": \"a web page\"}"), Some("not even JSON")] {
        if let Some(text) = manifest_of_others {
            fs::write(dir.path().join("manifest.json"), text).expect("a file");
        }
        let e = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect_err("not ours").to_string();
        assert!(e.contains("files that do not belong to a run") && e.contains("--out"), "{e}");
    }
    assert_eq!(fs::read_dir(dir.path()).expect("the directory").count(), 2);
    let file = dir.path().join("thesis.tex");
    let e = RunDir::create(&file, &manifest(), CLASSIFIER).expect_err("a file").to_string();
    assert!(e.contains("not a directory"), "{e}");
    assert!(RunDir::open(dir.path(), CLASSIFIER).is_err());
    let e = RunDir::open(dir.path().join("nowhere"), CLASSIFIER).expect_err("nothing there").to_string();
    assert!(e.contains("not a run directory"), "{e}");
}

#[cfg(target_os = "linux")]
mod full_disk {
    use super::*;
    use std::os::unix::fs::symlink;

    /// `/dev/full` refuses every write as a full disk does.
    fn run_with_full(file: &str, outputs: &dyn Fn(&TempDir) -> Outputs) -> (TempDir, String) {
        let dir = TempDir::new().expect("a directory");
        let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
        symlink("/dev/full", dir.path().join(file)).expect("a link");
        let mut r = Recorder::start(run.clone(), &outputs(&dir), nodes(3)).expect("a recorder");
        r.position(&PositionEvent {
            time: Time::ZERO,
            until: Time::NEVER,
            node: NodeId(0),
            at: Position::default(),
            velocity: Position::default(),
        });
        let mut i = 0;
        while !r.failed() && i < 2_000_000 {
            r.hop(&hop(i));
            i += 1;
        }
        assert!(i < 2_000_000, "the error is told early");
        // More than the channel holds: a failed writer must not block the run.
        for i in 0..200_000 {
            r.hop(&hop(i));
        }
        let e = r.finish(&mut summary(), RunStatus::Complete).expect_err("a full disk").to_string();
        let m = run.manifest().expect("a manifest");
        assert_eq!(m.status, RunStatus::Failed);
        assert_eq!(m.error.as_deref(), Some(e.as_str()));
        assert!(run.summary().is_ok(), "the summary is written all the same");
        (dir, e)
    }

    #[test]
    fn is_one_clear_error_and_the_other_tables_are_readable() {
        let (dir, e) = run_with_full("packets.parquet", &|_| Outputs::default());
        assert!(e.contains("packets.parquet") && e.contains("No space left") && e.contains("--out"), "{e}");
        assert_eq!(rows(dir.path(), "positions").len(), 1);
        assert_eq!(rows(dir.path(), "flows").len(), 1);
    }

    #[test]
    fn of_an_ns2_trace_does_not_harm_the_tables() {
        let (dir, e) = run_with_full("trace.tr", &|dir| Outputs {
            ns2_trace: Some(dir.path().join("trace.tr")),
            ..Outputs::default()
        });
        assert!(e.contains("trace.tr"), "{e}");
        assert!(rows(dir.path(), "packets").len() > 1_000);
    }
}

#[test]
fn what_an_older_summary_wrote_as_0_for_want_of_a_figure_is_none() {
    let dir = TempDir::new().expect("a directory");
    let (run, r) = start(&dir, &Outputs::default());
    r.finish(&mut summary(), RunStatus::Complete).expect("written");
    // As version d0720f7 wrote it: a flow that nothing arrived of, and a ping whose ways the total counted each for itself.
    let nothing = r#"{"mean": 0.0, "p50": 0.0, "p95": 0.0, "p99": 0.0, "max": 0.0}"#;
    let some = r#"{"mean": 4.0, "p50": 4.0, "p95": 4.0, "p99": 4.0, "max": 4.0}"#;
    let flow = |kind: &str, received: u32, latency: &str| {
        format!(
            r#"{{"id": 0, "kind": "{kind}", "src": 0, "dst": 2, "sent": 9, "received": {received}, "delivery_ratio": 0.0,
                "goodput_bps": 0.0, "latency_ms": {latency}, "hops_mean": 0.0}}"#
        )
    };
    let older = format!(
        r#"{{"wayhop": "0.1.0", "scenario": "s", "seed": 1, "world": "sim", "protocol": "dsr", "simulated_s": 1.0, "wall_s": 1.0,
            "events": 1, "trace_hash": "00", "flows": [{}, {}], "totals": {{"sent": 18, "received": 3, "delivery_ratio": 0.2,
            "goodput_bps": 1.0, "latency_ms": {some}, "hops_mean": 1.0, "routing_packets": 0, "routing_bytes": 0, "by_type": {{}},
            "drops": {{}}}}}}"#,
        flow("cbr", 0, nothing),
        flow("ping", 3, some)
    );
    std::fs::write(run.path().join("summary.json"), older).expect("written");
    let s = run.summary().expect("readable");
    assert_eq!(
        (s.flows[0].latency_ms, s.flows[0].hops_mean, s.flows[0].delivery_ratio),
        (None, None, Some(0.0))
    );
    assert_eq!(s.flows[1].latency_ms.map(|l| l.mean), Some(4.0));
    assert_eq!((s.totals.latency_ms, s.totals.round_trip_ms, s.totals.hops_mean), (None, None, Some(1.0)));
    assert_eq!((s.totals.held, s.totals.dropped, s.flows[0].held), (None, None, None), "not known then");
}
