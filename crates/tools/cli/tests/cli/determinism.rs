//! The same scenario and the same seed are the same run.

use std::path::Path;

use crate::{data, folder, hash, run_in};

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

/// More than can see each other, and each says hello: threads have something to do.
const WIDE: &str = "duration_s = 0.5\nnodes.count = 4200\narea = { x_m = 12000, y_m = 3000 }\n\
                    movement = { kind = \"random-waypoint\", speed_max_mps = 20 }\n\
                    protocol = { name = \"aodv\", hello = \"always\" }\n";

#[test]
fn a_run_with_threads_has_the_same_tables_and_one_that_cannot_have_them_warns() {
    let dir = folder(&[("wide.toml", WIDE)]);
    for threads in ["1", "2", "3"] {
        let run = run_in(dir.path(), &["run", "wide.toml", "--threads", threads, "--out", threads]);
        assert!(!run.err.contains("--threads"), "{}", run.err);
        run.ok();
    }
    for table in ["packets", "events", "sizes", "counters"] {
        let octets =
            |run: &str| std::fs::read(dir.path().join(run).join(format!("{table}.parquet"))).expect(table);
        assert!(octets("1") == octets("2") && octets("1") == octets("3"), "{table}");
    }
    for (options, why) in [
        (&["--set", "nodes.count=50"][..], "one thread simulates 50 nodes; more gain from 4096 nodes on"),
        (&["--captures"], "one thread simulates this scenario; more do not support captures and receptions"),
    ] {
        let run =
            run_in(dir.path(), &[&["run", "wide.toml", "--threads", "2", "--out", "one"], options].concat());
        assert!(run.err.contains(&format!("--threads: {why}")), "{}", run.err);
    }
}
