//! `wayhop merge` of runs on the real clock: nodes of a lab, each with its own record, and a split emulation.
//!
//! Needs root, network namespaces, ip and nft (`.ci/install test`). Without root the tests are skipped with a message; in CI they
//! fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use wayhop_core::Decision;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{HopEvent, HopKind, IdentityEvent, RunDir, SendEvent, Tables, outcome_rows};

use crate::mesh::{WAYHOP, skip_without_root};

/// Flows over three hops, in both directions.
const CHAIN: &str = include_str!("../data/chain-both-ways.toml");

fn wayhop(dir: &Path, arguments: &[&str]) -> String {
    let done = Command::new(WAYHOP).args(arguments).current_dir(dir).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A folder that the nodes' user may enter.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("chain.toml"), CHAIN).unwrap();
    folder
}

/// What became of the packets of each flow, by source and destination: how many arrived, and how many did not.
fn fates(run: &Path) -> BTreeMap<(u32, u32), [u64; 2]> {
    let run = RunDir::open(run, CLASSIFIER).unwrap();
    let flows = run.summary().unwrap().flows;
    let ends: Vec<(u32, u32)> = flows.iter().map(|f| (f.src, f.dst)).collect();
    let mut all: BTreeMap<(u32, u32), [u64; 2]> = BTreeMap::new();
    for f in &flows {
        // A lab does not know what became of the others.
        if f.dropped.is_none() {
            *all.entry((f.src, f.dst)).or_default() =
                [f.received.unwrap(), f.sent.unwrap() - f.received.unwrap()];
        }
    }
    outcome_rows(&run, |row| {
        let is_lost = usize::from(row.outcome != "delivered");
        all.entry(ends[row.packet.0 as usize]).or_default()[is_lost] += 1;
    })
    .unwrap();
    all
}

/// When each packet of a flow between two nodes did something at a node, by number.
fn times(run: &Path, of: (u32, u32), kind: HopKind, at: u32) -> BTreeMap<u32, i64> {
    let run = RunDir::open(run, CLASSIFIER).unwrap();
    let flows = run.summary().unwrap().flows;
    let flow = flows.iter().position(|f| (f.src, f.dst) == of).unwrap() as u32;
    let mut all = BTreeMap::new();
    Tables::of(&run, "dsr")
        .packets(&mut |h| {
            if let Some(tag) = h.flow.filter(|t| t.flow == flow && h.kind == kind && h.node.0 == at) {
                all.entry(tag.seq).or_insert(h.time.as_nanos().cast_signed());
            }
            Ok(())
        })
        .unwrap();
    all
}

/// By sender and receiver, the shortest time that a frame took, by the clock of each. Frames that were sent once only.
fn shortest(nodes: &[String]) -> BTreeMap<(usize, usize), i64> {
    let mut frames: BTreeMap<u64, [Vec<(usize, i64)>; 2]> = BTreeMap::new();
    for (node, run) in nodes.iter().enumerate() {
        let run = RunDir::open(run, CLASSIFIER).unwrap();
        let mut take = |e: IdentityEvent| {
            let seen = (node, e.time.as_nanos().cast_signed());
            let [sent, received] = frames.entry(e.identity.frame).or_default();
            match e.kind {
                HopKind::Send | HopKind::Forward => sent.push(seen),
                HopKind::Receive => received.push(seen),
                _ => {}
            }
            Ok(())
        };
        Tables::of(&run, "dsr").identities(&mut take).unwrap();
    }
    let mut all = BTreeMap::new();
    for [sent, received] in frames.values() {
        let [(from, sent_at)] = sent[..] else { continue };
        for (to, at) in received {
            let least = all.entry((from, *to)).or_insert(i64::MAX);
            *least = (at - sent_at).min(*least);
        }
    }
    all
}

#[test]
fn the_records_of_a_labs_daemons_merge_into_what_the_lab_recorded() {
    skip_without_root!();
    let folder = folder();
    let dir = folder.path();
    wayhop(dir, &["lab", "chain.toml", "--protocol", "dsr", "--node-runs", "--quiet", "--out", "lab"]);
    let nodes: Vec<String> = (0..4).map(|i| format!("lab/nodes/{i}")).collect();
    let paths: Vec<String> = nodes.iter().map(|n| dir.join(n).display().to_string()).collect();
    let shortest = shortest(&paths);
    for ((from, to), there) in &shortest {
        // There and back, how far the clocks are apart does not count.
        let back = shortest.get(&(*to, *from)).expect("flows in both directions");
        assert!(there + back > 0, "{from} and {to}: a frame was received before it was sent: {shortest:?}");
    }
    let mut merge = vec!["merge", "--out", "merged", "--json"];
    merge.extend(nodes.iter().map(String::as_str));
    let report: serde_json::Value = serde_json::from_str(&wayhop(dir, &merge)).unwrap();
    let (lab, merged) = (fates(&dir.join("lab")), fates(&dir.join("merged")));
    // A packet that left a program while the machine had other things to do counts in both, or in none.
    assert_eq!(lab, merged, "{report:#}");
    assert_eq!(report["strange_receptions"], 0, "{report:#}");
    let names: Vec<_> = report["nodes"].as_array().unwrap().iter().map(|n| n["name"].as_str()).collect();
    assert_eq!(names, ["0", "1", "2", "3"].map(Some), "the nodes are called as in the scenario");
    // Without the record of a node between, ends are known again by what a packet carries.
    let without = ["merge", "lab/nodes/0", "lab/nodes/2", "lab/nodes/3", "--out", "without"];
    wayhop(dir, &without);
    // (Nodes are renumbered.)
    let without = fates(&dir.join("without"));
    assert!(without.values().eq(lab.values()), "{without:?} {lab:?}");
    // All daemons read the same clock of this machine, which does not drift against itself. The record is short and the machine may be
    // busy for part of it, which looks like drift.
    for node in report["nodes"].as_array().unwrap() {
        let clock = &node["clock"];
        let drift = clock["drift_ppm"].as_f64().unwrap();
        assert!(drift.abs() < 150.0, "{report:#}");
        assert!(clock["bound_us"].is_f64(), "frames pass in both directions: {report:#}");
    }
    // One clock for all: latencies by the merged clocks are those that the lab measured, within the clocks' errors and what hosts
    // take from the socket to the daemon.
    let median = |run: &str| {
        let run = dir.join(run);
        let sent = times(&run, (0, 3), HopKind::Originate, 0);
        let mut taken: Vec<i64> = times(&run, (0, 3), HopKind::Deliver, 3)
            .iter()
            .filter_map(|(seq, at)| Some(at - sent.get(seq)?))
            .collect();
        taken.sort_unstable();
        taken[taken.len() / 2]
    };
    let (by_lab, by_merged) = (median("lab"), median("merged"));
    assert!(by_merged > 0 && by_merged < by_lab + 1_000_000, "{by_merged} ns, and {by_lab} in the lab");
}

/// The destination hears nothing any more, and DSR puts unacknowledged packets back into the Send
/// Buffer, where packets wait for 30 s.
#[test]
fn what_a_node_sent_in_vain_and_still_has_is_held() {
    skip_without_root!();
    let folder = folder();
    let dir = folder.path();
    fs::write(dir.join("deaf"), "at 4 node 1 ignores 02:00:0a:00:00:01\n").unwrap();
    let pair = ["--set", "nodes.count=2", "--set", "duration_s=11", "--set"];
    let traffic = "traffic=[{ kind = \"poisson\", src = 0, dst = 1, rate_pps = 10, payload_bytes = 100, start_s = 1, stop_s = 8 }]";
    let mut lab =
        vec!["lab", "chain.toml", "--protocol", "dsr", "--node-runs", "--macfilter", "deaf", "--quiet"];
    lab.extend(pair.iter().chain(&[traffic, "--out", "lab"]));
    wayhop(dir, &lab);
    wayhop(dir, &["merge", "lab/nodes/0", "lab/nodes/1", "--out", "merged"]);
    let run = RunDir::open(dir.join("merged"), CLASSIFIER).unwrap();
    let tables = Tables::of(&run, "dsr");
    let (mut waits, mut lost, mut delivered) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut wait = |s: SendEvent| {
        if s.state.decision == Decision::Waits {
            waits.insert(s.state.packet);
        }
        Ok(())
    };
    tables.sends(&mut wait).unwrap();
    let mut hop = |h: HopEvent| {
        if h.flow.is_some() && h.kind == HopKind::Drop {
            lost.insert(h.packet);
        }
        if h.flow.is_some() && h.kind == HopKind::Deliver {
            delivered.insert(h.packet);
        }
        Ok(())
    };
    tables.packets(&mut hop).unwrap();
    // What went before the link was known to be lost, and asked for no acknowledgement, is lost.
    assert!(lost.is_disjoint(&waits), "{lost:?} {waits:?}");
    let held = waits.difference(&delivered).count();
    assert!(held > 10, "{held} of {} wait", waits.len());
    let summary = run.summary().unwrap();
    assert_eq!(summary.flows[0].sent, Some((delivered.len() + lost.len() + held) as u64), "{summary:?}");
}

/// A packet that the kernels forward is in no record, except where it waited for a route: whether it arrived is not known.
#[test]
fn where_kernels_forward_no_packet_is_said_to_be_lost() {
    skip_without_root!();
    let folder = folder();
    let dir = folder.path();
    let lab = ["lab", "chain.toml", "--protocol", "aodv", "--node-runs", "--set", "duration_s=6", "--quiet"];
    wayhop(dir, &[&lab[..], &["--out", "lab"]].concat());
    let nodes = ["lab/nodes/0", "lab/nodes/1", "lab/nodes/2", "lab/nodes/3"];
    let said = wayhop(dir, &[&["merge", "--out", "merged"], &nodes[..]].concat());
    assert!(said.contains("forwarding by the hosts' kernels"), "{said}");
    let summary = RunDir::open(dir.join("merged"), CLASSIFIER).unwrap().summary().unwrap();
    assert!(summary.kernel_forwards && summary.flows.is_empty(), "{summary:?}");
    assert_eq!((summary.totals.delivery_ratio, summary.totals.sent), (None, 0), "{summary:?}");
    assert!(summary.totals.by_type.values().sum::<u64>() > 0, "{summary:?}");
}

#[test]
fn an_emulation_whose_nodes_have_drifting_clocks_is_put_together_within_100_us() {
    skip_without_root!();
    let folder = folder();
    let dir = folder.path();
    wayhop(dir, &["emulate", "chain.toml", "--protocol", "dsr", "--identities", "--quiet", "--out", "whole"]);
    let clocks = ["--clock", "1=0.75,45", "--clock", "2=0.2,-60", "--clock", "3=0.9,8"];
    let export = [&["export", "nodes", "whole", "--out", "nodes"], &clocks[..]].concat();
    let paths = wayhop(dir, &export);
    let merge: Vec<&str> = ["merge", "--out", "merged"].into_iter().chain(paths.lines()).collect();
    let said = wayhop(dir, &merge);
    assert_eq!(fates(&dir.join("whole")), fates(&dir.join("merged")), "{said}");
    for (flow, kind, node) in
        [((0, 3), HopKind::Deliver, 3), ((3, 0), HopKind::Originate, 3), ((0, 3), HopKind::Forward, 1)]
    {
        let truth = times(&dir.join("whole"), flow, kind, node);
        let merged = times(&dir.join("merged"), flow, kind, node);
        assert_eq!(truth.len(), merged.len(), "{said}");
        let worst = truth.iter().map(|(seq, at)| (at - merged[seq]).abs()).max().unwrap();
        assert!(worst < 100_000, "{flow:?} at {node}: {worst} ns\n{said}");
    }
}
