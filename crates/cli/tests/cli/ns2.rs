//! ns-2's files in, ns-2's files out.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{data, folder, hash, run_in, summary_of};

#[test]
fn an_imported_scenario_is_the_same_run_from_its_own_folder() {
    let dir = folder(&[]);
    let at = dir.path();
    fs::create_dir_all(at.join("theirs")).expect("a directory");
    fs::create_dir_all(at.join("ours/deep")).expect("a directory");
    fs::copy(data("line.tcl"), at.join("theirs/m.tcl")).expect("a file");
    fs::copy(data("line.cbr.tcl"), at.join("theirs/t.tcl")).expect("a file");
    let files = ["--movement", "theirs/m.tcl", "--traffic", "theirs/t.tcl"];
    let changes = ["--protocol", "aodv", "--profile", "ns2", "--seed", "5", "--duration", "12"];
    let direct = hash(at, &[&files[..], &changes, &["--no-out"]].concat());
    for out in ["ours/deep/s.toml", "theirs/s.toml", "s.toml"] {
        run_in(at, &[&["import", "ns2", "--out", out], &files[..], &changes].concat()).ok();
        assert_eq!(hash(at, &[out, "--no-out"]), direct, "{out}");
        let absolute = at.join(out);
        assert_eq!(hash(Path::new("/"), &[absolute.to_str().expect("UTF-8"), "--no-out"]), direct, "{out}");
    }
    let printed = run_in(at, &[&["import", "ns2"], &files[..], &changes].concat()).ok();
    fs::write(at.join("printed.toml"), printed).expect("a file");
    assert_eq!(hash(at, &["printed.toml", "--no-out"]), direct);
}

#[test]
fn gzipped_movement_is_read_as_it_is() {
    let dir = folder(&[]);
    let at = dir.path();
    let plain = data("line.tcl");
    let gzip = Command::new("gzip").args(["-c", &plain]).output().expect("gzip");
    fs::write(at.join("m.tcl.gz"), gzip.stdout).expect("a file");
    let run =
        |movement: &str| hash(at, &["--movement", movement, "--traffic", &data("line.cbr.tcl"), "--no-out"]);
    assert_eq!(run("m.tcl.gz"), run(&plain));
}

#[test]
fn an_exported_scenario_is_the_same_run_again() {
    let dir = folder(&[]);
    let at = dir.path();
    let walk = data("walk.toml");
    let written = run_in(at, &["export", "ns2", &walk, "--out", "x"]).ok();
    assert_eq!(written, "x/walk.movement.tcl\nx/walk.traffic.tcl\n");
    let again = [
        "--movement",
        "x/walk.movement.tcl",
        "--traffic",
        "x/walk.traffic.tcl",
        "--duration",
        "20",
        "--no-out",
    ];
    assert_eq!(hash(at, &again), hash(at, &[&walk, "--no-out"]));
}

#[test]
fn ns2_runs_what_is_exported_and_delivers_as_many_packets() {
    let dir = folder(&[]);
    let at = dir.path();
    let files = ["--movement", &data("line.tcl"), "--traffic", &data("line.cbr.tcl"), "--duration", "14"];
    run_in(at, &[&["export", "ns2", "--out", "x"], &files[..]].concat()).ok();
    let movement = fs::read_to_string(at.join("x/line.movement.tcl")).expect("a file");
    assert!(movement.contains("$god_ set-dist 0 3 3"), "three hops at the start: {movement}");

    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario/tests/data/driver.tcl");
    let output = Command::new("ns")
        .arg(driver)
        .args(["4", "1300", "100", "14", "x/line.movement.tcl", "x/line.traffic.tcl", "-", "0"])
        .current_dir(at)
        .output()
        .unwrap_or_else(|e| {
            panic!("cannot run ns ({e}); it is the oracle of this test: apt-get install ns2")
        });
    let text = String::from_utf8_lossy(&output.stdout);
    let delivered = text.lines().find_map(|l| l.strip_prefix("DELIVERED "));
    let delivered: u64 = delivered.and_then(|n| n.trim().parse().ok()).unwrap_or_else(|| panic!("{text}"));
    // Nobody moves before 15 s: both deliver all, but for one that ns-2's ARP may lose on each hop at the start.
    let ours = summary_of(at, &[&files[..], &["--protocol", "aodv", "--no-out"]].concat());
    assert_eq!(ours["totals"]["sent"], 40);
    assert!(delivered >= 37, "{delivered}");
    assert!(ours["totals"]["received"].as_u64() >= Some(37), "{ours}");
}

#[test]
fn tables_are_exported_as_csv_to_a_file_too() {
    let dir = folder(&[]);
    let at = dir.path();
    run_in(at, &["run", &data("walk.toml"), "--duration", "5", "--out", "r", "--quiet"]).ok();
    for (table, head) in [
        ("packets", "time_ns,node,event,packet,"),
        ("positions", "time_ns,node,x_m,y_m,z_m,"),
        ("flows", "id,kind,src,dst,sent,received,"),
        ("counters", "node,layer,name,value"),
        ("events", "time_ns,node,what,about,value"),
        ("nodes", "node,name,address"),
    ] {
        let printed = run_in(at, &["export", "csv", "r", table]).ok();
        assert!(printed.starts_with(head) && printed.lines().count() > 5, "{table}: {printed}");
        run_in(at, &["export", "csv", "r", table, "--out", "t.csv"]).ok();
        assert_eq!(fs::read_to_string(at.join("t.csv")).expect("a file"), printed);
    }
    let message = run_in(at, &["export", "csv", "r", "nodes", "--out", "none/t.csv"]).failure(1);
    assert!(message.starts_with("wayhop: cannot write none/t.csv: No such file"), "{message}");
}
