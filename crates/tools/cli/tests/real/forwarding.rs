//! `wayhop reproduce pran --part forwarding`: the kernel's, AODV's and DSR's forwarding, measured on this machine.
//!
//! Needs root, network namespaces and ip (`.ci/install test`). Without root the tests are skipped with a message; in CI they
//! fail.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::mesh::{WAYHOP, skip_without_root};
use serde_json::Value;

/// The processes that descend from this one.
fn children(of: u32) -> Vec<String> {
    let text = Command::new("ps").args(["-e", "-o", "ppid=,args="]).output().unwrap().stdout;
    let text = String::from_utf8_lossy(&text).into_owned();
    text.lines().filter(|l| l.trim_start().starts_with(&format!("{of} "))).map(str::to_owned).collect()
}

#[test]
fn an_interrupted_measurement_reports_what_there_is_and_leaves_nothing_behind() {
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    let sockets = tempfile::tempdir().unwrap();
    let mut run = Command::new(WAYHOP)
        .args(["reproduce", "pran", "--part", "forwarding", "--quiet", "--out"])
        .arg(folder.path())
        // Where the daemons' sockets are.
        .env("TMPDIR", sockets.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while children(run.id()).len() < 6 && begun.elapsed() < Duration::from_secs(30) {
        sleep(Duration::from_millis(50));
    }
    assert_eq!(children(run.id()).len(), 6, "three daemons with each protocol");
    // Each way has followed its packets once, and streams flow.
    sleep(Duration::from_secs(12));
    assert!(run.try_wait().unwrap().is_none());
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    let id = run.id();
    let status = run.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(children(id), Vec::<String>::new());
    assert_eq!(fs::read_dir(sockets.path()).unwrap().count(), 0);

    let rows: Value = serde_json::from_slice(&fs::read(folder.path().join("rows.json")).unwrap()).unwrap();
    let number = |artefact: &str, row: &str, quantity: &str| {
        let rows = rows["rows"].as_array().unwrap();
        let is = |r: &&Value| r["artefact"] == artefact && r["row"] == row && r["quantity"] == quantity;
        rows.iter().find(is).unwrap_or_else(|| panic!("{artefact} {row} {quantity}"))["ours"].as_f64()
    };
    // DSR has parts, which are the whole; a packet of AODV does not come to user level.
    let dsr = |quantity| number("Table 1", "DSR on Linux", quantity).unwrap();
    let parts = dsr("kernel_in_us") + dsr("user_us") + dsr("kernel_out_us");
    assert!((parts - dsr("total_us")).abs() < 1e-6 && dsr("user_us") > 0.0, "{parts}");
    assert_eq!(number("Table 1", "AODV on Linux", "user_us"), Some(0.0));
    assert!(number("Table 1", "AODV on Linux", "total_us").unwrap() > 0.0);
    // The way through user space is longer.
    assert!(dsr("total_us") > number("Table 1", "kernel, static routes", "total_us").unwrap());
    assert!(number("Figure 3", "DSR, 1 hop, 128 octets", "max_output_pps").unwrap() > 100.0);
}

#[test]
fn who_is_not_root_is_told_what_is_needed() {
    let Ok(user) = Command::new("id").args(["-u", "nobody"]).output() else { return };
    let uid = String::from_utf8_lossy(&user.stdout).trim().parse().unwrap_or(65_534);
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    let out = Command::new(WAYHOP)
        .args(["reproduce", "pran", "--part", "forwarding"])
        .current_dir(folder.path())
        .uid(uid)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("root") && said.contains("sudo"), "{said}");
}
