//! `wayhop run --seeds`.

use std::fs;

use serde_json::Value;

use crate::{folder, manifest, run_in, summary_of};

/// Nodes that wander in and out of reach, one flow, and one that has no time for anything to arrive.
const SCENARIO: &str = "duration_s = 20\nnodes.count = 6\narea = { x_m = 800, y_m = 300 }\n\
    movement = { kind = \"random-waypoint\", speed_max_mps = 20 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n";

fn json(dir: &std::path::Path, args: &[&str]) -> Value {
    run_in(dir, &[args, &["--json", "--quiet"]].concat()).json()
}

#[test]
fn runs_with_several_seeds_are_those_with_each_of_them_and_their_means() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    let options = ["--protocol", "aodv", "--set", "traffic.0.rate_pps=2", "--topology", "--ns2-trace"];
    let args = [&["run", "s.toml", "--seeds", "3", "--captures"][..], &options].concat();
    let told = json(d, &args);
    assert_eq!((&told["runs"], &told["done"]), (&3.into(), &3.into()));
    let figures = &told["cells"][0]["metrics"];
    let folder = d.join("runs/s-aodv-seeds/runs");
    let mut latencies = Vec::new();
    for seed in ["1", "2", "3"] {
        let alone = [&["s.toml", "--seed", seed, "--captures", "--out", seed][..], &options].concat();
        let mut alone = summary_of(d, &alone);
        let (ours, theirs) = (folder.join(format!("seed-{seed}")), d.join(seed));
        let mut summary: Value =
            serde_json::from_slice(&fs::read(ours.join("summary.json")).unwrap()).unwrap();
        latencies.extend(alone["totals"]["latency_ms"]["mean"].as_f64());
        for s in [&mut summary, &mut alone] {
            s["wall_s"] = Value::Null;
        }
        assert_eq!(summary, alone);
        for file in ["packets.parquet", "positions.parquet", "trace.tr", "captures/3.pcapng"] {
            assert!(
                fs::read(ours.join(file)).unwrap() == fs::read(theirs.join(file)).unwrap(),
                "{seed}: {file}"
            );
        }
        assert_eq!(manifest(&ours)["scenario"], manifest(&theirs)["scenario"]);
    }
    // Student's t of two degrees of freedom: 4.30265.
    assert_eq!(latencies.len(), 3, "the scenario is as it was meant");
    let mean = latencies.iter().sum::<f64>() / 3.0;
    let variance = latencies.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / 2.0;
    let half = 4.302_65 * (variance / 3.0).sqrt();
    let latency = &figures["totals.latency_ms.mean"];
    assert!((latency["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{latency}");
    let high = latency["ci95"][1].as_f64().unwrap();
    assert!((high - mean - half).abs() < 1e-5 * half, "{latency} {half}");
    assert_eq!(latency["runs"], 3);
    assert!(figures["totals.round_trip_ms.mean"].is_null(), "nobody pings");
    // It goes on, and with more seeds makes only those that are missing.
    assert_eq!(json(d, &args)["found"], 3);
    let more = [&["run", "s.toml", "--seeds", "2..4", "--captures"][..], &options].concat();
    assert_eq!(json(d, &more)["found"], 2);
    // Other settings have a folder of their own.
    json(d, &["run", "s.toml", "--seeds", "2", "--protocol", "aodv"]);
    assert!(d.join("runs/s-aodv-seeds-2/runs/seed-2/packets.parquet").is_file());
    assert!(d.join("runs/s-aodv-seeds/runs/seed-4/captures").is_dir());
}

#[test]
fn a_figure_that_some_runs_have_not_is_a_mean_of_the_others_and_says_so() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let args = ["run", "s.toml", "--seeds", "8", "--duration", "3", "--out", "r"];
    let told = json(dir.path(), &args);
    let latency = &told["cells"][0]["metrics"]["totals.latency_ms.mean"];
    let arrived = |n: u64| {
        let path = dir.path().join(format!("r/runs/seed-{n}/summary.json"));
        let s: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        s["totals"]["received"].as_u64().unwrap() > 0
    };
    let some = (1..=8).filter(|&n| arrived(n)).count();
    assert!(some > 0 && some < 8, "the scenario is as it was meant: {some}");
    assert_eq!(latency["runs"], some, "{latency}");
    assert_eq!(told["cells"][0]["runs"], 8);
    let text = run_in(dir.path(), &args).ok();
    let line = text.lines().find(|l| l.starts_with("latency_ms.mean")).unwrap();
    assert!(line.ends_with(&format!("({some} of 8)")), "{text}");
    // One run has no interval, and nothing that arrived no mean.
    let none = (1..=8).find(|&n| !arrived(n)).unwrap();
    let one = format!("{none}..{none}");
    let told = json(dir.path(), &["run", "s.toml", "--seeds", &one, "--duration", "3", "--out", "r"]);
    let of = |name: &str| &told["cells"][0]["metrics"][name];
    assert_eq!(of("totals.latency_ms.mean")["mean"], Value::Null);
    assert_eq!(of("totals.sent")["ci95"], Value::Null);
    assert!(of("totals.sent")["mean"].as_f64().unwrap() > 0.0);
}

#[test]
fn options_that_do_not_go_with_several_seeds_are_refused_with_a_remedy() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    for (args, message) in [
        (&["s.toml", "--seed", "1"][..], "--seed with --seeds: the two exclude each other"),
        (&["s.toml", "--set", "seed=1"], "the seed cannot be set for all runs; use --seeds"),
        (&["s.toml", "--no-out"], "--no-out with --seeds: the results need a folder"),
        (&["s.toml", "--record-inputs"], "use --seed instead of --seeds"),
        (&["s.toml", "--topology", "--range", "100"], "--range with --seeds:"),
        (&["s.toml", "--range", "100"], "--range with --seeds:"),
        (&["-"], "standard input with --seeds: a sweep reads its scenario again"),
        (
            &["--movement", "m.tcl"],
            "--movement with --seeds: create a scenario file first: wayhop import ns2",
        ),
        (&[], "no scenario: give a scenario file"),
        (&["s.toml", "--metric", "latency"], "no run of the plan has a figure \"latency\"; did you mean "),
        (&["s.toml", "--set", "area={x_m=1,y_m=1}"], "tables cannot be set here"),
    ] {
        let e = run_in(dir.path(), &[&["run", "--seeds", "2"], args].concat()).failure(2);
        assert!(e.contains(message), "{args:?}\n{e}");
    }
    for args in [&["--seeds", "1.5"][..], &["--jobs", "2"], &["--metric", "sent"]] {
        run_in(dir.path(), &[&["run", "s.toml"], args].concat()).failure(2);
    }
    assert!(!dir.path().join("runs").exists());
}
