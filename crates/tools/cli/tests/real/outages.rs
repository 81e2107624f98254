//! `[[outages]]` where programs and daemons are real: in emulation and lab.
//!
//! Needs root, network namespaces, ip and nft. Without root the tests are skipped with a message; in CI they fail.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::mesh::{WAYHOP, run_scenario, skip_without_root};

/// 0 - 1 - 2; node 1 is down from 4 to 7 s.
fn scenario(tables: &str) -> String {
    format!(
        r#"
duration_s = 20
nodes.count = 3
movement = {{ kind = "chain", spacing_m = 200 }}
protocol = {{ name = "dsr" }}
[[traffic]]
kind = "cbr"
src = 0
dst = 2
rate_pps = 20
payload_bytes = 200
start_s = 1
[[traffic]]
kind = "cbr"
src = 1
dst = 0
rate_pps = 10
payload_bytes = 100
start_s = 2
stop_s = 12
[[outages]]
node = 1
start_s = 4
length_s = 3
tables = "{tables}"
[[programs]]
node = 1
command = ["sh", "-c", "while :; do ip -o link show up; cut -d' ' -f1 /proc/uptime; echo .; sleep 0.05; done"]
output = "looks.txt"
[[programs]]
node = 1
start_s = 5
command = ["sh", "-c", "ip -o link show up; echo late"]
output = "late.txt"
"#
    )
}

struct Done {
    summary: Value,
    folder: tempfile::TempDir,
}

impl Done {
    fn of(world: &str, tables: &str) -> Self {
        let (done, folder) = run_scenario(&scenario(tables), &[world, "s.toml", "--json", "--out", "run"]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{world} {tables}: {said}");
        // Neither the daemon's end nor the programs' is anything to complain of.
        assert!(!said.contains("exited") && !said.contains("summary"), "{world} {tables}: {said}");
        Self { summary: serde_json::from_slice(&done.stdout).unwrap(), folder }
    }

    fn run(&self) -> std::path::PathBuf {
        self.folder.path().join("run")
    }
    fn output(&self, name: &str) -> String {
        fs::read_to_string(self.run().join("programs").join(name)).unwrap()
    }
}

/// The rows of a table of a run, without its head.
fn table(run: &Path, table: &str) -> Vec<Vec<String>> {
    let done = Command::new(WAYHOP).args(["export", "csv"]).arg(run).arg(table).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().skip(1).map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_relay_that_is_down_carries_nothing_in_emulation_and_lab() {
    skip_without_root!();
    for world in ["emulate", "lab"] {
        for tables in ["lost", "kept"] {
            let done = Done::of(world, tables);
            let name = format!("{world} {tables}");
            let seconds = |row: &Vec<String>| row[0].parse::<f64>().unwrap() / 1e9;
            let events = table(&done.run(), "events");
            let power: Vec<_> = events.iter().filter(|r| r[2].starts_with("node_")).collect();
            let lost = if tables == "lost" { "1" } else { "0" };
            assert_eq!(power.len(), 2, "{name}: {power:?}");
            for (row, what) in power.iter().zip(["node_down", "node_up"]) {
                assert_eq!((row[1].as_str(), row[2].as_str(), row[4].as_str()), ("1", what, lost), "{name}");
            }
            let (from, until) = (seconds(power[0]), seconds(power[1]));
            assert!(from >= 4.0 && until >= 7.0 && until - from < 10.0, "{name}: {power:?}");
            let packets = table(&done.run(), "packets");
            // What was on its way in the first moments arrives.
            let times = |event: &str, node: &str, flow: &str| -> Vec<f64> {
                let rows = packets.iter().filter(|r| r[2] == event && r[1] == node && r[4] == flow);
                rows.map(seconds).collect()
            };
            let delivered = times("deliver", "2", "0");
            assert!(delivered.iter().any(|t| *t < from), "{name}: {delivered:?}");
            assert!(!delivered.iter().any(|t| (from + 0.5..until).contains(t)), "{name}: {delivered:?}");
            assert!(delivered.iter().any(|t| *t > until), "{name}");
            // An application on a host that is off sends nothing: 3 s of 10 packets.
            assert_eq!(done.summary["flows"][1]["sent"], 70, "{name}");
            assert!(!times("originate", "1", "1").iter().any(|t| (4.0..7.0).contains(t)), "{name}");
            let outages = &done.summary["outages"];
            assert_eq!((&outages[0]["node"], &outages[0]["outages"]), (&1.into(), &1.into()), "{name}");
            assert_eq!(outages[0]["down_s"], 3.0, "{name}");
            programs(&done, world, tables, from);
        }
    }
}

/// What the relay's programs saw; it went down `from` seconds after the run began.
fn programs(done: &Done, world: &str, tables: &str, from: f64) {
    let name = format!("{world} {tables}");
    let interface = if world == "lab" { "eth1" } else { "mesh0" };
    // It looks about twenty times a second, on a busy machine more seldom. Each look ends with the kernel's clock, seconds.
    let looks = done.output("looks.txt");
    let looks: Vec<&str> = looks.split_terminator(".\n").collect();
    assert!(looks[0].contains(interface), "{name}: {looks:?}");
    if tables == "lost" {
        let times: Vec<f64> = looks.iter().filter_map(|l| l.lines().last()?.parse().ok()).collect();
        let lived = times.last().unwrap() - times[0];
        assert!(
            lived < from + 1.0,
            "{name}: it was to be killed at {from} s, and lived {lived} s: {times:?}"
        );
    } else if world == "emulate" {
        let gone = looks.iter().position(|l| !l.contains(interface)).expect("the interface goes down");
        assert!(looks[gone..].iter().any(|l| l.contains(interface)), "{name}: it comes up again");
    }
    // This one waits for the end of the outage.
    let late = done.output("late.txt");
    assert!(late.contains("late") && late.contains(interface), "{name}: {late}");
}

#[test]
fn daemons_that_end_with_their_nodes_leave_what_they_counted() {
    skip_without_root!();
    // Down to the end of the run: the sleeping daemon is woken to say what it counted, the other had said it.
    for tables in ["lost", "kept"] {
        let text =
            scenario(tables).replace("length_s = 3\n", "").replace("duration_s = 20", "duration_s = 7");
        let lab = ["lab", "s.toml", "--json", "--out", "run", "--protocol", "aodv"];
        let (done, _folder) = run_scenario(&text, &lab);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && !said.contains("summary"), "{tables}: {said}");
        let s: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert!(s["totals"]["by_type"]["rreq"].as_u64().unwrap() >= 2, "{tables}: {s}");
        assert!((s["outages"][0]["down_s"].as_f64().unwrap() - 3.0).abs() < 1.0, "{tables}: {s}");
    }
}
