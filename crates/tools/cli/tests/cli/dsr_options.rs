//! Every DSR option in the captures of whole runs: tshark finds nothing wrong, and counts as many of each type as
//! `wayhop decode` does.
//!
//! Left out: padding, which `decode` does not show, and the experimental options (location, costs,
//! probes), after which tshark loses its position; the runs here do not use them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wayhop_testkit::tshark;

use crate::oracle::joined;
use crate::{data, folder, run_in, summary_of};

type Counts = BTreeMap<String, u64>;

/// Option types, with their names in `wayhop decode`.
const OPTIONS: &[(&str, &str)] = &[
    ("1", "rreq"),
    ("2", "rrep"),
    ("3", "rerr"),
    ("32", "ack"),
    ("96", "source_route"),
    ("128", "timeout"),
    ("129", "flow_id"),
    ("160", "ack_request"),
];

/// The captures of a run of the walk.
fn captures(dir: &Path, args: &[&str]) -> Vec<PathBuf> {
    summary_of(dir, &[&[data("walk.toml").as_str(), "--captures", "--out", "r"], args].concat());
    let folder = fs::read_dir(dir.join("r/captures")).expect("captures");
    folder.map(|e| e.expect("an entry").path()).collect()
}

fn by_tshark(capture: &Path) -> Counts {
    let mut counts = Counts::new();
    let mut count = |name: &str| *counts.entry(name.to_owned()).or_default() += 1;
    let rows = tshark::fields(
        capture,
        "dsr && radiotap.flags.badfcs == 0",
        &["dsr.option.type", "dsr.flowstate", "dsr.option.err.type"],
    )
    .expect("tshark");
    for row in rows {
        for kind in row[0].split(',').filter(|k| !["", "0", "224"].contains(k)) {
            count(OPTIONS.iter().find(|(n, _)| *n == kind).expect("a type of RFC 4728").1);
        }
        for _ in row[1].split(',').filter(|f| ["1", "True"].contains(f)) {
            count("flow_state");
        }
        for error in row[2].split(',').filter(|e| !e.is_empty()) {
            count(&format!("rerr of type {error}"));
        }
    }
    counts
}

fn by_decode(capture: &Path, dir: &Path) -> Counts {
    let mut counts = Counts::new();
    for line in run_in(dir, &["decode", capture.to_str().expect("UTF-8")]).ok().lines() {
        let m: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert!(m["malformed"].is_null(), "{m}");
        *counts.entry(m["type"].as_str().expect("a type").to_owned()).or_default() += 1;
        if let Some(kind) = m["error_type"].as_u64() {
            *counts.entry(format!("rerr of type {kind}")).or_default() += 1;
        }
    }
    counts
}

/// tshark and `decode` count the same in the captures of this run, which has options of all of these names.
fn agree(args: &[&str], expected: &[&str]) {
    let dir = folder(&[]);
    let all = joined(&captures(dir.path(), args), dir.path());
    assert_eq!(tshark::complaints(&all).expect("tshark"), Vec::<Vec<String>>::new());
    let counts = by_tshark(&all);
    assert_eq!(by_decode(&all, dir.path()), counts);
    assert!(expected.iter().all(|name| counts.contains_key(*name)), "the run is too quiet: {counts:?}");
}

#[test]
fn options_of_profile_rfc_with_flow_state_are_those_that_tshark_sees() {
    let expected = ["rreq", "rrep", "rerr", "source_route", "timeout", "flow_state", "rerr of type 1"];
    agree(&["--profile", "rfc", "--set", "protocol.flow_state=true"], &expected);
}

#[test]
fn options_of_profile_ns2_are_those_that_tshark_sees() {
    agree(&["--profile", "ns2"], &["rreq", "rrep", "rerr", "source_route", "timeout", "flow_state"]);
}

#[test]
fn options_over_a_radio_without_acknowledgements_are_those_that_tshark_sees() {
    let args = ["--profile", "cmu", "--radio", "wavelan-i", "--set", "protocol.location_option=false"];
    agree(&args, &["rreq", "rrep", "rerr", "source_route", "ack_request", "ack"]);
}

#[test]
fn options_of_flows_over_a_radio_without_acknowledgements_are_tsharks() {
    let args = ["--profile", "rfc", "--radio", "wavelan-i", "--set", "protocol.flow_state=true"];
    agree(&args, &["rreq", "rrep", "source_route", "timeout", "flow_state", "ack_request", "ack"]);
}
