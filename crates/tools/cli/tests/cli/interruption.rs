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
    assert!(ran.err.starts_with("wayhop: interrupted at "), "{}", ran.err);
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
    assert!(ran.err.starts_with("wayhop: interrupted at "), "{}", ran.err);
    assert_eq!(manifest(&dir.path().join("r"))["status"], "interrupted");
}

#[test]
fn a_directory_that_a_run_is_writing_is_refused_and_left_alone() {
    let dir = folder(&[("long.toml", LONG)]);
    let mut first = started(dir.path());
    let second = ["run", "long.toml", "--duration", "1", "--out", "r", "--quiet"];
    let message = run_in(dir.path(), &second).failure(2);
    assert!(message.contains("r: another run is writing to it") && message.contains("--out"), "{message}");
    assert!(Command::new("kill").args(["-INT", &first.id().to_string()]).status().expect("kill").success());
    assert_eq!(first.wait().expect("an end").code(), Some(130));
    assert_eq!(manifest(&dir.path().join("r"))["status"], "interrupted");
    let csv = run_in(dir.path(), &["export", "csv", "r", "packets"]).ok();
    assert!(csv.lines().count() > 100, "the first run's table is complete");
    run_in(dir.path(), &second).ok();
}

/// Kills a long run after `ms` milliseconds, once it has a first checkpoint. Returns how far the
/// simulation had come by then, seconds.
fn killed_after(ms: u64, dir: &Path) -> f64 {
    let mut child = wayhop()
        .args(["run", "long.toml", "--pace", "20", "--captures", "--quiet", "--out", "r"])
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    wait_for_output(&child, &dir.join("r/tables.checkpoint"));
    let begun = Instant::now();
    std::thread::sleep(Duration::from_millis(ms));
    child.kill().expect("it runs");
    child.wait().expect("an end");
    20.0 * begun.elapsed().as_secs_f64()
}

#[test]
fn a_run_that_is_killed_at_any_moment_is_read_by_every_command_but_for_five_seconds() {
    std::thread::scope(|s| {
        for ms in [100, 1_900, 2_300, 3_700, 6_100, 9_050] {
            s.spawn(move || {
                let dir = folder(&[("long.toml", LONG)]);
                let d = dir.path();
                let came_s = killed_after(ms, d);
                assert_eq!(manifest(&d.join("r"))["status"], "running");
                let table = run_in(d, &["export", "csv", "r", "packets"]);
                assert_eq!(table.status, Some(0), "{}", table.err);
                assert!(table.err.contains("r: the run was killed; recorded up to"), "{}", table.err);
                let last_ns: f64 = match table.out.lines().last().and_then(|l| l.split(',').next()) {
                    Some("time_ns") | None => 0.0,
                    Some(cell) => cell.parse().expect("a time"),
                };
                // Twenty simulated seconds a second.
                assert!(last_ns / 1e9 > came_s - 20.0 * 5.0, "{ms} ms: {last_ns} ns of {came_s} s");
                // Exactly the beginning of the same run that came to its end.
                let longer = format!("{}", (last_ns / 1e9).ceil() + 1.0);
                run_in(d, &["run", "long.toml", "--duration", &longer, "--out", "w", "--quiet"]).ok();
                let whole = run_in(d, &["export", "csv", "w", "packets"]).ok();
                assert!(whole.len() > table.out.len() && whole.starts_with(&table.out), "{ms} ms");
                // For programs that read Parquet: the copy is what `recover` makes of the table.
                let copy = ["export", "parquet", "r", "packets", "--out", "packets.parquet"];
                run_in(d, &copy).ok();
                let told = run_in(d, &["export", "summary", "r"]).ok();
                let sent = |csv: &str| csv.lines().filter(|l| l.contains(",originate,")).count() as u64;
                // What was killed before the first packet was recorded has nothing to draw.
                let plot = &["plot", "delivery", "r"][..];
                let drawn = (sent(&table.out) > 0).then_some(plot);
                for command in
                    [&["why", "r"][..], &["compare", "r", "r"], &["report", "r"]].into_iter().chain(drawn)
                {
                    let ran = run_in(d, command);
                    assert_eq!(ran.status, Some(0), "{ms} ms: {command:?}: {}", ran.err);
                }
                let figure = std::fs::read_to_string(d.join("r/report.html")).expect("a report");
                assert!(figure.contains("cut off at"), "the report says so");
                let said = run_in(d, &["recover", "r"]).ok();
                assert!(said.contains("r: recovered up to"), "{said}");
                let again = run_in(d, &["recover", "r"]).ok();
                assert!(again.contains("nothing to do"), "{again}");
                assert_eq!(manifest(&d.join("r"))["status"], "killed");
                let after = run_in(d, &["export", "csv", "r", "packets"]).ok();
                assert_eq!(after, table.out);
                let file = |name: &str| std::fs::read(d.join(name)).expect("a table");
                assert!(file("packets.parquet") == file("r/packets.parquet"), "{ms} ms");
                let summary: serde_json::Value =
                    serde_json::from_slice(&std::fs::read(d.join("r/summary.json")).expect("a summary"))
                        .expect("JSON");
                assert_eq!(summary["totals"]["sent"], sent(&after));
                assert_eq!(serde_json::from_str::<serde_json::Value>(&told).expect("JSON"), summary);
                let totals = &summary["totals"];
                let number = |key: &str| totals[key].as_u64().expect("a count");
                assert_eq!(number("sent"), number("received") + number("dropped") + number("held"));
                assert_eq!(summary["trace_hash"], "");
                assert!(totals["goodput_bps"].is_null() && summary["cut_off_s"].is_f64());
                // Its place can be used again.
                run_in(d, &["run", "long.toml", "--duration", "1", "--out", "r", "--quiet"]).ok();
                assert_eq!(manifest(&d.join("r"))["status"], "complete");
                assert!(!d.join("r/tables.checkpoint").exists());
            });
        }
    });
}

#[test]
fn a_run_is_not_recovered_while_it_goes_on() {
    let dir = folder(&[("long.toml", LONG)]);
    let mut run = started(dir.path());
    let refused = run_in(dir.path(), &["recover", "r"]).failure(2);
    assert!(refused.contains("r: the run is still running"), "{refused}");
    // And is read meanwhile.
    let why = run_in(dir.path(), &["why", "r"]);
    assert!(
        why.status == Some(0) && why.err.contains("r: the run is still running; recorded up to"),
        "{}",
        why.err
    );
    run.kill().expect("it runs");
    run.wait().expect("an end");
    run_in(dir.path(), &["recover", "r"]).ok();
}
