//! Nodes with a network card of their own.

use crate::{run, scenario};

fn mean_latency_ms(nodes: &str) -> f64 {
    let text = format!(
        r#"
duration_s = 20
movement = {{ kind = "chain", spacing_m = 200 }}
nodes = {{ count = 2, {nodes} }}
radio = {{ preset = "wavelan-i-pcmcia" }}
protocol = {{ name = "aodv", profile = "das" }}
[[traffic]]
kind = "cbr"
src = 0
dst = 1
payload_bytes = 1472
rate_pps = 10
start_s = 1
"#
    );
    let (summary, audit) = run(&scenario(&text));
    assert_eq!(audit.defect(), None);
    summary.flows[0].latency_ms.expect("an arrival").p50
}

#[test]
fn the_way_of_a_packet_takes_what_the_cards_of_its_two_ends_take() {
    // Desilva and Das (2000), Table 1: into the card, out of it; 6.33 ms on the air and DIFS; 25 us of link layer at each
    // end. The transfer passes the time that DIFS asks for.
    let isa = r#"card = "wavelan-i-isa""#;
    for (nodes, into, out_of) in [
        (String::from("node = []"), 3.46, 2.057),
        (format!("node = [{{ id = 0, {isa} }}]"), 0.96, 2.057),
        (format!("node = [{{ id = 1, {isa} }}]"), 3.46, 0.955),
        (format!("node = [{{ id = 0, {isa} }}, {{ id = 1, {isa} }}]"), 0.96, 0.955),
    ] {
        let (got, wanted) = (mean_latency_ms(&nodes), into + out_of + 6.328 + 0.05);
        assert!((got / wanted - 1.0).abs() < 0.03, "{nodes}: {got} ms instead of {wanted}");
    }
}
