//! `wayhop plot`.

use std::fs;

use crate::{folder, run_in, words};

const SCENARIO: &str = "duration_s = 8\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 150 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\n";

#[test]
fn a_figure_takes_two_commands() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    let vary = words("--vary movement.spacing_m=150,200 --vary protocol.name=dsr,aodv --seeds 3 --quiet");
    run_in(d, &[&["sweep", "s.toml"][..], &vary].concat()).ok();
    let args = words("plot runs/sweep-s --x movement.spacing_m --y latency_ms.mean --by protocol.name");
    let told = run_in(d, &args).ok();
    let file = "runs/sweep-s/latency_ms.mean-movement.spacing_m.svg";
    let numbers = "runs/sweep-s/latency_ms.mean-movement.spacing_m.csv";
    assert_eq!(
        told,
        format!("Means over 3 runs with 95 % intervals (Student's t).\nsaved in {file}, data in {numbers}\n")
    );
    let csv = fs::read_to_string(d.join(numbers)).unwrap();
    // Two spacings of two protocols, at the numbers that the axis has.
    let x: Vec<&str> = csv.lines().skip(1).map(|l| l.split(',').nth(3).unwrap()).collect();
    assert_eq!(x, ["150", "200", "150", "200"], "{csv}");
    let svg = fs::read_to_string(d.join(file)).unwrap();
    for words in
        ["movement spacing (m)", "latency, mean (ms)", "protocol:", ">dsr<", ">aodv<", "Means over 3 runs"]
    {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    let printed = run_in(d, &[&args[..], &["--out", "-", "--no-caption"]].concat()).ok();
    assert!(printed.starts_with("<svg ") && !printed.contains("Means over 3 runs"), "{printed}");
    let named = [&["plot", "sweep"], &args[1..], &["--out", "-", "--no-caption"]].concat();
    assert_eq!(run_in(d, &named).ok(), printed, "the kind can be said");
    let e = run_in(d, &[&args[..], &["--out", "f.jpg"]].concat()).failure(2);
    assert_eq!(e, "wayhop: --out f.jpg: give a name that ends in .svg, .png or .pdf\n");
    let both = [&args[..], &["--y", "delivery_ratio", "--label", "dsr=DSR", "--out", "-"]].concat();
    let svg = run_in(d, &both).ok();
    for words in ["latency, mean (ms)", "delivery ratio", ">DSR<", ">aodv<"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    assert_eq!(svg.matches(">protocol:<").count(), 1, "one legend: {svg}");
    let wide = run_in(
        d,
        &[&args[..], &["--width-mm", "180", "--log-y", "--y-range", "1..1000", "--out", "-"]].concat(),
    )
    .ok();
    assert!(
        wide.starts_with("<svg ") && wide.contains(" width=\"180mm\" ") && wide.contains("\n1000\n"),
        "{wide}"
    );
    let e = run_in(d, &[&args[..], &["--label", "dsdv=D"]].concat()).failure(2);
    assert_eq!(e, "wayhop: dsdv: no such series; give one of: dsr, aodv\n");
    let e = run_in(d, &[&args[..], &["--y-range", "5..1"]].concat()).failure(2);
    assert!(e.contains("give two numbers, the lower one first, such as 0..900"), "{e}");
    run_in(d, &[&args[..], &["--out", "none/f.svg"]].concat()).failure(1);
    run_in(d, &[&args[..], &["--only", "protocol.name"]].concat()).failure(2);
}

#[test]
fn shares_are_of_packets_that_arrived_or_of_those_sent() {
    // Few nodes on a long strip: not all reach each other.
    let text = "duration_s = 20\nnodes.count = 10\narea = { x_m = 1500, y_m = 300 }\nmovement = { kind = \"random-waypoint\", speed_max_mps = 10 }\n\
        [[traffic]]\nkind = \"cbr-random\"\nconnections = 6\nrate_pps = 4\nstart_max_s = 1\n";
    let dir = folder(&[("s.toml", text)]);
    let d = dir.path();
    run_in(d, &["run", "s.toml", "--out", "r", "--quiet"]).ok();
    let totals: serde_json::Value =
        serde_json::from_slice(&fs::read(d.join("r/summary.json")).unwrap()).unwrap();
    let last = |more: &[&str]| -> f64 {
        let told = run_in(d, &[&["plot", "cdf,losses", "r", "--out", "f.svg"], more].concat()).ok();
        assert!(told.starts_with("Over packets ") && told.contains("One run, without intervals."), "{told}");
        let csv = fs::read_to_string(d.join("f.csv")).unwrap();
        let line = csv.lines().rfind(|l| l.contains("latency (ms)")).expect("a step");
        line.split(',').nth(5).unwrap().parse().unwrap()
    };
    let ratio = totals["totals"]["delivery_ratio"].as_f64().unwrap();
    assert!(ratio > 0.0 && ratio < 1.0, "some are lost: {ratio}");
    assert!((last(&["--of", "sent"]) - 100.0 * ratio).abs() < 1e-3);
    assert!((last(&[]) - 100.0).abs() < 1e-9);
    let e = run_in(d, &["plot", "losses", "r", "--of", "sent"]).failure(2);
    assert!(e.contains("--of applies only to cdf"), "{e}");
}

#[test]
fn a_run_and_its_seeds_are_no_figure() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    run_in(d, &["run", "s.toml", "--seeds", "2", "--out", "r", "--quiet"]).ok();
    let e = run_in(d, &["plot", "r/runs/seed-1"]).failure(2);
    assert!(e.contains("r/runs/seed-1: the directory of a single run; give the folder of"), "{e}");
    let e = run_in(d, &["plot", "r"]).failure(2);
    assert!(e.contains("a figure needs a sweep over more than seeds"), "{e}");
    let e = run_in(d, &["plot", "r", "--x", "nodes.count"]).failure(2);
    assert!(e.contains("--x nodes.count: the sweep varies only seeds; run one with --vary"), "{e}");
}
