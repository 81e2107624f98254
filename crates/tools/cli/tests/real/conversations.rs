//! Programs in a lab are flows, as far as daemons see their packets; ping's own report is the oracle.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::mesh::{WAYHOP, skip_without_root};

const CHAIN: &str = "\
name = \"talks\"
duration_s = 120
nodes.count = 4
movement = { kind = \"chain\", spacing_m = 200 }
";

/// The summary of a lab in which node 0 pings node 3, and how many answers ping counted.
fn pinged(protocol: &str) -> (tempfile::TempDir, Value, u64) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("s.toml"), CHAIN).unwrap();
    // For the last answer ping waits at least as long as between two requests.
    let script = "until ping -c 1 -W 2 mesh-3 >/dev/null; do sleep 0.2; done; ping -c 20 -i 0.5 -W 5 mesh-3";
    let lab = [
        "lab",
        "s.toml",
        "--protocol",
        protocol,
        "--quiet",
        "--out",
        "run",
        "--node",
        "0",
        "--",
        "sh",
        "-c",
        script,
    ];
    let done = Command::new(WAYHOP).args(lab).current_dir(folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    let answered =
        said.split(" received").next().and_then(|s| s.rsplit(' ').next()).unwrap().parse().unwrap();
    let text = fs::read_to_string(folder.path().join("run/summary.json")).unwrap();
    (folder, serde_json::from_str(&text).unwrap(), answered)
}

/// The last conversation of pings between two nodes.
fn pings(summary: &Value, src: u64, dst: u64) -> &Value {
    let mut all = summary["flows"].as_array().unwrap().iter();
    all.rfind(|f| f["kind"] == "icmp" && f["src"] == src && f["dst"] == dst)
        .unwrap_or_else(|| panic!("{summary}"))
}

#[test]
fn a_lab_counts_the_packets_of_programs_as_they_do() {
    skip_without_root!();
    let (folder, summary, answered) = pinged("dsr");
    let (asks, answers) = (pings(&summary, 0, 3), pings(&summary, 3, 0));
    assert_eq!((&asks["sent"], &answers["received"]), (&20.into(), &answered.into()));
    assert_eq!(asks["received"], answers["sent"], "the kernel answers each request that came");
    assert!((asks["hops_mean"].as_f64().unwrap() - 3.0).abs() < 0.1, "{asks}");
    assert!(asks["latency_ms"]["max"].as_f64() < Some(5_000.0), "{asks}");
    assert!(summary["totals"]["latency_ms"].is_object(), "{summary}");
    let why = ["why", "run", "--flow", &asks["id"].to_string(), "--seq", "10"];
    let told = Command::new(WAYHOP).args(why).current_dir(folder.path()).output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("forwarded") && told.contains("delivered to its application"), "one story: {told}");
}

#[test]
fn where_kernels_forward_in_a_lab_nothing_is_said_of_how_much_programs_sent() {
    skip_without_root!();
    let (_folder, summary, _) = pinged("aodv");
    for f in summary["flows"].as_array().unwrap() {
        assert!(f["sent"].is_null() && f["received"].is_null() && f["delivery_ratio"].is_null(), "{f}");
    }
    assert!(summary["totals"]["delivery_ratio"].is_null(), "{summary}");
}
