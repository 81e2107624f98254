//! The ns2 profiles against ns-2.35's own runs on the same files (figures collected by bench/ns2_oracle.py).
//!
//! The bounds are the project's: delivery within 2 points, routing packets within 25 %, mean hops within 5 %, median
//! latency within 25 %; and of the loads, packets transmitted per packet delivered within 10 %, normalised MAC load within 15 %. `bench/compare_ns2.py` does the same over more files and seeds.

use std::path::Path;

use serde_json::Value;
use wayhop_scenario::Scenario;

use crate::run;

/// Delivery ratio, routing packets, hops, median latency in ms, packets transmitted per packet delivered, normalised MAC load.
type Figures = [f64; 6];

/// ns-2's runs of a file.
fn runs_of(text: &str, movement: &str, protocol: &str) -> Vec<Value> {
    let mut all: Value = serde_json::from_str(text).expect("JSON");
    let all = std::mem::take(all["runs"].as_array_mut().expect("runs")).into_iter();
    let is_one = |r: &Value| {
        r["protocol"] == protocol && r["movement"].as_str().is_some_and(|m| m.ends_with(movement))
    };
    all.filter(is_one).collect()
}

/// Means over ns-2's seeds.
fn ns2(movement: &str, protocol: &str) -> Figures {
    let runs = runs_of(include_str!("../../../../../bench/results/ns2-broch.json"), movement, protocol);
    assert!(runs.len() >= 5, "{movement} {protocol}: {} runs", runs.len());
    // Traces of the MAC, in which every frame that it sends is a line.
    let macs = runs_of(include_str!("../../../../../bench/results/ns2-broch-mac.json"), movement, protocol);
    let n = |v: &Value| v.as_f64().expect("a figure");
    let mean =
        |runs: &[Value], f: &dyn Fn(&Value) -> f64| runs.iter().map(f).sum::<f64>() / runs.len() as f64;
    let transmitted = |r: &Value| n(&r["routing_packets"]) + n(&r["data_transmissions"]);
    let frames = |r: &Value| {
        let sent = r["mac_sent"].as_object().expect("counts").iter();
        sent.filter(|(kind, _)| *kind != "cbr").map(|(_, count)| n(count)).sum::<f64>()
    };
    [
        mean(&runs, &|r| n(&r["delivery_ratio"])),
        mean(&runs, &|r| n(&r["routing_packets"])),
        mean(&runs, &|r| n(&r["hops_mean"])),
        mean(&runs, &|r| n(&r["latency_ms"]["p50"])),
        mean(&runs, &|r| transmitted(r) / n(&r["received"])),
        mean(&macs, &|r| frames(r) / n(&r["received"])),
    ]
}

fn ours(movement: &str, protocol: &str, seeds: u64) -> Figures {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench/data/broch");
    let mut sum = [0.0; 6];
    for seed in 1..=seeds {
        let sets = [
            format!("protocol.name={}", protocol.to_lowercase()),
            "protocol.profile=ns2".to_owned(),
            "radio.preset=wavelan-914-cmu".to_owned(),
            "duration_s=900".to_owned(),
            format!("seed={seed}"),
        ];
        let s = Scenario::from_ns2(&data.join(movement), Some(&data.join("s1.cbr.tcl")), &sets);
        let (summary, audit) = run(&s.and_then(|s| s.resolve()).expect("a scenario"));
        assert_eq!(audit.defect(), None);
        let t = summary.totals;
        let figures = [
            t.delivery_ratio.expect("a figure"),
            t.routing_packets as f64,
            t.hops_mean.expect("a figure"),
            t.latency_ms.expect("a figure").p50,
            t.rfc2501.packets_per_packet.expect("a figure"),
            t.normalised_mac_load.expect("a figure"),
        ];
        sum.iter_mut().zip(figures).for_each(|(s, f)| *s += f / seeds as f64);
    }
    sum
}

fn agrees(movement: &str, protocol: &str, seeds: u64) {
    let (theirs, ours) = (ns2(movement, protocol), ours(movement, protocol, seeds));
    let what = format!("{movement} {protocol}: ours {ours:?}, ns-2 {theirs:?}");
    assert!((ours[0] - theirs[0]).abs() < 0.02, "delivery, {what}");
    let bounds = [
        ("routing packets", 0.25),
        ("hops", 0.05),
        ("median latency", 0.25),
        ("packets per packet", 0.1),
        ("MAC load", 0.15),
    ];
    for (i, (name, bound)) in bounds.iter().enumerate() {
        assert!((ours[i + 1] / theirs[i + 1] - 1.0).abs() < *bound, "{name}, {what}");
    }
}

#[test]
fn dsr_agrees_with_ns2_when_nodes_never_rest() {
    agrees("s1.pause0.tcl", "DSR", 1);
}
#[test]
fn aodv_agrees_with_ns2_when_nodes_never_rest() {
    agrees("s1.pause0.tcl", "AODV", 1);
}
#[test]
fn dsr_agrees_with_ns2_when_nodes_stay() {
    // Routes that never change stay what the first discoveries made them: one seed says little (sd of hops 0.1).
    agrees("s1.pause900.tcl", "DSR", 6);
}
#[test]
fn aodv_agrees_with_ns2_when_nodes_stay() {
    agrees("s1.pause900.tcl", "AODV", 6);
}
