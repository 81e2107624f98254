//! DSR over radios that acknowledge nothing: it delivers, and notices broken links itself.

use crate::{mobile, run, scenario};

/// Pings over WaveLAN-I along a row of nodes 180 m apart.
fn row(profile: &str, nodes: u32, more: &str) -> String {
    format!(
        r#"
seed = 3
duration_s = 60
nodes.count = {nodes}
movement = {{ kind = "chain", spacing_m = 180 }}
radio = {{ preset = "wavelan-i" }}
protocol = {{ name = "dsr", profile = "{profile}" }}
[[traffic]]
kind = "ping"
src = 0
dst = {dst}
interval_s = 0.3
start_s = 1
{more}
"#,
        dst = nodes - 1
    )
}

#[test]
fn a_chain_without_link_layer_acknowledgements_delivers_by_its_own() {
    for profile in ["rfc", "cmu"] {
        let (summary, audit) = run(&scenario(&row(profile, 3, "")));
        let ratio = summary.totals.delivery_ratio.expect("packets");
        assert!(ratio > 0.98, "{profile}: {ratio}");
        let by = |kind: &str| summary.totals.by_type.get(kind).copied().unwrap_or(0);
        // One request on the last hop of each ping and of each answer; the other hops are confirmed passively.
        let pings = summary.totals.sent;
        assert!((pings..2 * pings + 60).contains(&by("ack")), "{profile}: {} acks", by("ack"));
        assert_eq!(audit.defect(), None);
    }
}

#[test]
fn a_dead_next_hop_is_noticed_without_link_layer_acknowledgements() {
    // Node 1's driver stops for 20 s of the 60.
    let stall = "[[stalls]]\nnode = 1\nstart_s = 20\nlength_s = 20\nevery_s = 100";
    for profile in ["rfc", "cmu"] {
        let (free, _) = run(&scenario(&row(profile, 3, "")));
        let (summary, audit) = run(&scenario(&row(profile, 3, stall)));
        assert_eq!(audit.defect(), None);
        let requests = |s: &wayhop_trace::Summary| s.totals.by_type["rreq"];
        assert!(requests(&summary) > requests(&free), "{profile}: it looks for another way");
        let ratio = summary.totals.delivery_ratio.expect("packets");
        assert!(ratio > 0.55, "{profile}: {ratio}, and goes on when node 1 is back");
    }
}

#[test]
fn a_mobile_network_delivers_more_when_broken_links_are_noticed() {
    let text = mobile("dsr", "rfc", "wavelan-i", 60.0, 5);
    let (with, _) = run(&scenario(&text));
    let blind = text.replace(r#"profile = "rfc""#, r#"profile = "rfc", maintenance = "link""#);
    assert_ne!(blind, text);
    let (without, _) = run(&scenario(&blind));
    let [a, b] = [with, without].map(|s| s.totals.delivery_ratio.expect("packets"));
    assert!(a > b + 0.1, "{a} with, {b} without");
}

#[test]
fn the_queue_length_keeps_a_congested_node_from_sending_again() {
    // Figure 8: 300 pings at 10 a second over one hop; the interface queue stops for 3 s of every 13.
    let text = |factor: u32| {
        let stall = "[[stalls]]\nnode = 0\nstart_s = 5\nlength_s = 3\nevery_s = 13";
        row("cmu", 2, stall)
            .replace("interval_s = 0.3", "interval_s = 0.1\nmax_packets = 300")
            .replace(r#"profile = "cmu""#, &format!(r#"profile = "cmu", rexmt_queue_factor_ms = {factor}"#))
    };
    let asked = |factor| run(&scenario(&text(factor))).0.totals.by_type["ack_request"];
    let (with, without) = (asked(20), asked(0));
    assert!(with < without, "{with} requests with the heuristic, {without} without");
}
