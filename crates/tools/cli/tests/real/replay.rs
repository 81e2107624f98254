//! Logs of inputs from the worlds of the real clock replay on a desk.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

fn wayhop(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(WAYHOP).args(arguments).current_dir(folder).output().unwrap()
}

/// Replays the logs of a folder: the exit status, and an object for each.
fn replay(logs: &[String], more: &[&str]) -> (Option<i32>, Vec<Value>) {
    let done = Command::new(WAYHOP).args(["replay", "--json"]).args(logs).args(more).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(text.lines().count(), logs.len(), "{said}");
    (done.status.code(), text.lines().map(|l| serde_json::from_str(l).unwrap()).collect())
}

fn logs(run: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(run.join("inputs")).unwrap();
    entries.map(|e| e.unwrap().path().display().to_string()).collect()
}

const CHAIN: &str = "\
duration_s = 6
nodes.count = 3
movement = { kind = \"chain\", spacing_m = 200 }
[[traffic]]
kind = \"cbr\"
src = 0
dst = 2
rate_pps = 20
payload_bytes = 200
start_s = 1
[[commands]]
kind = \"purge-routes\"
start_s = 3
";

#[test]
fn logs_of_a_lab_and_of_an_emulation_replay_without_a_difference() {
    skip_without_root!();
    for (world, protocol, change) in [
        ("lab", "dsr", "protocol.broadcast_jitter_ms=20"),
        ("lab", "aodv", "protocol.ttl_start=4"),
        ("lab", "dsdv", "protocol.start_jitter_ms=1000"),
        ("emulate", "aodv", "protocol.ttl_start=4"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("chain.toml"), CHAIN).unwrap();
        let arguments =
            [world, "chain.toml", "--protocol", protocol, "--quiet", "--out", "run", "--record-inputs"];
        let done = wayhop(folder.path(), &arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let logs = logs(&folder.path().join("run"));
        assert_eq!(logs.len(), 3, "{world} {protocol}");
        let (status, objects) = replay(&logs, &[]);
        for o in &objects {
            assert_eq!(
                (&o["verdict"], &o["end"]),
                (&"same".into(), &"whole".into()),
                "{world} {protocol}: {o}"
            );
            assert!(o["inputs"].as_u64() > Some(5) && o["effects"].as_u64() > Some(3), "{o}");
        }
        assert_eq!(status, Some(0));
        let (status, objects) = replay(&logs, &["--set", change]);
        assert_eq!(status, Some(1), "{world} {protocol} with {change}");
        let first = objects.iter().find_map(|o| o["first"].as_object()).unwrap();
        assert_ne!(first["expected"], first["got"]);
    }
}

#[test]
fn the_log_of_a_node_that_was_killed_is_the_same_as_far_as_it_goes() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let log = mesh.folder().join("files/node.jsonl").display().to_string();
    mesh.start(0, "aodv", &["control=log", &format!("inputs.file={log}"), "protocol.hello=always"]);
    mesh.start(1, "aodv", &["protocol.hello=always"]);
    mesh.until("they reach each other", Duration::from_secs(30), |m| m.try_ping(0, 1));
    // A parameter that changes while the node runs is an input.
    let socket = mesh.socket("log").display().to_string();
    let done = Command::new(WAYHOP)
        .args(["ctl", "--socket", &socket, "params", "hello_interval_ms=300"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let inputs = |log: &str| replay(&[log.to_owned()], &[]).1[0]["inputs"].as_u64().unwrap();
    let before = inputs(&log);
    mesh.until("the log grows", Duration::from_secs(60), |_| inputs(&log) > before + 20);
    mesh.kill(0);
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("\"command\":{\"set_parameters\""), "the order is in the log");
    let (status, objects) = replay(&[log], &[]);
    assert_eq!(
        (status, &objects[0]["verdict"], &objects[0]["end"]),
        (Some(3), &"same_so_far".into(), &"cut".into())
    );
}

#[test]
fn hosts_that_take_one_scenario_each_as_another_node_reach_each_other() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    mesh.open_folder();
    let scenario = mesh.folder().join("pair.toml").display().to_string();
    let text = "nodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\nprotocol = { name = \"dsr\" }\n\
        captures.all = true\n[[nodes.node]]\nid = 1\nname = \"far\"\n";
    std::fs::write(&scenario, text).unwrap();
    for (i, name) in ["mesh-0", "far"].into_iter().enumerate() {
        let out = mesh.folder().join(format!("files/run{i}")).display().to_string();
        let arguments =
            ["node", &scenario, "--as", name, "--interface", "eth1", "--out", &out, "--record-inputs"];
        mesh.start_with(i, &arguments);
    }
    for i in 0..2 {
        mesh.until("the node is ready", Duration::from_secs(30), |m| {
            m.said(i).contains("programs use mesh0")
        });
    }
    assert!(mesh.said(1).contains("info: this host is node far of "), "{}", mesh.said(1));
    mesh.until("they reach each other", Duration::from_secs(30), |m| m.try_ping(0, 1) && m.try_ping(1, 0));
    for (i, name) in ["0", "far"].into_iter().enumerate() {
        mesh.stop(i);
        // The run directory is that of any other world.
        let run = mesh.folder().join(format!("files/run{i}"));
        for file in ["summary.json", "packets.parquet", &format!("captures/{name}.pcapng")] {
            assert!(run.join(file).is_file(), "{file} of {name}");
        }
        let log = run.join(format!("inputs/{name}.jsonl.gz")).display().to_string();
        let (status, objects) = replay(&[log], &[]);
        assert_eq!((status, &objects[0]["verdict"]), (Some(0), &"same".into()), "{name}");
    }
}
