//! Runs that are stopped in the middle.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wayhop_testkit::tshark;

use crate::{Ran, folder, manifest, run_in, wayhop};

/// Would take hours.
const LONG: &str = "\
nodes.count = 4
duration_s = 30000000
movement = { kind = \"chain\", spacing_m = 200 }
[[traffic]]
kind = \"cbr\"
src = 0
dst = 3
rate_pps = 50
";

/// Sends a signal to a long run that has written something.
fn stopped_by(signal: &str, dir: &Path) -> Ran {
    let child = started(dir);
    let kill = format!("PID={}; kill -{signal} $PID", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().expect("a shell").success());
    Ran::of(&child.wait_with_output().expect("an end"))
}

/// A long run that has written something.
fn started(dir: &Path) -> Child {
    let child = wayhop()
        .args(["run", "long.toml", "--captures", "--ns2-trace", "--json", "--out", "r"])
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    wait_for_output(&child, &dir.join("r/trace.tr"));
    child
}

fn wait_for_output(child: &Child, file: &Path) {
    let begun = Instant::now();
    while file.metadata().map_or(0, |m| m.len()) < 1_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "process {} writes nothing", child.id());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn leaves_everything_readable(signal: &str) {
    let dir = folder(&[("long.toml", LONG)]);
    let ran = stopped_by(signal, dir.path());
    assert_eq!(ran.status, Some(130), "{}", ran.err);
    assert!(ran.err.starts_with("wayhop: stopped at "), "{}", ran.err);
    let summary: serde_json::Value = serde_json::from_str(&ran.out).expect("a summary");
    let run = dir.path().join("r");
    assert_eq!(manifest(&run)["status"], "interrupted");
    let stored: serde_json::Value =
        serde_json::from_slice(&std::fs::read(run.join("summary.json")).expect("a summary")).expect("JSON");
    assert_eq!(stored["trace_hash"], summary["trace_hash"]);

    // Each packet that the summary counts stands in the table, and the last of them in the capture of the receiver.
    let csv = run_in(dir.path(), &["export", "csv", "r", "packets"]).ok();
    let delivered = csv.lines().filter(|l| l.contains(",deliver,")).count() as u64;
    assert!(delivered > 100);
    assert_eq!(summary["totals"]["received"], delivered);
    let last = tshark::fields(
        &run.join("captures/3.pcapng"),
        "frame.packet_flags_direction == 1 && udp",
        &["frame.number"],
    );
    assert!(last.expect("tshark reads it").len() as u64 >= delivered);
    let trace = std::fs::read_to_string(run.join("trace.tr")).expect("a trace");
    assert_eq!(trace.lines().filter(|l| l.starts_with('r') && l.contains(" AGT ")).count() as u64, delivered);
}

#[test]
fn ctrl_c_leaves_everything_readable_up_to_there() {
    leaves_everything_readable("INT");
}

#[test]
fn sigterm_leaves_everything_readable_up_to_there() {
    leaves_everything_readable("TERM");
}

#[test]
fn a_ctrl_c_that_another_program_passes_on_besides_is_one() {
    // As `timeout` does.
    let dir = folder(&[("long.toml", LONG)]);
    let ran = stopped_by("INT $PID; kill -INT", dir.path());
    assert!(ran.err.starts_with("wayhop: stopped at "), "{}", ran.err);
    assert_eq!(manifest(&dir.path().join("r"))["status"], "interrupted");
}

#[test]
fn a_directory_that_a_run_is_writing_is_refused_and_left_alone() {
    let dir = folder(&[("long.toml", LONG)]);
    let mut first = started(dir.path());
    let second = ["run", "long.toml", "--duration", "1", "--out", "r", "--quiet"];
    let message = run_in(dir.path(), &second).failure(2);
    assert!(
        message.contains("r: a run that goes on is writing into it") && message.contains("--out"),
        "{message}"
    );
    assert!(Command::new("kill").args(["-INT", &first.id().to_string()]).status().expect("kill").success());
    assert_eq!(first.wait().expect("an end").code(), Some(130));
    assert_eq!(manifest(&dir.path().join("r"))["status"], "interrupted");
    let csv = run_in(dir.path(), &["export", "csv", "r", "packets"]).ok();
    assert!(csv.lines().count() > 100, "the first run's table is whole");
    run_in(dir.path(), &second).ok();
}

#[test]
fn a_killed_run_says_that_it_never_ended() {
    let dir = folder(&[("long.toml", LONG)]);
    let ran = stopped_by("KILL", dir.path());
    assert_eq!(ran.status, None, "a signal ended it");
    assert_eq!(manifest(&dir.path().join("r"))["status"], "running");
    let message = run_in(dir.path(), &["export", "csv", "r", "packets"]).failure(2);
    assert!(message.contains("packets.parquet") && message.contains("killed"), "{message}");
    // Its place can be used again.
    let again = ["run", "long.toml", "--duration", "1", "--out", "r", "--quiet"];
    run_in(dir.path(), &again).ok();
    assert_eq!(manifest(&dir.path().join("r"))["status"], "complete");
}
