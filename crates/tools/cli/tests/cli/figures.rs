//! Figures of runs: their numbers are those of the tables, counted here from `wayhop export csv`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::{folder, run_in, summary_of};

/// Pings, TCP, packets to all, and a flow over hops that break.
const MIXED: &str = r#"
name = "mixed"
duration_s = 48
nodes.count = 12
area = { x_m = 900, y_m = 300 }
movement = { kind = "random-waypoint", speed_min_mps = 5, speed_max_mps = 20 }
[[traffic]]
kind = "cbr"
src = 0
dst = 5
rate_pps = 10
[[traffic]]
kind = "ping"
src = 1
dst = 6
[[traffic]]
kind = "tcp"
src = 2
dst = 7
[[traffic]]
kind = "cbr"
src = 3
dst = "all"
"#;

/// The rows of a table, by the names of the columns.
fn table(dir: &Path, run: &str, name: &str) -> Vec<BTreeMap<String, String>> {
    let text = run_in(dir, &["export", "csv", run, name]).ok();
    rows(&text)
}

fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let row = |l: &str| head.iter().zip(l.split(',')).map(|(k, v)| ((*k).to_owned(), v.to_owned())).collect();
    lines.map(row).collect()
}

/// The points of a figure: x and y, by the series' name.
fn points(dir: &Path, kind: &str, of: &[&str]) -> BTreeMap<String, Vec<(f64, f64)>> {
    let out = format!("{kind}.svg");
    run_in(dir, &[&["plot", kind], of, &["--out", &out]].concat()).ok();
    let text = fs::read_to_string(dir.join(format!("{kind}.csv"))).expect("the numbers");
    let mut all: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for r in rows(&text) {
        let (Ok(x), Ok(y)) = (r["x"].parse(), r["y"].parse()) else { continue };
        let key = if r["panel"].is_empty() { r["series"].clone() } else { r["panel"].clone() };
        all.entry(key).or_default().push((x, y));
    }
    all
}

/// A packet, by its flow and number.
type Tag = (u32, u64);

/// What the tables say: of each packet that counts when it was made, and of each arrival that is no ping latency and hops.
struct Counted {
    made: BTreeMap<Tag, f64>,
    arrivals: Vec<(Tag, f64, u32)>,
    outcomes: Vec<(Tag, String, u32)>,
}

fn counted(dir: &Path, run: &str) -> Counted {
    let tag = |r: &BTreeMap<String, String>| Some((r["flow"].parse().ok()?, r["seq"].parse().ok()?));
    let outcomes: Vec<(Tag, String, u32)> = table(dir, run, "outcomes")
        .iter()
        .map(|r| (tag(r).expect("a packet"), r["outcome"].clone(), r["nodes"].parse().expect("a count")))
        .collect();
    let counts: BTreeSet<Tag> = outcomes.iter().map(|(t, ..)| *t).collect();
    let (mut made, mut ttl, mut seen, mut arrivals) =
        (BTreeMap::new(), BTreeMap::new(), BTreeSet::new(), Vec::new());
    for r in table(dir, run, "packets") {
        let Some(t) = tag(&r).filter(|t| counts.contains(t)) else { continue };
        let (at, left): (f64, u32) =
            (r["time_ns"].parse().expect("a time"), r["ttl"].parse().expect("a TTL"));
        if r["event"] == "originate" {
            made.entry(t).or_insert(at);
            ttl.entry(t).or_insert(left);
        } else if r["event"] == "deliver" && r["class"] != "ping" && seen.insert((t, r["node"].clone())) {
            arrivals.push((t, (at - made[&t]) / 1e6, ttl[&t] - left + 1));
        }
    }
    Counted { made, arrivals, outcomes }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs().max(1.0)
}

#[test]
fn the_numbers_of_figures_are_those_of_the_tables() {
    let dir = folder(&[("s.toml", MIXED)]);
    let d = dir.path();
    let summary = summary_of(d, &["s.toml", "--out", "run"]);
    let c = counted(d, "run");
    // 48 s in spans of 2 s.
    let (mut sent, mut delivered) = ([0.0; 24], [0.0; 24]);
    for (t, outcome, nodes) in &c.outcomes {
        let span = (c.made[t] / 2e9) as usize;
        sent[span.min(23)] += f64::from(*nodes);
        delivered[span.min(23)] += if outcome == "delivered" { f64::from(*nodes) } else { 0.0 };
    }
    assert_eq!(summary["totals"]["sent"].as_f64(), Some(sent.iter().sum()), "what the summary counts");
    let delivery = &points(d, "delivery", &["run"])[""];
    assert_eq!(delivery.len(), 24);
    assert!(delivered.iter().zip(sent).any(|(n, all)| *n < all), "some were lost");
    for ((x, y), k) in delivery.iter().zip(0..) {
        assert!(near(*x, 2.0 * k as f64 + 1.0) && near(*y, 100.0 * delivered[k] / sent[k]), "{x} {y}");
    }

    let mut latencies: Vec<f64> = c.arrivals.iter().map(|a| a.1).collect();
    latencies.sort_by(f64::total_cmp);
    let mean = latencies.iter().sum::<f64>() / latencies.len() as f64;
    assert!(
        near(mean, summary["totals"]["latency_ms"]["mean"].as_f64().unwrap()),
        "the same packets: {mean}"
    );
    let cdf = &points(d, "cdf", &["run"])[""];
    assert!(
        cdf.len() > 100 && cdf[0].0 == latencies[0] && cdf.last().unwrap().0 == *latencies.last().unwrap()
    );
    for (x, y) in &cdf[1..] {
        let share = 100.0 * latencies.partition_point(|v| v <= x) as f64 / latencies.len() as f64;
        assert!(near(*y, share), "{y} of {x} ms, {share} by the table");
    }

    let hops = &points(d, "hops", &["run"])[""];
    assert!(hops.len() > 1, "more than one hop");
    for (h, y) in hops {
        let n = c.arrivals.iter().filter(|a| f64::from(a.2) == *h).count();
        assert!(near(*y, 100.0 * n as f64 / c.arrivals.len() as f64), "{h} hops: {y}");
    }

    let median = &points(d, "latency", &["run"])["median"];
    for (x, y) in median {
        let span = |t: &Tag| (c.made[t] / 2e9) as usize == (*x / 2.0) as usize;
        let mut own: Vec<f64> = c.arrivals.iter().filter(|a| span(&a.0)).map(|a| a.1).collect();
        own.sort_by(f64::total_cmp);
        let exact = own[own.len().div_ceil(2) - 1];
        assert!(*y > exact * (1.0 - 1e-9) && *y < exact * 1.0014, "{x} s: {y}, {exact} by the table");
    }
}

#[test]
fn a_mark_of_losses_is_a_share_with_students_interval_over_the_runs() {
    let dir = folder(&[("s.toml", MIXED)]);
    let d = dir.path();
    run_in(d, &["run", "s.toml", "--seeds", "3", "--out", "seeds", "--quiet"]).ok();
    let shares: Vec<BTreeMap<String, f64>> = (1..=3)
        .map(|seed| {
            let text = fs::read_to_string(d.join(format!("seeds/runs/seed-{seed}/summary.json"))).unwrap();
            let s: serde_json::Value = serde_json::from_str(&text).unwrap();
            let sent = s["totals"]["sent"].as_f64().unwrap();
            let drops = s["totals"]["drops"].as_object().unwrap();
            drops.iter().map(|(k, n)| (k.clone(), 100.0 * n.as_f64().unwrap() / sent)).collect()
        })
        .collect();
    run_in(d, &["plot", "losses", "seeds", "--out", "l.svg"]).ok();
    let found = rows(&fs::read_to_string(d.join("l.csv")).unwrap());
    let causes: BTreeSet<&String> = shares.iter().flat_map(BTreeMap::keys).collect();
    assert!(!causes.is_empty());
    for cause in causes {
        let of: Vec<f64> = shares.iter().map(|s| s.get(cause).copied().unwrap_or(0.0)).collect();
        let mean = of.iter().sum::<f64>() / 3.0;
        let deviation = (of.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 2.0).sqrt();
        // t for two degrees of freedom, from any table.
        let half = 4.302_65 * deviation / 3.0_f64.sqrt();
        let r = found.iter().find(|r| r["y"] == *cause).unwrap_or_else(|| panic!("{cause} in {found:?}"));
        let told = |k: &str| r[k].parse::<f64>().unwrap();
        assert!(near(told("x"), mean), "{cause}: {r:?}");
        assert!((told("ci95_high") - mean - half).abs() < 1e-4 * half.max(1e-9), "{cause}: {r:?}");
    }
}

#[test]
fn a_figure_is_svg_png_or_pdf_with_its_numbers_beside_it() {
    let dir = folder(&[("s.toml", MIXED)]);
    let d = dir.path();
    for p in ["dsr", "aodv"] {
        summary_of(d, &["s.toml", "--protocol", p, "--out", p]);
    }
    for (file, begin) in [("f.svg", &b"<svg"[..]), ("f.png", b"\x89PNG"), ("f.pdf", b"%PDF-")] {
        let told = run_in(d, &["plot", "overhead", "dsr", "aodv", "--out", file]).ok();
        assert!(told.contains("One run each, without intervals."), "{told}");
        assert!(fs::read(d.join(file)).unwrap().starts_with(begin), "{file}");
    }
    let png = fs::read(d.join("f.png")).unwrap();
    assert_eq!(png[16..20], 1280_u32.to_be_bytes(), "the width in the header");
    let csv = fs::read_to_string(d.join("f.csv")).unwrap();
    assert!(csv.contains(",dsr,") && csv.contains(",aodv,") && csv.contains(",rreq,"), "{csv}");
    run_in(d, &["plot", "hops", "dsr"]).ok();
    assert!(d.join("dsr/hops.svg").is_file() && d.join("dsr/hops.csv").is_file());
    // A new run does not keep the figures of the old one.
    summary_of(d, &["s.toml", "--seed", "2", "--out", "dsr"]);
    assert!(!d.join("dsr/hops.svg").exists() && !d.join("dsr/hops.csv").exists());
    for (args, words) in [
        (&["plot", "pie", "dsr"][..], "pie: no such kind of figure; give delivery, throughput, latency"),
        (&["plot", "why"], "why: no such kind of figure, and no folder; give delivery, throughput, latency"),
        (&["plot", "cdf"][..], "cdf needs a RUN or the folder of a sweep"),
        (&["plot", "cdf", "dsr", "--x", "nodes.count"][..], "--x applies only to figures of sweeps"),
        (&["plot", "sweep", "dsr", "aodv"][..], "give one folder of a sweep"),
        (&["plot", "cdf", "nothing"][..], "not a run directory: no such directory"),
    ] {
        let said = run_in(d, args).failure(2);
        assert!(said.contains(words), "{args:?}: {said}");
    }
}

/// Two nodes, near each other, and nothing that could be lost.
const PAIR: &str = "duration_s = 4\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nstop_s = 3\n";

#[test]
fn no_mean_is_over_runs_that_differ_in_more_than_the_seed() {
    let dir = folder(&[("s.toml", PAIR)]);
    let d = dir.path();
    let run = |out: &str, more: &[&str]| {
        summary_of(d, &[&["s.toml", "--out", out], more].concat());
    };
    run("seeds/a", &[]);
    // What is captured changes nothing.
    run("seeds/b", &["--seed", "2", "--set", "captures.all=true"]);
    run("mixed/a", &[]);
    run("mixed/b", &["--protocol", "aodv", "--set", "movement.spacing_m=90"]);
    for command in [&["plot", "delivery"][..], &["report"], &["compare", "mixed/a"]] {
        run_in(d, &[command, &["seeds"]].concat()).ok();
        let said = run_in(d, &[command, &["mixed"]].concat()).failure(2);
        let expect = "a and b differ in protocol.name (\"dsr\", \"aodv\"), movement.spacing_m (100.0, 90.0)), so they have \
                      no common mean";
        assert!(said.contains(expect), "{said}");
    }
    run_in(d, &["plot", "delivery", "mixed/a", "mixed/b"]).ok();
    let vary = ["--vary", "nodes.count=2,3", "--tables", "--quiet", "--out", "sweep"];
    run_in(d, &[&["sweep", "s.toml"][..], &vary].concat()).ok();
    let said = run_in(d, &["plot", "delivery", "sweep"]).failure(2);
    assert!(said.contains("differ in nodes.count (2, 3)"), "{said}");
    // Repetitions of a plan are no other scenario.
    let plan = "scenario = \"s.toml\"\nname = \"p\"\ntables = true\n\
        [[axis]]\nname = \"where\"\nkey = \"movement.spacing_m\"\nvalues = [90, 100]\nreplicate = true\n";
    fs::write(d.join("plan.toml"), plan).unwrap();
    run_in(d, &["sweep", "plan.toml", "--quiet", "--out", "repeated"]).ok();
    run_in(d, &["plot", "delivery", "repeated"]).ok();
}

#[test]
fn what_is_not_there_to_be_drawn_is_said() {
    let dir = folder(&[("s.toml", PAIR)]);
    let d = dir.path();
    summary_of(d, &["s.toml", "--out", "r"]);
    summary_of(d, &["s.toml", "--out", "far", "--set", "movement.spacing_m=9000"]);
    for (kind, run, words) in [
        ("losses", "r", "no data for the figure losses: no packets were lost"),
        ("sequence", "r", "there are no TCP flows"),
        ("cdf", "far", "no packets arrived"),
        ("searches", "far", "no route search was completed"),
    ] {
        let said = run_in(d, &["plot", kind, run]).failure(2);
        assert!(said.contains(words), "{said}");
    }
    let told = run_in(d, &["plot", "delivery", "far"]).ok();
    assert!(told.contains("packets were still in transit at the end"), "{told}");
    let one = run_in(d, &["plot", "delivery", "r"]).ok();
    assert!(!one.contains("in transit") && !one.contains("interrupted"), "{one}");
    let manifest = fs::read_to_string(d.join("r/manifest.json")).unwrap();
    fs::write(d.join("r/manifest.json"), manifest.replace("\"complete\"", "\"interrupted\"")).unwrap();
    for kind in ["delivery", "cdf"] {
        let told = run_in(d, &["plot", kind, "r"]).ok();
        assert!(told.contains(" The run was interrupted at 4 s of 4 s."), "{told}");
    }
}

#[test]
fn damaged_tables_are_refused_by_name() {
    let dir = folder(&[("s.toml", MIXED)]);
    let d = dir.path();
    summary_of(d, &["s.toml", "--duration", "4", "--out", "run"]);
    let whole = fs::read(d.join("run/packets.parquet")).unwrap();
    let (mut refused, step) = (0, whole.len() / 23);
    for k in 0..23 {
        let mut bytes = whole.clone();
        let at = k * step;
        if k % 2 == 0 {
            bytes[at..at + step.min(64)].iter_mut().for_each(|b| *b ^= 0x5a);
        } else {
            bytes.truncate(at);
        }
        fs::write(d.join("run/packets.parquet"), bytes).unwrap();
        let ran = run_in(d, &["plot", "cdf", "run"]);
        // Other values in good order cannot be told from the right ones.
        if ran.status != Some(0) {
            let said = ran.failure(2);
            assert!(said.contains("packets.parquet") && !said.contains("panicked"), "{said}");
            refused += 1;
        }
    }
    assert!(refused > 11, "every cut file is refused: {refused}");
}

#[test]
fn a_report_says_how_its_runs_were_made_and_needs_nothing_else() {
    let dir = folder(&[("s.toml", MIXED)]);
    let d = dir.path();
    for p in ["dsr", "aodv"] {
        run_in(d, &["run", "s.toml", "--protocol", p, "--seeds", "2", "--out", p, "--quiet"]).ok();
    }
    run_in(d, &["report", "dsr", "aodv", "--out", "page.html"]).ok();
    let page = fs::read_to_string(d.join("page.html")).unwrap();
    for words in [
        "Delivery over time",
        "Latency over time",
        "Losses",
        "Hops",
        "Overhead",
        "dsr: 2 simulated runs of the scenario &quot;mixed&quot; by Wayhop 0.2.0+",
        "Seeds: 1, 2.",
        "Protocol: aodv.",
        "Profile: the default.",
        "Duration: 48\u{a0}s.",
        "wayhop report dsr aodv --out page.html",
        "<td>latency, median (ms)</td>",
        "half the 95\u{a0}% interval",
    ] {
        assert!(page.contains(words), "{words}");
    }
    for foreign in ["<script", "<link", "<img", "src=", "href=\"http"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    // Of one run, with the hash of its text.
    run_in(d, &["report", "dsr/runs/seed-1"]).ok();
    let page = fs::read_to_string(d.join("dsr/runs/seed-1/report.html")).unwrap();
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(d.join("dsr/runs/seed-1/manifest.json")).unwrap()).unwrap();
    assert!(
        !page.contains("<td>on time</td>") && !page.contains("interval over runs"),
        "of one run without a clock"
    );
    assert!(
        page.contains(manifest["scenario_sha256"].as_str().unwrap()) && page.contains("Seed: 1."),
        "{page}"
    );
}

#[test]
fn a_report_of_a_sweep_has_means_and_differences() {
    let dir = folder(&[("s.toml", MIXED)]);
    let d = dir.path();
    let vary = ["--vary", "protocol.name=dsr,aodv", "--vary", "nodes.count=8,12", "--seeds", "2", "--quiet"];
    run_in(d, &[&["sweep", "s.toml", "--set", "duration_s=10", "--out", "sw"][..], &vary].concat()).ok();
    run_in(d, &["report", "sw"]).ok();
    let page = fs::read_to_string(d.join("sw/report.html")).unwrap();
    for words in [
        "Delivery ratio over number of nodes",
        "Means over 2\u{a0}runs with 95\u{a0}% intervals",
        "Mean differences to dsr over 2 pairs of runs with the same seed",
        "8 of 8 runs",
        "8 of 8 simulated runs",
        "<h2>Goodput (bit/s)</h2>",
        "over protocol, number of nodes</h1>",
        "nodes.count: 8, 12.",
        "Seeds: 1, 2.",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let said = run_in(d, &["report", "sw", "--out", "page.pdf"]).failure(2);
    assert!(said.contains("--out page.pdf: a report is an HTML page"), "{said}");
    assert!(!d.join("page.pdf").exists());
    let said = run_in(d, &["report", "sw", "sw"]).failure(2);
    assert!(said.contains("a sweep cannot be combined with other runs"), "{said}");
}
