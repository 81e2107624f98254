//! Sweeps in parts: by workers, by SLURM, by Dask, and by HyperQueue.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::emulate::{is_root, skip_without_root};
use crate::{Ran, folder, run_in, wayhop};

const SCENARIO: &str = "duration_s = 20\nnodes.count = 12\narea = { x_m = 600, y_m = 300 }\n\
    movement = { kind = \"random-waypoint\", speed_max_mps = 10 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n[[traffic]]\nkind = \"cbr\"\nsrc = 2\ndst = 3\n";
const PLAN: &str = "scenario = \"s.toml\"\nseeds = { count = 10 }\n\
    [[axis]]\nname = \"protocol\"\nkey = \"protocol.name\"\nvalues = [\"dsr\", \"aodv\"]\n";
/// The folder of the results.
const DIR: &str = "runs/sweep-plan";

fn plan() -> TempDir {
    folder(&[("s.toml", SCENARIO), ("plan.toml", PLAN)])
}

fn file(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(DIR).join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A plan whose runs take a while.
fn longer() -> TempDir {
    folder(&[("s.toml", &SCENARIO.replace("= 20", "= 2000")), ("plan.toml", PLAN)])
}

/// The tables of one machine.
fn tables_of_one_machine(dir: &TempDir) -> [String; 2] {
    run_in(dir.path(), &["sweep", "plan.toml", "--quiet"]).ok();
    ["table.csv", "differences.csv"].map(|name| file(dir.path(), name))
}

/// Each run of the plan is there once, and the tables are those of one machine, byte for byte.
fn is_whole(dir: &Path, alone: &TempDir) {
    let lines = file(dir, "runs.jsonl");
    let mut ids: Vec<&str> = lines.lines().map(|l| l.split_once("\"id\":\"").unwrap().1).collect();
    ids.sort_unstable();
    ids.dedup_by_key(|id| id[..20].to_owned());
    assert_eq!((lines.lines().count(), ids.len()), (20, 20));
    assert_eq!(["table.csv", "differences.csv"].map(|name| file(dir, name)), tables_of_one_machine(alone));
}

fn chunk_files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join(DIR).join("chunks")).into_iter().flatten();
    entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "jsonl")).collect()
}

/// What `--prepare` prints.
fn prepare(dir: &Path) -> Value {
    run_in(dir, &["sweep", "plan.toml", "--prepare"]).json()
}

#[test]
fn parts_of_a_sweep_make_the_tables_of_the_whole() {
    let dir = plan();
    let told = prepare(dir.path());
    assert_eq!((&told["runs"], &told["done"]), (&20.into(), &0.into()));
    assert_eq!(told["left"].as_array().unwrap().len(), 20);
    assert!(told["run_s"].as_f64().is_some_and(|s| s > 0.0), "{told}");
    for part in ["1/3", "2/3"] {
        run_in(dir.path(), &["sweep", "runs/sweep-plan/plan.toml", "--chunk", part, "--quiet"]).ok();
    }
    assert_eq!(chunk_files(dir.path()).len(), 2);
    // Nothing is repeated, before a merge and after it.
    let again = run_in(dir.path(), &["sweep", "plan.toml", "--chunk", "1/3"]);
    assert!(again.err.contains("7 of 7 runs of the chunk, 7 of them from earlier"), "{}", again.err);
    let check = run_in(dir.path(), &["sweep", "plan.toml", "--check"]).ok();
    assert!(check.contains("20, 14 of them finished"), "{check}");
    let e = run_in(dir.path(), &["sweep", "plan.toml", "--merge", "--quiet"]).failure(1);
    assert!(e.contains("6 of 20 runs are missing; run the workers again, or here: wayhop sweep"), "{e}");
    assert!(chunk_files(dir.path()).is_empty(), "they are in runs.jsonl");
    let again = run_in(dir.path(), &["sweep", "plan.toml", "--chunk", "2/3"]);
    assert!(again.err.contains("7 of 7 runs of the chunk, 7 of them from earlier"), "{}", again.err);
    // The sweep itself merges, too, and runs the rest.
    run_in(dir.path(), &["sweep", "plan.toml", "--chunk", "3/3", "--quiet"]).ok();
    let whole = run_in(dir.path(), &["sweep", "plan.toml"]).ok();
    assert!(whole.starts_with("20 of 20 runs, 20 of them from earlier"), "{whole}");
    is_whole(dir.path(), &plan());
}

#[test]
fn a_worker_without_the_folder_makes_runs_from_copies_of_the_files_and_hands_back_lines() {
    let (here, there) = (plan(), plan());
    let told = prepare(here.path());
    let left: Vec<&str> = told["left"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
    let files = told["files"].as_array().unwrap();
    assert!(files.len() == 1 && files[0].as_str().unwrap().ends_with("/s.toml"), "{files:?}");
    fs::write(there.path().join("list"), left[3..9].join("\n")).unwrap();
    let arguments = ["sweep", "plan.toml", "--chunk", "list", "--results", "-", "--quiet"];
    let lines = run_in(there.path(), &arguments).ok();
    assert_eq!(lines.lines().count(), 6);
    assert!(!there.path().join("runs").exists(), "nothing is written");
    fs::create_dir(here.path().join(DIR).join("chunks")).unwrap();
    fs::write(here.path().join(DIR).join("chunks/a.jsonl"), &lines).unwrap();
    assert_eq!(prepare(here.path())["left"].as_array().unwrap().len(), 14);
    // With another scenario the runs would be others: they are refused before any is made.
    fs::write(there.path().join("s.toml"), SCENARIO.replace("600", "700")).unwrap();
    let e = run_in(there.path(), &arguments).failure(2);
    assert!(e.contains("run 4 has the id") && e.contains("differ from the coordinator's"), "{e}");
    for list in ["99 abc", "nonsense"] {
        fs::write(there.path().join("list"), list).unwrap();
        run_in(there.path(), &arguments).failure(2);
    }
}

#[test]
fn a_run_that_two_machines_disagree_about_names_both() {
    let dir = plan();
    run_in(dir.path(), &["sweep", "plan.toml", "--chunk", "1/2", "--quiet"]).ok();
    let first = chunk_files(dir.path()).remove(0);
    let text = fs::read_to_string(&first).unwrap();
    let host: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let host = host["host"].as_str().unwrap().to_owned();
    // The same runs of another machine are merged once ...
    let other = text.replace(&format!("\"host\":\"{host}\""), "\"host\":\"second\"");
    fs::write(first.with_file_name("copy.jsonl"), &other).unwrap();
    assert_eq!(prepare(dir.path())["done"], 10);
    assert_eq!(file(dir.path(), "runs.jsonl").lines().count(), 10);
    // ... and not if their traces differ.
    let hash = text.split_once("\"trace_hash\":\"").unwrap().1[..8].to_owned();
    let wrong = other.replace(&format!("\"trace_hash\":\"{hash}"), "\"trace_hash\":\"00000000");
    fs::write(first.with_file_name("copy.jsonl"), wrong).unwrap();
    let e = run_in(dir.path(), &["sweep", "plan.toml", "--merge"]).failure(1);
    let first_machine = format!("on {host} and");
    for words in [first_machine.as_str(), "on second (", "has the trace hash", "copy.jsonl"] {
        assert!(e.contains(words), "{words}: {e}");
    }
    assert!(first.with_file_name("copy.jsonl").exists(), "it is left for the user");
}

#[test]
fn results_of_another_version_are_ignored_by_name() {
    let dir = plan();
    run_in(dir.path(), &["sweep", "plan.toml", "--chunk", "1/2", "--quiet"]).ok();
    let path = chunk_files(dir.path()).remove(0);
    let text = fs::read_to_string(&path).unwrap();
    let ours = text.split_once("\"wayhop\":\"").unwrap().1.split_once('"').unwrap().0;
    let old = text.replace(&format!("\"wayhop\":\"{ours}\""), "\"wayhop\":\"0.1.0\"");
    // A worker that was killed leaves a piece of a line.
    fs::write(&path, old + "{\"wayhop\":\"0.1").unwrap();
    let merged = run_in(dir.path(), &["sweep", "plan.toml", "--prepare"]);
    assert!(merged.err.contains("ignoring 10 runs by Wayhop 0.1.0 on "), "{}", merged.err);
    assert_eq!(merged.json()["done"], 0);
    assert!(path.exists());
}

#[test]
fn a_chunk_stops_when_its_worker_dies() {
    let dir = folder(&[("s.toml", &SCENARIO.replace("= 20", "= 100000")), ("plan.toml", PLAN)]);
    let told = prepare(dir.path());
    let mut child = wayhop()
        .args(["sweep", "plan.toml", "--chunk", "-", "--results", "-", "--quiet", "--jobs", "1"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut input = child.stdin.take().unwrap();
    let list = format!("{}\n\n", told["left"][0].as_str().unwrap());
    std::io::Write::write_all(&mut input, list.as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it runs as long as its input is open");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn an_engine_that_is_unknown_or_lacks_python_is_refused_with_a_remedy() {
    let dir = plan();
    let e = run_in(dir.path(), &["sweep", "plan.toml", "--on", "ray"]).failure(2);
    assert!(e.contains("--on ray: unknown engine; give dask:ADDRESS"), "{e}");
    let output = wayhop()
        .args(["sweep", "plan.toml", "--on", "slurm"])
        .env("WAYHOP_PYTHON", "python-of-nowhere")
        .current_dir(dir.path())
        .output();
    let e = Ran::of(&output.unwrap()).failure(2);
    assert!(e.contains("python-of-nowhere -m pip install wayhop"), "{e}");
}

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../..", path].iter().collect()
}

#[test]
fn a_script_for_slurm_runs_the_plan_as_an_array_of_jobs() {
    skip_without_root!();
    let dir = plan();
    let script = run_in(dir.path(), &["sweep", "plan.toml", "--slurm-script"]).ok();
    assert!(script.contains("#SBATCH --array=1-1\n"), "half a minute of work is one job: {script}");
    // More jobs, so that there is something to divide.
    let script = script.replace("--array=1-1", "--array=1-5").replace("_ID/1", "_ID/5");
    fs::write(dir.path().join("job.sh"), script).unwrap();
    let output = Command::new(repository("bench/slurm"))
        .args(["slurm", "sbatch", "--wait", "job.sh"])
        .current_dir(dir.path())
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{output:?}\n{}", file(dir.path(), "slurm-1.log"));
    assert_eq!(chunk_files(dir.path()).len(), 5);
    run_in(dir.path(), &["sweep", "runs/sweep-plan/plan.toml", "--merge", "--quiet"]).ok();
    is_whole(dir.path(), &plan());
}

/// Runs a script of `python/tests` with these arguments, and returns what it told. None without the packages of the tests.
fn by_python(dir: &TempDir, script: &str, arguments: &[&str]) -> Option<String> {
    let python = repository("target/python/bin/python3");
    if !python.is_file() {
        assert!(std::env::var_os("CI").is_none(), "Python's packages are missing: run .ci/install fixtures");
        return None;
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_wayhop")).parent().expect("a folder");
    let output = Command::new(&python)
        .arg(repository("python/tests").join(script))
        .args(arguments)
        .env("PYTHONPATH", repository("python"))
        .env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").expect("a path")))
        .current_dir(dir.path())
        .output()
        .expect("Python");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    Some(told)
}

/// A sweep over Dask in which something fails.
fn over_dask(dir: &TempDir, what: &str) -> Option<String> {
    by_python(dir, "dask_sweep.py", &[env!("CARGO_BIN_EXE_wayhop"), what])
}

#[test]
fn the_parts_of_a_sweep_are_tasks_of_hyperqueue() {
    let dir = plan();
    if by_python(&dir, "hyperqueue_sweep.py", &["5"]).is_none() {
        return;
    }
    assert_eq!(chunk_files(dir.path()).len(), 5);
    run_in(dir.path(), &["sweep", "runs/sweep-plan/plan.toml", "--merge", "--quiet"]).ok();
    is_whole(dir.path(), &plan());
}

#[test]
fn dask_runs_a_sweep_although_workers_die_differ_or_have_no_space() {
    let dir = longer();
    let Some(told) = over_dask(&dir, "workers") else { return };
    assert!(told.contains("wayhop 0.1.0 is installed, not wayhop"), "{told}");
    // The full disk needs a file system of its own.
    assert!(told.contains("the disk is full") || !is_root(), "{told}");
    is_whole(dir.path(), &longer());
}

#[test]
fn dask_completes_a_sweep_whose_coordinator_was_killed() {
    let dir = longer();
    if over_dask(&dir, "coordinator").is_some() {
        is_whole(dir.path(), &longer());
    }
}
