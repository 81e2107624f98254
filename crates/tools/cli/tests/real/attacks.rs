//! `[[attacks]]` in emulation, against real programs; and where a lab refuses them.
//!
//! Needs root and network namespaces. Without root the tests are skipped with a message; in CI they fail.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::mesh::{run_scenario, skip_without_root};

/// 0 - 1 - 2, 20 packets a second from 0 to 2, a real ping of ten packets beside them, and an attack.
fn scenario(protocol: &str, attack: &str) -> String {
    format!(
        r#"
duration_s = 12
nodes.count = 4
movement = {{ kind = "static", positions = [{{ x = 0, y = 0 }}, {{ x = 200, y = 0 }}, {{ x = 400, y = 0 }}, {{ x = 200, y = 100 }}] }}
protocol = {{ name = "{protocol}" }}
[[traffic]]
kind = "cbr"
src = 0
dst = 2
rate_pps = 20
payload_bytes = 100
start_s = 1
stop_s = 11
[[programs]]
node = 0
start_s = 2
command = ["sh", "-c", "ping -c 10 -i 0.5 -W 1 10.0.0.3 || true"]
output = "ping.txt"
{attack}
"#
    )
}

/// The scenario in a world.
fn run(world: &str, protocol: &str, attack: &str) -> (Output, tempfile::TempDir) {
    run_scenario(&scenario(protocol, attack), &[world, "s.toml", "--json", "--out", "run"])
}

/// The summary of an emulation, and what ping said.
fn emulated(protocol: &str, attack: &str) -> (Value, String) {
    let (done, folder) = run("emulate", protocol, attack);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let ping = fs::read_to_string(folder.path().join("run/programs/ping.txt")).unwrap();
    (serde_json::from_slice(&done.stdout).unwrap(), ping)
}

fn received(summary: &Value) -> (u64, u64) {
    let flow = &summary["flows"][0];
    (flow["received"].as_u64().unwrap(), flow["sent"].as_u64().unwrap())
}

#[test]
fn a_black_hole_in_an_emulation_lets_no_packet_of_a_program_through() {
    skip_without_root!();
    for protocol in ["aodv", "dsr"] {
        let (summary, ping) = emulated(protocol, "[[attacks]]\nkind = \"black-hole\"\nnodes = [1, 3]");
        let (received, sent) = received(&summary);
        assert!(received == 0 && sent > 150, "{protocol}: {received} of {sent}");
        assert!(ping.contains("100% packet loss"), "{protocol}: {ping}");
        // Those of the flow and those of ping.
        let kept = summary["totals"]["drops"]["ATTACK"].as_u64().unwrap_or(0);
        assert!(kept > sent / 2, "{protocol}: {}", summary["totals"]["drops"]);
        assert_eq!(summary["attacks"][0]["kind"], "black-hole", "{protocol}");
        assert_eq!(summary["attacks"][0]["nodes"], serde_json::json!([1, 3]), "{protocol}");
    }
}

#[test]
fn a_grey_hole_in_an_emulation_keeps_its_share() {
    skip_without_root!();
    let (summary, ping) = emulated("dsr", "[[attacks]]\nkind = \"grey-hole\"\nshare = 0.5\nnodes = [1, 3]");
    let (received, sent) = received(&summary);
    // 200 packets: five standard errors are 35.
    assert!(sent > 150 && received.abs_diff(sent / 2) < 40, "{received} of {sent}");
    assert!(!ping.contains(" 0% packet loss"), "{ping}");
}

#[test]
fn a_flood_of_requests_in_an_emulation_is_passed_on_by_all_nodes() {
    skip_without_root!();
    let attack = "[[attacks]]\nkind = \"request-flood\"\nnode = 3\nrate_pps = 20\nat_s = 1\nuntil_s = 11\n";
    let (summary, ping) = emulated("aodv", attack);
    let requests = summary["totals"]["by_type"]["rreq"].as_u64().unwrap();
    // 200 floods of four nodes; a busy machine may lose a few frames.
    assert!((600..1_000).contains(&requests), "{requests}");
    assert!(!ping.contains("100% packet loss"), "{ping}");
}

#[test]
fn a_jammer_in_an_emulation_stops_its_neighbourhood() {
    skip_without_root!();
    let (summary, ping) = emulated("aodv", "[[attacks]]\nkind = \"jamming\"\nnode = 3");
    let (received, sent) = received(&summary);
    assert!(received == 0 && sent > 150, "{received} of {sent}");
    assert!(ping.contains("100% packet loss"), "{ping}");
}

#[test]
fn a_lab_refuses_attacks_and_says_where_they_can_be_made() {
    skip_without_root!();
    let (done, _folder) = run("lab", "aodv", "[[attacks]]\nkind = \"black-hole\"\nnode = 1");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("attacks") && said.contains("simulate or emulate"), "{said}");
}
