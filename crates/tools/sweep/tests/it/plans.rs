//! Valid and invalid plans.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use wayhop_sweep::Plan;

fn sets(text: &str) -> Vec<String> {
    Plan::from_text(text).unwrap().runs().unwrap().iter().map(|r| r.sets.join(" ")).collect()
}

#[test]
fn every_combination_is_a_run_with_the_seeds_innermost() {
    let plan = "scenario = \"s.toml\"\nseeds = [3, 5]\nset = { duration_s = 10, radio.tx_power_dbm = 20.5 }\n\
        [[axis]]\nname = \"protocol\"\nkey = \"protocol.name\"\nvalues = [\"dsr\", \"aodv\"]\n\
        [[axis]]\nname = \"speed\"\nset = [{ label = \"fast\", set = { movement.speed_factor = 5, duration_s = 2 } }]\n";
    let base = "duration_s=10 radio.tx_power_dbm=20.5";
    let fast = ["duration_s=2", "movement.speed_factor=5"];
    let runs = sets(plan);
    assert_eq!(runs.len(), 4);
    for (run, (protocol, seed)) in runs.iter().zip([("dsr", 3), ("dsr", 5), ("aodv", 3), ("aodv", 5)]) {
        assert!(run.starts_with(&format!("{base} protocol.name=\"{protocol}\" ")), "{run}");
        assert!(fast.iter().all(|f| run.contains(f)) && run.ends_with(&format!(" seed={seed}")), "{run}");
    }
    assert_eq!(sets("scenario = \"s.toml\"\n"), ["seed=1"]);
}

#[test]
fn files_are_values_in_the_order_of_their_names() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["p2.tcl", "p1.v2.tcl.gz", "q.tcl"] {
        fs::write(dir.path().join(name), "").unwrap();
    }
    let plan = dir.path().join("plan.toml");
    fs::write(
        &plan,
        "scenario = \"s.toml\"\n[[axis]]\nname = \"pattern\"\nkey = \"movement.path\"\nfiles = [\"p*.tcl*\", \"q.tcl\"]\n",
    )
    .unwrap();
    let runs = Plan::load(&plan).unwrap().runs().unwrap();
    assert_eq!(runs.iter().map(|r| r.labels[0].as_str()).collect::<Vec<_>>(), ["p1.v2", "p2", "q"]);
    let way = runs[1].sets[0].strip_prefix("movement.path=\"").unwrap().trim_end_matches('"');
    assert!(Path::new(way).is_absolute() && Path::new(way).is_file(), "{way}");
}

#[test]
fn a_wrong_plan_is_refused_with_line_key_and_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plan.toml");
    let axis = "[[axis]]\nname = \"a\"\n";
    for (text, message) in [
        (
            "seeds = [1]\n".to_owned(),
            "the key `scenario` is missing; add scenario; see docs/reference/sweep.md for all keys",
        ),
        ("scenario = \"s\"\nseed = [1]\n".into(), "2:1: unknown key `seed`; expected one of "),
        (
            format!("scenario = \"s\"\n{axis}"),
            "3:1: axis[0].name: axis \"a\" needs exactly one of values, files and set; give one of them",
        ),
        (
            format!("scenario = \"s\"\n{axis}values = [1]\n"),
            "3:1: axis[0].name: values without a key; add the key of the scenario for these values",
        ),
        (
            format!("scenario = \"s\"\n{axis}key = \"duration_s\"\nvalues = [1, 1]\n"),
            "3:1: axis[0].name: two values of axis \"a\" are named \"1\"; give each value once; set = [{ label, set }] \
             gives labels",
        ),
        (
            format!("scenario = \"s\"\n{axis}key = \"movement.path\"\nfiles = [\"none*\"]\n"),
            "5:10: axis[0].files[0]: \"none*\" matches no file; names are relative to the plan's folder, and may contain * \
             in the last part",
        ),
        (
            format!("scenario = \"s\"\n{axis}key = \"seed\"\nvalues = [1]\n"),
            "4:1: axis[0].key: seeds cannot be an axis; use the key seeds",
        ),
        ("scenario = \"s\"\nseeds = []\n".into(), "2:1: seeds: empty list; give at least one: seeds = [1]"),
        (
            "scenario = \"s\"\nseeds = [4, 4]\n".into(),
            "2:1: seeds: a seed is given twice; give each seed once",
        ),
        (
            "scenario = \"s\"\nseeds = { count = 99999999999 }\n".into(),
            "2:11: seeds.count: more than 100000 seeds; give fewer",
        ),
        (
            "scenario = \"s\"\ncompare = \"b\"\n".into(),
            "2:1: compare: no axis \"b\" to compare along; remove it, or add an axis that is not a replicate",
        ),
        (
            format!("scenario = \"s\"\ncompare = \"b\"\n{axis}key = \"duration_s\"\nvalues = [1]\n"),
            "2:1: compare: no axis \"b\" to compare along; give one of: a",
        ),
        (
            "scenario = \"s\"\nseeds = { frist = 1, count = 2 }\n".into(),
            "2:9: seeds are a list of whole numbers from 0, such as [1, 2, 3], or a first seed and a count, such as { \
             first = 1, count = 10 }",
        ),
        ("scenario = \"s\"\nseeds = [1, -1]\n".into(), "2:9: seeds are a list of whole numbers from 0"),
        (
            "scenario = \"s\"\nmetrics = []\n".into(),
            "2:1: metrics: empty list; give a metric, or remove the key",
        ),
        (
            "scenario = \"s\"\nmetrics = [\"a\", \"a\"]\n".into(),
            "2:1: metrics: \"a\" is given twice; give each figure once",
        ),
        (
            format!(
                "scenario = \"s\"\n{axis}key = \"duration_s\"\nvalues = [1]\n[[axis]]\nname = \"b\"\n\
                 set = [{{ label = \"x\", set = {{ duration_s = 2 }} }}]\n"
            ),
            "7:1: axis[1].name: the axis \"a\" also sets duration_s; set each key in one axis only",
        ),
        (
            "scenario = \"s\"\nmetrics = [\"totals..x\"]\n".into(),
            "2:12: metrics[0]: \"totals..x\" is not the path of a figure; give the path of a number, such as \
             totals.goodput_bps",
        ),
    ] {
        fs::write(&path, &text).unwrap();
        let e = Plan::load(&path).and_then(|p| p.runs()).unwrap_err().to_string();
        let found = e.strip_prefix(&format!("{}:", path.display())).unwrap_or(&e);
        assert!(found.trim_start().contains(message), "{text}\n{e}\n{message}");
    }
}

#[test]
fn too_many_runs_are_refused_before_they_are_listed() {
    let values: Vec<String> = (0..400).map(|v| v.to_string()).collect();
    let axis =
        |n: u32| format!("[[axis]]\nname = \"{n}\"\nkey = \"k{n}\"\nvalues = [{}]\n", values.join(","));
    let text = format!("scenario = \"s\"\n{}{}{}", axis(1), axis(2), axis(3));
    let e = Plan::from_text(&text).unwrap().runs().unwrap_err().to_string();
    assert!(e.contains("axis: more than 100000 runs; split the plan"), "{e}");
}

proptest! {
    #[test]
    fn any_text_is_a_plan_or_refused(
        lines in proptest::collection::vec(
            "(seeds = \\[[0-9,]{0,6}\\]|set = \\{ ?[a-z.]{0,4} ?= ?[0-9]{0,2} ?\\}|\\[\\[axis\\]\\]|name = \"[ab]?\"|key = \"[a-z.]{0,5}\"|values = \\[[0-9\", a-c]{0,9}\\]|files = \\[\"[*a-z/.]{0,6}\"\\]|replicate = true|compare = \"[ab]\"|[a-z= \"\\[\\]{}0-9.]{0,12})",
            0..9,
        ),
    ) {
        let text = format!("scenario = \"s\"\n{}", lines.join("\n"));
        if let Ok(runs) = Plan::from_text(&text).and_then(|p| p.runs()) {
            prop_assert!(!runs.is_empty());
            prop_assert!(runs.iter().all(|r| r.sets.iter().all(|s| s.contains('='))));
        }
    }
}
