//! Where runs are kept, and what replaces them.

use std::path::Path;

use serde_json::Value;

use crate::{folder, manifest, run_in, summary_of};

const SCENARIO: &str = "duration_s = 5\nnodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 150 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\n";

fn stored(dir: &Path, run: &str) -> Value {
    let text = std::fs::read(dir.join("runs").join(run).join("summary.json")).expect("a summary");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn a_run_with_other_settings_gets_a_name_of_its_own_and_the_same_one_the_same() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let first = summary_of(dir.path(), &["s.toml"]);
    let other = summary_of(dir.path(), &["s.toml", "--set", "movement.spacing_m=240"]);
    assert_ne!(first["trace_hash"], other["trace_hash"]);
    let again = summary_of(dir.path(), &["s.toml"]);
    assert_eq!(first["trace_hash"], again["trace_hash"]);
    let third = run_in(dir.path(), &["run", "s.toml", "--duration", "4"]).ok();
    assert!(third.contains("saved in   runs/s-dsr-1-3\n"), "{third}");
    for (run, summary) in [("s-dsr-1", &first), ("s-dsr-1-2", &other)] {
        assert_eq!(stored(dir.path(), run)["trace_hash"], summary["trace_hash"], "{run}");
    }
    // A changed scenario is other settings, too, whatever it is called; and so is what the run is asked to find out.
    std::fs::write(dir.path().join("s.toml"), SCENARIO.replace("src = 0", "src = 1")).expect("written");
    summary_of(dir.path(), &["s.toml"]);
    summary_of(dir.path(), &["s.toml", "--topology"]);
    let mut runs: Vec<String> = std::fs::read_dir(dir.path().join("runs"))
        .expect("runs")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    runs.sort();
    assert_eq!(runs, ["s-dsr-1", "s-dsr-1-2", "s-dsr-1-3", "s-dsr-1-4", "s-dsr-1-5"]);
    assert_eq!(stored(dir.path(), "s-dsr-1")["trace_hash"], first["trace_hash"]);
}

#[test]
fn a_run_that_gives_way_to_out_is_told_and_takes_its_programs_output_along() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let run = |more: &[&str]| run_in(dir.path(), &[&["run", "s.toml", "--out", "run"], more].concat());
    assert!(!run(&[]).err.contains("replacing"));
    let outputs = ["programs/0-0.txt", "reports/0.jsonl"].map(|f| dir.path().join("run").join(f));
    for output in &outputs {
        std::fs::create_dir_all(output.parent().expect("a folder")).expect("made");
        std::fs::write(output, "of the older run").expect("written");
    }
    let told = run(&["--seed", "2"]).err;
    assert!(told.contains("replacing the run of 20") && told.contains(" in run\n"), "{told}");
    assert!(outputs.iter().all(|o| !o.exists()), "the older run's output is not this run's");
    assert_eq!(manifest(&dir.path().join("run"))["seed"], 2);
    assert!(!run(&["--seed", "3", "--quiet"]).err.contains("replacing"));
}
