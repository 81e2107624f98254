//! Scenarios at the edge of what makes sense.

use std::fs;
use std::process::Command;

use crate::{folder, manifest, run_in, summary_of};

fn chain(nodes: u32, spacing_m: u32, more: &str) -> String {
    format!(
        "nodes.count = {nodes}\nduration_s = 1\nmovement = {{ kind = \"chain\", spacing_m = {spacing_m} }}\n{more}"
    )
}

const FLOW: &str = "[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 10\n";

#[test]
fn one_node_without_traffic_is_a_run() {
    let dir = folder(&[("s.toml", &chain(1, 0, ""))]);
    for protocol in ["dsr", "aodv"] {
        let summary = summary_of(dir.path(), &["s.toml", "--captures", "--out", "r", "--protocol", protocol]);
        assert_eq!(summary["simulated_s"], 1.0);
        assert_eq!(summary["flows"], serde_json::json!([]));
        let totals = summary["totals"].to_string();
        assert!(!totals.contains('-'), "no negative zero: {totals}");
    }
    let table = run_in(dir.path(), &["run", "s.toml"]).ok();
    assert!(table.contains("delivered  nothing was sent\n"), "{table}");
}

#[test]
fn nodes_in_the_same_place_hear_each_other() {
    let dir = folder(&[("s.toml", &chain(3, 0, FLOW))]);
    for protocol in ["dsr", "aodv"] {
        let totals = &summary_of(dir.path(), &["s.toml", "--no-out", "--protocol", protocol])["totals"];
        assert!(totals["received"].as_u64() >= Some(9), "{totals}");
        assert_eq!(totals["hops_mean"], 1.0);
    }
}

#[test]
fn nodes_out_of_range_of_each_other_lose_nothing_but_hope() {
    let dir = folder(&[("s.toml", &chain(3, 5000, FLOW))]);
    for protocol in ["dsr", "aodv"] {
        let totals = &summary_of(dir.path(), &["s.toml", "--no-out", "--protocol", protocol])["totals"];
        assert_eq!(totals["received"], 0);
        assert!(totals["by_type"]["rreq"].as_u64() >= Some(1), "it asked: {totals}");
    }
}

#[test]
fn a_flood_of_packets_ends_in_counted_drops() {
    // A hundred thousand packets a second on 2 Mb/s.
    let flood = FLOW.replace("= 10", "= 100000");
    let dir = folder(&[("s.toml", &chain(2, 100, &flood))]);
    for protocol in ["dsr", "aodv"] {
        let totals = &summary_of(dir.path(), &["s.toml", "--no-out", "--protocol", protocol])["totals"];
        let count = |v: &serde_json::Value| v.as_u64().expect("a count");
        let dropped: u64 = totals["drops"].as_object().expect("drops").values().map(count).sum();
        let (sent, received) = (count(&totals["sent"]), count(&totals["received"]));
        assert_eq!(sent, 100_001);
        assert!(received > 500, "the link still works: {totals}");
        // What is missing waits: 50 packets in the queue, 64 in a send buffer, some on the way.
        let held = sent - received - dropped;
        assert!(held <= 120, "{held} of {totals}");
    }
}

#[test]
fn four_hundred_captures_need_no_more_files_at_once_than_a_shell_allows() {
    let dir = folder(&[("s.toml", &chain(400, 100, FLOW))]);
    let limited = "ulimit -n 64; exec \"$0\" run s.toml --captures --out r --quiet";
    let status = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_wayhop")])
        .current_dir(dir.path())
        .status()
        .expect("a shell");
    assert!(status.success());
    assert_eq!(fs::read_dir(dir.path().join("r/captures")).expect("captures").count(), 400);
}

#[test]
fn nodes_that_do_not_fit_into_memory_are_refused_before_they_are_made() {
    let many = chain(1_000_000, 100, "");
    let plan = "scenario = \"s.toml\"\nseeds = [1]\nmetrics = [\"totals.sent\"]\n";
    let dir = folder(&[("s.toml", &many), ("plan.toml", plan)]);
    for arguments in [&["run", "s.toml"][..], &["run", "s.toml", "--check"], &["sweep", "plan.toml"]] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 250000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_wayhop")])
            .args(arguments)
            .current_dir(dir.path())
            .output()
            .expect("a shell");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("nodes.count: 1000000 nodes need at least 300 MB of memory"), "{message}");
        assert!(message.contains("are available; simulate up to "), "{message}");
    }
    assert!(!dir.path().join("runs").exists(), "no run directory was made");
}

#[test]
fn a_long_name_of_a_node_is_refused_or_written_but_never_lost() {
    let name = "n".repeat(300);
    let scenario = chain(2, 100, &format!("{FLOW}[[nodes.node]]\nid = 0\nname = \"{name}\"\n"));
    let dir = folder(&[("s.toml", &scenario)]);
    run_in(dir.path(), &["run", "s.toml", "--no-out", "--quiet"]).ok();
    let message = run_in(dir.path(), &["run", "s.toml", "--captures", "--quiet"]).failure(1);
    assert!(message.contains("File name too long") && message.contains("shorter"), "{message}");
}

#[test]
fn names_that_would_share_a_capture_are_refused() {
    let scenario =
        chain(2, 100, "[[nodes.node]]\nid = 0\nname = \"a/b\"\n[[nodes.node]]\nid = 1\nname = \"a_b\"\n");
    let dir = folder(&[("s.toml", &scenario)]);
    let message = run_in(dir.path(), &["run", "s.toml", "--captures", "--quiet"]).failure(2);
    assert!(message.contains("two nodes would write this capture; rename one"), "{message}");
    assert_eq!(manifest(&dir.path().join("runs/s-dsr-1"))["status"], "failed");
}

#[test]
fn round_trips_of_pings_are_never_mixed_with_latencies_of_one_way() {
    let ping = "[[traffic]]\nkind = \"ping\"\nsrc = 0\ndst = 1\ninterval_s = 0.3\n";
    let dir = folder(&[("s.toml", &chain(2, 100, ping))]);
    let summary = summary_of(dir.path(), &["s.toml", "--no-out"]);
    assert!(summary["flows"][0]["latency_ms"]["max"].as_f64().is_some(), "{summary}");
    assert_eq!(summary["totals"]["round_trip_ms"], summary["flows"][0]["latency_ms"], "of the only flow");
    assert!(summary["totals"]["latency_ms"].is_null(), "nothing went one way: {summary}");
    // Beside a flow that goes one way each has its own.
    let cbr = "[[traffic]]\nkind = \"cbr\"\nsrc = 1\ndst = 0\n";
    let dir = folder(&[("s.toml", &chain(2, 100, &(ping.to_owned() + cbr)))]);
    let summary = summary_of(dir.path(), &["s.toml", "--no-out"]);
    for (flow, total) in [(0, "round_trip_ms"), (1, "latency_ms")] {
        assert_eq!(summary["flows"][flow]["latency_ms"], summary["totals"][total], "{summary}");
    }
    let text = run_in(dir.path(), &["run", "s.toml", "--no-out"]).ok();
    assert!(text.contains("\nlatency    p50") && text.contains("\nround trip p50"), "{text}");
}
