//! The command's arguments, and its messages about invalid ones.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::Stdio;

use crate::emulate::{CHAIN, background, skip_without_root};
use crate::{Ran, folder, hash, run_in, summary_of, wayhop};

/// The command with this on standard input.
fn fed(dir: &std::path::Path, args: &[&str], input: &[u8]) -> Ran {
    let mut child = wayhop()
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    // One that refuses its arguments does not read.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    Ran::of(&child.wait_with_output().expect("an end"))
}

const WALK: &str = "duration_s = 5\nnodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\njitter = 0.5\n";

#[test]
fn a_scenario_and_a_capture_are_read_from_standard_input() {
    let dir = folder(&[("s.toml", WALK)]);
    let at = dir.path();
    let piped = fed(at, &["run", "-", "--json", "--quiet"], WALK.as_bytes()).ok();
    let piped: serde_json::Value = serde_json::from_str(&piped).expect("one JSON object");
    assert_eq!(piped["trace_hash"], hash(at, &["s.toml", "--no-out"]).as_str());
    assert_eq!(piped["scenario"], "stdin");
    let wrong = fed(at, &["run", "-"], b"nodes.count = 3\nmovment = 1\n").failure(2);
    assert!(wrong.starts_with("wayhop: <stdin>:2:1: unknown key `movment`"), "{wrong}");
    for args in [&["topology", "-"][..], &["export", "macfilter", "-"], &["export", "ns2", "-"]] {
        let from_file: Vec<&str> = args.iter().map(|a| if *a == "-" { "s.toml" } else { a }).collect();
        let named = run_in(at, &from_file).ok().replacen("./s.", "./stdin.", 2).replacen("s  ", "stdin  ", 1);
        assert_eq!(fed(at, args, WALK.as_bytes()).ok(), named, "{args:?}");
    }

    run_in(at, &["run", "s.toml", "--captures", "--out", "DIR", "--quiet"]).ok();
    let capture = fs::read(at.join("DIR/captures/1.pcapng")).expect("a capture");
    let decoded = run_in(at, &["decode", "DIR/captures/1.pcapng"]).ok();
    assert!(decoded.lines().count() > 2, "{decoded}");
    assert_eq!(fed(at, &["decode", "-"], &capture).ok(), decoded);
    let wrong = fed(at, &["decode", "-"], b"no capture at all").failure(2);
    assert!(wrong.starts_with("wayhop: standard input: at byte "), "{wrong}");
}

#[test]
fn one_cause_has_one_exit_code() {
    let dir = folder(&[("s.toml", WALK)]);
    let at = dir.path();
    run_in(at, &["run", "s.toml", "--out", "DIR", "--quiet"]).ok();
    // A full disk.
    for args in [
        &["run", "s.toml", "--no-out", "--json"][..],
        &["export", "csv", "DIR", "packets"],
        &["export", "csv", "DIR", "packets", "--out", "/dev/full"],
        &["export", "macfilter", "s.toml"],
        &["export", "macfilter", "s.toml", "--out", "/dev/full"],
        &["compare", "DIR", "DIR", "--json"],
        &["topology", "s.toml"],
        &["completions", "bash"],
    ] {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let ended = wayhop().args(args).current_dir(at).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("No space left on device"), "{args:?}: {said}");
    }
    // A file or a run that is not there.
    for args in [
        &["run", "none"][..],
        &["topology", "none"],
        &["sweep", "none"],
        &["emulate", "none"],
        &["lab", "none"],
        &["node", "none"],
        &["export", "csv", "none", "packets"],
        &["import", "ns2", "--movement", "none"],
        &["decode", "none"],
        &["replay", "none"],
        &["diff", "none", "none"],
        &["compare", "none", "none"],
        &["ctl", "--socket", "./none", "hello"],
        &["ctl", "--run", "none", "hello"],
        &["exec", "--run", "none", "0", "--", "true"],
        &["run", "--bogus"],
    ] {
        run_in(at, args).failure(2);
    }
}

#[test]
fn a_command_that_does_not_start_has_the_code_of_shells_wherever_it_is_given() {
    skip_without_root!();
    let dir = folder(&[("s.toml", CHAIN), ("text", "no program")]);
    let mut emulation = background(dir.path());
    let run = emulation.id().to_string();
    let exec = |program: &str| run_in(dir.path(), &["exec", "--run", &run, "0", "--", program]);
    let emulate = |program: &str| {
        let head = ["emulate", "s.toml", "--no-out", "--quiet", "--node", "0", "--", program];
        run_in(dir.path(), &head)
    };
    for (program, code) in [("no-such-program", 127), ("./text", 126)] {
        let (in_exec, in_emulate) = (exec(program), emulate(program));
        assert_eq!((in_exec.status, in_emulate.status), (Some(code), Some(code)), "{}", in_exec.err);
        assert!(in_exec.err.starts_with(&format!("wayhop: cannot start {program}: ")), "{}", in_exec.err);
    }
    emulation.kill().expect("it runs");
    emulation.wait().expect("an end");
}

#[test]
fn names_of_other_cases_and_of_others_are_met_with_what_was_meant() {
    let dir = folder(&[("s.toml", WALK)]);
    for (args, expected) in [
        (
            &["--protocol", "aodv", "--profile", "cmu"][..],
            "\"cmu\" is a profile of dsr, not of aodv; choose one of its own (aodv has rfc, ns2, das)",
        ),
        (&["--profile", "rcf"], "\"rcf\" is not a profile of any protocol; did you mean `rfc`?"),
        (&["--set", "traffic.0.SRC=1"], "unknown key `SRC`"),
        (&["--set", "traffic.0.SRC=1"], "did you mean `src`?"),
    ] {
        let message = run_in(dir.path(), &[&["run", "s.toml", "--no-out"], args].concat()).failure(2);
        assert!(message.contains(expected), "{message}");
    }
    for args in [&["--protocol", "DSR", "--profile", "CMU"][..], &["--radio", "80211B"]] {
        run_in(dir.path(), &[&["run", "s.toml", "--no-out"], args].concat()).ok();
    }
    for (args, expected) in [
        (&["run", "s.toml", "--seed", "x"][..], "give a whole number from 0 to 9223372036854775807"),
        (&["run", "s.toml", "--seed", "-1"], "give a whole number from 0 to 9223372036854775807"),
        (&["sweep", "p.toml", "--jobs", "0"], "give a whole number from 1 to 1024"),
        (&["reproduce", "cmu", "--seeds", "many"], "give a whole number from 1 to 10000"),
        (&["replay", "x", "--context", "70000"], "give a whole number from 0 to 65535"),
        (&["ctl", "position", "1m,2m", "--speed", "fast"], "give a number"),
    ] {
        let message = run_in(dir.path(), args).failure(2);
        assert!(message.contains(expected) && !message.contains("digit"), "{message}");
    }
}

/// Two ns-2 nodes, numbered from 1, and a flow between them.
const FROM_ONE: &str = "$node_(1) set X_ 1\n$node_(1) set Y_ 2\n$node_(2) set X_ 3\n$node_(2) set Y_ 4\n\
    set udp [new Agent/UDP]\n$ns_ attach-agent $node_(1) $udp\nset null [new Agent/Null]\n\
    $ns_ attach-agent $node_(2) $null\nset cbr [new Application/Traffic/CBR]\n$cbr attach-agent $udp\n\
    $cbr set interval_ 1\n$ns_ connect $udp $null\n$ns_ at 1 \"$cbr start\"\n$ns_ at 4 \"$cbr stop\"\n";

#[test]
fn nodes_appear_by_the_names_of_the_users_file() {
    let dir = folder(&[("m.tcl", FROM_ONE)]);
    let at = dir.path();
    let run = run_in(at, &["run", "--movement", "m.tcl", "--out", "DIR"]).ok();
    let flow = run.lines().find(|l| l.contains("cbr")).expect("a line of the flow");
    assert_eq!(flow.split_whitespace().take(4).collect::<Vec<_>>(), ["0", "cbr", "1", "2"], "{run}");
    let summary = summary_of(at, &["--movement", "m.tcl", "--no-out"]);
    let f = &summary["flows"][0];
    assert_eq!((&f["src"], &f["src_name"], &f["dst_name"]), (&0.into(), &"1".into(), &"2".into()));
    let topology = run_in(at, &["topology", "--movement", "m.tcl", "--csv=nodes"]).ok();
    assert!(topology.lines().nth(1).is_some_and(|l| l.starts_with("0,") && l.ends_with(",1")), "{topology}");

    // A name with a comma is one cell.
    let named = format!("{WALK}[[nodes.node]]\nid = 0\nname = \"gate, west\"\n");
    fs::write(at.join("s.toml"), named).expect("a file");
    let run = run_in(at, &["run", "s.toml", "--out", "DIR2"]).ok();
    assert!(run.contains("cbr   gate, west   2 "), "{run}");
    for (table, column) in
        [("packets", "node_name"), ("events", "node_name"), ("flows", "src_name"), ("positions", "node_name")]
    {
        let csv = run_in(at, &["export", "csv", "DIR2", table]).ok();
        let (head, rows) = csv.split_once('\n').expect("lines");
        assert!(head.split(',').any(|c| c == column), "{table}: {head}");
        assert!(rows.contains(",\"gate, west\""), "{table}: {rows}");
    }
    let links = run_in(at, &["topology", "s.toml", "--csv=links"]).ok();
    assert!(links.contains("0,1,,,\"gate, west\",1\n"), "{links}");
}

#[test]
fn a_run_without_a_duration_lasts_until_its_flows_stop_or_says_that_they_go_on() {
    let dir = folder(&[("m.tcl", FROM_ONE)]);
    let at = dir.path();
    let run = |text: &str| {
        fs::write(at.join("s.toml"), text).expect("a file");
        let ran = run_in(at, &["run", "s.toml", "--no-out", "--json"]);
        let summary: serde_json::Value = serde_json::from_str(&ran.out).expect(&ran.err);
        (summary["simulated_s"].as_f64().expect("a number"), ran.err)
    };
    let open = WALK.replace("duration_s = 5\n", "");
    let says = |end: &str| {
        format!(
            "warning: stopping at {end} s with 1 of 1 flows still active, for example flow 0; set --duration or duration_s\n"
        )
    };
    // Ten seconds for what is under way.
    assert_eq!(run(&format!("{open}stop_s = 30\n")), (40.0, String::new()));
    assert_eq!(run(&open), (900.0, says("900")));
    // One that would begin after the end has its time.
    assert_eq!(run(&format!("{open}start_s = 950\n")), (1050.0, says("1050")));
    assert_eq!(run(WALK), (5.0, String::new()));
    // As many packets as there is time for are no traffic that goes on.
    assert_eq!(run(&format!("{open}max_packets = 4\n")), (900.0, String::new()));
    // The flow of the ns-2 files stops at 4 s, and nothing moves; with a move at 50 s the files say more.
    let ns2 = |args: &[&str]| {
        summary_of(at, &[&["--movement", "m.tcl", "--no-out"], args].concat())["simulated_s"].as_f64()
    };
    assert_eq!(ns2(&[]), Some(14.0));
    fs::write(at.join("m.tcl"), format!("{FROM_ONE}$ns_ at 50 \"$node_(1) setdest 9 9 1\"\n"))
        .expect("a file");
    assert_eq!(ns2(&[]), Some(50.0));
    assert_eq!(ns2(&["--duration", "7"]), Some(7.0));
}

#[test]
fn all_problems_of_an_ns2_file_are_shown_a_line_each() {
    let dir = folder(&[]);
    let wrong = "$node_(1) fly\n$node_(2) fly\n".repeat(15);
    fs::write(dir.path().join("m.tcl"), wrong).expect("a file");
    let message = run_in(dir.path(), &["run", "--movement", "m.tcl"]).failure(2);
    assert_eq!(message.lines().count(), 21, "{message}");
    assert!(message.lines().nth(19).is_some_and(|l| l.starts_with("wayhop: m.tcl:20:1: ")), "{message}");
    assert!(message.ends_with("wayhop: and 10 more\n"), "{message}");
}

#[test]
fn a_place_on_the_earth_is_not_made_up_for_a_scenario_that_has_none() {
    skip_without_root!();
    let dir = folder(&[("s.toml", CHAIN)]);
    let mut emulation = background(dir.path());
    let run = format!("s-{}", emulation.id());
    // The socket has the scenario's name, with the process's number behind it if another has that.
    let listed = run_in(dir.path(), &["ctl", "list", "--json"]).ok();
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
    let own = |r: &&serde_json::Value| r["pid"] == emulation.id();
    let name = listed["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .find(own)
        .map_or(run, |r| r["run"].as_str().expect("a name").to_owned());
    let ctl = |args: &[&str]| run_in(dir.path(), &[&["ctl", "--run", &name, "--node", "1"], args].concat());
    let answer: serde_json::Value = serde_json::from_str(&ctl(&["--json", "position"]).ok()).expect("JSON");
    let place = &answer["nodes"][0];
    assert_eq!((place["local"]["x"].as_f64(), place.get("earth")), (Some(200.0), None), "{place}");
    let shown = ctl(&["position"]).ok();
    assert!(
        shown.ends_with(
            "metres from the scenario's origin; for geographic positions, give the scenario an `origin`\n"
        ) && !shown.contains("latitude"),
        "{shown}"
    );
    let refused = ctl(&["position", "40.44,-79.94"]).failure(2);
    assert!(
        refused.contains("the scenario has no geographic position") && refused.contains("120m,40m"),
        "{refused}"
    );
    ctl(&["position", "300m,40m"]).ok();
    emulation.kill().expect("it runs");
    emulation.wait().expect("an end");
}

#[test]
fn what_is_stopped_while_it_sets_up_ends_before_it_is_up() {
    skip_without_root!();
    let nodes = "duration_s = 60\nnodes.count = 250\narea = { x_m = 3000, y_m = 3000 }\nmovement = { kind = \"uniform\" }\n";
    let dir = folder(&[("s.toml", nodes)]);
    for world in ["emulate", "lab"] {
        let child = wayhop()
            .args([world, "s.toml", "--no-out", "--quiet"])
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        // In the middle: some nodes are there, by their descriptors.
        let open = || fs::read_dir(format!("/proc/{}/fd", child.id())).map_or(0, Iterator::count);
        while open() < 50 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let stopped = std::process::Command::new("kill").arg(child.id().to_string()).status();
        assert!(stopped.expect("kill").success());
        let ended = Ran::of(&child.wait_with_output().expect("an end"));
        assert_eq!(ended.failure(130), "wayhop: stopped before all nodes were up\n", "{world}");
    }
}

#[test]
fn the_manual_pages_are_there_for_all_commands_and_groff_has_nothing_against_them() {
    let dir = folder(&[]);
    run_in(dir.path(), &["man", "man1"]).ok();
    let mut names: Vec<String> = fs::read_dir(dir.path().join("man1"))
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    for name in ["wayhop.1", "wayhop-run.1", "wayhop-export-ns2.1", "wayhop-ctl-position.1"] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|n| n.contains("help") || n.contains("undo")), "{names:?}");
    for name in &names {
        let page = dir.path().join("man1").join(name);
        let made = std::process::Command::new("groff")
            .args(["-man", "-ww", "-Tutf8", "-P-cbou"])
            .arg(&page)
            .output();
        let made = made.unwrap_or_else(|e| panic!("cannot run groff ({e}): apt-get install groff"));
        assert!(
            made.status.success() && made.stderr.is_empty(),
            "{name}: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let text = String::from_utf8_lossy(&made.stdout).into_owned();
        assert!(text.contains("SYNOPSIS"), "{name}: {text}");
    }
}

#[test]
fn a_configuration_is_checked_against_the_interfaces_of_this_host() {
    let dir = folder(&[]);
    let args = ["node", "--interface", "none0", "--address", "10.0.0.3/16", "--check"];
    let checked = run_in(dir.path(), &args);
    assert_eq!(checked.status, Some(2));
    assert!(checked.out.contains("interface = \"none0\""), "{}", checked.out);
    assert!(checked.err.contains("wayhop: interface none0: No such device"), "{}", checked.err);
}
