//! `wayhop export nodes` and `wayhop merge`: a run is split as its nodes would have recorded it,
//! each with its own clock, and merged again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{HopEvent, HopKind, RunDir, SizeEvent, Tables, outcome_rows};

use crate::{folder, manifest, run_in, words};

/// Nodes that wander out of each other's reach, so that packets are lost for several reasons.
const WALK: &str = "\
name = \"walk\"
seed = 3
duration_s = 60
nodes.count = 8
area = { x_m = 1400, y_m = 400 }
movement = { kind = \"random-waypoint\", speed_min_mps = 5, speed_max_mps = 20, pause_s = 0 }
protocol.name = \"dsr\"
[[traffic]]
kind = \"cbr\"
src = 0
dst = 5
rate_pps = 8
payload_bytes = 200
start_s = 5
[[traffic]]
kind = \"cbr\"
src = 6
dst = 1
rate_pps = 8
payload_bytes = 64
start_s = 6
[[traffic]]
kind = \"cbr\"
src = 3
dst = 7
rate_pps = 4
payload_bytes = 512
start_s = 7
";

/// Flows over three hops, in both directions.
const CHAIN: &str = include_str!("../data/chain-both-ways.toml");

/// When each node's record begins, and by how much its clock is fast.
const CLOCKS: [(f64, f64); 8] = [
    (0.0, 0.0),
    (1.25, 40.0),
    (0.4, -25.0),
    (3.999_999, 61.5),
    (2.0, -80.0),
    (0.001, 12.0),
    (4.5, 0.7),
    (1.0, -3.0),
];

/// Makes the run, takes it apart and merges it.
fn merged(dir: &Path, protocol: &str) -> String {
    let protocol = format!("protocol.name={protocol}");
    let run = ["run", "walk.toml", "--set", &protocol, "--identities", "--quiet", "--out", "whole"];
    run_in(dir, &run).ok();
    let mut export: Vec<String> = ["export", "nodes", "whole", "--out", "nodes"].map(Into::into).into();
    for (node, (begins, drift)) in CLOCKS.iter().enumerate() {
        export.extend(["--clock".to_owned(), format!("{node}={begins},{drift}")]);
    }
    let export: Vec<&str> = export.iter().map(String::as_str).collect();
    let paths = run_in(dir, &export).ok();
    let mut merge = vec!["merge", "--out", "merged"];
    merge.extend(paths.lines());
    run_in(dir, &merge).ok()
}

/// How each packet of a run ended, by source, destination and number.
fn fates(run: &Path) -> BTreeMap<(u64, u64, u32), (String, Option<String>)> {
    let run = RunDir::open(run, CLASSIFIER).unwrap();
    let ends: Vec<(u64, u64)> =
        run.summary().unwrap().flows.iter().map(|f| (f.src.into(), f.dst.into())).collect();
    let mut all = BTreeMap::new();
    outcome_rows(&run, |row| {
        let (src, dst) = ends[row.packet.0 as usize];
        all.insert((src, dst, row.packet.1), (row.outcome.to_owned(), row.reason.map(str::to_owned)));
    })
    .unwrap();
    all
}

/// The rows of packets of flows that a network card can see, in order of time and node.
fn rows(run: &Path) -> Vec<HopEvent> {
    let run = RunDir::open(run, CLASSIFIER).unwrap();
    let mut all = Vec::new();
    Tables::of(&run, "dsr")
        .packets(&mut |hop| {
            if hop.flow.is_some() && !matches!(hop.kind, HopKind::Transmit | HopKind::Recall) {
                all.push(hop);
            }
            Ok(())
        })
        .unwrap();
    all
}

#[test]
fn a_run_taken_apart_and_merged_has_the_same_packets_with_the_same_fates_and_times() {
    let dir = folder(&[("walk.toml", WALK)]);
    for protocol in ["dsr", "aodv"] {
        let said = merged(dir.path(), protocol);
        let [whole, merged] = ["whole", "merged"].map(|d| dir.path().join(d));
        let (before, after) = (fates(&whole), fates(&merged));
        assert_eq!(before.len(), after.len(), "{protocol}: {said}");
        let lost = before.values().filter(|(outcome, _)| outcome == "dropped").count();
        assert!(lost > 20, "{protocol}: {lost} packets are lost");
        // What the card gave up is known to the node, and so are all other causes. What happens in the last second may be unfinished:
        // of that the merger does not know whether it went on.
        let last: Vec<_> = before.iter().filter(|(key, fate)| after[*key] != **fate).collect();
        assert!(last.iter().all(|(key, _)| after[*key].0 == "held"), "{protocol}: {last:?}");
        assert!(last.len() <= 20, "{protocol}: {} differ", last.len());

        // The reference's clock is the run's: every row has its own time again.
        let worst = largest_error_ns(&whole, &merged, &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(worst < 100_000, "{protocol}: a row is {worst} ns off\n{said}");
    }
}

/// By how much the time of a row of these nodes is off at most. All of their rows are there.
fn largest_error_ns(whole: &Path, merged: &Path, nodes: &[u32]) -> u64 {
    let synthetic = |h: &HopEvent| h.reason.is_some_and(|r| r.name() == "LOST_ON_AIR");
    let key = |h: &HopEvent, node: u32| (h.source, h.flow.map(|f| f.seq), node, h.kind as u8, h.ttl);
    let mut times: BTreeMap<_, Vec<u64>> = BTreeMap::new();
    let (mut wanted, mut found, mut worst) = (0, 0, 0);
    for hop in rows(whole).iter().filter(|h| nodes.contains(&h.node.0) && !synthetic(h)) {
        times.entry(key(hop, hop.node.0)).or_default().push(hop.time.as_nanos());
        wanted += 1;
    }
    for hop in rows(merged).iter().filter(|h| !synthetic(h)) {
        let near = times.get(&key(hop, nodes[hop.node.0 as usize])).expect("a row of the run");
        worst = worst.max(near.iter().map(|t| t.abs_diff(hop.time.as_nanos())).min().unwrap());
        found += 1;
    }
    assert_eq!(found, wanted);
    worst
}

/// Node 2 is down for a second at times, and node 1, which knows what it dropped then, is missing.
#[test]
fn what_a_missing_node_may_have_dropped_is_not_said_to_be_lost() {
    let outages = "outages = [{ nodes = [2], start_s = 3, every_s = 4, length_s = 1 }]\n[[traffic]]";
    let dir = folder(&[("gap.toml", &CHAIN.replacen("[[traffic]]", outages, 1))]);
    let d = dir.path();
    run_in(d, &words("run gap.toml --protocol dsr --identities --quiet --out whole")).ok();
    run_in(d, &words("export nodes whole --out nodes")).ok();
    run_in(d, &words("merge nodes/0 nodes/1 nodes/2 nodes/3 --out all --quiet")).ok();
    run_in(d, &words("merge nodes/0 nodes/2 nodes/3 --out without --quiet")).ok();
    let totals = |run: &str| RunDir::open(d.join(run), CLASSIFIER).unwrap().summary().unwrap().totals;
    let [all, without] = ["all", "without"].map(totals);
    assert!(all.dropped > Some(0) && all.drops.keys().all(|reason| reason == "NO_SALVAGE"), "{all:?}");
    assert_eq!((without.dropped, without.held), (Some(0), Some(all.dropped.unwrap() + all.held.unwrap())));
    assert_eq!(without.received, all.received);
}

/// The second node's run is missing. With the second seed the others share no frame across it.
#[test]
fn clocks_and_packets_are_found_across_a_node_whose_run_is_missing() {
    let dir = folder(&[("chain.toml", CHAIN)]);
    let d = dir.path();
    for seed in ["1", "5"] {
        let names = [format!("whole-{seed}"), format!("nodes-{seed}"), format!("merged-{seed}")];
        let [whole, nodes, merged] = names.each_ref().map(String::as_str);
        let run = words("run chain.toml --protocol dsr --identities --quiet --seed");
        run_in(d, &[&run[..], &[seed, "--out", whole]].concat()).ok();
        let export =
            ["export", "nodes", whole, "--out", nodes, "--clock", "2=0.5,45", "--clock", "3=0.2,-60"];
        run_in(d, &export).ok();
        let paths = [0, 2, 3].map(|node| format!("{nodes}/{node}"));
        let merge = ["merge", "--out", merged, &paths[0], &paths[1], &paths[2]];
        let said = run_in(d, &merge).ok();
        let ends = |run: &str| {
            let flows = RunDir::open(d.join(run), CLASSIFIER).unwrap().summary().unwrap().flows;
            let mut ends: Vec<_> = flows.iter().map(|f| (f.sent, f.received, f.dropped, f.held)).collect();
            ends.sort_unstable();
            ends
        };
        assert_eq!(ends(whole), ends(merged), "{said}");
        let worst = largest_error_ns(&d.join(whole), &d.join(merged), &[0, 2, 3]);
        assert!(worst < 500_000, "seed {seed}: a row is {worst} ns off\n{said}");
        for node in manifest(&d.join(merged))["merged"]["runs"].as_array().unwrap() {
            let bound = node["clock"]["bound_us"].as_f64();
            assert!(bound.is_some_and(|b| b < 10_000.0), "packets pass in both directions: {said}");
        }
    }
}

/// The rows of the table `sizes`.
fn sizes(run: &Path) -> Vec<SizeEvent> {
    let run = RunDir::open(run, CLASSIFIER).unwrap();
    let mut all = Vec::new();
    Tables::of(&run, "dsr")
        .sizes(&mut |e| {
            all.push(e);
            Ok(())
        })
        .unwrap();
    all
}

#[test]
fn a_merged_run_has_how_long_its_nodes_queues_and_caches_were() {
    let dir = folder(&[("walk.toml", WALK)]);
    merged(dir.path(), "dsr");
    let (whole, merged) = (sizes(&dir.path().join("whole")), sizes(&dir.path().join("merged")));
    assert!(merged.iter().any(|e| e.what == "route_cache" && e.count > 5), "{merged:?}");
    assert!(merged.len() * 10 > whole.len() * 8, "nodes that begin later lack their first seconds");
    for e in &merged {
        let near = |w: &&SizeEvent| w.time.as_nanos().abs_diff(e.time.as_nanos()) < 100_000;
        let same = |w: &SizeEvent| (w.node, w.what, w.iface) == (e.node, e.what, e.iface);
        let truth = whole.iter().filter(near).find(|w| same(w));
        assert_eq!(truth.map(|w| w.count), Some(e.count), "{e:?}");
    }
}

#[test]
fn the_manifest_tells_each_clock_and_the_readers_read_the_merged_run() {
    let dir = folder(&[("walk.toml", WALK)]);
    let said = merged(dir.path(), "dsr");
    let merged = manifest(&dir.path().join("merged"))["merged"].clone();
    assert_eq!(merged["reference"], "0", "{said}");
    for (run, (begins_s, drift_ppm)) in merged["runs"].as_array().unwrap().iter().zip(CLOCKS) {
        let clock = &run["clock"];
        let part = &clock["segments"][0];
        let offset_us = (part["offset_s"].as_f64().unwrap() - begins_s) * 1e6;
        assert!(offset_us.abs() < 100.0, "{run}");
        let drift = clock["drift_ppm"].as_f64().unwrap();
        assert!((drift - drift_ppm).abs() < 3.0, "{run}");
        assert!(offset_us.abs() < 10.0 + 3.0 * clock["error_us"].as_f64().unwrap(), "{run}");
        // Nobody receives before somebody sends: the truth lies within the bound.
        assert!(clock["bound_us"].as_f64().is_some_and(|b| b + 1.0 > offset_us.abs()), "{run}");
    }
    let d = dir.path();
    let paths: Vec<String> = (0..8).map(|i| format!("nodes/{i}")).collect();
    let mut again = vec!["merge", "--json", "--out", "again"];
    again.extend(paths.iter().map(String::as_str));
    crate::schemas::check("merge", &run_in(d, &again).ok());
    let why = run_in(d, &["why", "merged", "--flow", "0"]).ok();
    assert!(why.contains("BUFFER_FULL"), "{why}");
    assert!(why.contains("unknown whether a path existed: the links were real"), "{why}");
    assert!(run_in(d, &["compare", "whole", "merged"]).ok().contains("delivery_ratio"));
    run_in(d, &["report", "merged"]).ok();
    assert!(d.join("merged/report.html").is_file());
    assert!(run_in(d, &["export", "csv", "merged", "flows"]).ok().lines().count() == 4);
}

#[test]
fn what_cannot_be_merged_is_named_with_the_remedy() {
    let dir = folder(&[("walk.toml", WALK)]);
    let d = dir.path();
    run_in(d, &["run", "walk.toml", "--duration", "12", "--identities", "--quiet", "--out", "whole"]).ok();
    let paths = run_in(d, &["export", "nodes", "whole", "--out", "nodes"]).ok();
    let paths: Vec<&str> = paths.lines().collect();
    let (one, two) = (paths[0], paths[1]);
    let refused = |runs: &[&str]| run_in(d, &[&["merge", "--out", "merged"], runs].concat()).failure(2);
    assert!(refused(&[one, one]).contains("given twice"));
    assert!(refused(&["whole", one]).contains("a run of 8 nodes does not need merging"));
    assert!(refused(&[one, "nowhere"]).contains("not a run directory"));
    // The same node again, or another protocol.
    run_in(d, &["export", "nodes", "whole", "--out", "again"]).ok();
    // Of another run, what `merge again/*` would take for a ninth node.
    fs::create_dir(d.join("again/9")).unwrap();
    let said = run_in(d, &["export", "nodes", "whole", "--out", "again"]).failure(2);
    assert!(said.contains("--out again contains 9, which is not a node of this run"), "{said}");
    assert!(refused(&[one, "again/0"]).contains("this is a run of node 10.0.0.1, like nodes/0"));
    let other = words("run walk.toml --duration 12 --protocol aodv --identities --quiet --out other");
    run_in(d, &other).ok();
    run_in(d, &["export", "nodes", "other", "--out", "others"]).ok();
    let said = refused(&[one, "others/1"]);
    assert!(said.contains("the routing protocol is aodv, but dsr in nodes/0"), "{said}");
    // A node that runs, one of another version, one whose record lacks what packets are known by.
    let file = d.join(two).join("manifest.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"complete\"", "\"running\"")).unwrap();
    let running = wayhop_trace::lock_folder(&d.join(two)).unwrap();
    assert!(refused(&[one, two]).contains("the run is still running"));
    drop(running);
    let of_version =
        |other: &str| text.replacen(concat!("\"wayhop\": \"", env!("CARGO_PKG_VERSION")), other, 1);
    fs::write(&file, of_version("\"wayhop\": \"0.0.7")).unwrap();
    assert!(refused(&[one, two]).contains("Wayhop 0.0.7"));
    // Another commit of the same version can be merged, with a warning.
    let other = concat!("\"wayhop\": \"", env!("CARGO_PKG_VERSION"), "+0123456789ab.");
    fs::write(&file, of_version(other)).unwrap();
    let merged = run_in(d, &["merge", one, two, "--out", "of-two-commits"]);
    assert!(merged.err.contains("the nodes ran different versions"), "{}", merged.err);
    fs::write(&file, &text).unwrap();
    fs::remove_file(d.join(two).join("identities.parquet")).unwrap();
    assert!(refused(&[one, two]).contains("did not record packet identities"));
    let table = d.join(paths[2]).join("packets.parquet");
    let octets = fs::read(&table).unwrap();
    fs::write(&table, &octets[..octets.len() / 2]).unwrap();
    assert!(refused(&[one, paths[2]]).contains("packets.parquet"));
    assert!(
        run_in(d, &["merge", one, paths[3], "--out", one]).failure(2).contains("this is one of the runs")
    );
    assert!(!d.join("merged").exists());
}

#[test]
fn nodes_that_share_no_frame_are_named_and_left_apart_only_when_asked() {
    let text = WALK.replace("area = { x_m = 1400, y_m = 400 }\n", "").replace(
        "{ kind = \"random-waypoint\", speed_min_mps = 5, speed_max_mps = 20, pause_s = 0 }",
        "{ kind = \"chain\", spacing_m = 200 }",
    );
    // The last one stands where nobody hears it.
    let far = text + "[[nodes.node]]\nid = 7\nname = \"far\"\nposition = { x = 90000, y = 0 }\n";
    let dir = folder(&[("walk.toml", &far)]);
    let d = dir.path();
    run_in(d, &["run", "walk.toml", "--duration", "15", "--identities", "--quiet", "--out", "whole"]).ok();
    let paths = run_in(d, &["export", "nodes", "whole", "--out", "nodes"]).ok();
    let all: Vec<&str> = ["merge", "--out", "merged"].into_iter().chain(paths.lines()).collect();
    let said = run_in(d, &all).failure(2);
    assert!(
        said.contains("far shares no frames or packets with 0") && said.contains("--leave-apart"),
        "{said}"
    );
    let said = run_in(d, &[&all[..], &["--leave-apart"]].concat()).ok();
    assert!(said.contains("left out   far"), "{said}");
    assert_eq!(manifest(&d.join("merged"))["merged"]["left_apart"][0], "far");
}
