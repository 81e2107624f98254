//! ns-2's files in, ns-2's files out.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{data, folder, hash, run_in, summary_of, words};

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
    let again = words("--movement x/walk.movement.tcl --traffic x/walk.traffic.tcl --duration 20 --no-out");
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

    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/scenario/tests/data/driver.tcl");
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

#[test]
fn numbers_that_no_line_names_are_nobody_who_relays() {
    let place = |id: u32, x: u32, y: u32| format!("$node_({id}) set X_ {x}.0\n$node_({id}) set Y_ {y}.0\n");
    let flow = "set udp_(0) [new Agent/UDP]\n$ns_ attach-agent $node_(1) $udp_(0)\nset null_(0) [new Agent/Null]\n\
        $ns_ attach-agent $node_(3) $null_(0)\nset cbr_(0) [new Application/Traffic/CBR]\n$cbr_(0) set interval_ 1.0\n\
        $cbr_(0) attach-agent $udp_(0)\n$ns_ connect $udp_(0) $null_(0)\n$ns_ at 1.0 \"$cbr_(0) start\"\n\
        $ns_ at 9.0 \"$ns_ halt\"\n";
    let dir = folder(&[("m.tcl", &(place(1, 0, 200) + &place(3, 200, 0))), ("t.tcl", flow)]);
    let files = ["--movement", "m.tcl", "--traffic", "t.tcl", "--protocol", "aodv", "--no-out"];
    // 283 m apart, with a range of 250 m; with nodes.count there is a node 2 at 0, 0.
    let alone = summary_of(dir.path(), &files);
    assert_eq!(alone["totals"]["received"], 0, "{alone}");
    // One packet a second from 1 s until the end at 9 s; whether that of 9 s is sent depends on the last nanosecond.
    assert!(matches!(alone["totals"]["sent"].as_u64(), Some(8 | 9)), "{alone}");
    assert_eq!(alone["simulated_s"], 9.0);
    let three = summary_of(dir.path(), &[&files[..], &["--set", "nodes.count=3"]].concat());
    assert!(three["totals"]["received"].as_u64() > Some(6), "{three}");
    let longer = summary_of(dir.path(), &[&files[..], &["--duration", "20"]].concat());
    assert_eq!(longer["simulated_s"], 20.0);
}

#[test]
fn a_node_of_sumos_activity_file_is_down_when_it_is_away() {
    let dir = folder(&[
        (
            "mobility.tcl",
            "$node_(0) set X_ 100.0\n$node_(0) set Y_ 50.0\n$node_(1) set X_ 250.0\n$node_(1) set Y_ 50.0\n",
        ),
        (
            "activity.tcl",
            "$ns_ at 0.0 \"$g(0) start\"; # SUMO-ID: van\n$ns_ at 6.0 \"$g(1) start\"; # SUMO-ID: bus\n$ns_ at 20.0 \"$g(1) stop\"; #\n",
        ),
    ]);
    let files = ["--movement", "mobility.tcl", "--traffic", "activity.tcl"];
    run_in(dir.path(), &[&["import", "ns2", "--duration", "30", "--out", "s.toml"], &files[..]].concat())
        .ok();
    let scenario =
        wayhop_scenario::Scenario::load(&dir.path().join("s.toml"), &[]).unwrap().resolve().unwrap();
    let down =
        |o: &wayhop_scenario::Outage| (o.node.0, o.from.as_secs_f64(), o.until == wayhop_core::Time::NEVER);
    assert_eq!(scenario.outages.iter().map(down).collect::<Vec<_>>(), [(1, 0.0, false), (1, 20.0, true)]);
    run_in(dir.path(), &["run", "s.toml", "--no-out", "--quiet"]).ok();
    let twice = "outages=[{node = 1, start_s = 3, length_s = 1}]";
    let said = run_in(dir.path(), &["run", "s.toml", "--set", twice, "--no-out"]).failure(2);
    assert!(said.contains("node 1 already is down at that time in the movement files"), "{said}");
}
