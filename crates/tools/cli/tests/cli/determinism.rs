//! The same scenario and the same seed are the same run.

use std::path::Path;

use crate::{data, folder, hash};

fn whatever_is_written_and_from_wherever(protocol: &str) {
    let dir = folder(&[]);
    let walk = data("walk.toml");
    let run = |args: &[&str], from: &Path| hash(from, &[&[&walk, "--protocol", protocol], args].concat());
    let first = run(&["--no-out"], dir.path());
    assert_eq!(run(&["--no-out"], dir.path()), first, "again");
    assert_eq!(run(&["--out", "plain"], dir.path()), first, "with tables");
    assert_eq!(run(&["--out", "captures", "--captures"], dir.path()), first, "with captures");
    assert_eq!(run(&["--out", "trace", "--ns2-trace"], dir.path()), first, "with a trace of ns-2's");
    assert_eq!(run(&["--no-out"], Path::new("/")), first, "from another directory");
    #[cfg(target_os = "linux")]
    assert_eq!(run(&["--no-out", "--pace", "50"], dir.path()), first, "at the speed of those who follow it");
    assert_ne!(run(&["--no-out", "--seed", "2"], dir.path()), first, "another seed is another run");
}

#[test]
fn dsr_runs_are_the_same_whatever_is_written_and_from_wherever() {
    whatever_is_written_and_from_wherever("dsr");
}

#[test]
fn aodv_runs_are_the_same_whatever_is_written_and_from_wherever() {
    whatever_is_written_and_from_wherever("aodv");
}
