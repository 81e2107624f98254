//! `wayhop compare`: its figures are those of the runs.

use std::path::Path;

use serde_json::Value;

use crate::{folder, run_in, summary_of};

const CHAIN: &str = r#"
duration_s = 12
nodes.count = 5
movement = { kind = "chain", spacing_m = 200 }
[[traffic]]
kind = "poisson"
src = 0
dst = 4
rate_pps = 10
start_s = 1
"#;

fn compared(dir: &Path, runs: &[&str]) -> Value {
    run_in(dir, &[&["compare", "--json"], runs].concat()).json()
}

fn row<'a>(compared: &'a Value, about: &str, quantity: &str) -> &'a Value {
    let mut rows = compared["rows"].as_array().expect("rows").iter();
    rows.find(|r| r["about"] == about && r["quantity"] == quantity).expect("the row")
}

/// When the first remark `what` about node 4 came at node 0, in ms.
fn remark_ms(dir: &Path, run: &str, what: &str) -> f64 {
    let table = run_in(dir, &["export", "csv", run, "events"]).ok();
    let mut rows = table.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let row = rows.find(|r| r[1..4] == ["0", what, "10.0.0.5"]).expect("the remark");
    row[0].parse::<f64>().expect("nanoseconds") / 1e6
}

#[test]
fn the_figures_are_those_of_the_summaries_and_of_the_searches_in_the_tables() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let protocols = ["dsr", "aodv"];
    let summaries = protocols.map(|p| summary_of(dir.path(), &["s.toml", "--protocol", p, "--out", p]));
    let c = compared(dir.path(), &protocols);
    assert_eq!(c["runs"][1]["protocol"], "aodv");
    for (quantity, of) in [("latency_ms.p50", "p50"), ("latency_ms.p95", "p95")] {
        let r = row(&c, "flow 0 poisson 0-4", quantity);
        let expected =
            [0, 1].map(|i: usize| summaries[i]["flows"][0]["latency_ms"][of].as_f64().expect("ms"));
        assert_eq!([0, 1].map(|i: usize| r["values"][i]["mean"].as_f64().expect("ms")), expected);
        assert_eq!(r["differences"][0]["mean"].as_f64(), Some(expected[1] - expected[0]));
        assert!(r["values"][0]["ci95"].is_null(), "one run has no interval");
    }
    let searches = row(&c, "flow 0 poisson 0-4", "first_search_ms");
    for (i, p) in protocols.into_iter().enumerate() {
        let took = remark_ms(dir.path(), p, "discovery_done") - remark_ms(dir.path(), p, "discovery_start");
        let told = searches["values"][i]["mean"].as_f64().expect("ms");
        assert!(took > 1.0 && (took - told).abs() < 0.001, "{p}: {took} ms by the remarks, {told} ms told");
    }
    let notes = c["notes"].to_string();
    assert!(notes.contains("protocol.name = \\\"dsr\\\" | \\\"aodv\\\""), "{notes}");
    let text = run_in(dir.path(), &["compare", "dsr", "aodv"]).ok();
    assert!(text.lines().any(|l| l.trim_start().starts_with("latency_ms.p50")), "{text}");
}

#[test]
fn totals_come_first_and_flows_when_asked_for() {
    let dir = folder(&[("s.toml", CHAIN)]);
    for p in ["dsr", "aodv"] {
        summary_of(dir.path(), &["s.toml", "--protocol", p, "--out", p]);
    }
    let c = compared(dir.path(), &["dsr", "aodv"]);
    let rows: Vec<&str> =
        c["rows"].as_array().expect("rows").iter().filter_map(|r| r["about"].as_str()).collect();
    assert_eq!((rows[0], rows[rows.len() - 1]), ("all flows", "flow 0 poisson 0-4"));
    let load = row(&c, "routing", "normalised_routing_load");
    let routing = row(&c, "routing", "routing_packets");
    let received = summary_of(dir.path(), &["s.toml", "--protocol", "dsr"])["totals"]["received"].clone();
    let of = |r: &Value| r["values"][0]["mean"].as_f64().expect("a figure");
    assert_eq!(of(load), of(routing) / received.as_f64().expect("a count"));
    let short = run_in(dir.path(), &["compare", "dsr", "aodv"]).ok();
    assert!(!short.contains("flow 0") && short.contains("--flows"), "{short}");
    let long = run_in(dir.path(), &["compare", "dsr", "aodv", "--flows"]).ok();
    assert!(
        long.find("all flows") < long.find("flow 0 poisson") && long.contains("first_search_ms"),
        "{long}"
    );
}

#[test]
fn runs_in_a_folder_stand_for_one_with_students_interval() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let mut sent = Vec::new();
    for seed in ["1", "2", "3"] {
        let out = format!("seeds/{seed}");
        let s = summary_of(dir.path(), &["s.toml", "--seed", seed, "--out", &out]);
        sent.push(s["flows"][0]["sent"].as_f64().expect("a count"));
    }
    summary_of(dir.path(), &["s.toml", "--seed", "4", "--out", "four"]);
    let c = compared(dir.path(), &["seeds", "four"]);
    assert_eq!(c["runs"][0]["runs"], 3);
    let mean = sent.iter().sum::<f64>() / 3.0;
    let deviation = (sent.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / 2.0).sqrt();
    // t for two degrees of freedom, from any table.
    let half = 4.303 * deviation / 3.0_f64.sqrt();
    let told = &row(&c, "all flows", "sent")["values"][0];
    let near = |a: &Value, b: f64| (a.as_f64().expect("a number") - b).abs() < 0.001 * half;
    assert!(deviation > 0.0 && near(&told["mean"], mean), "{told}");
    assert!(near(&told["ci95"][0], mean - half) && near(&told["ci95"][1], mean + half), "{told}");
    assert_eq!(c["notes"].as_array().expect("notes").len(), 0, "seeds are no difference of scenarios: {c}");
}

#[test]
fn what_is_no_run_is_refused_by_name() {
    let dir = folder(&[("s.toml", CHAIN)]);
    summary_of(dir.path(), &["s.toml", "--out", "run"]);
    let said = run_in(dir.path(), &["compare", "run", "nothing"]).failure(2);
    assert!(said.contains("nothing") && said.contains("not a run directory"), "{said}");
}

#[test]
fn the_page_has_a_line_for_each_figure() {
    let dir = folder(&[("s.toml", CHAIN)]);
    for p in ["dsr", "aodv"] {
        summary_of(dir.path(), &["s.toml", "--protocol", p, "--out", p]);
    }
    let c = compared(dir.path(), &["dsr", "aodv", "--html", "page.html"]);
    let page = std::fs::read_to_string(dir.path().join("page.html")).expect("a page");
    for r in c["rows"].as_array().expect("rows") {
        assert!(page.contains(r["quantity"].as_str().expect("a name")), "{r}");
    }
}

#[test]
fn runs_with_the_same_seeds_are_compared_in_pairs_and_few_of_them_are_never_sure() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let run = |protocol: &str, seed: &str| {
        let out = format!("{protocol}/{seed}");
        summary_of(dir.path(), &["s.toml", "--protocol", protocol, "--seed", seed, "--out", &out]);
    };
    for protocol in ["dsr", "aodv"] {
        for seed in ["9", "10", "11", "12"] {
            run(protocol, seed);
        }
    }
    // The traffic is the seed's: both send the same, although seeds send differently.
    let c = compared(dir.path(), &["dsr", "aodv"]);
    let sent = row(&c, "all flows", "sent");
    assert_ne!(sent["values"][0]["ci95"][0], sent["values"][0]["ci95"][1], "{sent}");
    let difference = &sent["differences"][0];
    assert_eq!((&difference["mean"], &difference["paired"]), (&0.0.into(), &true.into()), "{sent}");
    assert_eq!(difference["ci95"], serde_json::json!([0.0, 0.0]), "{sent}");
    let text = run_in(dir.path(), &["compare", "dsr", "aodv"]).ok();
    assert!(!text.contains('*'), "four seeds are too few for a star: {text}");
    for p in ["dsr", "aodv"] {
        run(p, "13");
    }
    let text = run_in(dir.path(), &["compare", "dsr", "aodv"]).ok();
    assert!(text.contains(" *"), "five are enough: {text}");
    // Other seeds are no pairs.
    run("dsr", "14");
    let c = compared(dir.path(), &["dsr", "aodv"]);
    assert_eq!(row(&c, "all flows", "sent")["differences"][0]["paired"], false);
}

#[test]
fn nothing_is_said_of_what_nobody_knows() {
    let dir = folder(&[("s.toml", CHAIN)]);
    for (seed, out) in [("1", "some/1"), ("2", "some/2"), ("1", "field")] {
        summary_of(dir.path(), &["s.toml", "--seed", seed, "--out", out]);
    }
    // As a node on a real interface writes it: it knows of no flows.
    let path = dir.path().join("field/summary.json");
    let mut field: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    field["world"] = "field".into();
    field["flows"] = serde_json::json!([]);
    for key in ["sent", "received", "delivery_ratio", "goodput_bps"] {
        field["totals"][key] = 0.into();
    }
    std::fs::write(&path, field.to_string()).expect("written");
    // As of a run in which nothing arrived.
    let path = dir.path().join("some/2/summary.json");
    let mut silent: Value = serde_json::from_slice(&std::fs::read(&path).expect("read")).expect("JSON");
    silent["totals"]["latency_ms"] = Value::Null;
    std::fs::write(&path, silent.to_string()).expect("written");
    let c = compared(dir.path(), &["field", "field"]);
    let about = |r: &&Value| r["about"] == "all flows";
    assert_eq!(c["rows"].as_array().expect("rows").iter().filter(about).count(), 0, "{c}");
    assert!(row(&c, "routing", "routing_packets")["values"][0]["mean"].as_f64() > Some(0.0));
    // Of two runs one delivered nothing, and has no latency: the mean says that it is of one.
    let text = run_in(dir.path(), &["compare", "some", "field"]).ok();
    let latency = text.lines().find(|l| l.trim_start().starts_with("latency_ms.mean")).expect("a line");
    assert!(latency.contains("(1 of 2)") && latency.trim_end().ends_with('-'), "{text}");
}
