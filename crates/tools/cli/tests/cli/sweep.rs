//! Matrices of runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Ran, folder, run_in, wayhop};

const SCENARIO: &str = "duration_s = 40\nnodes.count = 12\narea = { x_m = 600, y_m = 300 }\n\
    movement = { kind = \"random-waypoint\", speed_max_mps = 10 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n[[traffic]]\nkind = \"cbr\"\nsrc = 2\ndst = 3\n";
const PLAN: &str = "scenario = \"s.toml\"\nseeds = { count = 3 }\ntopology = true\n\
    metrics = [\"totals.received\", \"flows.0.topology.hop_changes\"]\n\
    [[axis]]\nname = \"protocol\"\nkey = \"protocol.name\"\nvalues = [\"dsr\", \"aodv\"]\n";

fn lines(dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(dir.join("runs/sweep-plan/runs.jsonl")).unwrap_or_default();
    text.lines().map(|l| serde_json::from_str(l).expect("a whole line")).collect()
}

#[test]
fn a_sweep_makes_every_run_and_sums_up() {
    let dir = folder(&[("s.toml", SCENARIO), ("plan.toml", PLAN)]);
    let told = run_in(dir.path(), &["sweep", "plan.toml", "--json"]).json();
    assert_eq!((&told["runs"], &told["done"], &told["found"]), (&6.into(), &6.into(), &0.into()));
    // Each line is what `wayhop run` says of that run.
    let records = lines(dir.path());
    let mut received = Vec::new();
    for n in 1..=3 {
        let seed = n.to_string();
        let alone =
            ["run", "s.toml", "--no-out", "--json", "--topology", "--protocol", "aodv", "--seed", &seed];
        let alone = run_in(dir.path(), &alone).json();
        let record = records
            .iter()
            .find(|r| r["run"]["protocol"] == "aodv" && r["run"]["seed"].as_u64() == Some(n))
            .expect("a line for each run");
        assert_eq!(record["summary"]["trace_hash"], alone["trace_hash"]);
        assert_eq!(record["summary"]["flows"], alone["flows"]);
        received.push(alone["totals"]["received"].as_f64().unwrap());
    }
    let cell = &told["cells"][1];
    assert_eq!(cell["at"]["protocol"], "aodv");
    let mean = cell["metrics"]["totals.received"]["mean"].as_f64().unwrap();
    assert!((mean - received.iter().sum::<f64>() / 3.0).abs() < 1e-9, "{cell} {received:?}");
    // The geometry is the same for both protocols.
    let difference = &told["differences"][0]["metrics"]["flows.0.topology.hop_changes"];
    assert_eq!(difference["ci95"], serde_json::json!([0.0, 0.0]));
    let again = run_in(dir.path(), &["sweep", "plan.toml"]).ok();
    assert!(again.starts_with("6 of 6 runs, 6 of them from earlier"), "{again}");
    assert_eq!(lines(dir.path()), records);
    // A change repeats the runs that it affects.
    fs::write(dir.path().join("plan.toml"), PLAN.replace("count = 3", "count = 4")).unwrap();
    let more = run_in(dir.path(), &["sweep", "plan.toml"]).ok();
    assert!(more.starts_with("8 of 8 runs, 6 of them from earlier"), "{more}");
    fs::write(dir.path().join("s.toml"), SCENARIO.replace("x_m = 600", "x_m = 500")).unwrap();
    let repeated = run_in(dir.path(), &["sweep", "plan.toml"]).ok();
    assert!(repeated.starts_with("8 of 8 runs;"), "{repeated}");
}

#[test]
fn a_sweep_that_was_killed_goes_on_and_comes_to_the_same() {
    let plan = PLAN.replace("count = 3", "count = 20");
    let dir = folder(&[("s.toml", SCENARIO), ("plan.toml", &plan)]);
    let mut child = wayhop()
        .args(["sweep", "plan.toml", "--jobs", "2", "--quiet"])
        .current_dir(dir.path())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let begun = Instant::now();
    let file = dir.path().join("runs/sweep-plan/runs.jsonl");
    let ends = |text: &[u8]| text.split(|&b| b == b'\n').count() - 1;
    let some = || fs::read(&file).is_ok_and(|t| ends(&t) >= 3);
    while !some() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("SIGKILL");
    child.wait().unwrap();
    // As if the kill had come in the middle of a line, too.
    let mut text = fs::read(&file).unwrap();
    let whole = ends(&text);
    assert!(whole >= 3, "{whole} runs were done");
    // A machine that let the sweep end before the kill came leaves all: as if it had come sooner.
    let some =
        text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).nth(whole.min(20) - 1);
    text.truncate(some.unwrap());
    text.extend_from_slice(b"{\"id\":\"torn");
    fs::write(&file, text).unwrap();
    let told = run_in(dir.path(), &["sweep", "plan.toml", "--json"]).json();
    assert!((3..=20).contains(&told["found"].as_u64().unwrap()) && told["done"] == 40, "{told}");
    let other = folder(&[("s.toml", SCENARIO), ("plan.toml", &plan)]);
    let at_once = run_in(other.path(), &["sweep", "plan.toml", "--json"]).json();
    assert_eq!((&told["cells"], &told["differences"]), (&at_once["cells"], &at_once["differences"]));
    let hashes = |dir: &Path| {
        let mut all: Vec<String> =
            lines(dir).iter().map(|r| r["summary"]["trace_hash"].to_string()).collect();
        all.sort();
        all
    };
    assert_eq!(hashes(dir.path()), hashes(other.path()));
}

#[test]
fn a_full_disk_tears_no_line_and_what_was_done_stays() {
    let dir = folder(&[("s.toml", SCENARIO), ("plan.toml", PLAN)]);
    // A file may have 8 blocks of 512 octets here, and a write beyond is an error.
    let limited = "trap '' XFSZ; ulimit -f 8; exec \"$0\" sweep plan.toml --jobs 1 --quiet";
    let output = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_wayhop")])
        .current_dir(dir.path())
        .output()
        .expect("a shell");
    let e = Ran::of(&output).failure(1);
    assert!(
        e.contains("runs.jsonl: cannot be written: File too large (os error 27); earlier results are kept"),
        "{e}"
    );
    let file = dir.path().join("runs/sweep-plan/runs.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let done = lines(dir.path()).len();
    assert!(text.ends_with('\n') && (1..6).contains(&done), "{text}");
    let told = run_in(dir.path(), &["sweep", "plan.toml", "--json"]).json();
    assert_eq!((&told["done"], &told["found"]), (&6.into(), &done.into()));
}

#[test]
fn a_wrong_value_is_told_before_any_run() {
    let dir = folder(&[("s.toml", SCENARIO), ("plan.toml", &PLAN.replace("\"aodv\"", "\"olsr\""))]);
    let e = run_in(dir.path(), &["sweep", "plan.toml"]).failure(2);
    assert!(
        e.starts_with(
            "wayhop: plan.toml: with protocol = olsr: protocol.name (from the plan): unknown name \"olsr\""
        ),
        "{e}"
    );
    assert!(!dir.path().join("runs").exists());
    fs::write(dir.path().join("plan.toml"), PLAN.replace("protocol.name", "traffic.0.rat_pps")).unwrap();
    let e = run_in(dir.path(), &["sweep", "plan.toml"]).failure(2);
    assert!(
        e.starts_with(
            "wayhop: plan.toml: with protocol = dsr: traffic.0.rat_pps=\"dsr\": unknown key `rat_pps`"
        ),
        "{e}"
    );
    fs::write(dir.path().join("plan.toml"), PLAN.replace("totals.received", "totals.recieved")).unwrap();
    let e = run_in(dir.path(), &["sweep", "plan.toml", "--quiet"]).failure(2);
    assert!(
        e.contains(
            "plan.toml:4:12: metrics[0]: no run of the plan has a figure \"totals.recieved\"; did you mean \"totals.received\"?"
        ),
        "{e}"
    );
    assert!(!dir.path().join("runs").exists(), "and no run was made");
    let lost = PLAN.replace("totals.received", "totals.drops.NO_RUOTE");
    fs::write(dir.path().join("plan.toml"), lost).unwrap();
    let e = run_in(dir.path(), &["sweep", "plan.toml"]).failure(2);
    assert!(e.contains("did you mean \"totals.drops.NO_ROUTE\"?"), "{e}");
    let flat = PLAN.replace("topology = true", "topology = false");
    fs::write(dir.path().join("plan.toml"), flat).unwrap();
    let e = run_in(dir.path(), &["sweep", "plan.toml"]).failure(2);
    assert!(e.contains("metrics[1]") && e.contains("set topology = true"), "{e}");
    fs::write(dir.path().join("plan.toml"), PLAN).unwrap();
    fs::write(dir.path().join("taken"), "").unwrap();
    let e = run_in(dir.path(), &["sweep", "plan.toml", "--out", "taken"]).failure(1);
    assert_eq!(
        e,
        "wayhop: cannot create the folder taken: File exists (os error 17); choose a writable one with --out\n"
    );
}

#[test]
fn what_did_not_happen_counts_as_0_and_what_is_undefined_is_counted_and_left_out() {
    // Two nodes that are out of each other's reach in every second run: nothing arrives there, and only there the buffer is full.
    let scenario = "duration_s = 40\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n\
        [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\n";
    let plan = "scenario = \"s.toml\"\n\
        metrics = [\"totals.drops.BUFFER_FULL\", \"totals.by_type.rerr\", \"totals.latency_ms.mean\"]\n\
        [[axis]]\nname = \"spacing\"\nkey = \"movement.spacing_m\"\nvalues = [100, 900, 101, 901]\nreplicate = true\n";
    let dir = folder(&[("s.toml", scenario), ("plan.toml", plan)]);
    let told = run_in(dir.path(), &["sweep", "plan.toml", "--json"]).json();
    let records = lines(dir.path());
    let drops: Vec<f64> = records
        .iter()
        .map(|r| r["summary"]["totals"]["drops"]["BUFFER_FULL"].as_f64().unwrap_or(0.0))
        .collect();
    assert_eq!(drops.iter().filter(|d| **d > 0.0).count(), 2, "the scenario is as it was meant: {drops:?}");
    let figures = &told["cells"][0]["metrics"];
    let lost = &figures["totals.drops.BUFFER_FULL"];
    assert_eq!(lost["mean"].as_f64(), Some(drops.iter().sum::<f64>() / 4.0), "over all four runs: {lost}");
    assert_eq!((&lost["values"], &lost["runs"]), (&4.into(), &4.into()));
    assert_eq!(figures["totals.by_type.rerr"]["mean"], 0.0, "{figures}");
    let latency = &figures["totals.latency_ms.mean"];
    assert_eq!((&latency["values"], &latency["runs"]), (&2.into(), &2.into()), "{latency}");
    let text = run_in(dir.path(), &["sweep", "plan.toml"]).ok();
    assert!(text.contains("(2 of 4)") && text.contains("(n of m)"), "{text}");
    let csv = fs::read_to_string(dir.path().join("runs/sweep-plan/table.csv")).unwrap();
    assert!(csv.lines().any(|l| l.starts_with("totals.latency_ms.mean,") && l.ends_with(",2,2,4")), "{csv}");
}

#[test]
fn a_folder_of_another_plan_is_refused_and_left_alone() {
    let other = PLAN.replace(
        "name = \"protocol\"\nkey = \"protocol.name\"",
        "name = \"rate\"\nkey = \"traffic.0.rate_pps\"",
    );
    let other = other.replace("\"dsr\", \"aodv\"", "1, 2");
    let dir = folder(&[("s.toml", SCENARIO), ("plan.toml", PLAN), ("other.toml", PLAN)]);
    run_in(dir.path(), &["sweep", "plan.toml", "--out", "out", "--quiet"]).ok();
    let files = || {
        ["runs.jsonl", "table.csv", "plan.toml"].map(|f| fs::read(dir.path().join("out").join(f)).unwrap())
    };
    let before = files();
    // Another name; then the same name over another axis.
    let e = run_in(dir.path(), &["sweep", "other.toml", "--out", "out"]).failure(2);
    let expected = "wayhop: out contains the results of another plan, \"plan\" (s.toml over protocol); this one is \
                    \"other\" (s.toml over protocol); choose another --out, or remove the folder\n";
    assert_eq!(e, expected);
    fs::write(dir.path().join("plan.toml"), other).unwrap();
    let e = run_in(dir.path(), &["sweep", "plan.toml", "--out", "out"]).failure(2);
    assert!(e.contains("this one is \"plan\" (s.toml over rate)"), "{e}");
    assert!(files() == before);
}

#[test]
fn the_plans_of_this_repository_name_scenarios_that_resolve() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let plans = [
        ("sweeps/protocols", 40),
        ("sweeps/chains", 35),
        ("sweeps/everyone", 240),
        ("sweeps/patterns", 80),
        ("sweeps/attacks/kinds", 840),
        ("sweeps/attacks/defences", 700),
        ("sweeps/attacks/watchdog", 400),
    ];
    for (plan, runs) in plans {
        let file = format!("scenarios/{plan}.toml");
        let list = run_in(&root, &["sweep", &file, "--list"]).ok();
        assert_eq!(list.lines().count(), runs, "{plan}");
        let sets: Vec<&str> =
            list.lines().last().unwrap().split(" --set ").map(|s| s.trim_start_matches("--set ")).collect();
        let scenario = match plan {
            "sweeps/protocols" => "scenarios/first.toml",
            "sweeps/chains" => "scenarios/sweeps/chain.toml",
            "sweeps/everyone" => "scenarios/comparison.toml",
            "sweeps/patterns" => "scenarios/sweeps/waypoint.toml",
            _ => "scenarios/attacks/mobile.toml",
        };
        let mut args = vec!["topology", scenario, "--json"];
        for set in &sets {
            args.extend(["--set", *set]);
        }
        run_in(&root, &args).ok();
    }
}
