//! Flows to all nodes.

use wayhop_scenario::Scenario;

use crate::{run, scenario};

/// A chain of five nodes 180 m apart, with a packet a second to all from this node.
fn chain(src: u32, protocol: &str) -> String {
    format!(
        r#"
duration_s = 21.5
nodes.count = 5
movement = {{ kind = "chain", spacing_m = 180 }}
radio = {{ preset = "wavelan-914-cmu" }}
protocol = {{ {protocol} }}
[[traffic]]
kind = "cbr"
src = {src}
dst = "all"
payload_bytes = 100
rate_pps = 1
start_s = 1
max_packets = 20
"#
    )
}

#[test]
fn a_flow_to_all_counts_each_packet_once_for_each_node_that_it_is_meant_for() {
    for src in [0, 2, 4] {
        let (summary, audit) = run(&scenario(&chain(src, r#"name = "dsr""#)));
        let f = &summary.flows[0];
        assert_eq!(
            (f.sent.unwrap(), f.received.unwrap(), f.delivery_ratio),
            (80, 80, Some(1.0)),
            "20 packets for four nodes, from {src}"
        );
        // From an end the nodes are 1, 2, 3 and 4 hops away, from the middle 1, 1, 2 and 2.
        assert_eq!(f.hops_mean, Some(if src == 2 { 1.5 } else { 2.5 }));
        assert_eq!(summary.totals.by_type.get("rreq"), Some(&100), "each node sends each packet once");
        assert!(!summary.totals.by_type.contains_key("rrep"));
        assert_eq!(audit.ends.delivered, 80);
        assert_eq!(audit.ends.lost_track_of, []);
        let json = serde_json::to_value(&summary).expect("JSON");
        assert!(json["flows"][0]["dst"].is_null());
        assert_eq!(serde_json::from_value::<wayhop_trace::Summary>(json).expect("a summary"), summary);
    }
}

#[test]
fn a_packet_to_all_that_nobody_hears_is_lost_on_the_air() {
    let text = chain(0, r#"name = "dsr""#).replace("spacing_m = 180", "spacing_m = 18000");
    let (summary, audit) = run(&scenario(&text));
    assert_eq!((summary.flows[0].sent.unwrap(), summary.flows[0].received.unwrap()), (80, 0));
    assert_eq!(
        summary.totals.drops.get("LOST_ON_AIR"),
        Some(&80),
        "each for four nodes, as `sent` counts them"
    );
    assert_eq!(audit.ends.lost_track_of, []);
}

#[test]
fn without_floods_a_packet_to_all_reaches_the_neighbours() {
    let (summary, _) = run(&scenario(&chain(2, r#"name = "dsr", multicast_flood = false"#)));
    let f = &summary.flows[0];
    assert_eq!(
        (f.sent.unwrap(), f.received.unwrap(), f.dropped, f.held),
        (80, 40, Some(40), Some(0)),
        "two of four"
    );
}

#[test]
fn a_ping_or_a_connection_to_all_is_refused() {
    for kind in ["ping", "tcp"] {
        let text = format!(
            "nodes.count = 2\nmovement = {{ kind = \"chain\", spacing_m = 100 }}\n\
             radio = {{ preset = \"80211b\" }}\nprotocol = {{ name = \"dsr\" }}\n\
             duration_s = 1\n[[traffic]]\nkind = \"{kind}\"\nsrc = 0\ndst = \"all\"\n"
        );
        let error =
            Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).expect_err("refused").to_string();
        assert!(
            error.contains("traffic[0].dst: a ping or connection cannot go to all nodes; name one node"),
            "{error}"
        );
    }
}
