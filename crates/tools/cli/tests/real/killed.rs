//! Emulations and labs that are killed at any instant: everything that they started ends, and the
//! next run removes the rest.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wayhop_core::Time;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{HopKind, RunDir, Tables, recover};

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

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

fn start(world: &str, runtime: &Path, folder: &Path, more: &[&str]) -> Child {
    let mut command = Command::new(WAYHOP);
    command.args([world, "s.toml", "--quiet"]).args(more);
    command.current_dir(folder).env("WAYHOP_RUNTIME_DIR", runtime);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills one after `after_ms` milliseconds. Returns what is still there when it should be gone.
fn kill_one(world: &str, runtime: &Path, run: u64, after_ms: u64) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    // The daemons of a lab have this folder in their environment; programs the number in their command lines.
    let mark = 910_000_000 + u64::from(std::process::id()) * 100 + run;
    fs::write(folder.path().join("s.toml"), scenario(mark)).unwrap();
    let own = runtime.join(run.to_string());
    fs::create_dir_all(&own).unwrap();
    let more: &[&str] = if run.is_multiple_of(2) { &["--no-out", "--trust"] } else { &["--no-out"] };
    let mut child = start(world, &own, folder.path(), more);
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
    assert!(start(world, &own, folder.path(), &["--no-out"]).wait().unwrap().success());
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

/// A flow and a program's pings over two hops, for longer than anybody waits.
const RECORDED: &str = "\
duration_s = 600
nodes.count = 3
movement = { kind = \"chain\", spacing_m = 200 }
[[traffic]]
kind = \"cbr\"
src = 0
dst = 2
rate_pps = 20
[[programs]]
node = 0
command = [\"ping\", \"-i\", \"0.1\", \"mesh-2\"]
";

/// Kills a run of this world `after_ms` milliseconds after its record began. Returns by how many
/// seconds its record ends before.
fn lost_s(world: &str, after_ms: u64) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), RECORDED).unwrap();
    let mut run = start(world, &folder.path().join("run"), folder.path(), &["--out", "r"]);
    let path = folder.path().join("r");
    while !path.join("tables.checkpoint").exists() {
        assert!(run.try_wait().unwrap().is_none(), "it has ended");
        thread::sleep(Duration::from_millis(5));
    }
    let begun = Instant::now();
    thread::sleep(Duration::from_millis(after_ms));
    run.kill().unwrap();
    let came_s = begun.elapsed().as_secs_f64();
    run.wait().unwrap();
    let dir = RunDir::open(&path, CLASSIFIER).unwrap();
    assert!(dir.is_killed());
    let told = dir.summary().unwrap();
    let mut last = Time::ZERO;
    // A lab's row of an arrival can be some tenths of a millisecond older than that of the packet's origin, which then is not
    // recorded.
    let mut sent = BTreeSet::new();
    Tables::of(&dir, told.protocol.clone())
        .packets(&mut |e| {
            last = last.max(e.time);
            if matches!(e.kind, HopKind::Originate | HopKind::Deliver) {
                sent.extend(e.flow);
            }
            Ok(())
        })
        .unwrap();
    assert_eq!(
        (told.totals.sent, told.world.as_str()),
        (sent.len() as u64, if world == "lab" { "lab" } else { "emulation" })
    );
    assert!(sent.len() > 20 && told.flows[0].received > Some(10), "{told:?}");
    let pings = told.flows.iter().filter(|f| f.kind == "icmp" && f.received > Some(10));
    assert_eq!(pings.count(), 2, "requests and answers: {told:?}");
    let recovered = recover(&path, CLASSIFIER).unwrap().expect("it was killed");
    assert!(recovered.until_s >= last.as_secs_f64());
    assert_eq!(dir.summary().unwrap(), told);
    came_s - last.as_secs_f64()
}

fn record_outlives(world: &str) {
    skip_without_root!();
    let lost: Vec<f64> = thread::scope(|s| {
        let runs = [5_600, 6_900, 8_100, 9_300].map(|ms| s.spawn(move || lost_s(world, ms)));
        runs.into_iter().map(|t| t.join().unwrap()).collect()
    });
    eprintln!("{world}: the records end {lost:.1?} s before the kill");
    assert!(lost.iter().all(|s| *s < 5.0), "{lost:?}");
}

#[test]
fn an_emulation_that_is_killed_keeps_its_record_but_for_five_seconds() {
    record_outlives("emulate");
}

#[test]
fn a_lab_that_is_killed_keeps_its_record_but_for_five_seconds() {
    record_outlives("lab");
}

/// Pings over a relay that is killed after `after_ms` milliseconds and restarted, and merges all records.
/// Returns by how many seconds the relay's first record ends before the last packet that it carried.
fn relay_lost_s(after_ms: u64) -> f64 {
    let mut mesh = Mesh::line(3);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut runs: Vec<PathBuf> = (0..3).map(|i| folder.path().join(i.to_string())).collect();
    for (i, run) in runs.iter().enumerate() {
        mesh.start(i, "dsr", &[&format!("run={}", run.display())]);
    }
    mesh.ping(0, 2, 1);
    let ping = mesh.start_ping(0, 2);
    thread::sleep(Duration::from_millis(after_ms));
    mesh.kill(1);
    // Its neighbours go on.
    thread::sleep(Duration::from_secs(2));
    drop(ping);
    runs.push(folder.path().join("again"));
    mesh.start(1, "dsr", &[&format!("run={}", runs[3].display())]);
    mesh.ping(0, 2, 1);
    let (_, _, _) = (mesh.end(0), mesh.end(1), mesh.end(2));
    let merged = folder.path().join("merged");
    let done = Command::new(WAYHOP)
        .arg("merge")
        .args(&runs)
        .args(["--quiet", "--out"])
        .arg(&merged)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("1: the run was killed; recorded up to"), "{said}");
    let merged = RunDir::open(&merged, CLASSIFIER).unwrap();
    // Packets that came over the relay, by when; and when it had which.
    let (mut arrived, mut passed, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    Tables::of(&merged, "dsr")
        .packets(&mut |e| {
            match (e.node.0, e.kind) {
                (0 | 2, HopKind::Deliver) => arrived.push((e.time, e.packet)),
                (1, _) => {
                    passed.insert(e.packet);
                    seen.insert(e.time);
                }
                _ => {}
            }
            Ok(())
        })
        .unwrap();
    // The last before the silence, and those that the relay carried after its second start.
    arrived.sort_unstable_by_key(|(at, _)| *at);
    let is_silence = |w: &[(Time, _)]| w[1].0.as_secs_f64() - w[0].0.as_secs_f64() > 1.0;
    let again = arrived.split_off(1 + arrived.windows(2).rposition(is_silence).expect("a silence"));
    assert!(again.iter().all(|(_, packet)| passed.contains(packet)), "the relay's second record counts, too");
    let end = arrived.last().unwrap().0;
    let due = |at: Time| at.as_secs_f64() < end.as_secs_f64() - 5.0;
    let missing = arrived.iter().filter(|(at, packet)| due(*at) && !passed.contains(packet)).count();
    let asked = arrived.iter().filter(|(at, _)| due(*at)).count();
    assert!(
        missing == 0 && asked > 10,
        "{missing} of {asked} packets that the relay carried are not in its record"
    );
    assert!(recover(&runs[1], CLASSIFIER).unwrap().is_some());
    let last = seen.range(..=end).next_back().unwrap();
    end.as_secs_f64() - last.as_secs_f64()
}

#[test]
fn a_killed_field_node_is_merged_and_misses_five_seconds_at_most() {
    skip_without_root!();
    let lost = [6_300, 7_700, 9_200].map(relay_lost_s);
    eprintln!("the relay's records end {lost:.1?} s before its last packet");
    assert!(lost.iter().all(|s| *s < 5.0), "{lost:?}");
}
