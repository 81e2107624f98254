//! Emulations and labs that are killed, at any instant: all that they started ends, and the next run removes what they left.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::mesh::WAYHOP;

/// How many are killed; of each world.
const RUNS: u64 = 30;
/// How many at a time.
const AT_A_TIME: u64 = 6;

/// Three nodes. Their programs leave their session and their parents, and ignore what can be ignored; each has the number in its
/// command line by which it is found.
fn scenario(mark: u64) -> String {
    let daemon = format!(
        "trap '' TERM HUP INT; setsid sh -c 'trap \"\" TERM HUP; sleep {mark} & sleep {mark}' & exec sleep {mark}"
    );
    let program = |node: u32, start: &str| {
        format!("[[programs]]\nnode = {node}\nstart_s = {start}\ncommand = [\"sh\", \"-c\", {daemon:?}]\n")
    };
    format!(
        "duration_s = 60\nnodes.count = 3\nmovement = {{ kind = \"chain\", spacing_m = 200 }}\n{}{}{}{}",
        program(0, "0"),
        program(1, "0.05"),
        program(2, "0.3"),
        // One sleeps, with its daemon in a lab, when the end comes.
        "[[outages]]\nnode = 1\nstart_s = 0.5\nlength_s = 49\ntables = \"kept\"\n",
    )
}

/// The processes with this in their command lines or environments.
fn marked(mark: &str) -> Vec<String> {
    let read = |pid: &Path, file: &str| fs::read(pid.join(file)).unwrap_or_default();
    let text = |octets: Vec<u8>| String::from_utf8_lossy(&octets).replace('\0', " ");
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|p| p.path());
    let all = processes.map(|p| (text(read(&p, "cmdline")), text(read(&p, "environ"))));
    all.filter(|(line, env)| line.contains(mark) || env.contains(mark)).map(|(line, _)| line).collect()
}

fn start(world: &str, runtime: &Path, folder: &Path, trust: bool) -> Child {
    let mut command = Command::new(WAYHOP);
    command.args([world, "s.toml", "--quiet", "--no-out"]).args(trust.then_some("--trust"));
    command.current_dir(folder).env("WAYHOP_RUNTIME_DIR", runtime);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills one after so many milliseconds. Returns what is still there when it should be gone.
fn kill_one(world: &str, runtime: &Path, run: u64, after_ms: u64) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    // The daemons of a lab have this folder in their environment; programs the number in their command lines.
    let mark = 910_000_000 + u64::from(std::process::id()) * 100 + run;
    fs::write(folder.path().join("s.toml"), scenario(mark)).unwrap();
    let own = runtime.join(run.to_string());
    fs::create_dir_all(&own).unwrap();
    let mut child = start(world, &own, folder.path(), run.is_multiple_of(2));
    // What the last one leaves is looked at: however slow the machine, it has begun.
    while run == RUNS - 1 && below(&own).is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(Duration::from_millis(after_ms));
    child.kill().unwrap();
    child.wait().unwrap();
    let left = || {
        let mut left = marked(&format!("sleep {mark}"));
        left.extend(marked(own.to_str().unwrap()));
        left
    };
    // The kernel ends them at once; a daemon hears of it, and sets its interface back. The bound is for a machine that hangs.
    for _ in 0..600 {
        if left().is_empty() {
            return Vec::new();
        }
        thread::sleep(Duration::from_millis(100));
    }
    left()
}

/// The files and folders below.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    let deeper: Vec<PathBuf> = entries.iter().filter(|p| p.is_dir()).flat_map(|p| below(p)).collect();
    entries.into_iter().chain(deeper).collect()
}

fn nothing_outlives(world: &str, until_ms: u64) {
    assert!(fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0), "this test needs root");
    let runtime = tempfile::tempdir().unwrap();
    let mut outlived = Vec::new();
    for batch in 0..RUNS.div_ceil(AT_A_TIME) {
        let runs = batch * AT_A_TIME..RUNS.min((batch + 1) * AT_A_TIME);
        let left: Vec<Vec<String>> = thread::scope(|s| {
            let one = |run: u64| {
                let runtime = runtime.path();
                // Spread over the start and the run, each at an instant of its own.
                s.spawn(move || kill_one(world, runtime, run, run * until_ms / RUNS + run * 7 % 13))
            };
            let all: Vec<_> = runs.map(one).collect();
            all.into_iter().map(|t| t.join().unwrap()).collect()
        });
        outlived.extend(left.into_iter().filter(|l| !l.is_empty()));
    }
    assert!(outlived.is_empty(), "{} of {RUNS} left something: {outlived:?}", outlived.len());
    // The next run in such a folder removes the files. The last was up.
    let own = runtime.path().join((RUNS - 1).to_string());
    let before = below(&own);
    assert!(!before.is_empty(), "it was killed before it had written anything");
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("s.toml"),
        "duration_s = 1\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n",
    )
    .unwrap();
    assert!(start(world, &own, folder.path(), false).wait().unwrap().success());
    let left = below(&own);
    assert!(left.is_empty(), "{left:?} of {before:?}");
}

#[test]
fn thirty_emulations_that_are_killed_leave_nothing() {
    nothing_outlives("emulate", 1500);
}

#[test]
fn thirty_labs_that_are_killed_leave_nothing() {
    nothing_outlives("lab", 3000);
}
