//! Chains: throughput and discovery against ns-2.35's own figures and the arithmetic of the DCF.

use serde_json::Value;

use crate::{cbr, run, scenario};

/// Mean goodput, kb/s, of ns-2's runs with this protocol, number of hops and spacing.
fn ns2_goodput_kbps(protocol: &str, hops: u64, spacing_m: u64) -> f64 {
    let text = include_str!("../../../../../bench/results/ns2-chains.json");
    let runs: Value = serde_json::from_str(text).expect("JSON");
    let matching: Vec<f64> = runs["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .filter(|r| r["protocol"] == protocol && r["hops_in_chain"] == hops && r["spacing_m"] == spacing_m)
        .map(|r| r["goodput_kbps"].as_f64().expect("a figure"))
        .collect();
    assert!(!matching.is_empty(), "no ns-2 run of {protocol} over {hops} hops of {spacing_m} m");
    matching.iter().sum::<f64>() / matching.len() as f64
}

fn chain(protocol: &str, hops: u64, spacing_m: u64, seed: u64) -> f64 {
    // 1472 octets of UDP payload make a 1500-octet packet, as ns-2's 1480 without a UDP header do; 2 Mb/s offered.
    let flow = cbr(0, hops, 1472, 250.0, "start_s = 1");
    let rest =
        format!("protocol.profile = \"ns2\"\nseed = {seed}\nradio.preset = \"wavelan-914-cmu\"\n{flow}");
    let text = crate::chain(hops + 1, spacing_m, protocol, 61.0, &rest);
    run(&scenario(&text)).0.flows[0].goodput_bps.expect("a time") / 1000.0
}

#[test]
fn saturated_chains_carry_what_they_carry_in_ns2() {
    for protocol in ["DSR", "AODV"] {
        for hops in 1..=3 {
            let ns2 = ns2_goodput_kbps(protocol, hops, 180);
            let ours = chain(&protocol.to_lowercase(), hops, 180, 1);
            assert!((ours / ns2 - 1.0).abs() < 0.03, "{protocol} {hops} hops: {ours:.0} kb/s, ns-2 {ns2:.0}");
        }
    }
}

/// Time from the first packet to the end of its route discovery, ms, mean over seeds.
fn discovery_ms(protocol: &str, hops: u64) -> f64 {
    let n = 40;
    let of = |seed| {
        let flow = cbr(0, hops, 64, 0.1, "start_s = 1");
        let rest = format!("protocol.profile = \"ns2\"\nseed = {seed}\n{flow}");
        let text = crate::chain(hops + 1, 200, protocol, 3.0, &rest);
        run(&scenario(&text)).0.flows[0].latency_ms.expect("an arrival").max
    };
    (1..=n).map(of).sum::<f64>() / n as f64
}

#[test]
fn each_hop_adds_to_a_discovery_what_it_adds_in_ns2() {
    // ns-2.35, 100 discoveries each over hops of 200 m: AODV 14.73, 24.63, 34.30 ms for 2, 3, 4 hops; DSR 77.78, 87.76,
    // 96.96 ms (standard errors 0.3 to 1.6). The first packet's own way adds about 1.8 ms a hop.
    for (protocol, ns2_per_hop_ms) in [("aodv", (34.30 - 14.73) / 2.0), ("dsr", (96.96 - 77.78) / 2.0)] {
        let per_hop = (discovery_ms(protocol, 4) - discovery_ms(protocol, 2)) / 2.0 - 1.8;
        assert!(
            (per_hop - ns2_per_hop_ms).abs() < 3.0,
            "{protocol}: {per_hop} ms a hop, ns-2 {ns2_per_hop_ms}"
        );
    }
}
