//! The server's answers about a run match its records.

use tempfile::TempDir;
use wayhop_core::DropReason;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{Manifest, RunDir};

use crate::asking::Server;
use crate::recorded::{STEP, hop, run};

fn served(events: u64) -> (TempDir, Server) {
    let folder = TempDir::new().expect("a directory");
    run(&folder.path().join("a"), events);
    let server = Server::of(folder.path());
    (folder, server)
}

#[test]
fn a_run_is_listed_and_told() {
    let (_folder, server) = served(100);
    let runs = server.get("/api/runs").json();
    assert_eq!(runs["runs"][0]["name"], "a");
    assert_eq!(runs["runs"][0]["seed"], 7);
    assert_eq!(runs["runs"][0]["protocol"], "dsr", "the summary has it, where the scenario does not");
    let info = server.get("/api/run?run=a").json();
    assert_eq!(info["names"], serde_json::json!(["n0", "n1", "n2"]));
    assert_eq!(info["nodes"], 3);
    assert_eq!(info["end_ns"], 20_000_000_000_u64);
    assert_eq!(info["rows"], 100);
    // 250 m: that of ns-2's WaveLAN (tcl/lib/ns-default.tcl).
    assert_eq!(info["range_m"], 250.0);
    assert_eq!(info["problems"], serde_json::json!([]));
}

#[cfg(unix)]
#[test]
fn a_run_that_nobody_writes_any_more_was_killed() {
    let folder = TempDir::new().expect("a directory");
    let manifest = Manifest::new("", 7, vec!["wayhop".into()], 0);
    let run = RunDir::create(folder.path().join("a"), &manifest, CLASSIFIER).expect("a new directory");
    let server = Server::of(folder.path());
    let status = || server.get("/api/runs").json()["runs"][0]["status"].clone();
    assert_eq!(status(), "running");
    drop(run);
    assert_eq!(status(), "killed");
}

#[test]
fn a_stretch_of_packets_has_its_rows_and_no_others() {
    // In the second and third row group.
    let (_folder, server) = served(300_000);
    let (from, to) = (200_000, 262_500);
    let answer = server.get(&format!("/api/packets?run=a&from={}&to={}", from * STEP, to * STEP));
    let (head, _) = answer.frame();
    assert_eq!(head["until_ns"], to * STEP);
    let times = answer.column("time_ns");
    assert_eq!(times, (from..to).map(|i| (i * STEP) as f64).collect::<Vec<_>>());
    let nodes: Vec<f64> = (from..to).map(|i| f64::from(hop(i).node.0)).collect();
    assert_eq!(answer.column("node"), nodes);
    assert!(answer.column("peer").iter().all(|p| *p == 1.0), "10.0.0.2 is the node 1");
    assert!(answer.column("bytes").iter().all(|b| *b == 92.0));
    let reasons = head["reasons"].as_array().unwrap();
    for (i, reason) in (from..to).zip(answer.column("reason")) {
        let expected = hop(i).reason.map(DropReason::name);
        let told = (reason as usize).checked_sub(1).map(|r| reasons[r].as_str().unwrap());
        assert_eq!(told, expected, "row {i}");
    }
}

/// A long run opens and answers by reading what was asked for: here everything else in the table is overwritten, but for its footer, and
/// nobody notices.
#[cfg(unix)]
#[test]
fn a_stretch_is_answered_from_its_own_part_of_a_large_table() {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use std::os::unix::fs::FileExt as _;

    const EVENTS: u64 = 1_000_000;
    let folder = TempDir::new().expect("a directory");
    run(&folder.path().join("a"), EVENTS);
    let path = folder.path().join("a/packets.parquet");
    let (from, to) = (EVENTS / 2, EVENTS / 2 + 100);
    let table = SerializedFileReader::try_from(path.as_path()).expect("a table");
    let file = std::fs::File::options().write(true).open(&path).expect("the file");
    let (mut first, mut kept, mut spoilt) = (0, 0, 0);
    for group in table.metadata().row_groups() {
        let rows = first..first + group.num_rows() as u64;
        first = rows.end;
        let needed = rows.start < to && from < rows.end;
        for column in group.columns() {
            let (offset, length) = column.byte_range();
            if needed {
                kept += length;
            } else {
                spoilt += length;
                file.write_all_at(&vec![0xff; length as usize], offset).expect("overwritten");
            }
        }
    }
    assert!(spoilt > 5 * kept, "{kept} octets are there to be read, {spoilt} are not");
    let server = Server::of(folder.path());
    assert_eq!(server.get("/api/run?run=a").json()["problems"], serde_json::json!([]), "it opens");
    let answer = server.get(&format!("/api/packets?run=a&from={}&to={}", from * STEP, to * STEP));
    assert_eq!(answer.column("time_ns"), (from..to).map(|i| (i * STEP) as f64).collect::<Vec<_>>());
    let rows = format!("/api/rows?run=a&table=packets&from={}&to={}", from * STEP, (from + 2) * STEP);
    assert_eq!(server.get(&rows).json()["rows"][1]["time_ns"], (from + 1) * STEP);
    // What is damaged is said, where it is asked for.
    let there = server.get(&format!("/api/packets?run=a&from=0&to={STEP}"));
    assert!(there.status == 422 && there.error().contains("damaged"), "{}", there.status);
}

#[test]
fn an_answer_is_bounded_and_says_how_far_it_reaches() {
    let (_folder, server) = served(150_000);
    let (mut from, mut seen) = (0, Vec::new());
    let end = 150_000 * STEP;
    while from < end {
        let answer = server.get(&format!("/api/packets?run=a&from={from}&to={end}"));
        let times = answer.column("time_ns");
        assert!(times.len() <= 1 << 16, "{} rows", times.len());
        seen.extend(times);
        let until = answer.frame().0["until_ns"].as_u64().unwrap();
        assert!(until > from, "it goes on");
        from = until;
    }
    assert_eq!(seen, (0..150_000).map(|i| (i * STEP) as f64).collect::<Vec<_>>());
}

#[test]
fn positions_of_a_stretch_are_the_legs_that_hold_in_it() {
    let (_folder, server) = served(10);
    let starts = |from: u64, to: u64| {
        let s = 1_000_000_000;
        server.get(&format!("/api/positions?run=a&from={}&to={}", from * s, to * s)).column("x")
    };
    assert_eq!(starts(0, 5), [0.0, 1.0, 2.0]);
    assert_eq!(starts(12, 13), [50.0, 50.0, 50.0]);
    assert_eq!(starts(5, 15), [0.0, 50.0, 1.0, 50.0, 2.0, 50.0]);
}

#[test]
fn the_overview_counts_every_event_once() {
    let (_folder, server) = served(150_000);
    let counted = server.counted("/api/overview?run=a");
    let sum = |name: &str| counted.column(name).iter().sum::<f64>();
    assert_eq!((sum("forward"), sum("drop"), sum("deliver")), (112_500.0, 37_500.0, 0.0));
    let of_node = server.counted("/api/overview?run=a&node=1");
    assert_eq!(of_node.column("drop").iter().sum::<f64>(), 12_500.0);
}

#[test]
fn rows_of_a_node_are_its_own_and_the_last_one_is_the_last() {
    let (_folder, server) = served(1_000);
    let rows = server.get(&format!("/api/rows?run=a&table=packets&node=1&from=0&to={}", 30 * STEP)).json();
    let times: Vec<u64> =
        rows["rows"].as_array().unwrap().iter().map(|r| r["time_ns"].as_u64().unwrap()).collect();
    assert_eq!(times, (0..30).filter(|i| i % 3 == 1).map(|i| i * STEP).collect::<Vec<_>>());
    let last =
        server.get(&format!("/api/rows?run=a&table=packets&node=1&to={}&last=true", 500 * STEP)).json();
    assert_eq!(last["rows"].as_array().unwrap().len(), 1);
    assert_eq!(last["rows"][0]["time_ns"], 499 * STEP);
    let many = server.get("/api/rows?run=a&table=nodes").json();
    assert_eq!(many["rows"][2]["name"], "n2");
}
