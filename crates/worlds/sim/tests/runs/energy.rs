//! Batteries: against arithmetic by hand, and against ns-2.

use std::path::Path;
use std::process::Command;

use wayhop_trace::NodeEnergy;

use crate::{cbr, chain, run, scenario};

const PACKETS: f64 = 100.0;
// Airtimes at 2/1 Mb/s with a preamble of 192 us: RTS 20 octets, CTS and ACK 14, at 1 Mb/s; 512 octets of payload with 28 of
// IP and UDP and 34 of MAC at 2 Mb/s.
const RTS_S: f64 = 352e-6;
const CTS_S: f64 = 304e-6;
const ACK_S: f64 = 304e-6;
const DATA_S: f64 = 192e-6 + (512.0 + 28.0 + 34.0) * 8.0 / 2e6;

/// Two nodes without a routing protocol, and 100 packets from one to the other.
fn two_nodes(energy: &str) -> String {
    let flow = cbr(0, 1, 512, 20.0, &format!("start_s = 1\nmax_packets = {PACKETS}\n{energy}"));
    chain(
        2,
        100,
        "none",
        10.0,
        &format!("radio = {{ preset = \"wavelan-914-ns2\", arp = \"none\" }}\n{flow}"),
    )
}

fn near(ours: f64, expected: f64, tolerance: f64) {
    assert!((ours - expected).abs() <= tolerance, "{ours}, expected {expected}");
}

#[test]
fn two_nodes_use_what_airtime_and_power_come_to() {
    let keys = "[energy]\ninitial_j = 100\ntx_w = 1.65\nrx_w = 1.4\nidle_w = 1.15\n";
    let (s, audit) = run(&scenario(&two_nodes(keys)));
    assert_eq!(audit.defect(), None);
    assert_eq!(s.totals.received, 100);
    let (forth, back) = (PACKETS * (RTS_S + DATA_S), PACKETS * (CTS_S + ACK_S));
    for (n, (sends, hears)) in s.energy.iter().zip([(forth, back), (back, forth)]) {
        let idle = 10.0 - sends - hears;
        near(n.tx_j, sends * 1.65, 1e-6);
        near(n.rx_j, hears * 1.4, 1e-6);
        near(n.idle_j, idle * 1.15, 1e-6);
        near(n.remaining_j, 100.0 - n.tx_j - n.rx_j - n.idle_j, 1e-9);
        assert_eq!((n.sleep_j, n.empty_s), (0.0, None));
    }
}

#[test]
fn a_node_whose_battery_is_empty_is_down_for_good() {
    // Idle at 1 W from the start, 0.5 J are gone after half a second, before the flow begins.
    let keys = "[energy]\ninitial_j = 100\nidle_w = 1\n[[nodes.node]]\nid = 1\nenergy = { initial_j = 0.5 }\n\
                [[outages]]\nnode = 1\nstart_s = 2\nlength_s = 1\n";
    let (s, audit) = run(&scenario(&two_nodes(keys)));
    assert_eq!(audit.defect(), None);
    assert_eq!(s.totals.received, 0);
    let dead = s.energy[1];
    assert_eq!((dead.empty_s, dead.remaining_j, dead.tx_j, dead.rx_j), (Some(0.5), 0.0, 0.0, 0.0));
    near(dead.idle_j, 0.5, 1e-9);
    // The outage neither wakes it nor counts.
    assert_eq!((s.outages.len(), s.outages[0].node, s.outages[0].outages), (1, 1, 1));
    near(s.outages[0].down_s, 9.5, 1e-9);
}

#[test]
fn a_battery_that_runs_empty_in_the_middle_of_the_traffic_is_used_up_to_the_last_nanosecond() {
    let keys = "[energy]\ninitial_j = 0.2\ntx_w = 2\nrx_w = 1\n[[nodes.node]]\nid = 0\nmains = true\n";
    let (s, audit) = run(&scenario(&two_nodes(keys)));
    assert_eq!(audit.defect(), None);
    // A packet takes node 1 0.001216 J to answer and 0.00284 J to hear: 49 of them, and the 50th is not answered to the end.
    assert_eq!(s.totals.received, 49);
    let [n] = s.energy[..] else { panic!("{:?}", s.energy) };
    assert_eq!(n.node, 1);
    near(n.tx_j + n.rx_j, 0.2, 4e-9);
    assert!(n.empty_s.is_some_and(|at| (3.4..3.6).contains(&at)), "{n:?}");
}

#[test]
fn a_node_that_is_down_sleeps() {
    let keys = "[energy]\ninitial_j = 100\nidle_w = 1\nsleep_w = 0.25\n\
                [[outages]]\nnode = 1\nstart_s = 0.1\nlength_s = 0.4\ntables = \"kept\"\n";
    let (s, _) = run(&scenario(&two_nodes(keys)));
    near(s.energy[1].sleep_j, 0.1, 1e-9);
    assert_eq!(s.energy[0].sleep_j, 0.0);
}

/// What ns-2's trace says of a node at last, J: idle, sending and receiving.
fn ns2_says(trace: &str, node: &str) -> [f64; 3] {
    let line =
        trace.lines().rfind(|l| l.contains(node) && l.contains("[energy")).expect("a line of the node");
    let words: Vec<&str> = line.split([' ', ']']).collect();
    ["ei", "et", "er"].map(|name| {
        let at = words.iter().position(|w| *w == name).expect("a value");
        words[at + 1].parse().expect("a number")
    })
}

#[test]
fn energy_agrees_with_ns2() {
    // A thousandfold power, for ns-2 writes three digits behind the point. Its UDP has no header: 8 octets more of payload.
    let output = Command::new("ns")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/energy.tcl"))
        .args(["1000", "520", "0.02", "1e6", "660", "395", "35", "22"])
        .output()
        .expect("ns-2 is the oracle of this test: apt-get install ns2");
    let trace = String::from_utf8_lossy(&output.stdout);
    let keys = "protocol.profile = \"ns2\"\nradio.preset = \"wavelan-914-ns2\"\n\
                energy = { initial_j = 1e6, tx_w = 660, rx_w = 395, idle_w = 35 }\n";
    let flow = cbr(0, 1, 512, 50.0, "start_s = 1\nmax_packets = 1000");
    let (s, _) = run(&scenario(&chain(2, 100, "aodv", 20.99, &format!("{keys}{flow}"))));
    assert_eq!(s.totals.received, 1_000);
    for (node, NodeEnergy { idle_j, tx_j, rx_j, .. }) in ["_0_", "_1_"].into_iter().zip(&s.energy) {
        let [idle, tx, rx] = ns2_says(&trace, node);
        for (name, ours, theirs) in [("idle", idle_j, idle), ("tx", tx_j, tx), ("rx", rx_j, rx)] {
            assert!((ours / theirs - 1.0).abs() < 0.005, "{node} {name}: ours {ours}, ns-2 {theirs}");
        }
    }
}
