//! `--check`: the run, the origin of each value, and the estimated cost; and nothing is written.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::{Ran, data, folder, hash, run_in, schemas, summary_of, wayhop, words};

fn repo(path: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../..", path].iter().collect();
    path.to_str().expect("UTF-8").to_owned()
}

/// What `--check --json` prints of a run.
fn checked(dir: &Path, args: &[&str]) -> Value {
    let text = run_in(dir, &[&["run"], args, &["--check", "--json"]].concat()).ok();
    schemas::check("run-check", &text);
    serde_json::from_str(&text).expect("one JSON object")
}

fn by_key(check: &Value) -> BTreeMap<&str, &Value> {
    check["values"]
        .as_array()
        .expect("values")
        .iter()
        .map(|v| (v["key"].as_str().expect("a key"), v))
        .collect()
}

fn files(dir: &Path) -> usize {
    std::fs::read_dir(dir).expect("a directory").count()
}

#[test]
fn every_scenario_can_be_checked_and_nothing_is_written() {
    let dir = folder(&[]);
    let mut scenarios = 0;
    for entry in std::fs::read_dir(repo("scenarios")).expect("scenarios") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "toml") {
            continue;
        }
        scenarios += 1;
        let check = checked(dir.path(), &[path.to_str().expect("UTF-8")]);
        let values = by_key(&check);
        for key in ["seed", "duration_s", "radio.tx_power_dbm", "protocol.name", "captures.snap_length_bytes"]
        {
            assert!(!values[key]["value"].is_null() && values[key]["from"].is_string(), "{key}");
        }
        assert_eq!(check["simulated_s"], values["duration_s"]["value"]);
        assert_eq!(check["nodes"].as_array().expect("nodes").len() as u64, values["nodes.count"]["value"]);
        let range = &check["estimate"]["wall_s_range"];
        let seconds =
            [&range[0], &check["estimate"]["wall_s"], &range[1]].map(|v| v.as_f64().expect("seconds"));
        assert!(seconds.is_sorted() && seconds[0] > 0.0, "{seconds:?}");
    }
    assert!(scenarios >= 6, "{scenarios}");
    assert_eq!(files(dir.path()), 0);
}

const CHAIN: &str = "duration_s = 20\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\n\n[radio]\ncw_max = 511\n\n\
                     [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\nstop_s = 12\n";

#[test]
fn values_name_the_file_and_line_the_option_the_preset_and_the_profile() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let args = words(
        "s.toml --set radio.cw_min=15 --seed 7 --duration=15 --protocol=aodv --profile=ns2 --radio=80211g --captures",
    );
    let check = checked(dir.path(), &args);
    let values = by_key(&check);
    for (key, value, unit, origin, from) in [
        ("nodes.count", "4", "null", "file", "s.toml:2"),
        ("radio.cw_max", "511", "\"slots\"", "file", "s.toml:6"),
        ("radio.cw_min", "15", "\"slots\"", "setting", "--set"),
        ("seed", "7", "null", "option", "--seed"),
        ("duration_s", "15.0", "\"s\"", "option", "--duration"),
        ("protocol.name", "\"aodv\"", "null", "option", "--protocol"),
        ("protocol.profile", "\"ns2\"", "null", "option", "--profile"),
        ("radio.preset", "\"80211g\"", "null", "option", "--radio"),
        ("captures.all", "true", "null", "option", "--captures"),
        // IEEE 802.11-2020, clause 18.
        ("radio.slot_us", "9", "\"us\"", "preset", "preset 80211g"),
        ("protocol.link_feedback", "true", "null", "profile", "profile ns2"),
        ("traffic.0.payload_bytes", "64", "\"octets\"", "default", "default"),
        ("traffic.0.stop_s", "12.0", "\"s\"", "file", "s.toml:12"),
        ("area.x_m", "600.0", "\"m\"", "derived", "derived from movement"),
    ] {
        let found = values.get(key).unwrap_or_else(|| panic!("no {key}"));
        let as_text = |field: &str| found[field].to_string();
        assert_eq!(found["from"], from, "{key}");
        assert_eq!(found["origin"], origin, "{key}");
        assert_eq!((as_text("value"), as_text("unit")), (value.to_owned(), unit.to_owned()), "{key}");
    }
    assert_eq!(values["radio.cw_max"]["line"], 6);
    let table = run_in(dir.path(), &[&["run"], &args[..], &["--check"]].concat()).ok();
    let line = |key: &str| {
        let found = table.lines().find(|l| l.trim_start().starts_with(&format!("{key} ")));
        found.unwrap_or_else(|| panic!("no {key}: {table}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("cw_max"), "cw_max 511 slots s.toml:6");
    assert_eq!(line("slot_us"), "slot_us 9 us preset 80211g");
    assert_eq!(line("offered"), "offered 48 packets by 1 flows");
    for heading in ["\n[movement]\n", "\n[traffic.0]\n", "\n[radio]\n", "\n[protocol]\n"] {
        assert!(table.contains(heading), "{heading}: {table}");
    }
}

#[test]
fn a_run_with_all_values_as_settings_is_the_same_run() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let check = checked(dir.path(), &["s.toml"]);
    let values = by_key(&check);
    let said = values.iter().filter(|(_, v)| v["origin"] != "derived" && !v["value"].is_null());
    let sets: Vec<String> = said.map(|(key, v)| format!("{key}={}", v["value"])).collect();
    assert!(sets.len() > 100, "{sets:?}");
    let mut args = vec!["s.toml", "--no-out"];
    for set in &sets {
        args.extend(["--set", set]);
    }
    assert_eq!(hash(dir.path(), &args), hash(dir.path(), &["s.toml", "--no-out"]));
}

#[test]
fn the_estimate_of_a_short_run_is_the_run() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let check = checked(dir.path(), &["s.toml"]);
    let estimate = &check["estimate"];
    let run = summary_of(dir.path(), &["s.toml", "--no-out"]);
    assert_eq!(estimate["events"], run["events"]);
    assert_eq!(estimate["prefix"]["complete"], true);
    assert_eq!(estimate["simulated_s"], run["simulated_s"]);
    // Four packets a second from 0 s to 12 s.
    assert_eq!(check["flows"][0]["offered_packets"], 48.0);
    assert_eq!(run["flows"][0]["sent"], 48);
    assert!(estimate["memory_bytes"].as_u64().expect("octets") > 1_000_000);
}

#[test]
fn the_estimate_of_a_long_run_stands_on_its_beginning() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let args = words("s.toml --set traffic.0.rate_pps=200 --set traffic.0.stop_s=1e6 --duration 1000000");
    let check = checked(dir.path(), &args);
    let estimate = &check["estimate"];
    let prefix = &estimate["prefix"];
    assert_eq!(prefix["complete"], false);
    let (seen, all) = (prefix["simulated_s"].as_f64().expect("s"), 1e6);
    let (events, seen_events) =
        (estimate["events"].as_f64().expect("events"), prefix["events"].as_f64().expect("events"));
    // Nothing changes in this run: events come as seconds do.
    let expected = seen_events * all / seen;
    assert!((events / expected - 1.0).abs() < 0.1, "{events} {expected}");
}

#[test]
fn failures_and_warnings_are_those_of_a_run() {
    let dir = folder(&[("s.toml", CHAIN), ("bad.toml", "nodes.cuont = 3\n")]);
    let wrong: [&[&str]; 6] = [
        &["s.toml", "--set", "radio.preset=80211x"],
        &["s.toml", "--set", "traffic.0.dst=9"],
        &["s.toml", "--profile", "das", "--protocol", "dsr"],
        &["bad.toml"],
        &["none.toml"],
        &["s.toml", "--range", "9"],
    ];
    for args in wrong {
        let run = run_in(dir.path(), &[&["run"], args, &["--no-out"]].concat()).failure(2);
        let check = run_in(dir.path(), &[&["run"], args, &["--check", "--no-out"]].concat()).failure(2);
        assert_eq!(run, check, "{args:?}");
    }
    // No traffic, and flows that go on at the end.
    for sets in [["--set", "traffic=[]"], ["--set", "traffic.0.start_s=500"]] {
        let args = ["run", "s.toml", "--set", "traffic.0.stop_s=600", sets[0], sets[1]];
        let run = run_in(dir.path(), &[&args[..], &["--no-out"]].concat());
        let check = run_in(dir.path(), &[&args[..], &["--check"]].concat());
        assert!(run.err.starts_with("warning: "), "{}", run.err);
        assert_eq!(run.err, check.err, "{sets:?}");
        let json: Value =
            serde_json::from_str(&run_in(dir.path(), &[&args[..], &["--check", "--json"]].concat()).out)
                .expect("JSON");
        let warning = json["warnings"][0].as_str().expect("a warning");
        assert!(run.err.contains(warning), "{warning}");
    }
    let quiet = run_in(dir.path(), &["run", "s.toml", "--check", "--quiet"]);
    assert_eq!((quiet.status, &*quiet.out, &*quiet.err), (Some(0), "", ""));
}

#[test]
fn what_is_many_is_summed_up_for_people_and_whole_in_json() {
    let flow = |i: usize| {
        format!(
            "[[traffic]]\nkind = \"cbr\"\nsrc = {i}\ndst = {}\nrate_pps = {}\n",
            (i + 1) % 1000,
            1 + i % 4
        )
    };
    let flows: String = (0..1000).map(flow).collect();
    let text = format!(
        "duration_s = 1\nnodes.count = 1000\nmovement = {{ kind = \"grid\", spacing_m = 2000 }}\n{flows}"
    );
    let dir = folder(&[("s.toml", &text)]);
    let table = run_in(dir.path(), &["run", "s.toml", "--check"]).ok();
    assert!(table.lines().count() < 250, "{}", table.lines().count());
    assert!(table.lines().all(|l| l.len() < 160), "{table}");
    let words = |key: &str| {
        let (_, traffic) = table.split_once("\n[traffic.0..999]\n").expect("the flows as one");
        let line = traffic.lines().find(|l| l.trim_start().starts_with(key)).expect("the key");
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words("rate_pps"), "rate_pps 1 to 4 packets/s s.toml:8-5003");
    assert_eq!(words("kind"), "kind cbr s.toml:5-5000");
    assert_eq!(words("payload_bytes"), "payload_bytes 64 octets default");
    let check = checked(dir.path(), &["s.toml"]);
    assert_eq!(check["flows"].as_array().expect("flows").len(), 1000);
    assert_eq!(by_key(&check)["traffic.999.src"]["value"], 999);
}

#[test]
fn ns2_files_and_standard_input_are_checked_too() {
    let dir = folder(&[]);
    let (movement, traffic) = (data("line.tcl"), data("line.cbr.tcl"));
    let args = [
        "--movement",
        &movement,
        "--traffic",
        &traffic,
        "--protocol",
        "dsr",
        "--profile",
        "ns2",
        "--duration",
        "9",
    ];
    let check = checked(dir.path(), &args);
    let values = by_key(&check);
    for (key, from) in [
        ("movement.path", "--movement"),
        ("traffic.0.path", "--traffic"),
        ("protocol.profile", "--profile"),
        ("duration_s", "--duration"),
        ("nodes.count", &*format!("derived from {movement}")),
        ("radio.arp", "derived from protocol.profile"),
    ] {
        assert_eq!(values[key]["from"], from, "{key}");
    }
    let mut child = wayhop()
        .args(["run", "-", "--check", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .current_dir(dir.path())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("a pipe").write_all(CHAIN.as_bytes()).expect("it reads");
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    let check: Value = serde_json::from_str(&ran.ok()).expect("JSON");
    assert_eq!(by_key(&check)["radio.cw_max"]["from"], "<stdin>:6");
    assert_eq!(files(dir.path()), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn an_emulation_takes_as_long_as_it_says_and_needs_no_privilege_to_be_checked() {
    let dir = folder(&[("s.toml", CHAIN)]);
    let text = run_in(dir.path(), &["emulate", "s.toml", "--check", "--json"]).ok();
    let check: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&check["world"], &check["estimate"]["wall_s"]), (&"emulation".into(), &20.0.into()));
    assert!(check["estimate"]["events"].is_null() && check["estimate"]["memory_bytes"].is_null());
    assert_eq!(files(dir.path()), 1, "the scenario only");
}
