//! Captures of whole runs against tshark, and `wayhop decode` against both.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wayhop_testkit::tshark;

use crate::{data, folder, run_in, summary_of};

type Counts = BTreeMap<String, u64>;

/// Runs the walk with captures and returns the folder of the run with the summary's count of messages.
fn captured(args: &[&str]) -> (tempfile::TempDir, Vec<PathBuf>, Counts) {
    let dir = folder(&[]);
    let walk = data("walk.toml");
    let summary = summary_of(dir.path(), &[&[walk.as_str(), "--captures", "--out", "r"], args].concat());
    let mut files: Vec<PathBuf> = fs::read_dir(dir.path().join("r/captures"))
        .expect("captures")
        .map(|e| e.expect("an entry").path())
        .collect();
    files.sort();
    assert_eq!(files.len(), 15, "one for each node");
    let by_type = serde_json::from_value(summary["totals"]["by_type"].clone()).expect("counts");
    (dir, files, by_type)
}

/// pcapng files one after the other are a pcapng file.
pub(crate) fn joined(files: &[PathBuf], at: &Path) -> PathBuf {
    let all: Vec<u8> = files.iter().flat_map(|f| fs::read(f).expect("a capture")).collect();
    let path = at.join("all.pcapng");
    fs::write(&path, all).expect("a file");
    path
}

/// The messages that the nodes of the captures sent, without the MAC's repetitions, as tshark sees them.
fn by_tshark(capture: &Path, protocol: &str) -> Counts {
    const SENT: &str = "frame.packet_flags_direction == 2 && wlan.fc.retry == 0";
    let field = if protocol == "dsr" { "dsr.option.type" } else { "aodv.type" };
    let rows = tshark::fields(capture, &format!("{SENT} && {protocol}"), &[field, "ip.dst"]).expect("tshark");
    let mut counts = Counts::new();
    for row in &rows {
        // 1, 2 and 3 in both protocols, which is no accident.
        for kind in row[0].split(',') {
            let name = match kind {
                "1" => "rreq",
                // A Hello is a Route Reply to all (RFC 3561, section 6.9).
                "2" if row[1] == "255.255.255.255" => "hello",
                "2" => "rrep",
                "3" => "rerr",
                _ => continue,
            };
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}

fn by_decode(files: &[PathBuf], dir: &Path) -> Counts {
    let mut counts = Counts::new();
    for file in files {
        for line in run_in(dir, &["decode", file.to_str().expect("UTF-8")]).ok().lines() {
            let m: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let kind = m["type"].as_str().expect("a type");
            if m["sent"] == true && m["retry"] != true && ["rreq", "rrep", "rerr", "hello"].contains(&kind) {
                *counts.entry(kind.to_owned()).or_default() += 1;
            }
        }
    }
    counts
}

fn agree(protocol: &str, args: &[&str], expected: &[&str]) {
    let (dir, files, summary) = captured(&[&["--protocol", protocol], args].concat());
    assert!(expected.iter().all(|k| summary.contains_key(*k)), "the run is too quiet: {summary:?}");
    let all = joined(&files, dir.path());
    assert_eq!(tshark::complaints(&all).expect("tshark"), Vec::<Vec<String>>::new());
    assert_eq!(by_tshark(&all, protocol), summary, "tshark and the summary");
    assert_eq!(by_decode(&files, dir.path()), summary, "decode and the summary");
}

#[test]
fn dsr_messages_in_captures_are_those_of_the_summary() {
    agree("dsr", &[], &["rreq", "rrep", "rerr"]);
}

#[test]
fn dsr_messages_with_flow_state_are_those_of_the_summary() {
    agree("dsr", &["--profile", "ns2"], &["rreq", "rrep", "rerr"]);
}

#[test]
fn aodv_messages_in_captures_are_those_of_the_summary() {
    agree("aodv", &[], &["rreq", "rrep", "rerr"]);
}

#[test]
fn aodv_hellos_in_captures_are_those_of_the_summary() {
    agree("aodv", &["--profile", "das"], &["rreq", "rrep", "rerr", "hello"]);
}

#[test]
fn messages_over_80211g_are_those_of_the_summary() {
    agree("aodv", &["--radio", "80211g"], &["rreq", "rrep"]);
}

#[test]
fn frames_received_tell_their_signal_and_200_octets_of_each_frame_are_kept() {
    let (_dir, files, _) = captured(&[]);
    let fields = [
        "frame.packet_flags_direction",
        "radiotap.dbm_antsignal",
        "frame.cap_len",
        "frame.len",
        "radiotap.length",
    ];
    let rows = tshark::fields(&files[0], "", &fields).expect("tshark");
    let number = |s: &str| s.parse::<i64>().expect("a number");
    let (received, sent): (Vec<_>, Vec<_>) = rows.iter().partition(|r| r[0].ends_with('1'));
    assert!(received.len() > 100 && !sent.is_empty());
    // -93 dBm hears nothing at 2 Mb/s, and nobody is closer than a few metres to an antenna of 24.5 dBm.
    assert!(received.iter().all(|r| (-93..20).contains(&number(&r[1]))), "each has a signal");
    assert!(sent.iter().all(|r| r[1].is_empty()));
    let frame = |r: &Vec<String>, length: usize| number(&r[length]) - number(&r[4]);
    assert!(rows.iter().all(|r| frame(r, 2) == frame(r, 3).min(200)));
    assert!(rows.iter().any(|r| frame(r, 3) > 300), "the payload is longer than what is kept");
}

#[test]
fn only_the_nodes_that_the_scenario_names_have_a_capture() {
    let dir = folder(&[]);
    summary_of(
        dir.path(),
        &[&data("walk.toml"), "--set", "captures.nodes=[3, 7]", "--out", "r", "--duration", "1"],
    );
    let mut names: Vec<_> = fs::read_dir(dir.path().join("r/captures"))
        .expect("captures")
        .map(|e| e.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["3.pcapng", "7.pcapng"]);
}
