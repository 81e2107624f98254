//! The values in force: all of them, and where each comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wayhop_document::Origin;
use wayhop_scenario::{InForce, Resolved, Scenario};

fn repo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Every scenario of the repository.
fn scenarios() -> Vec<PathBuf> {
    let mut folders = vec![repo().join("scenarios")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_scenario = path.extension().is_some_and(|e| e == "toml");
            if path.is_dir() {
                folders.push(path);
            } else if is_scenario && !path.to_string_lossy().contains("sweeps") {
                found.push(path);
            }
        }
    }
    assert!(found.len() >= 10, "{found:?}");
    found
}

fn sets(sets: &[&str]) -> Vec<String> {
    sets.iter().map(ToString::to_string).collect()
}

fn in_force(scenario: &Scenario) -> (Resolved, Vec<InForce>) {
    let resolved = scenario.resolve().unwrap_or_else(|e| panic!("{e}"));
    let all = scenario.in_force(&resolved).unwrap();
    (resolved, all)
}

fn of_text(text: &str, changes: &[&str]) -> Vec<InForce> {
    in_force(&Scenario::from_text(text, &sets(changes)).unwrap_or_else(|e| panic!("{e}"))).1
}

fn find<'a>(all: &'a [InForce], key: &str) -> &'a InForce {
    all.iter().find(|v| v.key == key).unwrap_or_else(|| panic!("no {key}"))
}

fn value<'a>(all: &'a [InForce], key: &str) -> &'a toml::Value {
    find(all, key).value.as_ref().unwrap_or_else(|| panic!("{key} has no value"))
}

/// What makes runs the same: everything but warnings, which speak of what was said and what not.
fn essence(mut r: Resolved) -> String {
    r.warnings.clear();
    format!("{r:?}")
}

/// The values that a scenario can say, as settings. Whether a node waits after a reboot depends on whether the scenario says it.
fn settings(all: &[InForce], r: &Resolved) -> Vec<String> {
    let wait = r.protocol.description().host.reboot_wait.map(|key| format!("protocol.{key}"));
    let said =
        all.iter().filter(|v| !matches!(v.origin, Origin::Derived(_)) && Some(&v.key) != wait.as_ref());
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut settings = Vec::new();
    // What is off has no value in TOML: a profile says it, or nothing does.
    for (v, value) in said.filter_map(|v| Some((v, v.value.as_ref()?))) {
        match v.key.rsplit_once('.') {
            // A file may write a place as a list, which has no keys: it is set as a whole.
            Some((place, part @ ("x" | "y" | "z" | "lat" | "lon" | "alt"))) if place != "origin" => {
                places.entry(place).or_default().push(format!("{part} = {value}"));
            }
            _ => settings.push(format!("{}={value}", v.key)),
        }
    }
    settings.extend(places.iter().map(|(place, parts)| format!("{place}={{ {} }}", parts.join(", "))));
    settings
}

#[test]
fn a_scenario_with_all_values_in_force_as_settings_is_the_same_scenario() {
    let changes = [
        &[][..],
        &["protocol.name=aodv", "protocol.profile=ns2"],
        &["protocol.name=dsr", "protocol.profile=ns2"],
        &["protocol.name=dsdv"],
        &["seed=9", "duration_s=20", "radio.queue_packets=7"],
    ];
    for path in scenarios() {
        for change in changes {
            let changed = Scenario::load(&path, &sets(change)).and_then(|s| Ok((s.resolve()?, s)));
            // A change may not suit a scenario's own parameters.
            let (r, scenario) = match changed {
                Err(e) if change.is_empty() => panic!("{e}"),
                Err(_) => continue,
                Ok(both) => both,
            };
            let all = scenario.in_force(&r).unwrap();
            let mut with = sets(change);
            with.extend(settings(&all, &r));
            let again = Scenario::load(&path, &with).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let (again, _) = in_force(&again);
            assert_eq!(essence(again), essence(r), "{}", path.display());
        }
    }
}

#[test]
fn tcp_flows_of_all_kinds_are_the_same_with_all_values_in_force_as_settings() {
    let keys = [
        "",
        "profile = \"ns2\"",
        "delayed_ack = false",
        "application = \"requests\"",
        "application = \"on-off\"\noff_s = 3",
        "route_failure = \"elfn\"",
        "route_failure = \"tcp-f\"",
        "bytes = 1000\ntick_s = 0.5\nprofile = \"ns2\"",
    ];
    for key in keys {
        let text = format!(
            "nodes.count = 3\nmovement = {{ kind = \"chain\", spacing_m = 200 }}\n[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 2\n{key}\n"
        );
        let (r, all) = in_force(&Scenario::from_text(&text, &[]).unwrap());
        let again = Scenario::from_text(&text, &settings(&all, &r)).unwrap_or_else(|e| panic!("{key}: {e}"));
        assert_eq!(essence(in_force(&again).0), essence(r), "{key}");
        for field in ["payload_bytes", "window", "initial_rto_s", "padding_bytes"] {
            find(&all, &format!("traffic.0.{field}"));
        }
    }
}

#[test]
fn limits_are_what_is_said_or_the_profiles() {
    let limit = |changes: &[&str], key: &str| {
        let all = of_text(TEXT, changes);
        let v = find(&all, &format!("limits.{key}"));
        (v.value.as_ref().and_then(toml::Value::as_integer).unwrap(), v.origin.clone())
    };
    assert_eq!(limit(&[], "routing_total"), (500, Origin::Default));
    let ns2 = ["protocol.name=aodv", "protocol.profile=ns2"];
    assert_eq!(limit(&ns2, "arp_per_neighbour"), (0, Origin::Profile("ns2".to_owned())));
    let said = limit(&[ns2[0], ns2[1], "limits.routing_per_neighbour=9"], "routing_per_neighbour");
    assert_eq!(said.0, 9);
    assert!(!matches!(said.1, Origin::Default | Origin::Profile(_)), "{:?}", said.1);
}

const TEXT: &str = "seed = 7\nnodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 200 }\n\n[radio]\npreset = \"80211g\"\n\
                    channel = 3\ntx_power_dbm = 10\n\n[protocol]\nname = \"aodv\"\nhello_interval_ms = 2000\n\n[[traffic]]\n\
                    kind = \"cbr\"\nsrc = 0\ndst = 2\n";

#[test]
fn every_value_says_who_set_it() {
    let all = of_text(TEXT, &["radio.cw_min=7", "traffic.0.rate_pps=8", "protocol.hello_interval_ms=500"]);
    let setting = |s: &str| Origin::Setting(s.to_owned());
    let preset = Origin::Preset("80211g".to_owned());
    for (key, origin) in [
        ("seed", Origin::Line(1)),
        ("nodes.count", Origin::Line(2)),
        ("movement.spacing_m", Origin::Line(3)),
        ("radio.preset", Origin::Line(6)),
        ("radio.channel", Origin::Line(7)),
        ("radio.tx_power_dbm", Origin::Line(8)),
        ("radio.frequency_mhz", Origin::Derived("channel".to_owned())),
        ("radio.cw_min", setting("radio.cw_min=7")),
        ("radio.cw_max", preset.clone()),
        ("radio.data_rate_mbps", preset.clone()),
        ("radio.arp", preset),
        ("radio.name", Origin::Default),
        ("protocol.name", Origin::Line(11)),
        ("protocol.profile", Origin::Default),
        ("protocol.hello_interval_ms", setting("protocol.hello_interval_ms=500")),
        ("protocol.active_route_timeout_ms", Origin::Profile("rfc".to_owned())),
        ("traffic.0.src", Origin::Line(16)),
        ("traffic.0.rate_pps", setting("traffic.0.rate_pps=8")),
        ("traffic.0.payload_bytes", Origin::Default),
        ("traffic.0.stop_s", Origin::Derived("duration_s".to_owned())),
        ("duration_s", Origin::Derived("traffic".to_owned())),
        ("area.x_m", Origin::Derived("movement".to_owned())),
        ("captures.snap_length_bytes", Origin::Default),
    ] {
        assert_eq!(find(&all, key).origin, origin, "{key}");
    }
    for (key, expected) in [
        // IEEE 802.11: channel n of the 2.4 GHz band is at 2407 + 5 n MHz.
        ("radio.frequency_mhz", "2422.0"),
        ("radio.cw_min", "7"),
        ("radio.tx_power_dbm", "10"),
        ("protocol.hello_interval_ms", "500"),
        ("traffic.0.payload_bytes", "64"),
        ("traffic.0.stop_s", "900.0"),
        ("area.x_m", "400.0"),
    ] {
        assert_eq!(value(&all, key).to_string(), expected, "{key}");
    }
}

#[test]
fn what_another_part_of_the_scenario_decides_is_derived() {
    let chain = "nodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 200 }\n";
    let ns2 = of_text(&format!("{chain}protocol.profile = \"ns2\"\n"), &[]);
    assert_eq!(value(&ns2, "radio.arp").as_str(), Some("hold-one"));
    assert_eq!(find(&ns2, "radio.arp").origin, Origin::Derived("protocol.profile".to_owned()));
    // ns-2's WaveLAN: 250 m and 550 m.
    assert_eq!(value(&ns2, "radio.range_m").as_float(), Some(250.0));
    assert_eq!(value(&ns2, "radio.carrier_sense_range_m").as_float(), Some(550.0));
    let tcp = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 2\nroute_failure = \"elfn\"\n";
    let listens = of_text(&format!("{chain}{tcp}"), &[]);
    assert_eq!(value(&listens, "protocol.failure_notices").as_bool(), Some(true));
    assert_eq!(
        find(&listens, "protocol.failure_notices").origin,
        Origin::Derived("traffic.route_failure".to_owned())
    );
    let reboot = "[[outages]]\nnode = 1\nstart_s = 5\nlength_s = 5\n";
    let waits = of_text(&format!("{chain}protocol.name = \"aodv\"\n{reboot}"), &[]);
    assert_eq!(value(&waits, "protocol.wait_after_reboot").as_bool(), Some(false));
    assert_eq!(value(&waits, "protocol_after_reboot.wait_after_reboot").as_bool(), Some(true));
}

#[test]
fn ns2_files_and_options_are_origins() {
    let (movement, traffic) =
        (repo().join("scenarios/ns2/s1.pause0.tcl"), repo().join("scenarios/ns2/s1.cbr.tcl"));
    let changes = sets(&["protocol.profile=ns2", "seed=4"]);
    let (_, all) = in_force(&Scenario::from_ns2(&movement, Some(&traffic), &changes).unwrap());
    for (key, origin) in [
        ("movement.path", Origin::Option("--movement")),
        ("traffic.0.path", Origin::Option("--traffic")),
        ("protocol.profile", Origin::Setting("protocol.profile=ns2".to_owned())),
        ("seed", Origin::Setting("seed=4".to_owned())),
        ("nodes.count", Origin::Derived(movement.display().to_string())),
    ] {
        assert_eq!(find(&all, key).origin, origin, "{key}");
    }
    assert_eq!(value(&all, "nodes.count").as_integer(), Some(50));
}
