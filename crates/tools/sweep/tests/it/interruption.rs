//! Interrupting a sweep.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use wayhop_sweep::{Plan, go};

#[test]
fn a_sweep_of_runs_too_short_to_be_broken_off_stops_between_them() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = "duration_s = 0.001\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n";
    fs::write(dir.path().join("s.toml"), scenario).unwrap();
    let plan = dir.path().join("plan.toml");
    fs::write(&plan, "scenario = \"s.toml\"\nseeds = { count = 20 }\nmetrics = [\"totals.sent\"]\n").unwrap();
    let plan = Plan::load(&plan).unwrap();
    let out = dir.path().join("out");
    let stop = AtomicBool::new(false);
    let third = |done: usize, _: usize| stop.store(done == 3, Ordering::Relaxed);
    let outcome = go(&plan, &out, 1, &stop, third, |_| ()).unwrap();
    assert_eq!((outcome.done, outcome.runs), (3, 20));
    assert_eq!(fs::read_to_string(out.join("runs.jsonl")).unwrap().lines().count(), 3);
    // And goes on where it stopped.
    let outcome = go(&plan, &out, 2, &AtomicBool::new(false), |_, _| (), |_| ()).unwrap();
    assert_eq!((outcome.found, outcome.done), (3, 20));
}
