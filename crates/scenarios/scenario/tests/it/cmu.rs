//! The CMU testbed's scenarios against what the report says of it (Maltz, Broch and Johnson, CMU-CS-99-116, 1999).

use std::path::{Path, PathBuf};

use wayhop_core::{Position, Time};
use wayhop_scenario::{FlowKind, Resolved, Scenario};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios/cmu")
}

fn load(name: &str, sets: &[&str]) -> Resolved {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let path = folder().join(name);
    Scenario::load(&path, &sets).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

fn node(r: &Resolved, name: &str) -> usize {
    r.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no {name}"))
}

fn at(r: &Resolved, name: &str, seconds: f64) -> Position {
    r.tracks[node(r, name)].position(Time::from_secs_f64(seconds))
}

/// Each second's distance of T1 and T2 while both drive away from E1 on the straight, which is at `y` metres north.
fn gaps_on_the_straight(r: &Resolved, y: f64) -> Vec<f64> {
    let legs = |t: Time| ["T1", "T2"].map(|name| (r.tracks[node(r, name)].leg_at(t), t));
    (0..43_200)
        .map(|s| legs(Time::from_secs_f64(f64::from(s))))
        .filter(|pair| pair.iter().all(|(l, t)| l.velocity[0] > 0.0 && (l.position(*t).y - y).abs() < 0.5))
        .map(|[(a, t), (b, _)]| a.position(t).x - b.position(t).x)
        .filter(|gap| *gap > 0.0)
        .collect()
}

#[test]
fn all_scenarios_resolve_without_warning() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.extension().is_some_and(|e| e == "toml") {
            let r = load(name, &[]);
            assert_eq!(r.warnings, [] as [&str; 0], "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn the_ends_stand_671_m_apart_on_a_site_of_700_m_by_300_m() {
    // Sections 4 and 8.3.
    let r = load("ping.toml", &[]);
    assert!((at(&r, "E1", 0.0).distance(at(&r, "E2", 0.0)) - 671.0).abs() < 0.5);
    assert!(r.tracks[node(&r, "E1")].is_fixed() && r.tracks[node(&r, "E2")].is_fixed());
    assert!(
        r.area[0] <= 700.0 && r.area[1] <= 300.0 && r.area[0] > 600.0 && r.area[1] > 200.0,
        "{:?}",
        r.area
    );
}

#[test]
fn a_lap_takes_220_s_and_five_cars_keep_200_m() {
    // Sections 7.2 and 8, over a day of driving without jitter.
    let r = load("ping.toml", &["duration_s=43200", "movement.jitter_s=0"]);
    let lead = &r.tracks[node(&r, "T1")];
    let start = at(&load("survey-10s.toml", &["movement.jitter_s=0"]), "T2", 0.0);
    let turns: Vec<f64> = lead
        .legs()
        .iter()
        .filter(|l| l.start.distance(start) < 1e-6 && !l.is_rest())
        .map(|l| l.from.as_secs_f64())
        .collect();
    let lap = (turns[turns.len() - 1] - turns[0]) / (turns.len() - 1) as f64;
    assert!((lap - 220.0).abs() < 2.0, "{lap} s over {} laps", turns.len() - 1);
    let gaps = gaps_on_the_straight(&r, start.y);
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean - 200.0).abs() < 20.0, "{mean} m over {}", gaps.len());
}

#[test]
fn cars_drive_25_to_40_km_per_hour_and_halt_at_stop_signs() {
    let r = load("ping.toml", &["movement.jitter_s=0"]);
    for name in ["T1", "T2", "T3", "T4", "T5"] {
        let legs = r.tracks[node(&r, name)].legs();
        let kmh = |l: &wayhop_world::Leg| l.speed() * 3.6;
        assert!(legs.iter().filter(|l| !l.is_rest()).all(|l| (24.99..40.01).contains(&kmh(l))), "{name}");
        // Three signs, passed twice a lap, some 4.5 laps.
        let halts = legs.iter().filter(|l| l.is_rest()).count();
        assert!((24..=32).contains(&halts), "{name}: {halts}");
    }
}

#[test]
fn the_survey_separations_are_90_220_and_440_m_on_the_straight() {
    // Section 7.2: "on the straightaways"; at speeds that vary, so on average over a day.
    for (name, metres) in [("survey-10s.toml", 90.0), ("survey-25s.toml", 220.0)] {
        let r = load(name, &["duration_s=43200"]);
        let straight_y = at(&load(name, &["movement.jitter_s=0"]), "T2", 0.0).y;
        let gaps = gaps_on_the_straight(&r, straight_y);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!((mean / metres - 1.0).abs() < 0.12, "{name}: {mean} m");
    }
}

#[test]
fn the_experiments_offer_what_the_report_offered() {
    // Section 8: 64 octets of ICMP every 300 ms for 1000 s.
    let ping = load("ping.toml", &[]);
    assert!(matches!(ping.flows[0].kind, FlowKind::Ping { .. }));
    assert_eq!((ping.duration.as_secs_f64(), ping.flows[0].payload_bytes), (1000.0, 56));
    // Section 7.2: three laps of 220 s.
    assert_eq!(load("survey-50s.toml", &[]).duration.as_secs_f64(), 660.0);
    // Section 6.3.
    let congestion = load("congestion.toml", &[]);
    assert_eq!(congestion.flows[0].max_packets, Some(300));
    assert_eq!(congestion.stalls[0].length.as_secs_f64(), 3.0);
    // One site for all, but for what concerns E1 and E2.
    let site = |name: &str| load(name, &[]).radio().site.clone().expect("a site");
    let mut with_e2 = site("ping.toml");
    assert_eq!(with_e2.antennas.len(), 1);
    with_e2.antennas.clear();
    with_e2.pairs.clear();
    for name in ["survey-10s.toml", "survey-25s.toml", "survey-50s.toml"] {
        assert_eq!(site(name), with_e2, "{name}");
    }
}

#[test]
fn cars_on_a_course_drive_the_same_way_at_another_speed() {
    let slow = load("ping.toml", &["duration_s=1200"]);
    let fast = load("ping.toml", &["duration_s=300", "movement.speed_factor=4"]);
    let mut driven_m = 0.0;
    for k in 0..300 {
        let t = f64::from(k);
        for (name, car) in [("T1", true), ("T5", true), ("E1", false)] {
            let (a, b) = (at(&slow, name, 4.0 * t), at(&fast, name, t));
            assert!(a.distance(b) < 1e-3, "{name} at {t} s: {a:?} and {b:?}");
            driven_m += if car { at(&slow, name, 4.0 * t + 4.0).distance(a) } else { 0.0 };
        }
    }
    assert!(driven_m > 2.0 * 300.0 * 4.0 * 5.0, "they stood still: {driven_m} m");
}

/// What a user reads when `ping.toml` is changed so.
fn refused(from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(folder().join("ping.toml")).unwrap();
    assert!(text.contains(from), "{from}");
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(folder().join("site.geojson"), dir.path().join("site.geojson")).unwrap();
    let path = dir.path().join("s.toml");
    std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    let e = Scenario::load(&path, &[]).and_then(|s| s.resolve()).map(|_| ()).unwrap_err();
    e.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn mistakes_in_a_course_or_a_site_are_named_by_file_key_and_remedy() {
    for (from, to, parts) in [
        ("line = \"course\"", "line = \"curse\"", ["s.toml:25:1: movement.line", "did you mean \"course\"?"]),
        ("map = \"site.geojson\"", "", ["movement.line: the scenario has no map", "add: map = "]),
        ("origin = { lat = 40.43, lon = -79.95 }", "", ["map: a map requires an origin", "add: origin = "]),
        ("separation_m = 200", "", ["separation_m and separation_s", "set one of them"]),
        (
            "separation_m = 200",
            "separation_m = nan",
            ["movement.separation_m: nan", "give a number in that range"],
        ),
        ("jitter_s = 1.5", "jitter_s = 9", ["movement.jitter_s: 9 is not between 0 and 5.6", "reduce it"]),
        ("speed_min_mps = 6.944", "speed_min_mps = 12", ["movement.speed_max_mps", "swap the two"]),
        (
            "name = \"straight\"",
            "name = \"straigt\"",
            ["radio.site.zone[0].name", "did you mean \"straight\"?"],
        ),
        (
            "towards = \"E1\"",
            "towards = \"E2\"",
            ["radio.site.antenna[0].towards", "name a node at another position"],
        ),
        (
            "beam_width_deg = 110",
            "beam_width_deg = 0",
            ["radio.site.antenna[0].beam_width_deg", "see docs/reference/scenario.md"],
        ),
        (
            "nodes = [\"E1\", \"E2\"]",
            "nodes = [\"E1\", \"E1\"]",
            ["radio.site.pair[0].nodes: both ends are the same node", ""],
        ),
        (
            "drift_time_s = 10",
            "drift_time_s = 0",
            ["radio.site.drift_time_s: 0 is not between", "see docs/reference/scenario.md"],
        ),
        ("loss_db = 11", "loss_bd = 11", ["loss_bd", "did you mean `loss_db`?"]),
    ] {
        let message = refused(from, to);
        assert!(parts.iter().all(|p| message.contains(p)), "{to}: {message}");
    }
}
