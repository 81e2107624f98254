//! What movement and range allow: `wayhop topology`, and `--topology` of a run.

use serde_json::Value;

use crate::{folder, run_in};

/// Node 1 drives past node 0 at 10 m/s, within 250 m of it from 30 to 70 s; node 2 at 240 m relays until 94 s.
const PASSING: &str = "$node_(0) set X_ 500\n$node_(0) set Y_ 0\n$node_(1) set X_ 0\n$node_(1) set Y_ 150\n\
    $node_(2) set X_ 740\n$node_(2) set Y_ 0\n$ns_ at 0.0 \"$node_(1) setdest 2000 150 10\"\n";
const SCENARIO: &str = "duration_s = 100\nmovement = { kind = \"ns2\", path = \"m.tcl\" }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\nstart_s = 50\nstop_s = 60\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = \"all\"\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn near(v: &Value, expect: f64) -> bool {
    v.as_f64().is_some_and(|v| (v - expect).abs() < 1e-9)
}

#[test]
fn a_run_says_what_the_geometry_allowed_each_flow() {
    let dir = folder(&[("m.tcl", PASSING), ("s.toml", SCENARIO), ("c.csv", "hops,kbps\n1,1000\n2,500\n")]);
    let run =
        |more: &[&str]| run_in(dir.path(), &[&["run", "s.toml", "--json", "--out", "r"], more].concat());
    let plain = json(&run(&[]).ok());
    assert!(plain["flows"].as_array().unwrap().iter().all(|f| f.get("topology").is_none()));
    let seen = json(&run(&["--topology"]).ok());
    assert_eq!(seen["trace_hash"], plain["trace_hash"], "nobody in the network knows of it");
    let first = &seen["flows"][0]["topology"];
    // No path, one hop, two hops, no path.
    assert_eq!([&first["path_changes"], &first["hop_changes"], &first["partitions"]], [3, 3, 1]);
    assert!(near(&first["hop_share"][0], 0.4) && near(&first["hop_share"][1], 0.24), "{first}");
    assert!(near(&first["unreachable_share"], 0.36) && first["expected_bps"].is_null(), "{first}");
    assert_eq!(seen["flows"][1]["topology"]["hop_share"], serde_json::json!([1.0]));
    assert!(seen["flows"][2].get("topology").is_none(), "a flow to everybody has no shortest path");
    let stored = std::fs::read_to_string(dir.path().join("r/summary.json")).unwrap();
    assert_eq!(json(&stored)["flows"][0]["topology"], *first);
    let known = json(&run(&["--topology", "--chains", "c.csv"]).ok());
    // 0.4 of 1000 kb/s and 0.24 of 500.
    assert!(near(&known["flows"][0]["topology"]["expected_bps"], 520e3), "{known}");
    let short = json(&run(&["--topology", "--range", "160"]).ok());
    // sqrt(160^2 - 150^2) = 55.68 m to both sides, at 10 m/s; node 2 is out of everybody's range.
    let share = &short["flows"][0]["topology"]["hop_share"];
    assert!((share[0].as_f64().unwrap() - 0.111_355).abs() < 1e-6 && share.as_array().unwrap().len() == 1);
}

#[test]
fn the_geometry_is_told_without_a_run() {
    let dir = folder(&[("m.tcl", PASSING), ("s.toml", SCENARIO)]);
    let told = json(&run_in(dir.path(), &["topology", "s.toml", "--json"]).ok());
    let ran = json(&run_in(dir.path(), &["run", "s.toml", "--json", "--no-out", "--topology"]).ok());
    assert_eq!(told["flows"][0]["topology"], ran["flows"][0]["topology"]);
    assert_eq!(
        (&told["range_m"], &told["nodes"], told["flows"].as_array().unwrap().len()),
        (&Value::from(250.0), &Value::from(3), 2)
    );
    let hops: Vec<&Value> = told["flows"][0]["profile"].as_array().unwrap().iter().map(|p| &p[1]).collect();
    assert_eq!(hops, [&Value::Null, &Value::from(1), &Value::from(2), &Value::Null]);
    let text = run_in(dir.path(), &["topology", "s.toml"]).ok();
    assert!(text.lines().all(|l| l.chars().count() <= 120) && text.contains("40.0  24.0"), "{text}");
    let csv = |table: &str| run_in(dir.path(), &["topology", "s.toml", table]).ok();
    assert!(
        csv("--csv").lines().nth(1).unwrap().starts_with("0,cbr,0,1,0,100,3,3,1,0.36,"),
        "{}",
        csv("--csv")
    );
    assert_eq!(csv("--csv=profile").lines().count(), 1 + 4 + 1);
    assert!(csv("--csv=links").lines().any(|l| l == "0,2,,,0,2"), "{}", csv("--csv=links"));
    assert_eq!(csv("--csv=nodes").lines().count(), 4);
}

#[test]
fn two_nodes_can_be_named_and_wrong_ones_are_refused() {
    let dir = folder(&[("m.tcl", PASSING), ("c.csv", "hops,kbps\n2,500\n")]);
    let topology = |more: &[&str]| {
        run_in(dir.path(), &[&["topology", "--movement", "m.tcl", "--duration", "100"], more].concat())
    };
    let told = json(&topology(&["--src", "2", "--dst", "1", "--json"]).ok());
    // Node 2 reaches node 1 from 54 s on and, by node 0, from 30 s.
    let flow = &told["flows"][0];
    assert_eq!(
        (&flow["src"], &flow["dst"], &flow["topology"]["hop_changes"]),
        (&2.into(), &1.into(), &3.into())
    );
    assert!(topology(&[]).ok().contains("select two nodes with --src and --dst"));
    for (args, message) in [
        (&["--src", "9", "--dst", "1"][..], "--src 9: no such node; give a number from 0 to 2, or a name"),
        (&["--src", "1", "--dst", "1"], "--dst 1 is the same node as --src; give another one"),
        (
            &["--chains", "c.csv"],
            "c.csv:2: found \"2\" where 1 hops are expected; list 1, 2, 3, ... hops in order",
        ),
        (
            &["--chains", "none.csv"],
            "cannot read none.csv: No such file or directory (os error 2); --chains needs a CSV file with the columns \
             hops,kbps",
        ),
    ] {
        assert_eq!(topology(args).failure(2), format!("wayhop: {message}\n"));
    }
    let alone = run_in(dir.path(), &["run", "--movement", "m.tcl", "--range", "100"]);
    assert_eq!(alone.failure(2), "wayhop: --range has no effect without --topology; add --topology\n");
}

#[test]
fn chains_are_measured_for_the_expected_throughput() {
    let tcp = "duration_s = 100\nmovement = { kind = \"ns2\", path = \"m.tcl\" }\nradio = { preset = \"wavelan-914-cmu\" }\n\
        [[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\nbytes = 1000\nstart_s = 40\n";
    let chain = |nodes: u32| {
        format!(
            "duration_s = 20\nseed = 1\nnodes.count = {nodes}\nmovement = {{ kind = \"chain\", spacing_m = 150 }}\n\
            radio = {{ preset = \"wavelan-914-cmu\" }}\n[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = {}\n",
            nodes - 1
        )
    };
    let files = [("m.tcl", PASSING), ("s.toml", tcp), ("udp.toml", SCENARIO)];
    let (one, two) = (chain(2), chain(3));
    let dir = folder(&[&files[..], &[("one.toml", &one), ("two.toml", &two)]].concat());
    let measure = ["--measure-chains", "c.csv", "--chain-spacing", "150", "--chain-hops", "2"];
    let more = ["--chain-seeds", "1", "--chain-duration", "20", "--json"];
    let told =
        |first: &[&str], rest: &[&str]| run_in(dir.path(), &[&["topology", "s.toml"], first, rest].concat());
    let measured = json(&told(&measure, &more).ok());
    // The oracle: the same chains as scenarios of their own.
    let bps = ["one.toml", "two.toml"].map(|file| {
        let summary = json(&run_in(dir.path(), &["run", file, "--json", "--no-out"]).ok());
        summary["flows"][0]["goodput_bps"].as_f64().unwrap()
    });
    assert!(bps[0] > 1.5 * bps[1] && bps[1] > 1e5, "{bps:?}");
    let text = std::fs::read_to_string(dir.path().join("c.csv")).unwrap();
    assert_eq!(text, format!("hops,bps\n1,{}\n2,{}\n", bps[0], bps[1]));
    // The file says to others what was measured.
    let read = json(&told(&["--chains", "c.csv"], &["--json"]).ok());
    assert_eq!(read["flows"][0]["topology"], measured["flows"][0]["topology"]);
    assert!(measured["flows"][0]["topology"]["expected_bps"].as_f64().unwrap() > 1e5);

    let refused = told(&["--measure-chains", "c.csv", "--chain-spacing", "250"], &[]).failure(2);
    assert!(refused.contains("neighbours would be out of range"), "{refused}");
    // No chain is measured, and no progress told, for a file that cannot be written.
    assert_eq!(
        told(&["--measure-chains", "none/c.csv"], &more).failure(1),
        "wayhop: cannot write none/c.csv: No such file or directory (os error 2); choose another file with --measure-chains\n"
    );
    let refused = run_in(dir.path(), &["topology", "udp.toml", "--measure-chains", "c.csv"]).failure(2);
    assert!(refused.contains("no flow of kind \"tcp\""), "{refused}");
}
