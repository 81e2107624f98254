//! Interface queues that are not served for a while.

use std::ops::ControlFlow;

use wayhop_core::IfaceId;
use wayhop_protocols::CLASSIFIER;
use wayhop_sim::Simulation;
use wayhop_trace::{Manifest, NodeInfo, Outputs, Recorder, RunDir, RunStatus, SizeEvent, Tables};

use crate::{run, scenario};

fn ping(stall: &str) -> String {
    format!(
        r#"
duration_s = 20
nodes.count = 2
movement = {{ kind = "chain", spacing_m = 100 }}
[[traffic]]
kind = "cbr"
src = 0
dst = 1
rate_pps = 10
stop_s = 15
{stall}
"#
    )
}

#[test]
fn packets_wait_for_a_stalled_driver_and_leave_when_it_goes_on() {
    let (free, _) = run(&scenario(&ping("")));
    let (s, audit) = run(&scenario(&ping("[[stalls]]\nnode = 0\nstart_s = 2\nlength_s = 3\nevery_s = 13")));
    assert_eq!(audit.defect(), None);
    assert_eq!((s.totals.sent, s.totals.received), (150, 150));
    assert!(free.totals.latency_ms.expect("arrivals").max < 100.0, "{:?}", free.totals.latency_ms);
    // The first packet of the stall waits for all of it.
    assert!(
        (2_900.0..3_100.0).contains(&s.totals.latency_ms.expect("arrivals").max),
        "{:?}",
        s.totals.latency_ms
    );
}

/// A run with the table `sizes`, and its rows.
fn sizes(text: &str) -> (String, Vec<SizeEvent>) {
    let scenario = scenario(text);
    let folder = tempfile::tempdir().expect("a directory");
    let manifest = Manifest::new(text, 1, Vec::new(), 0);
    let dir = RunDir::create(folder.path().join("run"), &manifest, CLASSIFIER).expect("a run directory");
    let names = scenario.names.iter().zip(&scenario.addresses);
    let nodes = names.map(|(name, addr)| NodeInfo::with_radio(name.clone(), *addr)).collect();
    let outputs = Outputs { sizes: true, ..Outputs::default() };
    let recorder = Recorder::start(dir.clone(), &outputs, nodes).expect("a recorder");
    let mut simulation = Simulation::new(&scenario, recorder).expect("a scenario");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let (mut summary, _, recorder) = simulation.finish(&scenario, 0.0);
    let hash = recorder.hash().hex();
    recorder.finish(&mut summary, RunStatus::Complete).expect("room on the disk");
    let mut rows = Vec::new();
    Tables::of(&dir, "dsr")
        .sizes(&mut |e| {
            rows.push(e);
            Ok(())
        })
        .expect("the table");
    (hash, rows)
}

#[test]
fn the_table_of_sizes_has_the_queue_grow_while_the_driver_stands_still() {
    let text = ping("[[stalls]]\nnode = 0\nstart_s = 2\nlength_s = 3");
    let (hash, rows) = sizes(&text);
    let at = |what: &str, node: u32, s: f64| {
        let row = rows.iter().find(|e| e.what == what && e.node.0 == node && e.time.as_secs_f64() == s);
        row.map(|e| e.count)
    };
    // A look each second from 0 to 20, of both nodes.
    assert_eq!(rows.iter().filter(|e| e.what == "queue").count(), 2 * 21);
    assert!(
        rows.iter().all(|e| (e.what == "queue") == (e.iface == IfaceId(0))),
        "only queues have interfaces"
    );
    // Ten packets a second wait from 2 s to 5 s; the radio may hold one of them.
    for (s, wanted) in [(1.0, 0), (3.0, 10), (4.0, 20), (6.0, 0), (20.0, 0)] {
        let queued = at("queue", 0, s).expect("a row");
        assert!(
            queued.abs_diff(wanted) <= 2 && (wanted > 0 || queued == 0),
            "{queued} at {s} s, not {wanted}"
        );
        assert_eq!(at("queue", 1, s), Some(0), "nobody sends from there");
    }
    // The sender knows the way once it has looked for it, and not before.
    assert_eq!((at("route_cache", 0, 0.0), at("link_cache", 0, 0.0)), (None, None));
    assert!(at("route_cache", 0, 10.0).or(at("link_cache", 0, 10.0)).is_some_and(|n| n >= 1), "{rows:?}");
    let (unseen, _) = run(&scenario(&text));
    assert_eq!(unseen.trace_hash, hash, "looking changes nothing");
}
