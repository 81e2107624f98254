//! The tables of a killed run, against the run's own counts.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::Duration;

use wayhop_protocols::CLASSIFIER;
use wayhop_sim::Simulation;
use wayhop_trace::{LatencyMs, Manifest, NodeInfo, Outputs, Recorder, RunDir, RunStatus, Summary, recover};

use crate::scenario;

/// Eight nodes that lose each other now and then, and flows of each kind.
fn text(protocol: &str) -> String {
    format!(
        r#"
duration_s = 60
seed = 3
protocol.name = "{protocol}"
nodes.count = 8
area = {{ x_m = 1200, y_m = 400 }}
movement = {{ kind = "random-waypoint", speed_min_mps = 5, speed_max_mps = 20, pause_s = 0 }}
traffic = [
  {{ kind = "cbr", src = 0, dst = 7, rate_pps = 8, payload_bytes = 64, start_s = 1 }},
  {{ kind = "poisson", src = 6, dst = 2, rate_pps = 8, payload_bytes = 512, start_s = 2 }},
  {{ kind = "ping", src = 1, dst = 5, interval_s = 0.5, start_s = 1 }},
  {{ kind = "tcp", src = 3, dst = 4, start_s = 5 }},
]
"#
    )
}

/// Copies the files of a run as a kill leaves them, once its checkpoint has these octets of new rows.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    // Files only grow: the checkpoint must not be newer than the tables.
    let _ = fs::copy(from.join("tables.checkpoint"), to.join("tables.checkpoint"));
    for entry in fs::read_dir(from).expect("a directory").flatten() {
        if entry.file_name() != "tables.checkpoint" {
            // The part of a checkpoint may be renamed meanwhile.
            let _ = fs::copy(entry.path(), to.join(entry.file_name()));
        }
    }
}

/// The summary that a run wrote at its end, and the one of the same run killed right before that.
fn both(protocol: &str) -> (Summary, Summary) {
    let scenario = scenario(&text(protocol));
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("run");
    let dir =
        RunDir::create(&path, &Manifest::new("", 1, Vec::new(), 0), CLASSIFIER).expect("a run directory");
    let names = scenario.names.iter().zip(&scenario.addresses);
    let nodes = names.map(|(name, addr)| NodeInfo::with_radio(name.clone(), *addr)).collect();
    let outputs = Outputs { sizes: true, ..Outputs::default() };
    let recorder = Recorder::start(dir, &outputs, nodes).expect("a recorder");
    let mut simulation = Simulation::new(&scenario, recorder).expect("a scenario");
    simulation.introduce(&scenario, "sim");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    // Has everything be in the checkpoint; the writer takes its time.
    simulation.introduce(&scenario, "sim");
    let mut kept = 0;
    for i in 0.. {
        let to = folder.path().join(i.to_string());
        copy(&path, &to);
        let now = fs::metadata(to.join("tables.checkpoint")).map_or(0, |m| m.len());
        if now > 0 && now == kept && i > 20 {
            break;
        }
        kept = now;
        thread::sleep(Duration::from_millis(50));
    }
    copy(&path, &folder.path().join("killed"));
    let (mut summary, _, recorder) = simulation.finish(&scenario, 0.0);
    recorder.finish(&mut summary, RunStatus::Complete).expect("room on the disk");
    let killed = RunDir::open(folder.path().join("killed"), CLASSIFIER).expect("a run");
    let told = killed.summary().expect("what the tables tell");
    recover(killed.path(), CLASSIFIER).expect("it can be recovered").expect("it was killed");
    assert_eq!(killed.summary().expect("a summary"), told);
    (summary, told)
}

fn near(a: Option<LatencyMs>, b: Option<LatencyMs>) -> bool {
    match (a, b) {
        // The run's own quantiles are of a histogram, 1 % wide.
        (Some(a), Some(b)) => {
            (a.mean - b.mean).abs() < 1e-3 * b.mean && (a.p95 - b.p95).abs() <= 0.02 * b.p95 + 0.01
        }
        (a, b) => a.is_none() && b.is_none(),
    }
}

fn assert_told(protocol: &str) {
    let (ended, killed) = both(protocol);
    assert!(ended.totals.dropped.is_some_and(|n| n > 20), "losses are part of the test: {:?}", ended.totals);
    for (e, k) in ended.flows.iter().zip(&killed.flows) {
        let counts = |f: &wayhop_trace::FlowSummary| (f.kind.clone(), f.sent, f.received, f.dropped, f.held);
        assert_eq!(counts(e), counts(k));
        assert!(near(e.latency_ms, k.latency_ms), "{:?} {:?}", e.latency_ms, k.latency_ms);
        let hops = |h: Option<f64>| h.map(|h| (h * 1e6).round());
        assert_eq!(hops(e.hops_mean), hops(k.hops_mean));
        assert_eq!(k.goodput_bps, None);
    }
    let (e, k) = (&ended.totals, &killed.totals);
    assert_eq!((e.sent, e.received, e.dropped, e.held), (k.sent, k.received, k.dropped, k.held));
    assert_eq!((e.routing_packets, e.routing_bytes), (k.routing_packets, k.routing_bytes));
    assert_eq!((&e.by_type, &e.drops), (&k.by_type, &k.drops));
    assert!(near(e.latency_ms, k.latency_ms) && near(e.round_trip_ms, k.round_trip_ms));
    let end_s = killed.cut_off_s.expect("it was killed");
    assert!((59.0..=60.0).contains(&end_s) && killed.simulated_s.total_cmp(&end_s).is_eq(), "{end_s}");
}

#[test]
fn the_tables_of_a_killed_run_tell_what_the_run_would_have_told() {
    assert_told("dsr");
}

#[test]
fn so_do_those_of_another_protocol() {
    assert_told("aodv");
}
