//! `wayhop reproduce pran --part demonstration`: real video over an emulated mesh. Needs root, /dev/net/tun and Debian's ffmpeg
//! and socat; without root these tests say so and pass, but in CI they fail.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::emulate::skip_without_root;
use crate::{Ran, folder, run_in, words};

/// What the packets table of a run says, read as text by other code than the report's: programs' packets sent and delivered,
/// and the octets by which those on their way are longer than what the programs sent.
fn from_the_table(dir: &Path, run: &str) -> (u64, u64, u64) {
    let csv = run_in(dir, &["export", "csv", run, "packets"]).ok();
    let mut lines = csv.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let column =
        |name: &str| header.iter().position(|h| *h == name).unwrap_or_else(|| panic!("no column {name}"));
    let [event, packet, bytes, protocol] = ["event", "packet", "bytes", "protocol"].map(column);
    let mut made: BTreeMap<String, u64> = BTreeMap::new();
    let (mut delivered, mut dropped) = (BTreeSet::new(), BTreeSet::new());
    let mut added = 0;
    for l in lines.filter(|l| l[protocol].is_empty()) {
        let (id, octets) = (l[packet].to_owned(), l[bytes].parse::<u64>().expect("octets"));
        match l[event] {
            "originate" => {
                made.insert(id, octets);
            }
            "deliver" => {
                delivered.insert(id);
            }
            "drop" => {
                dropped.insert(id);
            }
            "send" | "forward" => added += octets - made[&id],
            _ => {}
        }
    }
    let ended = made.keys().filter(|id| delivered.contains(*id) || dropped.contains(*id)).count();
    (ended as u64, delivered.len() as u64, added)
}

/// The rows of a lap of this many seconds.
fn report(dir: &Path, lap_s: &str) -> Vec<Value> {
    let args = words("reproduce pran --part demonstration --seeds 1 --out r --json --quiet --duration");
    let mut v = run_in(dir, &[&args[..], &[lap_s]].concat()).json();
    assert_eq!(v["paper"], "pran");
    serde_json::from_value(v["rows"].take()).expect("rows")
}

fn ours(rows: &[Value], row: [&str; 3]) -> f64 {
    let is = |r: &&Value| ["artefact", "row", "quantity"].iter().zip(row).all(|(key, is)| r[key] == is);
    let found = rows.iter().find(is).unwrap_or_else(|| panic!("no {row:?}"));
    found["ours"].as_f64().unwrap_or_else(|| panic!("{found}"))
}

#[test]
fn a_robots_video_crosses_the_mesh_and_the_report_counts_as_the_packets_table() {
    skip_without_root!();
    let dir = folder(&[]);
    // A machine with much else to do takes long to start ffmpeg and socat; they are given time until the call is answered.
    let answered = |rows: &Vec<Value>| ours(rows, ["Section 6.3", "Calls answered", "holds"]) == 1.0;
    let laps = ["14", "40", "120"].into_iter().map(|lap_s| report(dir.path(), lap_s));
    let rows = laps.into_iter().find(answered).expect("nobody answers the call");
    // The programs saw each other: a video that plays, commands that are obeyed.
    for (row, least) in [
        (["Section 6.3", "Video frames sent", "frames"], 30.0),
        (["Section 6.3", "Video frames that decode", "sent_pct"], 50.0),
        (["Section 6.3", "Commands acknowledged", "sent_pct"], 50.0),
        (["Section 6.2.1", "Longest route", "hops"], 3.0),
    ] {
        let found = ours(&rows, row);
        assert!(found >= least, "{row:?}: {found}, not {least}");
    }
    // The report and the table agree.
    let (ended, delivered, added) = from_the_table(dir.path(), "r/runs/seed-1");
    assert!(delivered > 100, "{delivered}");
    let ratio = 100.0 * delivered as f64 / ended as f64;
    assert!((ours(&rows, ["Figure 8", "Whole run", "delivered_pct"]) - ratio).abs() < 1e-9, "{ratio}");
    assert_eq!(ours(&rows, ["Figure 7", "Source route in data", "bytes"]), added as f64);
    // A run that was late says so, in every row, and no other does.
    let on_time = ours(&rows, ["Emulation", "Runs on time", "holds"]) == 1.0;
    for r in rows.iter().filter(|r| r["artefact"] != "Figure 7, simulated") {
        let is_marked = r["note"].as_str().is_some_and(|n| n.starts_with("Degraded"));
        assert_ne!(is_marked, on_time, "{r}");
    }
    for file in ["report.html", "rows.csv", "scenarios/floor.geojson", "runs/seed-1/programs/video.mkv"] {
        assert!(dir.path().join("r").join(file).is_file(), "{file}");
    }
    // The scenario that it leaves is one for `wayhop emulate`.
    let again = ["emulate", "r/scenarios/demonstration.toml", "--duration", "1", "--no-out", "--quiet"];
    run_in(dir.path(), &again).ok();
}

#[test]
fn what_the_demonstration_needs_is_said_with_the_remedy() {
    let dir = folder(&[]);
    let args = ["reproduce", "pran", "--part", "demonstration", "--duration", "5", "--quiet"];
    let bare = crate::wayhop().args(args).current_dir(dir.path()).env("PATH", "/nowhere").output();
    let e = Ran::of(&bare.expect("the program runs")).failure(1);
    assert!(
        e.contains("ffmpeg, ffprobe, socat not found; install them with: apt-get install ffmpeg socat"),
        "{e}"
    );
    for (args, message) in [
        (vec!["reproduce", "cmu", "--part", "forwarding"], "--part and --duration apply only to pran"),
        (vec!["reproduce", "das", "--duration", "60"], "--part and --duration apply only to pran"),
        (vec!["reproduce", "pran", "--part", "walk"], "demonstration, forwarding, all"),
        (vec!["reproduce", "pran", "--duration", "1"], "give a duration from 5 to 7200 s"),
    ] {
        let e = run_in(dir.path(), &args).failure(2);
        assert!(e.contains(message), "{args:?}: {e}");
    }
    skip_without_root!();
    // Nobody: a user without rights, in a folder of their own.
    let open = Command::new("chmod").arg("777").arg(dir.path()).status().expect("chmod runs");
    assert!(open.success());
    let ran = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--"])
        .arg(env!("CARGO_BIN_EXE_wayhop"))
        .args(args)
        .current_dir(dir.path())
        .output();
    let e = Ran::of(&ran.expect("setpriv runs")).failure(1);
    assert!(e.contains("cannot create a network namespace") && e.contains("run it as root"), "{e}");
}
