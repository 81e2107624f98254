//! `--receptions`, frames that could not be decoded in captures, and `wayhop why`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;
use wayhop_testkit::tshark;

use crate::emulate::skip_without_root;
use crate::schemas::check;
use crate::{folder, hash, run_in, summary_of};

/// A crowd with hidden stations; all is quiet at the end, so that nothing is on the air then.
const CROWD: &str = "duration_s = 40\nnodes.count = 25\narea = { x_m = 1200, y_m = 300 }\n\
    movement = { kind = \"random-waypoint\", speed_max_mps = 20 }\nradio.preset = \"wavelan-914-ns2\"\n\
    [[traffic]]\nkind = \"cbr-random\"\nconnections = 10\nrate_pps = 8\nstart_max_s = 2\nmax_packets = 64\n";

/// Two neighbours; the second is down for a while. Nothing else can go wrong.
const OUTAGE: &str = "duration_s = 40\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n\
    protocol.name = \"aodv\"\nradio.preset = \"wavelan-914-ns2\"\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 1\nstart_s = 1.5\nstop_s = 8\n\
    [[outages]]\nnode = 1\nstart_s = 3\nlength_s = 30\n";

pub(crate) type Row = BTreeMap<String, String>;

/// A table of a run.
pub(crate) fn table(dir: &Path, run: &str, name: &str) -> Vec<Row> {
    let text = run_in(dir, &["export", "csv", run, name]).ok();
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a heading").split(',').collect();
    let row = |l: &str| head.iter().map(|h| (*h).to_owned()).zip(l.split(',').map(str::to_owned)).collect();
    lines.map(row).collect()
}

pub(crate) fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect()
}

#[test]
fn each_attempt_that_the_macs_count_was_received_or_lost_for_one_cause() {
    for (protocol, preset) in [("dsr", "wavelan-914-ns2"), ("aodv", "wavelan-914-sinr"), ("dsdv", "80211b")] {
        let dir = folder(&[("s.toml", CROWD)]);
        let set = format!("radio.preset={preset}");
        let args = ["s.toml", "--protocol", protocol, "--set", &set, "--out", "r"];
        let without = hash(dir.path(), &args);
        assert_eq!(
            hash(dir.path(), &[&args[..], &["--receptions"]].concat()),
            without,
            "recording changes nothing"
        );

        let rows = table(dir.path(), "r", "receptions");
        let count = |frame: &str, outcome: Option<&str>| {
            let of = |r: &&Row| r["frame"] == frame && r["outcome"] != "withheld";
            rows.iter().filter(of).filter(|r| outcome.is_none_or(|o| r["outcome"] == o)).count() as u64
        };
        let counters = table(dir.path(), "r", "counters");
        let counted = |name: &str| {
            let of = |r: &&Row| r["layer"] == "mac" && r["name"] == name;
            counters.iter().filter(of).map(|r| r["value"].parse::<u64>().expect("a count")).sum::<u64>()
        };
        for frame in ["rts", "cts", "data", "ack"] {
            assert_eq!(count(frame, None), counted(frame), "{protocol} {preset}: {frame}");
        }
        let understood = count("data", Some("received")) + count("broadcast", Some("received"));
        assert_eq!(understood, counted("received"), "{protocol} {preset}");
        assert_eq!(count("data", Some("duplicate")), counted("duplicates"));
        let frames: BTreeSet<_> = rows
            .iter()
            .filter(|r| r["frame"] == "broadcast")
            .map(|r| (&r["sent_ns"], &r["sender"]))
            .collect();
        assert!(frames.len() as u64 <= counted("broadcast") && frames.len() > 10, "{protocol}");
        // A crowd with hidden stations has collisions, and each is with somebody in whose frame's way it was.
        let met: Vec<_> =
            rows.iter().filter(|r| ["collision", "receiving"].contains(&r["outcome"].as_str())).collect();
        assert!(
            met.len() > 20 && met.iter().any(|r| r["outcome"] == "collision"),
            "{protocol}: {}",
            met.len()
        );
        assert!(
            met.iter()
                .all(|r| !r["other"].is_empty() && r["other"] != r["sender"] && r["other"] != r["node"])
        );
        let ended: Vec<u64> = rows.iter().map(|r| r["time_ns"].parse().expect("a time")).collect();
        assert!(ended.is_sorted());
    }
}

#[test]
fn what_is_too_weak_is_too_far_and_what_is_received_is_not() {
    let dir = folder(&[("s.toml", CROWD)]);
    summary_of(dir.path(), &["s.toml", "--out", "r", "--receptions"]);
    let rows = table(dir.path(), "r", "receptions");
    let number = |r: &Row, column: &str| r[column].parse::<f64>().expect("a number");
    let mut weak = 0;
    for r in rows.iter().filter(|r| r["outcome"] != "withheld") {
        // ns-2's threshold of 250 m: 3.652e-10 W.
        assert!((number(r, "needed_dbm") - 10.0 * 3.652e-7_f64.log10()).abs() < 1e-3, "{r:?}");
        assert_eq!(r["outcome"] == "too_weak", number(r, "signal_dbm") < number(r, "needed_dbm"), "{r:?}");
        weak += u32::from(r["outcome"] == "too_weak");
    }
    assert!(weak > 50, "{weak}");
}

#[test]
fn only_the_nodes_and_flows_that_are_named_are_recorded() {
    let dir = folder(&[("s.toml", CROWD)]);
    summary_of(dir.path(), &["s.toml", "--out", "all", "--receptions"]);
    summary_of(dir.path(), &["s.toml", "--out", "some", "--receptions", "mesh-3", "7"]);
    let all = table(dir.path(), "all", "receptions");
    let is_of = |r: &&Row| ["3", "7"].iter().any(|n| r["node"] == *n || r["sender"] == *n);
    let expect: Vec<Row> = all.iter().filter(is_of).cloned().collect();
    assert!(expect.len() > 100 && expect.len() < all.len());
    assert_eq!(table(dir.path(), "some", "receptions"), expect);

    summary_of(dir.path(), &["s.toml", "--out", "flow", "--set", "receptions.flows=[2]"]);
    let expect: Vec<Row> = all.iter().filter(|r| r["flow"] == "2").cloned().collect();
    assert!(expect.len() > 20);
    assert_eq!(table(dir.path(), "flow", "receptions"), expect);
}

#[test]
fn wrong_names_and_worlds_that_cannot_tell_are_said() {
    let dir = folder(&[("s.toml", CROWD)]);
    let fails = |args: &[&str]| run_in(dir.path(), args).failure(2);
    let e = fails(&["run", "s.toml", "--receptions", "99"]);
    assert!(e.contains("--receptions 99: no such node; give a number from 0 to 24"), "{e}");
    let e = fails(&["run", "s.toml", "--set", "receptions.flows=[77]"]);
    assert!(e.contains("receptions.flows") && e.contains("there is no flow 77"), "{e}");
    let e = fails(&["run", "s.toml", "--seeds", "2", "--receptions"]);
    assert!(e.contains("--set receptions.all=true"), "{e}");
    let e = fails(&["lab", "s.toml", "--receptions"]);
    assert!(e.contains("wayhop: --receptions: not supported in a lab"), "{e}");
    let e = fails(&["lab", "s.toml", "--set", "receptions.all=true"]);
    assert!(e.contains("s.toml: receptions: not supported in a lab"), "{e}");
    summary_of(dir.path(), &["s.toml", "--duration", "3", "--out", "r"]);
    let e = fails(&["export", "csv", "r", "receptions"]);
    assert!(e.contains("run it again with --receptions"), "{e}");
    let e = fails(&["why", "r", "99999999"]);
    assert!(e.contains("the run has no packet 99999999"), "{e}");
    let e = fails(&["why", "r", "--flow", "99"]);
    assert!(e.contains("r: the run has no flow 99; it has flows 0 to 9"), "{e}");
    let silent = ["s.toml", "--duration", "1", "--out", "silent", "--set", "traffic=[]"];
    summary_of(dir.path(), &silent);
    assert_eq!(run_in(dir.path(), &["why", "silent"]).ok(), "the run sent no packets\n");
    let e = fails(&["why", "."]);
    assert!(e.contains("not a run directory"), "{e}");
}

#[test]
fn a_packet_for_a_node_that_is_down_has_seven_attempts_that_say_so() {
    let dir = folder(&[("s.toml", OUTAGE)]);
    summary_of(dir.path(), &["s.toml", "--out", "r", "--receptions"]);
    let list = run_in(dir.path(), &["why", "r", "--json"]).ok();
    check("why-lost", &list);
    let lost = objects(&list);
    // Sent at 3.5 s, the first one in the outage, over a route that is thought to be there.
    let first = lost.iter().find(|p| p["seq"] == 2).expect("lost");
    assert_eq!(first["causes"], serde_json::json!({"node_down": 7}), "{first}");
    let packet = first["packet"].to_string();
    let told = run_in(dir.path(), &["why", "r", &packet, "--json"]).ok();
    check("why", &told);
    assert_eq!(run_in(dir.path(), &["why", "r", "--flow", "0", "--seq", "2", "--json"]).ok(), told);
    let story = &objects(&told)[0];
    let steps = story["steps"].as_array().expect("steps");
    let rts: Vec<_> = steps.iter().filter(|s| s["what"] == "rts").collect();
    let attempts: Vec<_> = rts.iter().map(|s| s["attempt"].as_u64().expect("a count")).collect();
    assert_eq!(attempts, (1..=7).collect::<Vec<_>>());
    assert!(rts.iter().all(|s| s["at"][0]["outcome"] == "node_down" && s["at"][0]["node"] == 1));
    let whats: Vec<_> = steps.iter().map(|s| s["what"].as_str().expect("text")).collect();
    assert_eq!(whats[0], "originate");
    assert!(whats.contains(&"send") && whats.contains(&"remark"), "{whats:?}");
    assert_eq!((&story["outcome"], whats.last()), (&"dropped".into(), Some(&"drop")), "{whats:?}");
    assert!(steps.is_sorted_by_key(|s| s["time_s"].as_f64()));

    let text = run_in(dir.path(), &["why", "r", &packet]).ok();
    assert!(
        text.starts_with(&format!("packet {packet} (flow 0, seq 2), cbr from 10.0.0.1 to 10.0.0.2: dropped")),
        "{text}"
    );
    assert!(text.contains("an RTS to node 1 (attempt 7): the node was down"), "{text}");
    assert!(text.contains("the link to node 1 is broken"), "{text}");
    // Without the record the story is shorter, and says so.
    summary_of(dir.path(), &["s.toml", "--out", "r"]);
    let text = run_in(dir.path(), &["why", "r", &packet]).ok();
    assert!(text.contains("originate") || text.contains("an application sends it"), "{text}");
    assert!(text.contains("were not recorded; run again with --receptions"), "{text}");
}

/// The numbers of the list are those of the summary, and each packet's story ends as the list says.
#[test]
fn every_lost_packet_has_a_story_that_ends_as_the_list_says() {
    for protocol in ["dsr", "aodv"] {
        let dir = folder(&[("s.toml", CROWD)]);
        let args = ["s.toml", "--protocol", protocol, "--duration", "9", "--set", "area.x_m=2500"];
        let totals =
            summary_of(dir.path(), &[&args[..], &["--out", "r", "--receptions"]].concat())["totals"].clone();
        let lost = objects(&run_in(dir.path(), &["why", "r", "--json"]).ok());
        let of = |outcome: &str| lost.iter().filter(|p| p["outcome"] == outcome).count() as u64;
        assert_eq!(
            (Some(of("dropped")), Some(of("held"))),
            (totals["dropped"].as_u64(), totals["held"].as_u64())
        );
        assert!(lost.len() > 20, "{protocol}: {totals}");
        for p in lost.iter().step_by(lost.len() / 12 + 1) {
            let packet = p["packet"].to_string();
            let story = objects(&run_in(dir.path(), &["why", "r", &packet, "--json"]).ok()).remove(0);
            assert_eq!((&story["outcome"], &story["reason"]), (&p["outcome"], &p["reason"]));
            let steps = story["steps"].as_array().expect("steps");
            assert_eq!(steps[0]["what"], "originate", "{story:#}");
            if p["outcome"] == "dropped" {
                let drop = steps.iter().rfind(|s| s["what"] == "drop").expect("an end");
                assert!(
                    drop["text"].as_str().expect("words").contains(p["reason"].as_str().expect("a reason"))
                );
            }
        }
    }
}

#[test]
fn frames_not_decoded_are_damaged_in_the_capture_and_tshark_shows_why() {
    let dir = folder(&[("s.toml", CROWD)]);
    let args = ["s.toml", "--out", "r", "--receptions", "--set", "captures.nodes=[4]"];
    let plain = hash(dir.path(), &args);
    let capture = dir.path().join("r/captures/4.pcapng");
    let good = "radiotap.flags.badfcs == 0 && frame.packet_flags_direction == 1";
    let fields = ["frame.time_epoch", "wlan.ra"];
    let heard = tshark::fields(&capture, good, &fields).expect("tshark");
    let bad = "radiotap.flags.badfcs == 1";
    assert!(tshark::fields(&capture, bad, &["frame.number"]).expect("tshark").is_empty());

    assert_eq!(hash(dir.path(), &[&args[..], &["--set", "captures.damaged=true"]].concat()), plain);
    assert_eq!(tshark::fields(&capture, good, &fields).expect("tshark"), heard, "the others are as before");
    let fields = ["wlan.ra", "frame.comment", "radiotap.dbm_antsignal"];
    let damaged = tshark::fields(&capture, bad, &fields).expect("tshark");
    // Those for all, and for this node, are those of the table that were strong enough to be sensed (550 m: -78.07 dBm).
    let meant = damaged.iter().filter(|f| f[0] == "ff:ff:ff:ff:ff:ff" || f[0] == "02:00:0a:00:00:05");
    let rows = table(dir.path(), "r", "receptions");
    let lost = |r: &&Row| {
        r["node"] == "4"
            && !["received", "duplicate", "refused", "withheld"].contains(&r["outcome"].as_str())
            && r["signal_dbm"].parse::<f64>().is_ok_and(|dbm| dbm > -78.07)
    };
    let mut words: BTreeMap<String, i64> = BTreeMap::new();
    for f in meant {
        let why = f[1].strip_prefix("lost: ").expect("a comment");
        *words.entry(why.split([' ', ':']).next().expect("a word").to_owned()).or_default() += 1;
    }
    for r in rows.iter().filter(lost) {
        let word = match r["outcome"].as_str() {
            "sending" | "receiving" => "the",
            "too_weak" => "too",
            other => other,
        };
        *words.entry(word.to_owned()).or_default() -= 1;
    }
    assert!(words.len() > 1 && words.values().all(|n| *n == 0), "{words:?}");
    assert!(damaged.iter().all(|f| !f[2].is_empty()), "each has its signal");
    // Nobody who reads the capture takes them for received.
    let decoded = |args: &[&str]| {
        summary_of(dir.path(), args);
        run_in(dir.path(), &["decode", "r/captures/4.pcapng"]).ok().lines().count()
    };
    assert_eq!(decoded(&args), decoded(&[&args[..], &["--set", "captures.damaged=true"]].concat()));
}

#[test]
fn an_emulation_records_the_same() {
    skip_without_root!();
    let dir = folder(&[("s.toml", crate::emulate::CHAIN)]);
    let args = ["emulate", "s.toml", "--duration", "4", "--out", "r", "--quiet", "--json", "--receptions"];
    run_in(dir.path(), &args).ok();
    let rows = table(dir.path(), "r", "receptions");
    let is = |r: &&Row| r["frame"] == "data" && r["outcome"] == "received" && r["flow"] == "0";
    assert!(rows.iter().filter(is).count() > 100, "{}", rows.len());
}
