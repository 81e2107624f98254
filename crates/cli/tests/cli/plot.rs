//! `wayhop plot`.

use std::fs;

use crate::{folder, run_in};

const SCENARIO: &str = "duration_s = 8\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 150 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\n";

#[test]
fn a_figure_takes_two_commands() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    let vary = [
        "--vary",
        "movement.spacing_m=150,200",
        "--vary",
        "protocol.name=dsr,aodv",
        "--seeds",
        "3",
        "--quiet",
    ];
    run_in(d, &[&["sweep", "s.toml"][..], &vary].concat()).ok();
    let args = [
        "plot",
        "runs/sweep-s",
        "--x",
        "movement.spacing_m",
        "--y",
        "latency_ms.mean",
        "--by",
        "protocol.name",
    ];
    let told = run_in(d, &args).ok();
    let file = "runs/sweep-s/latency_ms.mean-movement.spacing_m.svg";
    let numbers = "runs/sweep-s/latency_ms.mean-movement.spacing_m.csv";
    assert_eq!(
        told,
        format!(
            "Means of 3 runs with 95 % intervals (Student's t).\nsaved in {file}, its numbers in {numbers}\n"
        )
    );
    let csv = fs::read_to_string(d.join(numbers)).unwrap();
    // Two spacings of two protocols, at the numbers that the axis has.
    let x: Vec<&str> = csv.lines().skip(1).map(|l| l.split(',').nth(3).unwrap()).collect();
    assert_eq!(x, ["150", "200", "150", "200"], "{csv}");
    let svg = fs::read_to_string(d.join(file)).unwrap();
    for words in
        ["movement spacing (m)", "latency, mean (ms)", "protocol:", ">dsr<", ">aodv<", "Means of 3 runs"]
    {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    let printed = run_in(d, &[&args[..], &["--out", "-", "--no-caption"]].concat()).ok();
    assert!(printed.starts_with("<svg ") && !printed.contains("Means of 3 runs"), "{printed}");
    let named = [&["plot", "sweep"], &args[1..], &["--out", "-", "--no-caption"]].concat();
    assert_eq!(run_in(d, &named).ok(), printed, "the kind can be said");
    let e = run_in(d, &[&args[..], &["--out", "f.jpg"]].concat()).failure(2);
    assert_eq!(e, "wayhop: --out f.jpg: give a name that ends with .svg, .png or .pdf\n");
    run_in(d, &[&args[..], &["--out", "none/f.svg"]].concat()).failure(1);
    run_in(d, &[&args[..], &["--only", "protocol.name"]].concat()).failure(2);
}

#[test]
fn a_run_and_its_seeds_are_no_figure() {
    let dir = folder(&[("s.toml", SCENARIO)]);
    let d = dir.path();
    run_in(d, &["run", "s.toml", "--seeds", "2", "--out", "r", "--quiet"]).ok();
    let e = run_in(d, &["plot", "r/runs/seed-1"]).failure(2);
    assert!(
        e.contains("r/runs/seed-1: the directory of one run, which has no interval; give the folder of"),
        "{e}"
    );
    let e = run_in(d, &["plot", "r"]).failure(2);
    assert!(e.contains("a figure needs a sweep over more than seeds"), "{e}");
    let e = run_in(d, &["plot", "r", "--x", "nodes.count"]).failure(2);
    assert!(e.contains("--x nodes.count: the sweep varies seeds only; make one with --vary"), "{e}");
}
