//! ns-2 itself is the oracle: it runs our exports, and its nodes are where it reports them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use wayhop_core::{Position, Purpose, Time, stream};
use wayhop_scenario::{Resolved, Scenario, export_ns2};
use wayhop_simulator_files::ns2::ExportOptions;

pub(crate) struct Ns2 {
    pub(crate) positions: BTreeMap<(u64, usize), Position>,
    delivered: u64,
    /// By TCP agent: the highest segment acknowledged.
    acked: Vec<i64>,
}

/// Runs the driver; fails, and says why, where ns-2 is missing.
pub(crate) fn ns2(
    nodes: usize,
    area: [f64; 2],
    stop: f64,
    movement: &Path,
    traffic: Option<&Path>,
    at: &[Time],
    step: f64,
) -> Ns2 {
    let times: Vec<String> = at.iter().map(|t| format!("{:.9}", t.as_secs_f64())).collect();
    let output = Command::new("ns")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/driver.tcl"))
        .args([nodes.to_string(), area[0].to_string(), area[1].to_string(), stop.to_string()])
        .arg(movement)
        .arg(traffic.unwrap_or(Path::new("-")))
        .arg(if times.is_empty() { "-".to_owned() } else { times.join(",") })
        .arg(step.to_string())
        .output()
        .expect("ns-2 is the oracle of this test: apt-get install ns2");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("DELIVERED"), "ns-2 failed:\n{text}\n{errors}");
    let mut out = Ns2 { positions: BTreeMap::new(), delivered: 0, acked: Vec::new() };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["POS", t, i, x, y, z] => {
                let key = (Time::from_secs_f64(t.parse().unwrap()).as_nanos(), i.parse().unwrap());
                let at = Position::new(x.parse().unwrap(), y.parse().unwrap(), z.parse().unwrap());
                out.positions.insert(key, at);
            }
            ["ACKED", n] => out.acked.push(n.parse().unwrap()),
            ["DELIVERED", n] => out.delivered = n.parse().unwrap(),
            _ => {}
        }
    }
    assert_eq!(out.positions.len(), nodes * at.len());
    out
}

/// Moments drawn from `0..until`, in order.
fn moments(seed: u64, count: usize, until: f64) -> Vec<Time> {
    let mut r = stream(seed, Purpose::Host, 0);
    let mut out: Vec<Time> = (0..count).map(|_| Time::from_secs_f64(r.range(0.001, until))).collect();
    out.sort_unstable();
    out
}

fn assert_where_ns2_says(r: &Resolved, oracle: &Ns2, tolerance: f64) {
    for (&(t, i), &theirs) in &oracle.positions {
        let ours = r.tracks[i].position(Time::from_nanos(t));
        assert!(ours.distance(theirs) < tolerance, "node {i} at {t} ns: ours {ours:?}, ns-2's {theirs:?}");
    }
}

fn from_ns2(movement: &Path, traffic: Option<&Path>) -> Resolved {
    Scenario::from_ns2(movement, traffic, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

fn write(dir: &Path, name: &str, text: &str) -> std::path::PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn nodes_are_where_ns2_has_them() {
    let movement = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios/ns2/s1.pause0.tcl");
    let r = from_ns2(&movement, None);
    let oracle = ns2(50, [1500.0, 300.0], 900.0, &movement, None, &moments(1, 40, 899.0), 0.0);
    assert_where_ns2_says(&r, &oracle, 1e-6);
}

#[test]
fn interrupted_moves_stops_and_heights_are_as_in_ns2() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::new();
    let mut r = stream(5, Purpose::Host, 1);
    for i in 0..20 {
        let (x, y) = (r.range(1.0, 499.0), r.range(1.0, 399.0));
        _ = writeln!(text, "$node_({i}) set X_ {x}\n$node_({i}) set Y_ {y}\n$node_({i}) set Z_ {}.5", i % 3);
        for _ in 0..12 {
            let (t, x, y) = (r.range(0.0, 60.0), r.range(1.0, 499.0), r.range(1.0, 399.0));
            let speed = if r.below(4) == 0 { 0.0 } else { r.range(0.5, 60.0) };
            _ = writeln!(text, "$ns_ at {t:.12} \"$node_({i}) setdest {x:.12} {y:.12} {speed:.12}\"");
        }
    }
    let movement = write(dir.path(), "m.tcl", &text);
    let r = from_ns2(&movement, None);
    let oracle = ns2(20, [500.0, 400.0], 80.0, &movement, None, &moments(2, 200, 79.0), 0.0);
    assert_where_ns2_says(&r, &oracle, 1e-6);
}

#[test]
fn coordinates_set_under_way_are_as_in_ns2_when_it_looks_often() {
    let dir = tempfile::tempdir().unwrap();
    let text = "$node_(0) set X_ 10\n$node_(0) set Y_ 10\n$node_(0) set Z_ 0\n\
        $node_(1) set X_ 10\n$node_(1) set Y_ 50\n$node_(1) set Z_ 0\n\
        $node_(2) set X_ 5\n$node_(2) set Y_ 5\n$node_(2) set Z_ 0\n\
        $ns_ at 1.0 \"$node_(0) setdest 310 410 50\"\n$ns_ at 3.0 \"$node_(0) set X_ 20\"\n\
        $ns_ at 1.0 \"$node_(1) setdest 110 50 10\"\n$ns_ at 5.0 \"$node_(1) set X_ 400\"\n\
        $ns_ at 4.0 \"$node_(2) set X_ 250\"\n$ns_ at 4.0 \"$node_(2) set Y_ 260\"\n";
    let movement = write(dir.path(), "m.tcl", text);
    let r = from_ns2(&movement, None);
    assert_eq!(r.warnings.len(), 1, "{:?}", r.warnings);
    let oracle = ns2(3, [500.0, 500.0], 20.0, &movement, None, &moments(3, 60, 19.0), 0.001);
    // ns-2 looks every millisecond, so at 50 m/s it is up to 5 cm behind.
    assert_where_ns2_says(&r, &oracle, 0.06);
}

#[test]
fn ns2_runs_what_is_exported_and_delivers_packets() {
    let dir = tempfile::tempdir().unwrap();
    let text = "seed = 3\nduration_s = 40\nnodes.count = 15\narea = { x_m = 600, y_m = 300 }\n\
        movement = { kind = \"random-waypoint\", speed_min_mps = 1, speed_max_mps = 15, pause_s = 2 }\n\
        [[traffic]]\nkind = \"cbr-random\"\nconnections = 4\nstart_max_s = 10\njitter = 0.5\nmax_packets = 40\n\
        [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 7\nstart_s = 1\nstop_s = 30\npayload_bytes = 1400\nrate_pps = 2\n";
    let ours = Scenario::from_text(text, &[]).unwrap().resolve().unwrap();
    let files = export_ns2(&ours, ExportOptions::default()).unwrap();
    assert!(files.warnings.is_empty());
    let movement = write(dir.path(), "m.tcl", &files.movement);
    let traffic = write(dir.path(), "t.tcl", &files.traffic);
    let at = moments(4, 60, 39.0);
    let oracle = ns2(15, [600.0, 300.0], 40.0, &movement, Some(&traffic), &at, 0.0);
    assert_where_ns2_says(&ours, &oracle, 1e-6);
    // Four flows of 40 packets, and one of 58 that its agent must not cut in two; most of them arrive.
    assert!((150..=218).contains(&oracle.delivered), "{}", oracle.delivered);

    // And back: the same motion, the same flows, and no $god_ line that our geometry does not bear out.
    let again = from_ns2(&movement, Some(&traffic));
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    assert!(files.movement.matches("set-dist").count() > 15 * 14 / 2);
    for t in moments(5, 500, 40.0) {
        for (a, b) in ours.tracks.iter().zip(&*again.tracks) {
            assert!(a.position(t).distance(b.position(t)) < 1e-6);
        }
    }
    assert_eq!(ours.flows, again.flows);
}

/// Nodes 200 m apart that stay, with these flows.
fn chain(flows: &str) -> Resolved {
    let text = format!(
        "duration_s = 40\nnodes.count = 4\narea = {{ x_m = 700, y_m = 100 }}\nprotocol = {{ name = \"aodv\", profile = \"ns2\" }}\n\
         movement = {{ kind = \"static\", positions = [[1, 50], [201, 50], [401, 50], [601, 50]] }}\n{flows}"
    );
    Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

/// A TCP flow of the profile `ns2` from node 0.
fn transfer(keys: &str) -> String {
    format!("[[traffic]]\nkind = \"tcp\"\nprofile = \"ns2\"\nsrc = 0\n{keys}\n")
}

#[test]
fn ns2_runs_exported_tcp_and_reads_back_as_the_same_flows() {
    // One after the other, so that each is done before the next begins.
    let flows = [
        transfer("dst = 1\nvariant = \"tahoe\"\nstart_s = 1\nbytes = 50000"),
        transfer("dst = 2\nvariant = \"reno\"\nstart_s = 5\nbytes = 51200\npayload_bytes = 512\nwindow = 8"),
        transfer("dst = 3\nvariant = \"newreno\"\nstart_s = 10\nbytes = 30000\ndelayed_ack = true"),
        transfer(
            "dst = 2\nvariant = \"sack\"\nstart_s = 15\nbytes = 40000\ndelayed_ack_s = 0.25\ninitial_window = 1",
        ),
        transfer(
            "dst = 1\nvariant = \"vegas\"\nstart_s = 20\nbytes = 20000\nhandshake = false\nlimited_transmit = false",
        ),
        transfer(
            "dst = 2\nstart_s = 25\nstop_s = 28\ntick_s = 0.1\ninitial_rto_s = 6\nmin_rto_s = 1\nmax_rto_s = 30",
        ),
        transfer("dst = 3\nstart_s = 30"),
        "[[traffic]]\nkind = \"cbr\"\nsrc = 1\ndst = 0\nstart_s = 2\nstop_s = 3\n".to_owned(),
    ];
    let ours = chain(&flows.concat());
    let files = export_ns2(&ours, ExportOptions::default()).unwrap();
    assert!(files.warnings.is_empty(), "{:?}", files.warnings);
    let dir = tempfile::tempdir().unwrap();
    let movement = write(dir.path(), "m.tcl", &files.movement);
    let traffic = write(dir.path(), "t.tcl", &files.traffic);
    let again = from_ns2(&movement, Some(&traffic));
    assert_eq!(ours.flows, again.flows);

    let oracle = ns2(4, [700.0, 100.0], 40.0, &movement, Some(&traffic), &[], 0.0);
    // Segments of each file; the SYN is number 0, without it data is.
    assert_eq!(oracle.acked[..5], [50, 100, 30, 40, 19]);
    // Those without an end got as far as 3 and 10 s allow, of segments that take 5 ms a hop and more.
    assert!(
        (30..300).contains(&oracle.acked[5]) && (80..700).contains(&oracle.acked[6]),
        "{:?}",
        oracle.acked
    );
}

#[test]
fn what_ns2s_tcp_does_otherwise_is_a_warning_and_what_it_lacks_an_error() {
    let export = |flow: &str| export_ns2(&chain(flow), ExportOptions::default());
    let rfc = export("[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\nbytes = 1461\n").unwrap();
    for (warning, words) in
        rfc.warnings.iter().zip(["follows the RFCs", "exact clock", "whole segments of 1460"])
    {
        assert!(warning.starts_with("flow 0 ") && warning.contains(words), "{warning}");
    }
    assert_eq!(rfc.warnings.len(), 3, "{:?}", rfc.warnings);
    assert!(rfc.traffic.contains("send 1461"), "{}", rfc.traffic);
    for (keys, words) in [
        ("variant = \"westwood\"", "variant westwood"),
        ("route_failure = \"elfn\"", "remove route_failure"),
        ("window_per_hop = 2.0", "remove window_per_hop"),
        ("pacing_bps = 2e6", "remove pacing_bps"),
        ("fixed_rto = true", "remove fixed_rto"),
        ("application = \"requests\"", "application = \"ftp\""),
        ("bytes = 1000\nstop_s = 9", "bytes or stop_s"),
        ("bytes = 3000000000", "at most 2147483647 bytes"),
    ] {
        let message = export(&transfer(&format!("dst = 1\n{keys}"))).unwrap_err().to_string();
        assert!(message.contains("flow 0") && message.contains(words), "{keys}: {message}");
    }
    let ping = export("[[traffic]]\nkind = \"ping\"\nsrc = 0\ndst = 1\n").unwrap_err().to_string();
    assert!(ping.contains("neither CBR nor bursts nor TCP"), "{ping}");
}

#[test]
fn heights_that_change_as_the_earth_curves_are_a_warning_and_hills_an_error() {
    let export = |alt: f64| {
        // 300 m to the north: the plane at the origin is 7 mm above the ground there, d^2 / 2R.
        let text = format!(
            "origin = {{ lat = 52.0, lon = 13.0 }}\nduration_s = 60\n[movement]\nkind = \"waypoints\"\n[[movement.tracks]]\n\
             start = {{ lat = 52.0001, lon = 13.0001 }}\n\
             waypoints = [{{ at = {{ lat = 52.0027, lon = 13.0001, alt = {alt} }}, speed_mps = 10 }}]\n"
        );
        let r = Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"));
        export_ns2(&r, ExportOptions::default())
    };
    let flat = export(0.0).unwrap();
    assert!(flat.movement.contains("$node_(0) setdest 6.8"), "{}", flat.movement);
    assert!(
        flat.warnings.iter().any(|w| w.contains("heights change by up to 0.007 m")),
        "{:?}",
        flat.warnings
    );
    let hill = export(40.0).unwrap_err().to_string();
    assert!(
        hill.contains("node 0 changes its height") && hill.contains("give its positions the same height"),
        "{hill}"
    );
}

#[test]
fn exported_jumps_land_in_ns2_where_they_should() {
    let dir = tempfile::tempdir().unwrap();
    let text = "$node_(0) set X_ 10\n$node_(0) set Y_ 10\n$node_(0) set Z_ 0\n\
        $ns_ at 1.0 \"$node_(0) setdest 310 410 50\"\n$ns_ at 3.0 \"$node_(0) set X_ 20\"\n\
        $ns_ at 15.0 \"$node_(0) set Y_ 33\"\n$ns_ at 15.0 \"$node_(0) setdest 310 40 1\"\n";
    // Without a duration it would end with the last line, at 15 s.
    let ours = Scenario::from_ns2(&write(dir.path(), "a.tcl", text), None, &["duration_s=30".to_owned()]);
    let ours = ours.and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"));
    let files = export_ns2(&ours, ExportOptions::default()).unwrap();
    let movement = write(dir.path(), "b.tcl", &files.movement);
    let oracle = ns2(1, [500.0, 500.0], 30.0, &movement, None, &moments(6, 60, 19.0), 0.0);
    assert_where_ns2_says(&ours, &oracle, 1e-6);
    let again = from_ns2(&movement, None);
    for t in moments(7, 300, 20.0) {
        assert!(ours.tracks[0].position(t).distance(again.tracks[0].position(t)) < 1e-6, "{t}");
    }
}

#[test]
fn setdests_own_files_load_and_their_god_lines_agree() {
    for arguments in [
        "-v 1 -n 12 -p 2 -M 20 -t 60 -x 700 -y 500",
        "-v 2 -n 12 -s 1 -m 1 -M 20 -t 60 -P 1 -p 3 -x 900 -y 300",
    ] {
        let dir = tempfile::tempdir().unwrap();
        // setdest writes .rand_state into its working folder.
        let output = Command::new("setdest")
            .args(arguments.split(' '))
            .current_dir(dir.path())
            .output()
            .expect("setdest belongs to ns-2: apt-get install ns2");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("$god_ set-dist"), "{text}");
        let movement = write(dir.path(), "m.tcl", &text);
        let r = from_ns2(&movement, None);
        assert_eq!(r.tracks.len(), 12);
        assert!(r.warnings.is_empty(), "{:?}", r.warnings);
        // A line that is made wrong is found.
        let wrong = text.replacen("$god_ set-dist 0 1 ", "$god_ set-dist 0 1 11 ;# ", 1);
        let r = from_ns2(&write(dir.path(), "w.tcl", &wrong), None);
        assert!(r.warnings[0].starts_with("1 of "), "{:?}", r.warnings);
    }
}
