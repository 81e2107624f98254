//! Mobile IP in a scenario: its logs replay, and real programs reach the roving node in an emulation (root).

use serde_json::Value;

use crate::emulate::skip_without_root;
use crate::{folder, run_in};

const STORY: &str = include_str!("../../../../../scenarios/roving.toml");

#[test]
fn what_went_into_agents_and_mobile_node_replays() {
    let dir = folder(&[("s.toml", STORY)]);
    let args = ["run", "s.toml", "--out", "r", "--quiet", "--record-inputs"];
    run_in(dir.path(), &args).ok();
    for name in ["ha-home-agent-0", "gateway-foreign-agent-1", "rn-mobile-node-2"] {
        let log = format!("r/inputs/{name}.jsonl");
        let said = run_in(dir.path(), &["replay", &log]).ok();
        assert!(said.contains(": same "), "{said}");
    }
}

/// In range of `t2` from the beginning, and not at the office's wire from 6 to 18 s.
fn short() -> String {
    STORY
        .replace("start_s = 60, length_s = 150", "start_s = 6, length_s = 12")
        .replace("start = { x = 1200, y = 0 }, pause_s = 60", "start = { x = 600, y = 0 }, pause_s = 60")
        .replace("duration_s = 240", "duration_s = 60")
}

#[test]
fn a_real_ping_reaches_an_emulated_roving_node_at_home_in_the_mesh_and_back() {
    skip_without_root!();
    let dir = folder(&[("s.toml", &short())]);
    let ping = "ping -i 0.2 -c 110 -W 1 10.1.0.9";
    let args =
        ["emulate", "s.toml", "--out", "r", "--quiet", "--json", "--node", "peer", "--", "sh", "-c", ping];
    let said = run_in(dir.path(), &args).out;
    let answered = said.lines().filter(|l| l.contains("bytes from 10.1.0.9")).count();
    // Away from 6 s on it asks who is an agent in the mesh at the latest after four seconds; twenty pings are lost then.
    assert!((80..=110).contains(&answered), "{said}");
    let last = said.lines().rev().find(|l| l.contains("bytes from")).unwrap();
    assert!(
        last.contains("icmp_seq=110") || last.contains("icmp_seq=109"),
        "it is reached after its return: {last}"
    );
    let summary = std::fs::read_to_string(dir.path().join("r/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let figures = &summary["applications"][2]["figures"];
    assert!(
        figures["registrations"].as_f64().unwrap() >= 3.0
            && figures["packets_untunnelled"].as_f64().unwrap() > 20.0,
        "{summary}"
    );
}
