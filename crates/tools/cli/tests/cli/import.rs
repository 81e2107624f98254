//! `wayhop import`: what other tools and runs recorded, as scenarios that run.

use std::fs;
use std::path::Path;

use crate::{folder, run_in, words};

const GPX: &str = include_str!("../../../../scenarios/import/tests/data/walk.gpx");
const NMEA: &str = include_str!("../../../../scenarios/import/tests/data/drive.nmea");
const KML: &str = include_str!("../../../../scenarios/import/tests/data/site.kml");
const FCD: &str = include_str!("../../../../scenarios/import/tests/data/cars.fcd.xml");
const CORE: &str = include_str!("../../../../scenarios/import/tests/data/session.xml");
const EEL: &str = "0.0 nem:1 location gps 40.44,-79.94,300.0\n0.0 nem:2 location gps 40.441,-79.94,300.0\n\
                   10.0 nem:1 location gps 40.4405,-79.94,300.0\n";
/// Two nodes: one goes 100 m in 10 s, the other stands.
const BONNMOTION: &str = "0.0 0.0 0.0 10.0 100.0 0.0\n0.0 50.0 20.0\n";

const CSV: &str = "time,node,x,y\n0,a,0,0\n10,a,100,0\n0,b,50,20\n";

/// A format, a file of it, a place in it with what makes it wrong there, and what --strict says of that.
const FORMATS: [(&str, &str, &str, [&str; 2], &str); 8] = [
    (
        "gpx",
        "walk.gpx",
        GPX,
        ["<time>2024-05-01T12:00:00Z</time>", ""],
        "walk.gpx: 1 point without <time> (line 7); correct or remove them, or run without --strict",
    ),
    ("nmea", "drive.nmea", NMEA, ["*", "*0"], "drive.nmea: 1 sentence with a wrong checksum (line 2)"),
    (
        "kml",
        "site.kml",
        KML,
        ["0.001 0 0", "0.001 91 0"],
        "site.kml: 1 point without a place on the globe (line 14)",
    ),
    ("csv", "two.csv", CSV, ["100", "x"], "two.csv: 1 row without a place (line 3)"),
    (
        "fcd",
        "cars.fcd.xml",
        FCD,
        ["x=\"0.00\"", ""],
        "cars.fcd.xml: 1 place whose x, y or z is missing or not a number (line 4)",
    ),
    (
        "core",
        "session.xml",
        CORE,
        ["<position x=\"100.0\" y=\"200.0\"/>", ""],
        "session.xml: 1 <device> without a <position> (line 7)",
    ),
    (
        "eel",
        "events.eel",
        EEL,
        ["10.0 nem:1 location", "10.0 nem:1 commeffect"],
        "events.eel: 1 commeffect event (line 3)",
    ),
    (
        "bonnmotion",
        "two.movements",
        BONNMOTION,
        ["20.0", "twenty"],
        "two.movements:2:10: \"twenty\" is not a number",
    ),
];

#[test]
fn each_format_becomes_a_scenario_that_runs_and_its_mistakes_are_told_by_line() {
    for (format, name, text, [from, to], message) in FORMATS {
        let dir = folder(&[(name, text)]);
        let d = dir.path();
        run_in(d, &["import", format, name, "--strict", "--protocol", "dsr", "--out", "made.toml"]).ok();
        run_in(d, &["run", "made.toml", "--duration", "1", "--quiet", "--no-out"]).ok();
        fs::write(d.join(name), text.replacen(from, to, 1)).unwrap();
        let said = run_in(d, &["import", format, name, "--strict", "--out", "wrong.toml"]).failure(2);
        assert!(said.contains(message), "{format}: {said}");
        assert!(!d.join("wrong.toml").exists(), "{format}");
        if format != "bonnmotion" {
            let ran = run_in(d, &["import", format, name, "--out", "skipped.toml"]);
            let kind = message.split(';').next().unwrap().split_once(": ").unwrap().1;
            assert!(ran.err.contains(&format!("note: {name}: skipped {kind}\n")), "{format}: {}", ran.err);
            ran.ok();
        }
    }
}

#[test]
fn all_problems_of_a_file_are_listed_at_once() {
    let text = "time,node,x,y\nnoon,a,0,0\n5,a,1\n6,a,x,y\n10,a,100,0\n";
    let dir = folder(&[("t.csv", text)]);
    let said = run_in(dir.path(), &["import", "csv", "t.csv", "--strict"]).failure(2);
    assert_eq!(said.lines().count(), 3, "{said}");
    for line in [2, 3, 4] {
        assert!(said.contains(&format!("(line {line})")), "{said}");
    }
}

#[test]
fn the_positions_of_a_run_are_read_back_as_its_movement() {
    let run = "name = \"r\"\nseed = 3\nduration_s = 40\nnodes.count = 5\narea = { x_m = 500, y_m = 300 }\n\
               movement = { kind = \"random-waypoint\", speed_max_mps = 20, pause_s = 2 }\nprotocol.name = \"none\"\n";
    let dir = folder(&[("r.toml", run)]);
    let d = dir.path();
    run_in(d, &["run", "r.toml", "--quiet", "--out", "r"]).ok();
    run_in(d, &["export", "csv", "r", "positions", "--out", "p.csv"]).ok();
    run_in(d, &words("import csv p.csv --strict --protocol none --duration 40 --out back.toml")).ok();
    run_in(d, &["run", "back.toml", "--quiet", "--out", "back"]).ok();
    run_in(d, &["export", "csv", "back", "positions", "--out", "q.csv"]).ok();
    // Where each node is at a moment, by the rows of both runs' tables.
    let at = |file: &str, node: usize, s: f64| -> [f64; 2] {
        let text = fs::read_to_string(d.join(file)).unwrap();
        let mut place = [f64::NAN; 2];
        for row in text.lines().skip(1) {
            let cells: Vec<f64> = row.split(',').map(|c| c.parse().unwrap_or(f64::NAN)).collect();
            let since_s = s - cells[0] / 1e9;
            if cells[1] as usize == node && since_s >= 0.0 {
                place = [cells[2] + cells[5] * since_s, cells[3] + cells[6] * since_s];
            }
        }
        place
    };
    for node in 0..5 {
        for s in [0.0, 0.5, 7.25, 20.0, 39.0] {
            let [a, b] = ["p.csv", "q.csv"].map(|file| at(file, node, s));
            assert!(
                (a[0] - b[0]).abs() < 0.01 && (a[1] - b[1]).abs() < 0.01,
                "node {node} at {s} s: {a:?} {b:?}"
            );
        }
    }
}

#[test]
fn devices_of_core_without_a_radio_do_not_relay() {
    let session = "<scenario><networks><network id='10' type='WIRELESS_LAN'/><network id='11' type='SWITCH'/></networks><devices>\
        <device id='1' name='m1'><position x='0' y='0'/></device><device id='2' name='m2'><position x='300' y='0'/></device>\
        <device id='3' name='pc3'><position x='150' y='0'/></device></devices>\
        <links><link node1='10' node2='1'/><link node1='10' node2='2'/><link node1='11' node2='3'/></links></scenario>";
    let dir = folder(&[("s.xml", session)]);
    let d = dir.path();
    let ran = run_in(d, &["import", "core", "s.xml", "--out", "c.toml"]);
    assert!(ran.err.contains("skipped 1 device on neither a radio nor a wire (line 1)"), "{}", ran.err);
    ran.ok();
    // 450 m apart, with a range of 250 m and nobody between them.
    let said = run_in(d, &["topology", "c.toml", "--src", "m1", "--dst", "m2", "--json"]).ok();
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["nodes"], 2, "{said}");
    assert_eq!(said["flows"][0]["profile"], serde_json::json!([[0.0, null]]), "{said}");
}

/// A run whose tracks and traffic are known.
const KNOWN: &str = "\
name = \"known\"
seed = 5
duration_s = 30
nodes.count = 3
movement = { kind = \"chain\", spacing_m = 200 }
protocol.name = \"dsr\"
[captures]
all = true
[[traffic]]
kind = \"cbr\"
src = 0
dst = 2
rate_pps = 4
payload_bytes = 100
start_s = 5
stop_s = 25
[[traffic]]
kind = \"ping\"
src = 2
dst = 1
start_s = 6
max_packets = 10
";

fn traffic(scenario: &Path) -> Vec<toml::Table> {
    let table: toml::Table = fs::read_to_string(scenario).unwrap().parse().unwrap();
    table["traffic"].as_array().unwrap().iter().map(|t| t.as_table().unwrap().clone()).collect()
}

#[test]
fn a_run_becomes_a_scenario_with_its_places_traffic_and_links() {
    let dir = folder(&[("known.toml", KNOWN)]);
    let d = dir.path();
    run_in(d, &["run", "known.toml", "--identities", "--quiet", "--out", "known"]).ok();
    let paths = run_in(d, &["export", "nodes", "known", "--out", "nodes", "--clock", "1=0.5,30"]).ok();
    let merge: Vec<&str> = ["merge", "--out", "merged"].into_iter().chain(paths.lines()).collect();
    run_in(d, &merge).ok();
    run_in(d, &["import", "run", "merged", "--out", "back.toml"]).ok();
    let flows = traffic(&d.join("back.toml"));
    let text = |f: &toml::Table, key: &str| f[key].as_str().unwrap().to_owned();
    let number = |f: &toml::Table, key: &str| f[key].as_integer().unwrap();
    let kinds: Vec<_> = flows.iter().map(|f| (text(f, "kind"), number(f, "src"), number(f, "dst"))).collect();
    assert_eq!(kinds, [("cbr".to_owned(), 0, 2), ("ping".to_owned(), 2, 1)]);
    assert_eq!((number(&flows[0], "payload_bytes"), number(&flows[0], "max_packets")), (100, 80));
    assert!((flows[0]["rate_pps"].as_float().unwrap() - 4.0).abs() < 0.01);
    assert!((flows[0]["start_s"].as_float().unwrap() - 5.0).abs() < 0.01);
    // Neighbours in the chain hear each other, and its ends do not.
    let links = fs::read_to_string(d.join("back.macfilter")).unwrap();
    assert!(
        links.contains("at 0.000000000 node 0 ignores") && links.contains("node 1 ignores nobody"),
        "{links}"
    );
    assert!(
        links.lines().filter(|l| l.contains("node 0 ignores")).all(|l| l.contains("02:00:0a:00:00:03")),
        "{links}"
    );
    // The same places and traffic: what the first run delivered, this one does.
    run_in(d, &["run", "back.toml", "--quiet", "--out", "again"]).ok();
    let said = run_in(d, &["compare", "known", "again"]).ok();
    assert!(said.contains("delivery_ratio"), "{said}");
    let received = |run: &str| -> u64 {
        let summary = fs::read_to_string(d.join(run).join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        summary["flows"][0]["received"].as_u64().unwrap()
    };
    assert_eq!((received("known"), received("again")), (80, 80));
}

#[test]
fn captures_become_the_traffic_that_they_show() {
    let dir = folder(&[("known.toml", KNOWN)]);
    let d = dir.path();
    run_in(d, &["run", "known.toml", "--quiet", "--out", "known"]).ok();
    let captures = ["known/captures/0.pcapng", "known/captures/1.pcapng", "known/captures/2.pcapng"];
    run_in(d, &[&["import", "pcapng"], &captures[..], &["--out", "shown.toml"]].concat()).ok();
    let flows = traffic(&d.join("shown.toml"));
    let cbr = flows.iter().find(|f| f["kind"].as_str() == Some("cbr")).unwrap();
    assert_eq!(cbr["max_packets"].as_integer(), Some(80), "{flows:?}");
    assert!(flows.iter().any(|f| f["kind"].as_str() == Some("ping")), "{flows:?}");
    run_in(d, &["run", "shown.toml", "--duration", "10", "--protocol", "dsr", "--quiet", "--no-out"]).ok();
}

/// Packets that are longer than captures have them, and a connection that has to send again: its middle node is down for a while.
const LONG: &str = "\
name = \"long\"
seed = 5
duration_s = 60
nodes.count = 3
movement = { kind = \"chain\", spacing_m = 200 }
protocol.name = \"dsr\"
[captures]
all = true
[[outages]]
node = 1
start_s = 5.4
length_s = 3
[[traffic]]
kind = \"tcp\"
src = 0
dst = 2
start_s = 5
bytes = 150000
[[traffic]]
kind = \"cbr\"
src = 2
dst = 0
rate_pps = 4
payload_bytes = 900
start_s = 30
max_packets = 40
";

#[test]
fn streams_and_packets_are_as_long_as_they_were_whatever_was_sent_again_or_cut_off() {
    let dir = folder(&[("long.toml", LONG)]);
    let d = dir.path();
    run_in(d, &["run", "long.toml", "--identities", "--quiet", "--out", "long"]).ok();
    let summary = fs::read_to_string(d.join("long/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let tcp = &summary["flows"][0]["tcp"];
    assert!(tcp["retransmissions"].as_u64().unwrap() > 0, "{tcp}");
    assert_eq!(tcp["delivered_bytes"].as_u64(), Some(150_000));
    run_in(d, &["import", "run", "long", "--out", "run.toml"]).ok();
    let captures = ["long/captures/0.pcapng", "long/captures/1.pcapng", "long/captures/2.pcapng"];
    run_in(d, &[&["import", "pcapng"], &captures[..], &["--out", "captures.toml"]].concat()).ok();
    for scenario in ["run.toml", "captures.toml"] {
        let flows = traffic(&d.join(scenario));
        let of = |kind: &str, key: &str| {
            let flow = flows.iter().find(|f| f["kind"].as_str() == Some(kind));
            flow.unwrap_or_else(|| panic!("{scenario}: {flows:?}"))[key].as_integer()
        };
        assert_eq!(of("tcp", "bytes"), Some(150_000), "{scenario}");
        assert_eq!(
            (of("cbr", "payload_bytes"), of("cbr", "max_packets")),
            (Some(900), Some(40)),
            "{scenario}"
        );
        run_in(d, &["run", scenario, "--duration", "6", "--protocol", "dsr", "--quiet", "--no-out"]).ok();
    }
}

#[test]
fn a_file_that_is_not_there_is_told_without_a_scenario() {
    let dir = folder(&[]);
    for format in ["gpx", "pcapng"] {
        let said = run_in(dir.path(), &["import", format, "none", "--out", "x.toml"]).failure(2);
        assert_eq!(said, "wayhop: none: no such file; check the name\n", "{format}");
    }
}

#[test]
fn bonnmotions_columns_are_asked_for_where_they_are_not_clear() {
    let drone = "0.0 10.0 20.0 5.0 50.0 100.0 120.0 20.0 100.0 300.0 200.0 30.0\n";
    let disaster = "0.0 10.0 20.0 1.0 50.0 100.0 120.0 2.0 100.0 300.0 200.0 1.0\n0.0 10.0 20.0 0.0 50.0 100.0 120.0 0.0\n";
    let dir = folder(&[("drone.movements", drone), ("da.movements", disaster)]);
    let at = dir.path();
    let import = |file: &str, flags: &[&str]| run_in(at, &[&["import", "bonnmotion", file], flags].concat());
    let asked = import("drone.movements", &[]).failure(2);
    assert!(
        asked.contains("drone.movements: can be read in 2 ways: time x y, or time x y z; choose with --2d,"),
        "{asked}"
    );
    assert!(
        run_in(at, &["run", "--movement", "da.movements", "--no-out"]).failure(2).contains("time x y status")
    );
    assert!(import("drone.movements", &["--3d"]).ok().contains("columns = \"3d\""));
    assert!(import("drone.movements", &["--2d"]).ok().contains("columns = \"2d\""));
    let clash = import("drone.movements", &["--2d", "--3d"]).failure(2);
    assert!(clash.contains("cannot be used with"), "{clash}");
    fs::write(at.join("drone.params"), "model=RandomWaypoint\nJ=3D\n").unwrap();
    assert!(import("drone.movements", &[]).ok().contains("columns = \"3d\""));
    import("da.movements", &["--status", "--out", "da.toml"]).ok();
    let scenario = wayhop_scenario::Scenario::load(&at.join("da.toml"), &[]).unwrap().resolve().unwrap();
    let down = |o: &wayhop_scenario::Outage| (o.node.0, o.from.as_secs_f64(), o.until.as_secs_f64());
    assert_eq!(scenario.outages.iter().map(down).collect::<Vec<_>>(), [(0, 50.0, 100.0)]);
    run_in(at, &["run", "da.toml", "--no-out", "--quiet"]).ok();
}
