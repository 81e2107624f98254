//! `--record-inputs` and `wayhop replay`: an engine that gets its inputs again does the same.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::schemas::check;
use crate::{Ran, folder, hash, run_in, summary_of, wayhop};

/// A short walk: routes are found, used, lost and found again; one node reboots, and one sleeps.
const WALK: &str = "\
name = \"walk\"
duration_s = 20
nodes.count = 8
area = { x_m = 900, y_m = 300 }
movement = { kind = \"random-waypoint\", speed_min_mps = 1, speed_max_mps = 20, pause_s = 0, steady_state = true }
[[nodes.node]]
id = 3
name = \"third node\"
[[traffic]]
kind = \"cbr-random\"
connections = 4
rate_pps = 4
payload_bytes = 64
start_max_s = 5
[[outages]]
node = 2
start_s = 6
length_s = 3
tables = \"lost\"
[[outages]]
node = 5
start_s = 8
length_s = 4
tables = \"kept\"
";

/// For each protocol, a parameter without which it does something else.
const CHANGES: [(&str, &str); 3] =
    [("dsr", "broadcast_jitter_ms=20"), ("aodv", "hello=always"), ("dsdv", "periodic_update_ms=3000")];

fn recorded(protocol: &str) -> tempfile::TempDir {
    let dir = folder(&[("walk.toml", WALK)]);
    let args = ["run", "walk.toml", "--protocol", protocol, "--out", "run", "--quiet", "--record-inputs"];
    run_in(dir.path(), &args).ok();
    dir
}

fn objects(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|l| serde_json::from_str(l).expect("one object a line")).collect()
}

fn logs(dir: &Path) -> Vec<String> {
    let mut all: Vec<String> = fs::read_dir(dir.join("run/inputs"))
        .expect("a folder of logs")
        .map(|e| e.expect("an entry").path().display().to_string())
        .collect();
    all.sort();
    all
}

#[test]
fn every_log_of_a_run_replays_and_another_parameter_shows_the_first_difference() {
    for (protocol, change) in CHANGES {
        let dir = recorded(protocol);
        let logs = logs(dir.path());
        assert_eq!(logs.len(), 8);
        let mut args = vec!["replay", "--json"];
        args.extend(logs.iter().map(String::as_str));
        let same = run_in(dir.path(), &args);
        assert_eq!(same.status, Some(0), "{}{}", same.out, same.err);
        check("replay", &same.out);
        for o in objects(&same) {
            assert_eq!(
                (&o["verdict"], &o["end"], &o["differences"]),
                (&"same".into(), &"whole".into(), &0.into())
            );
            assert!(o["inputs"].as_u64() > Some(10) && o["effects"].as_u64() > Some(5), "{o}");
            assert_eq!(
                (&o["protocol"], &o["world"], &o["seed"]),
                (&protocol.into(), &"sim".into(), &1.into())
            );
        }

        let starts =
            |log: &String| fs::read_to_string(log).expect("a log").matches("\"in\":\"start\"").count();
        assert_eq!(logs.iter().map(starts).sum::<usize>(), 8 + 1, "each begins, and one again");

        let set = format!("protocol.{change}");
        args.extend(["--set", &set]);
        let changed = run_in(dir.path(), &args);
        assert_eq!(changed.status, Some(1), "{protocol}: {}", changed.err);
        check("replay", &changed.out);
        let differs =
            objects(&changed).into_iter().find(|o| o["verdict"] == "differs").expect("one at least");
        let first = &differs["first"];
        assert_ne!(first["expected"], first["got"]);
        assert!(first["line"].as_u64() > Some(1) && first["words"]["input"][0].is_string(), "{first}");

        // With --all, every difference is there, the first of them first.
        let log = differs["log"].as_str().expect("a path").to_owned();
        let all = run_in(dir.path(), &["replay", "--json", "--all", &log, "--set", &set]);
        let (each, _) = all.out.trim_end().rsplit_once('\n').expect("lines");
        check("replay-difference", each);
        let all = objects(&all);
        let (end, each) = all.split_last().expect("an object");
        assert_eq!(each.len() as u64, end["differences"].as_u64().expect("a count"), "{protocol}");
        assert_eq!(&each[0]["difference"]["line"], &first["line"]);

        // The same for people.
        let text = run_in(dir.path(), &["replay", &log, "--set", &set]);
        let place = format!("{log}:{}: {protocol} differs at ", first["line"]);
        assert!(text.out.starts_with(&place) && text.out.contains("effects in the log"), "{}", text.out);
        assert!(text.out.lines().any(|l| l.starts_with('!')), "{}", text.out);
        assert!(text.out.contains(&format!("{protocol} (rfc) of node ")), "{}", text.out);
    }
}

#[test]
fn logs_of_nodes_with_several_interfaces_replay() {
    let dir = folder(&[("two.toml", include_str!("../../../../../scenarios/two-radios.toml"))]);
    let args = ["run", "two.toml", "--duration", "15", "--out", "run", "--quiet", "--record-inputs"];
    run_in(dir.path(), &args).ok();
    let logs = logs(dir.path());
    let mut args = vec!["replay", "--json"];
    args.extend(logs.iter().map(String::as_str));
    let same = run_in(dir.path(), &args);
    assert_eq!(same.status, Some(0), "{}{}", same.out, same.err);
    let text = fs::read_to_string(&logs[0]).expect("a log");
    let header: Value = serde_json::from_str(text.lines().next().expect("a header")).expect("JSON");
    assert_eq!(header["interfaces"].as_array().map(Vec::len), Some(2), "{header}");
}

#[test]
fn recording_changes_nothing_in_a_run_and_only_the_nodes_named_are_recorded() {
    let dir = folder(&[("walk.toml", WALK)]);
    let without = hash(dir.path(), &["walk.toml", "--no-out"]);
    let with =
        summary_of(dir.path(), &["walk.toml", "--out", "run", "--record-inputs", "mesh-1", "third node"]);
    assert_eq!(with["trace_hash"], without.as_str());
    let all = logs(dir.path());
    let names: Vec<_> = all.iter().map(|l| l.rsplit('/').next().expect("a name")).collect();
    assert_eq!(names, ["1.jsonl", "third_node.jsonl"]);
    // The next run in this directory has none: those of the older one are gone.
    summary_of(dir.path(), &["walk.toml", "--out", "run"]);
    assert!(!dir.path().join("run/inputs").exists());
}

#[test]
fn half_a_log_is_told_apart_from_a_whole_one() {
    let dir = recorded("aodv");
    let longest = logs(dir.path()).into_iter().max_by_key(|l| fs::metadata(l).expect("a log").len());
    let log = longest.expect("a log");
    let text = fs::read_to_string(&log).expect("a log");
    let lines: Vec<&str> = text.lines().collect();
    let cut = |n: usize, rest: &str| {
        fs::write(dir.path().join("half.jsonl"), lines[..n].join("\n") + "\n" + rest).expect("a file");
        let ran = run_in(dir.path(), &["replay", "half.jsonl"]);
        (ran.status, ran.out)
    };
    let (status, out) = cut(30, &lines[30][..40]);
    assert_eq!(status, Some(3), "{out}");
    assert!(
        out.ends_with("half.jsonl: truncated log, replayed up to line 30: line 31 is truncated\n"),
        "{out}"
    );
    let (status, out) = cut(30, "");
    assert_eq!(status, Some(3), "{out}");
    assert!(out.ends_with("replayed up to line 30: the final line is missing\n"), "{out}");
    let (status, _) = cut(lines.len(), "");
    assert_eq!(status, Some(0));
}

#[test]
fn what_is_no_log_is_refused_with_file_line_and_remedy() {
    let dir = recorded("dsdv");
    let text = fs::read_to_string(&logs(dir.path())[0]).expect("a log");
    let files = [
        ("version.jsonl", text.replacen("\"version\":1", "\"version\":9", 1)),
        ("protocol.jsonl", text.replacen("\"protocol\":\"dsdv\"", "\"protocol\":\"olsr\"", 1)),
        ("parameter.jsonl", text.replacen("\"mtu_bytes\":1500", "\"mtu_bytes\":\"long\"", 1)),
        ("garbage.jsonl", text.lines().take(9).collect::<Vec<_>>().join("\n") + "\nwhat is this?\n"),
        ("scenario.jsonl", WALK.to_owned()),
    ];
    for (name, text) in &files {
        fs::write(dir.path().join(name), text).expect("a file");
    }
    for (args, message) in [
        (
            &["version.jsonl"][..],
            "wayhop: version.jsonl:1: this log has version 9 of the format, but this Wayhop reads version 1",
        ),
        (
            &["protocol.jsonl"],
            "wayhop: protocol.jsonl:1: unknown protocol \"olsr\"; known protocols: dsr, aodv, dsdv",
        ),
        (&["parameter.jsonl"], "wayhop: parameter.jsonl:1: not parameters of dsdv: \"long\" is not"),
        (&["scenario.jsonl"], "wayhop: scenario.jsonl:1: not a log of inputs"),
        (&["run"], "wayhop: run: this is a directory; give the logs in it"),
        (&["absent.jsonl"], "wayhop: absent.jsonl: cannot read it: No such file"),
        (&["run/inputs/0.jsonl", "--set", "seed=2"], "wayhop: --set seed=2: only parameters of the protocol"),
        (
            &["run/inputs/0.jsonl", "--set", "protocol.speed=2"],
            "wayhop: --set protocol.speed=2: dsdv has no such parameter",
        ),
        (
            &["run/inputs/0.jsonl", "--set", "protocol.mtu_bytes=x"],
            "wayhop: --set protocol.mtu_bytes=\"x\": \"x\" is not a whole number",
        ),
    ] {
        let e = run_in(dir.path(), &[&["replay"], args].concat()).failure(2);
        assert!(e.starts_with(message), "{e}");
    }
    // What was found before the garbage is said, too.
    let e = run_in(dir.path(), &["replay", "garbage.jsonl"]).failure(2);
    assert!(
        e.starts_with(
            "wayhop: garbage.jsonl: replayed up to line 9: 8 inputs, 0 of them with different effects\n"
        ),
        "{e}"
    );
    assert!(e.contains("wayhop: garbage.jsonl:10: not a line of a log of inputs: expected"), "{e}");

    let e = run_in(dir.path(), &["run", "--record-inputs", "walk.toml"]).failure(2);
    assert!(e.contains("no scenario"), "{e}");
    let e = run_in(dir.path(), &["run", "walk.toml", "--record-inputs", "9"]).failure(2);
    assert!(
        e.starts_with(
            "wayhop: --record-inputs 9: no such node; give a number from 0 to 7, mesh-0 to mesh-7, or a name"
        ),
        "{e}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_fails_a_run_that_was_to_be_recorded_and_says_why() {
    let dir = folder(&[("walk.toml", WALK)]);
    // A limit on the size of files is a disk that is full for them.
    let command = format!(
        "trap '' XFSZ; ulimit -f 1000; {} run walk.toml --set duration_s=100 --out run --quiet --record-inputs",
        wayhop().get_program().to_string_lossy()
    );
    let done =
        std::process::Command::new("sh").args(["-c", &command]).current_dir(dir.path()).output().expect("sh");
    let ran = Ran::of(&done);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(
        ran.err.contains(
            "the logs of inputs are incomplete, the rest of the run is complete: cannot write run/inputs/"
        ),
        "{}",
        ran.err
    );
    // Only complete lines are there.
    for log in logs(dir.path()) {
        let half = run_in(dir.path(), &["replay", &log]);
        assert_eq!(half.status, Some(3), "{log}: {}{}", half.out, half.err);
        assert!(half.out.contains("the final line is missing"), "{log}: {}", half.out);
    }
}

#[test]
fn engines_that_sleep_or_begin_again_after_an_outage_replay_too() {
    // Every node is down now and then. An engine that begins again has other parameters: it waits.
    for (protocol, _) in CHANGES {
        for tables in ["lost", "kept"] {
            let outages = format!("[[outages]]\nmean_up_s = 4\nmean_down_s = 1\ntables = \"{tables}\"\n");
            let dir = folder(&[(
                "walk.toml",
                &format!("{}{outages}", WALK.split("[[outages]]").next().unwrap_or_default()),
            )]);
            let args =
                ["run", "walk.toml", "--protocol", protocol, "--out", "run", "--quiet", "--record-inputs"];
            run_in(dir.path(), &args).ok();
            let logs = logs(dir.path());
            let mut args = vec!["replay", "--json"];
            args.extend(logs.iter().map(String::as_str));
            let same = run_in(dir.path(), &args);
            assert_eq!(same.status, Some(0), "{protocol} {tables}: {}{}", same.out, same.err);
            let starts = |log: &String| fs::read_to_string(log).unwrap().matches("\"start\"").count();
            let begun: usize = logs.iter().map(starts).sum();
            if tables == "lost" {
                assert!(begun > 16, "{protocol}: 8 nodes begin, and reboot some 30 times: {begun}");
            } else {
                assert_eq!(begun, 8, "{protocol}");
            }
        }
    }
}
