//! Whether a path existed: the answers of `wayhop why` about lost packets, against an independent
//! search; and warnings before a run.

use std::path::Path;

use serde_json::Value;

use crate::schemas::check;
use crate::why::{Row, objects, table};
use crate::{folder, run_in, summary_of};

/// A sparse crowd, a node that is down for a while, and a wire that is cut for a while.
const SPARSE: &str = "duration_s = 60\nseed = 4\nnodes.count = 14\narea = { x_m = 1600, y_m = 500 }\n\
    movement = { kind = \"random-waypoint\", speed_max_mps = 20 }\nprotocol.name = \"aodv\"\n\
    [[traffic]]\nkind = \"cbr-random\"\nconnections = 8\nrate_pps = 2\nstart_max_s = 2\n\
    [[outages]]\nnode = 2\nstart_s = 20\nlength_s = 15\n\
    [[wires]]\nnodes = [0, 13]\ncuts = [{ start_s = 10, length_s = 20 }]\n";
const END_S: f64 = 60.0;

/// Two nodes that never meet, and a third beside the first.
const APART: &str = "duration_s = 20\nmovement = { kind = \"static\", positions = [{ x = 0, y = 0 }, \
    { x = 900, y = 0 }, { x = 100, y = 0 }] }\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 4\n\
    [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\nrate_pps = 4\nstart_s = 1\nstop_s = 10\n";

/// Where each node is, from a run's table.
struct Places(Vec<Row>);

impl Places {
    fn at(&self, node: u32, t: f64) -> [f64; 3] {
        let number = |r: &Row, column: &str| r[column].parse::<f64>().expect("a number");
        let mut of_node = self.0.iter().filter(|r| r["node"] == node.to_string());
        let leg = of_node.rfind(|r| number(r, "time_ns") / 1e9 <= t).expect("a leg");
        let since = t - number(leg, "time_ns") / 1e9;
        ["x", "y", "z"].map(|c| number(leg, &format!("{c}_m")) + since * number(leg, &format!("v{c}_mps")))
    }

    /// Hops by breadth-first search among all nodes, as SPARSE has it.
    fn hops(&self, from: u32, to: u32, t: f64) -> Option<u64> {
        let is_up = |n: u32| n != 2 || !(20.0..35.0).contains(&t);
        let places: Vec<[f64; 3]> = (0..14).map(|n| self.at(n, t)).collect();
        let linked = |a: u32, b: u32| {
            let (p, q) = (places[a as usize], places[b as usize]);
            let apart = (0..3).map(|k| (p[k] - q[k]) * (p[k] - q[k])).sum::<f64>().sqrt();
            let wired = (a.min(b), a.max(b)) == (0, 13) && !(10.0..30.0).contains(&t);
            is_up(a) && is_up(b) && (apart < 250.0 || wired)
        };
        let mut reached = vec![from];
        let mut seen = [false; 14];
        seen[from as usize] = true;
        for hops in 0.. {
            if reached.contains(&to) {
                return Some(hops);
            }
            let mut next = Vec::new();
            for b in 0..14 {
                if !seen[b as usize] && reached.iter().any(|&a| linked(a, b)) {
                    seen[b as usize] = true;
                    next.push(b);
                }
            }
            if next.is_empty() {
                return None;
            }
            reached = next;
        }
        None
    }
}

fn lost(dir: &Path, run: &str) -> Vec<Value> {
    let list = run_in(dir, &["why", run, "--json"]).ok();
    check("why-lost", &list);
    objects(&list)
}

#[test]
fn paths_of_lost_packets_are_those_that_a_search_at_many_moments_finds() {
    let dir = folder(&[("s.toml", SPARSE)]);
    summary_of(dir.path(), &["s.toml", "--out", "r"]);
    let places = Places(table(dir.path(), "r", "positions"));
    let (mut never, mut always) = (0, 0);
    for p in lost(dir.path(), "r").iter().step_by(3) {
        let path = &p["path"];
        let sent = p["sent_s"].as_f64().expect("a time");
        let ended = if p["outcome"] == "held" { END_S } else { p["time_s"].as_f64().expect("a time") };
        let node = |key: &str| p[key].as_u64().expect("a node") as u32;
        let hops = |t: f64| places.hops(node("source_node"), node("destination_node"), t);
        let at_first = hops(sent);
        assert_eq!(path["hops_when_sent"].as_u64(), at_first, "{p}");
        assert_eq!(path["when_sent"], at_first.is_some(), "{p}");
        assert_eq!(path["when_ended"], hops(ended).is_some(), "{p}");
        let mut t = sent;
        while t < ended {
            assert!(path["existed"] == true || hops(t).is_none(), "{t} s: {p}");
            t += 0.25;
        }
        let (from, until) = (path["none_from_s"].as_f64(), path["none_until_s"].as_f64());
        if let Some(from) = from {
            assert!(from == 0.0 || hops(from - 1e-3).is_some(), "{p}");
            let last = until.unwrap_or(END_S);
            for k in 1..10 {
                let t = from + (last - from) * f64::from(k) / 10.0;
                assert!(hops(t).is_none(), "{t} s: {p}");
            }
            assert!(until.is_none_or(|u| hops(u + 1e-3).is_some()), "{p}");
        }
        never += u32::from(path["existed"] == false);
        always += u32::from(from.is_none());
    }
    assert!(never > 20 && always > 0, "{never} {always}");
}

#[test]
fn times_without_a_path_are_those_of_the_command_topology() {
    let dir = folder(&[("s.toml", SPARSE)]);
    summary_of(dir.path(), &["s.toml", "--out", "r", "--protocol", "dsr"]);
    let told = run_in(dir.path(), &["topology", "s.toml", "--json"]).ok();
    let topology: Value = serde_json::from_str(&told).expect("JSON");
    let mut seen = 0;
    for p in lost(dir.path(), "r") {
        let Some(from) = p["path"]["none_from_s"].as_f64() else { continue };
        let flow = &topology["flows"][p["flow"].as_u64().expect("a flow") as usize];
        let profile = flow["profile"].as_array().expect("steps");
        // Of the time before the flow's begin that command says nothing.
        if from <= flow["from_s"].as_f64().expect("a time") {
            continue;
        }
        let at = |k: usize| profile.get(k).and_then(|s| s[0].as_f64());
        let gap = profile.iter().position(|s| s[1].is_null() && s[0].as_f64() == Some(from));
        let gap = gap.unwrap_or_else(|| panic!("{from} s is not in {profile:?}: {p}"));
        assert_eq!(at(gap + 1), p["path"]["none_until_s"].as_f64(), "{p}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_story_and_the_list_say_that_no_path_existed() {
    let dir = folder(&[("s.toml", APART)]);
    let ran = run_in(dir.path(), &["run", "s.toml", "--out", "r"]);
    let warning = "warning: flow 0 (0 to 1): no path ever exists with a range of 250 m\n";
    assert!(ran.err.contains(warning) && !ran.err.contains("flow 1"), "{}", ran.err);
    let story = run_in(dir.path(), &["why", "r", "--flow", "0", "--seq", "3", "--json"]).ok();
    check("why", &story);
    let told = "no path from node 0 to node 1 ever existed";
    let path = objects(&story)[0]["path"].clone();
    assert_eq!(
        (&path["text"], &path["existed"], &path["none_from_s"]),
        (&told.into(), &false.into(), &0.0.into())
    );
    let text = run_in(dir.path(), &["why", "r", "--flow", "0", "--seq", "3"]).ok();
    assert!(text.lines().nth(1) == Some(&format!("  {told}")), "{text}");
    let list = run_in(dir.path(), &["why", "r"]).ok();
    let head: Vec<&str> =
        list.lines().next().expect("a heading").split("  ").filter(|w| !w.is_empty()).collect();
    assert_eq!(head.len(), 5, "{list}");
    let packets = lost(dir.path(), "r").len().to_string();
    let all = list.lines().take_while(|l| !l.is_empty()).last().expect("a group");
    let counts: Vec<&str> = all.split_whitespace().skip(1).collect();
    assert_eq!(counts, [packets.as_str(), &packets, &packets, "0"], "{list}");
}

#[test]
fn paths_of_radios_with_chance_or_noise_are_not_known() {
    let dir = folder(&[("s.toml", APART)]);
    for (set, why) in [
        ("radio.shadowing_sigma_db=4", "shadowing"),
        ("radio.fading=rayleigh", "fading"),
        ("radio.preset=80211g", "sinr"),
        ("path_losses=[{nodes=[0,1],db=[[0,200]]}]", "path_losses"),
    ] {
        let ran = run_in(dir.path(), &["run", "s.toml", "--out", "r", "--set", set]);
        assert_eq!(ran.status, Some(0), "{set}: {}", ran.err);
        assert!(!ran.err.contains("no path"), "{set}: {}", ran.err);
        let packets = lost(dir.path(), "r");
        let path = &packets[0]["path"];
        assert!(path["existed"].is_null() && path["when_sent"].is_null(), "{path}");
        assert!(path["unknown"].as_str().is_some_and(|u| u.contains(why)), "{path}");
        let list = run_in(dir.path(), &["why", "r"]).ok();
        assert!(list.contains("unknown whether a path existed: ") && list.contains(why), "{list}");
    }
}

#[test]
fn flows_without_a_path_are_told_before_a_run_in_a_check_and_once_in_a_sweep() {
    let dir =
        folder(&[("s.toml", APART), ("down.toml", &format!("{APART}[[outages]]\nnode = 2\nlength_s = 9\n"))]);
    let checked = run_in(dir.path(), &["run", "s.toml", "--check", "--json"]).ok();
    let checked: Value = serde_json::from_str(&checked).expect("JSON");
    let told = "flow 0 (0 to 1): no path ever exists with a range of 250 m";
    assert_eq!(checked["warnings"], serde_json::json!([told]));
    // With a longer range there is one, over nobody; and while node 2 is down, none for the flow that stops before.
    let far = ["run", "s.toml", "--no-out", "--set", "radio.tx_power_dbm=60"];
    assert!(!run_in(dir.path(), &far).err.contains("no path"));
    let short = ["run", "down.toml", "--no-out", "--set", "traffic.1.stop_s=8"];
    let err = run_in(dir.path(), &short).err;
    assert!(
        err.contains("flow 1 (0 to 2): no path exists while it sends (1 s to 8 s) with a range of 250 m"),
        "{err}"
    );
    let sweep = ["sweep", "s.toml", "--vary", "traffic.0.rate_pps=1,2,3", "--seeds", "2", "--out", "w"];
    let err = run_in(dir.path(), &sweep).err;
    assert_eq!(err.matches("no path ever exists").count(), 1, "{err}");
    let err = run_in(dir.path(), &["run", "s.toml", "--seeds", "2", "--out", "v"]).err;
    assert_eq!(err.matches("no path ever exists").count(), 1, "{err}");
    assert!(!run_in(dir.path(), &["run", "s.toml", "--no-out", "--quiet"]).err.contains("no path"));
}
