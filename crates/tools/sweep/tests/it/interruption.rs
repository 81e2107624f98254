//! Interrupting a sweep.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use wayhop_sweep::{ChartRequest, Plan, chart, go, made};

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

#[test]
fn finished_runs_have_the_labels_that_the_resumed_plan_gives_them() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = "duration_s = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n\
        [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 5\nstart_s = 0\n";
    fs::write(dir.path().join("s.toml"), scenario).unwrap();
    let out = dir.path().join("out");
    let run = |small: &str, seeds: u32| {
        let file = dir.path().join("plan.toml");
        let plan = format!(
            "name = \"p\"\nscenario = \"s.toml\"\nseeds = {{ count = {seeds} }}\nmetrics = [\"totals.sent\"]\n\
             [[axis]]\nname = \"size\"\nset = [{{ label = {small:?}, set = {{ nodes.count = 2 }} }}, \
             {{ label = \"large\", set = {{ nodes.count = 3 }} }}]\n"
        );
        fs::write(&file, plan).unwrap();
        go(&Plan::load(&file).unwrap(), &out, 1, &AtomicBool::new(false), |_, _| (), |_| ()).unwrap()
    };
    run("tiny", 1);
    let outcome = run("small", 2);
    assert_eq!((outcome.found, outcome.done), (2, 4), "a label is no part of a result");
    assert_eq!(made(&out).unwrap().unwrap().values, [["small", "large"]]);
    let drawn = chart(&out, &ChartRequest { x: Some("size".to_owned()), ..ChartRequest::default() }).unwrap();
    assert_eq!(drawn.figure.panels[0].plot.x.names, ["small", "large"]);
}
