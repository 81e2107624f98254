//! What an emulation reports about its running nodes: metrics, reports over the network itself,
//! captures. Needs root and /dev/net/tun, and tshark (`.ci/install test`).

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::emulate::{CHAIN, skip_without_root};
use crate::{folder, wayhop};

/// Reports by node, in the order in which they stand.
fn reports(dir: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for f in fs::read_dir(dir).expect("a folder").map(|f| f.expect("a file").path()) {
        let text = fs::read_to_string(f).expect("a file");
        for r in text.lines().map(|l| serde_json::from_str::<Value>(l).expect("JSON")) {
            all.entry(r["node"].as_str().expect("a name").to_owned()).or_default().push(r);
        }
    }
    all
}

fn get(at: &str) -> Option<String> {
    let mut stream = TcpStream::connect(at).ok()?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn an_emulated_node_collects_what_all_others_report_and_prometheus_sees_all() {
    skip_without_root!();
    // Geographic positions are reported if the scenario has an origin on the earth.
    let dir = folder(&[("s.toml", &format!("origin = {{ lat = 40.44, lon = -79.94 }}\n{CHAIN}"))]);
    let port =
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number").to_string();
    let collect =
        format!("exec timeout -s INT 16 {} collect --quiet --out collected", env!("CARGO_BIN_EXE_wayhop"));
    let args = ["emulate", "s.toml", "--protocol", "dsr", "--out", "run", "--quiet", "--captures"];
    let mut run = wayhop()
        .args(args)
        .args(["--metrics", &port, "--collector", "far", "--node", "far", "--", "sh", "-c", &collect])
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let until = Instant::now() + Duration::from_secs(14);
    // The rate at which node 0 sends its flow's packets: some are out.
    let busy = |text: &str| {
        let line = text.lines().find_map(|l| l.strip_prefix("wayhop_mac_data_total{node=\"0\"} "));
        line.and_then(|n| n.parse::<u64>().ok()).is_some_and(|n| n > 20)
    };
    let metrics = loop {
        let text = get(&port).unwrap_or_default();
        if busy(&text) {
            break text;
        }
        assert!(Instant::now() < until, "{text}");
        std::thread::sleep(Duration::from_millis(100));
    };
    for node in ["0", "1", "2", "3", "far"] {
        for metric in ["wayhop_mac_received_total", "wayhop_latitude_degrees", "wayhop_x_metres"] {
            let start = format!("{metric}{{node=\"{node}\"}} ");
            assert!(metrics.lines().any(|l| l.starts_with(&start)), "{start} is not in\n{metrics}");
        }
    }
    assert_eq!(run.wait().expect("it ends").code(), Some(124), "what timeout(1) ends with");

    let (own, collected) = (reports(&dir.path().join("run/reports")), reports(&dir.path().join("collected")));
    assert_eq!(own.len(), 5);
    assert_eq!(collected.keys().collect::<Vec<_>>(), own.keys().collect::<Vec<_>>());
    for (node, logged) in &own {
        let numbers: Vec<u64> = logged.iter().map(|r| r["number"].as_u64().expect("a number")).collect();
        assert_eq!(numbers, (0..logged.len() as u64).collect::<Vec<_>>(), "the log of {node} has no gap");
        assert!(collected[node].len() >= 5, "{} reports of {node} came", collected[node].len());
        for c in &collected[node] {
            let number = c["number"].as_u64().expect("a number") as usize;
            assert_eq!(
                (&c["counters"], &c["position"]),
                (&logged[number]["counters"], &logged[number]["position"])
            );
        }
    }

    let shown = std::process::Command::new("tshark")
        .args(["-r", "run/captures/2.pcapng", "-T", "fields", "-e", "frame.packet_flags_direction"])
        .args(["-e", "radiotap.dbm_antsignal"])
        .current_dir(dir.path())
        .output()
        .expect("tshark (Debian package tshark)");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let heard: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("0x00000001\t")).collect();
    assert!(heard.len() > 100, "{} frames were heard", heard.len());
    assert!(
        heard.iter().all(|s| s.parse::<i32>().is_ok_and(|dbm| (-100..0).contains(&dbm))),
        "each with its signal"
    );
    let summary = fs::read_to_string(dir.path().join("run/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["capture_drops"], 0);
}
