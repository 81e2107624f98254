//! Sweeps from the command line: axes, seeds, and the files of each run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Ran, folder, manifest, run_in, wayhop};

const SCENARIO: &str = "duration_s = 8\nnodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 150 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\n";
const VARY: [&str; 6] =
    ["--vary", "protocol.name=dsr,aodv", "--vary", "movement.spacing_m=150,200", "--seeds", "3..4"];

fn json(dir: &Path, args: &[&str]) -> Value {
    run_in(dir, &[args, &["--json", "--quiet"]].concat()).json()
}

fn ids(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("runs.jsonl")).unwrap();
    let id = |l: &str| serde_json::from_str::<Value>(l).unwrap()["id"].as_str().unwrap().to_owned();
    let mut all: Vec<String> = text.lines().map(id).collect();
    all.sort();
    all
}

#[test]
fn axes_on_the_command_line_make_a_plan_that_makes_the_same_runs() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    let told = json(d, &[&["sweep", "s.toml"][..], &VARY, &["--metric", "delivery_ratio"]].concat());
    assert_eq!((&told["runs"], &told["done"]), (&8.into(), &8.into()));
    assert_eq!(told["cells"][3]["at"]["protocol.name"], "aodv");
    assert_eq!(told["cells"][3]["at"]["movement.spacing_m"], "200");
    assert_eq!(told["cells"][0]["metrics"]["totals.delivery_ratio"]["runs"], 2);
    let results = d.join("runs/sweep-s");
    // The plan goes on where it is, from anywhere, and elsewhere makes the same runs.
    let again = json(Path::new("/"), &["sweep", results.join("plan.toml").to_str().unwrap()]);
    assert_eq!((&again["found"], &again["cells"]), (&8.into(), &told["cells"]));
    json(d, &["sweep", "runs/sweep-s/plan.toml", "--out", "elsewhere"]);
    assert_eq!(ids(&d.join("elsewhere")), ids(&results));
    let plans = [&results, &d.join("elsewhere")].map(|r| fs::read_to_string(r.join("plan.toml")).unwrap());
    assert!(
        plans[0].contains("scenario = \"../../s.toml\"") && plans[1].contains("scenario = \"../s.toml\"")
    );
    // Fewer values, more seeds: what is there is not made again.
    let more =
        json(d, &["sweep", "runs/sweep-s/plan.toml", "--seeds", "4..5", "--vary", "protocol.name=dsr"]);
    assert_eq!((&more["runs"], &more["found"]), (&4.into(), &2.into()));
}

#[test]
fn a_plan_is_written_with_what_the_command_line_says_and_else_left_alone() {
    let plan = "# mine\nscenario = \"../s.toml\"\nseeds = { count = 2 }\n[[axis]]\nname = \"rate\"\n\
        key = \"traffic.0.rate_pps\"\nvalues = [2, 4]\n";
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    fs::create_dir(d.join("plans")).unwrap();
    fs::write(d.join("plans/plan.toml"), plan).unwrap();
    assert_eq!(json(d, &["sweep", "plans/plan.toml", "--out", "plans"])["done"], 4);
    assert_eq!(fs::read_to_string(d.join("plans/plan.toml")).unwrap(), plan);
    assert_eq!(json(d, &["sweep", "plans/plan.toml", "--vary", "rate=2"])["found"], 2);
    let text = fs::read_to_string(d.join("plans/plan.toml")).unwrap();
    assert!(text.contains("values = [2]") && text.contains("scenario = \"../s.toml\""), "{text}");
}

#[test]
fn tables_and_captures_are_made_on_request_and_for_runs_that_have_none() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    let sweep = |more: &[&str]| json(d, &[&["sweep", "s.toml"][..], &VARY, more].concat());
    let run = d.join("runs/sweep-s/runs/aodv-200-seed-4");
    assert_eq!(sweep(&[])["recorded_bytes"], Value::Null);
    assert!(!run.exists(), "only on request");
    let told = sweep(&["--tables"]);
    assert_eq!(told["found"], 0, "runs without tables are made again");
    assert!(told["recorded_bytes"].as_u64().unwrap() > 8 * 10_000, "{told}");
    assert!(run.join("packets.parquet").is_file() && !run.join("captures").exists());
    assert_eq!(ids(&d.join("runs/sweep-s")).len(), 8, "and have one line");
    // Each is what `wayhop run` leaves.
    let set =
        ["--set", "protocol.name=aodv", "--set", "movement.spacing_m=200", "--seed", "4", "--out", "alone"];
    run_in(d, &[&["run", "s.toml"][..], &set].concat()).ok();
    for table in ["packets", "outcomes", "flows"] {
        let file = format!("{table}.parquet");
        assert_eq!(
            fs::read(run.join(&file)).unwrap(),
            fs::read(d.join("alone").join(&file)).unwrap(),
            "{table}"
        );
    }
    assert_eq!(manifest(&run)["scenario"], manifest(&d.join("alone"))["scenario"]);
    assert_eq!(sweep(&["--tables"])["found"], 8);
    // One that was lost, one that was broken off and one of another scenario are made again, no others.
    let of = |name: &str| d.join("runs/sweep-s/runs").join(name);
    fs::remove_dir_all(of("dsr-150-seed-3")).unwrap();
    let path = of("dsr-150-seed-4").join("manifest.json");
    let text = fs::read_to_string(&path).unwrap().replace("\"complete\"", "\"interrupted\"");
    fs::write(&path, text).unwrap();
    run_in(d, &["run", "s.toml", "--seed", "9", "--out", of("dsr-200-seed-3").to_str().unwrap()]).ok();
    assert_eq!(sweep(&["--tables"])["found"], 5);
    assert_eq!(sweep(&["--captures"])["found"], 0);
    assert!(run.join("captures/2.pcapng").is_file() && run.join("packets.parquet").is_file());
    assert_eq!(sweep(&["--tables"])["found"], 8, "captures do no harm");
    let text = run_in(d, &[&["sweep", "s.toml", "--quiet"][..], &VARY].concat()).ok();
    assert_eq!(text, "");
    let text = run_in(d, &[&["sweep", "s.toml", "--tables"][..], &VARY].concat()).ok();
    assert!(
        text.contains("\nsaved in runs/sweep-s; the run directories in runs/sweep-s/runs take "),
        "{text}"
    );
}

#[test]
fn a_check_tells_runs_time_and_disk_and_writes_nothing() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    let check = |more: &[&str]| {
        let text = run_in(d, &[&["sweep", "s.toml", "--check"][..], &VARY, more].concat()).ok();
        let line = |name: &str| {
            let found = text.lines().find_map(|l| l.strip_prefix(name)).map(|l| l.trim().to_owned());
            found.unwrap_or_else(|| panic!("{name}: {text}"))
        };
        (line("runs"), text.lines().any(|l| l.starts_with("time")).then(|| line("time")), text.clone())
    };
    let (runs, takes, text) = check(&["--jobs", "2"]);
    assert_eq!(runs, "8, 0 of them finished in runs/sweep-s");
    assert!(takes.is_some_and(|t| t.starts_with("about ") && t.contains(" s to ")), "{text}");
    assert!(
        text.contains("2 runs at a time") && text.contains("based on   the beginning of 4 of 4"),
        "{text}"
    );
    let disk = |text: &str| -> f64 {
        let line = text.lines().find_map(|l| l.strip_prefix("disk       about ")).expect("a line");
        line.split(' ').next().expect("a number").parse().expect("a number")
    };
    assert!(disk(&check(&["--tables"]).2) > 4.0 * disk(&text), "run directories take more");
    assert!(!d.join("runs").exists(), "nothing is written");
    run_in(d, &[&["sweep", "s.toml", "--quiet"][..], &VARY].concat()).ok();
    assert_eq!((check(&[]).0, check(&[]).1), ("8, 8 of them finished in runs/sweep-s".to_owned(), None));
    assert_eq!(check(&["--tables"]).0, "8, 0 of them finished in runs/sweep-s", "those have no tables");
}

#[test]
fn wrong_axes_seeds_and_figures_are_told_with_their_remedy_before_any_run() {
    let dir = folder(&[("s.toml", SCENARIO), ("nonsense.toml", "seeds = 3\n")]);
    let d = dir.path();
    for (args, message) in [
        (
            &["s.toml"][..],
            "wayhop: s.toml: this is a scenario, and nothing varies; add --vary KEY=VALUE,VALUE or --seeds N",
        ),
        (&["s.toml", "--seeds", "0"], "invalid value '0' for '--seeds <SEEDS>': give at least 1"),
        (
            &["s.toml", "--seeds", "-1"],
            "invalid value '-1' for '--seeds <SEEDS>': \"-1\" is not a whole number",
        ),
        (&["s.toml", "--vary", "nodes.count"], "missing =; give a key"),
        (&["s.toml", "--vary", "nodes.cuont=1,2"], "nodes.cuont=1: unknown key `cuont`"),
        (
            &["s.toml", "--vary", "protocol.name=dsr,olsr"],
            "wayhop: with protocol.name = olsr: protocol.name (from the command line): unknown name \"olsr\"",
        ),
        (&["s.toml", "--vary", "seed=1,2"], "seeds cannot be an axis; use --seeds 1,2,3"),
        (
            &["s.toml", "--seeds", "2", "--set", "seed=1"],
            "--set seed=1: the seed cannot be set for all runs; use --seeds",
        ),
        (&["s.toml", "--seeds", "2", "--metric", "delivery_ratoi"], "did you mean \"delivery_ratio\"?"),
        (&["s.toml", "--seeds", "2", "--metric", "goodput"], "did you mean \"goodput_bps\"?"),
        (&["none.toml", "--seeds", "2"], "none.toml: no such file"),
        (&["nonsense.toml"], "nonsense.toml:1:9: seeds are a list of whole numbers"),
    ] {
        let e = run_in(d, &[&["sweep"], args].concat()).failure(2);
        assert!(e.contains(message), "{args:?}\n{e}");
    }
    assert!(!d.join("runs").exists());
    let list = run_in(d, &["sweep", "s.toml", "--vary", "nodes.count=3,4", "--list"]).ok();
    assert_eq!(list, "--set nodes.count=3 --set seed=1\n--set nodes.count=4 --set seed=1\n");
}

#[test]
fn a_sweep_that_is_stopped_leaves_what_was_done_to_read_to_draw_and_to_go_on_from() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    // The second run would take hours.
    let vary = ["sweep", "s.toml", "--vary", "duration_s=8,30000000", "--tables", "--jobs", "1"];
    let child = wayhop()
        .args(vary)
        .current_dir(d)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let (results, begun) = (d.join("runs/sweep-s"), Instant::now());
    while !results.join("runs/30000000-seed-1/manifest.json").is_file() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the second run does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let ran = Ran::of(&child.wait_with_output().expect("an end"));
    assert_eq!(ran.status, Some(130), "{}", ran.err);
    assert!(ran.out.starts_with("1 of 2 runs; mean"), "{}", ran.out);
    assert!(ran.err.contains("interrupted after 1 of 2 runs; run the same command to resume"), "{}", ran.err);
    assert_eq!(manifest(&results.join("runs/8-seed-1"))["status"], "complete");
    assert_eq!(manifest(&results.join("runs/30000000-seed-1"))["status"], "interrupted");
    let csv = fs::read_to_string(results.join("table.csv")).unwrap();
    // One run has no interval, and none has no mean.
    let line = |start: &str| csv.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("{csv}"));
    assert!(line("8,totals.delivery_ratio,0.").ends_with(",,,1,1,1"), "{csv}");
    assert!(line("30000000,totals.delivery_ratio,").ends_with(",,,,0,0,0"), "{csv}");
    let told = run_in(d, &["plot", "runs/sweep-s"]).ok();
    assert!(told.contains("Incomplete sweep: 1 of 2 runs."), "{told}");
    let more = json(d, &["sweep", "runs/sweep-s/plan.toml", "--vary", "duration_s=8,9"]);
    assert_eq!((&more["found"], &more["done"]), (&1.into(), &2.into()));
}
