//! Where runs are written, and errors there.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{Ran, data, folder, manifest, run_in};

#[test]
fn without_a_name_a_run_is_in_runs_by_scenario_protocol_and_seed() {
    let dir = folder(&[]);
    run_in(dir.path(), &["run", &data("walk.toml"), "--seed", "7", "--duration", "1"]).ok();
    assert_eq!(manifest(&dir.path().join("runs/walk-dsr-7"))["status"], "complete");
}

#[test]
fn a_name_with_slashes_stays_below_runs() {
    let dir = folder(&[]);
    let args = ["run", &data("walk.toml"), "--set", "name=../../up", "--duration", "1", "--quiet"];
    run_in(dir.path(), &args).ok();
    let runs: Vec<_> = fs::read_dir(dir.path().join("runs")).expect("runs").collect();
    assert_eq!(runs.len(), 1);
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1);
}

#[test]
fn a_directory_with_other_things_in_it_is_refused_and_left_alone() {
    let dir = folder(&[]);
    let thesis = dir.path().join("mine/thesis.tex");
    fs::create_dir(dir.path().join("mine")).expect("a directory");
    fs::write(&thesis, "years").expect("a file");
    let message = run_in(dir.path(), &["run", &data("walk.toml"), "--out", "mine"]).failure(2);
    assert!(
        message.contains("mine: contains files that do not belong to a run") && message.contains("--out"),
        "{message}"
    );
    assert_eq!(fs::read_dir(dir.path().join("mine")).expect("a directory").count(), 1);
    assert_eq!(fs::read_to_string(thesis).expect("still there"), "years");
}

#[test]
fn a_file_in_the_way_is_refused() {
    let dir = folder(&[("file", "x")]);
    let walk = data("walk.toml");
    let message = run_in(dir.path(), &["run", &walk, "--out", "file"]).failure(2);
    assert!(message.contains("file: not a directory; choose a new or empty directory"), "{message}");
    let message = run_in(dir.path(), &["run", &walk, "--out", "file/below"]).failure(1);
    assert!(message.contains("cannot create file/below"), "{message}");
    assert_eq!(fs::read_to_string(dir.path().join("file")).expect("still there"), "x");
}

/// Runs the walk into a tmpfs mounted with these options, and returns what it printed and the directory it left behind.
fn on_a_disk(options: &str) -> (Ran, tempfile::TempDir) {
    let dir = folder(&[]);
    fs::create_dir(dir.path().join("disk")).expect("a directory");
    // A namespace of its own: the mount is seen by nobody else, and is gone when the shell is.
    let script = "mount -t tmpfs -o \"$1\" none disk || exit 99
        \"$2\" run \"$3\" --captures --ns2-trace --out disk/r; status=$?
        cp -r disk left; exit $status";
    let shell = |user: &[&str]| {
        let inside =
            ["--mount", "sh", "-c", script, "sh", options, env!("CARGO_BIN_EXE_wayhop"), &data("walk.toml")];
        Command::new("unshare").args(user).args(inside).current_dir(dir.path()).output().expect("unshare")
    };
    let mut output = shell(&[]);
    if !dir.path().join("left").exists() {
        output = shell(&["--user", "--map-root-user"]);
    }
    assert!(
        dir.path().join("left").exists(),
        "this test mounts a small disk, for which it needs root or user namespaces: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    (Ran::of(&output), dir)
}

#[test]
fn a_full_disk_leaves_a_readable_part_of_the_run_needs_root() {
    for size in ["500k", "700k"] {
        let (ran, dir) = on_a_disk(&format!("size={size}"));
        let message = ran.failure(1);
        assert!(message.contains("No space left") && message.contains("free some space"), "{message}");
        let run = dir.path().join("left/r");
        let manifest = manifest(&run);
        assert_eq!(manifest["status"], "failed", "{size}");
        assert!(manifest["error"].as_str().expect("a reason").contains("No space left"));
        assert!(run.join("summary.json").exists(), "{size}");
        for table in ["packets", "positions", "flows", "nodes"] {
            let csv = run_in(dir.path(), &["export", "csv", "left/r", table]).ok();
            assert!(csv.lines().count() > 5, "{size}: {table}");
        }
        let hidden: Vec<_> = names(&run).into_iter().filter(|n| n.starts_with('.')).collect();
        assert!(hidden.is_empty(), "{hidden:?}");
    }
}

#[test]
fn a_disk_without_room_for_a_beginning_is_said_to_be_full_needs_root() {
    let (ran, dir) = on_a_disk("size=64k");
    let message = ran.failure(1);
    assert!(message.contains("No space left on device"), "{message}");
    let run = dir.path().join("left/r");
    assert_eq!(manifest(&run)["status"], "failed");
    assert_eq!(names(&run), ["manifest.json"]);
}

#[test]
fn a_disk_that_may_not_be_written_to_is_said_to_be_one_needs_root() {
    let (ran, _dir) = on_a_disk("ro");
    let message = ran.failure(1);
    assert!(message.contains("Read-only file system") && message.contains("--out"), "{message}");
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}
