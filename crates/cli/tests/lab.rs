//! `wayhop lab`: a scenario's nodes as daemons on one wire with a macfilter.
//!
//! Needs root, network namespaces, and ip, nft and ping (`.ci/install test`). Without root the tests are skipped with a
//! message; in CI they fail.

use std::fs;
use std::process::{Command, Output};

const WAYHOP: &str = env!("CARGO_BIN_EXE_wayhop");

const CHAIN: &str = "\
duration_s = 8
nodes.count = 4
movement = { kind = \"chain\", spacing_m = 200 }
[[traffic]]
kind = \"cbr\"
src = 0
dst = 3
rate_pps = 20
payload_bytes = 200
start_s = 1
stop_s = 6
[[traffic]]
kind = \"ping\"
src = 3
dst = 0
start_s = 2
";

fn may_run() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
    assert!(root || std::env::var_os("CI").is_none(), "these tests need root in CI");
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

fn lab(arguments: &[&str]) -> (Output, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.toml"), CHAIN).unwrap();
    let done = Command::new(WAYHOP)
        .args(["lab", "chain.toml"])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    (done, folder)
}

fn summary(done: &Output) -> serde_json::Value {
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn a_chain_of_daemons_delivers_the_scenarios_flows_over_three_hops() {
    if !may_run() {
        return;
    }
    for protocol in ["dsr", "aodv"] {
        let (done, folder) = lab(&["--protocol", protocol, "--json", "--out", "run"]);
        let s = summary(&done);
        assert_eq!((s["world"].as_str(), s["protocol"].as_str()), (Some("lab"), Some(protocol)));
        let cbr = &s["flows"][0];
        assert_eq!(cbr["sent"], 100, "20 packets a second from 1 s to 6 s");
        assert!(cbr["delivery_ratio"].as_f64().unwrap() >= 0.9, "{cbr}");
        assert!((cbr["hops_mean"].as_f64().unwrap() - 3.0).abs() < 0.1, "{cbr}");
        let ping = &s["flows"][1];
        assert!(ping["delivery_ratio"].as_f64().unwrap() >= 0.9, "{ping}");
        assert!(s["totals"]["by_type"]["rreq"].as_u64().unwrap() >= 3, "{s}");
        assert!(folder.path().join("run/summary.json").is_file());
    }
}

#[test]
fn a_macfilter_by_hand_decides_who_hears_whom() {
    if !may_run() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // Node 3 is deaf to all from 3 s on: half of the flow's packets are lost.
    let text = "at 3 node 3 ignores 02:00:0a:00:00:01 02:00:0a:00:00:02 02:00:0a:00:00:03\n";
    let file = folder.path().join("walk.macfilter");
    fs::write(&file, text).unwrap();
    let (done, _folder) =
        lab(&["--protocol", "aodv", "--json", "--no-out", "--macfilter", file.to_str().unwrap()]);
    let s = summary(&done);
    let cbr = &s["flows"][0];
    assert!((cbr["hops_mean"].as_f64().unwrap() - 1.0).abs() < 0.1, "until then all hear each other: {cbr}");
    let received = cbr["received"].as_u64().unwrap();
    assert!((30..=41).contains(&received), "20 a second from 1 s to 3 s: {cbr}");
}

#[test]
fn a_command_runs_in_a_node_that_knows_the_others_names_and_its_exit_status_is_the_runs() {
    if !may_run() {
        return;
    }
    let (done, _folder) =
        lab(&["--protocol", "dsr", "--quiet", "--no-out", "--node", "1", "--", "ping", "-c", "2", "mesh-3"]);
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("2 received"), "{said}");
    let (done, _folder) = lab(&["--quiet", "--no-out", "--node", "1", "--", "sh", "-c", "exit 7"]);
    assert_eq!(done.status.code(), Some(7));
}

#[test]
fn the_macfilter_of_a_scenario_names_those_out_of_range() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.toml"), CHAIN).unwrap();
    let mut export = Command::new(WAYHOP);
    export.args(["export", "macfilter", "chain.toml"]).current_dir(folder.path());
    let done = export.output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
    assert_eq!(
        lines,
        [
            "at 0.000000000 node 0 ignores 02:00:0a:00:00:03 02:00:0a:00:00:04",
            "at 0.000000000 node 1 ignores 02:00:0a:00:00:04",
            "at 0.000000000 node 2 ignores 02:00:0a:00:00:01",
            "at 0.000000000 node 3 ignores 02:00:0a:00:00:01 02:00:0a:00:00:02",
        ]
    );
}
