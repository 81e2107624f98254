//! `wayhop node SCENARIO --as NODE`: a scenario instead of a configuration.

use std::path::Path;

use wayhop_scenario::Scenario;

use crate::{folder, run_in, words};

const SCENARIO: &str = "\
name = \"walk\"
seed = 7
duration_s = 20
nodes.count = 6
area = { x_m = 900, y_m = 300 }
movement = { kind = \"random-waypoint\", speed_min_mps = 1, speed_max_mps = 20, pause_s = 0 }
radio = { preset = \"wavelan-914-cmu\", tx_power_dbm = 20 }
protocol = { name = \"aodv\", profile = \"rfc\", hello = \"always\", net_diameter = 12 }
captures.nodes = [2]
[[nodes.node]]
id = 2
name = \"gateway\"
address = \"10.0.7.9\"
[[traffic]]
kind = \"ping\"
src = \"gateway\"
dst = 0
start_s = 2
";

const TWO: &str = include_str!("../../../../../scenarios/two-radios.toml");

const CONFIG: &str = "interface = \"eth9\"\naddress = \"10.0.0.3/16\"\n";

fn checked(dir: &Path, args: &[&str]) -> (String, String) {
    let ran = run_in(dir, &[&["node"], args, &["--check"]].concat());
    // This host need not have the interfaces; that it has not is the last that is said.
    let Some(at) = ran.err.find("wayhop: interface ") else {
        assert_eq!(ran.status, Some(0), "{}", ran.err);
        return (ran.out, ran.err);
    };
    let lacks = &ran.err[at..];
    assert!(lacks.contains("No such device") && lacks.lines().count() == 1, "{lacks}");
    assert_eq!(ran.status, Some(2), "{lacks}");
    let said = ran.err[..at].to_owned();
    (ran.out, said)
}

#[test]
fn a_node_of_a_scenario_is_configured_as_a_lab_configures_its_daemon() {
    let dir = folder(&[("walk.toml", SCENARIO)]);
    let scenario = Scenario::load(&dir.path().join("walk.toml"), &[]).unwrap();
    let resolved = scenario.resolve().unwrap();
    let address = resolved.interface_address(2).unwrap();
    assert_eq!(address, "10.0.7.9/16", "the prefix that holds 10.0.0.1 and 10.0.7.9");
    let range = resolved.macfilter(Some(250.0));
    let plan = wayhop_runs::plan(&scenario, resolved, range, None, None, false).unwrap();
    let mut lab = vec!["--interface", "wlan0", "--address", &address];
    // A host draws its own random numbers at each start.
    assert!(plan.sets.contains(&"seed=7".to_owned()));
    let of_host = plan.sets.iter().filter(|s| !s.starts_with("seed="));
    of_host.for_each(|s| lab.extend(["--set", s.as_str()]));
    let (expected, _) = checked(dir.path(), &lab);
    for name in ["mesh-2", "2", "gateway"] {
        let (toml, said) = checked(dir.path(), &["walk.toml", "--as", name, "--interface", "wlan0"]);
        assert_eq!(toml, expected);
        let first = said.lines().next().unwrap();
        assert_eq!(
            first,
            "info: this host is node gateway of walk.toml, with its address, protocol and captures. On a real host, \
             movement, radio model, duration are ignored, and 1 flows and 0 programs of the scenario are not started: \
             start your own programs"
        );
        assert!(said.contains("a capture of this node, which needs a run directory: --out DIR"), "{said}");
    }
    // The command line is above the scenario, and a run directory has the capture.
    let args = words("walk.toml --as 2 --interface wlan0 --protocol dsr --profile cmu --out r");
    let e = run_in(dir.path(), &[&["node"], &args[..], &["--check"]].concat()).failure(2);
    assert!(e.contains("protocol.hello"), "the scenario's parameters are AODV's: {e}");
    let args =
        words("walk.toml --as 2 --interface wlan0 --set protocol.net_diameter=9 --out r --record-inputs");
    let (toml, said) = checked(dir.path(), &args);
    assert!(
        toml.contains("net_diameter = 9") && toml.contains("[capture]") && toml.contains("run = \"r\""),
        "{toml}"
    );
    assert!(toml.contains("[inputs]") && !said.contains("a capture of this node"), "{toml}{said}");
}

#[test]
fn scenarios_and_configurations_are_told_apart_and_wrong_nodes_named() {
    let dir =
        folder(&[("walk.toml", SCENARIO), ("node.toml", CONFIG), ("far.toml", &far()), ("two.toml", TWO)]);
    for (args, message) in [
        (
            &["walk.toml", "--interface", "wlan0"][..],
            "wayhop: walk.toml: this is a scenario (it has `movement`), not a node's configuration; select this host's node, for \
             example --as mesh-0 --interface wlan0; its nodes are mesh-0 to mesh-5 (with names: gateway)",
        ),
        (
            &["node.toml", "--as", "mesh-1"],
            "wayhop: node.toml: this is a node's configuration (it has `interface`), not a scenario; remove --as mesh-1",
        ),
        (
            &["walk.toml", "--as", "gatway", "--interface", "wlan0"],
            "wayhop: --as gatway: no such node in walk.toml; did you mean gateway? The nodes are mesh-0 to mesh-5 (with names: gateway)",
        ),
        (
            &["walk.toml", "--as", "mesh-6", "--interface", "wlan0"],
            "wayhop: --as mesh-6: no such node in walk.toml; the nodes are mesh-0 to mesh-5",
        ),
        (&["walk.toml", "--as", "1"], "wayhop: interface is missing: give --interface wlan0"),
        (
            &["--as", "1", "--interface", "wlan0"],
            "wayhop: --as 1 needs a scenario file: wayhop node SCENARIO.toml --as 1",
        ),
        (
            &["far.toml", "--as", "1", "--interface", "wlan0"],
            "wayhop: far.toml: the nodes' addresses do not share a network",
        ),
        (
            &["two.toml", "--as", "1", "--interface", "wlan0"],
            "wayhop: --as 1: this node has 2 interfaces in two.toml, wlan0, wlan1; give --interface once for each, in this order",
        ),
        (&["absent.toml", "--as", "1", "--interface", "wlan0"], "wayhop: absent.toml: "),
        (
            &["node.toml", "--record-inputs"],
            "wayhop: inputs.file (from the command line): no path given; give a file",
        ),
    ] {
        let e = run_in(dir.path(), &[&["node"], args, &["--check"]].concat()).failure(2);
        assert!(e.starts_with(message), "{e}\ninstead of\n{message}");
    }
    let (toml, _) = checked(dir.path(), &["node.toml"]);
    assert!(toml.contains("interface = \"eth9\""), "{toml}");
}

/// Nodes that no network holds.
fn far() -> String {
    SCENARIO.replace("10.0.7.9", "172.16.0.1")
}

#[test]
fn real_hosts_need_no_movement_and_simulated_nodes_do() {
    let movement = SCENARIO.lines().find(|l| l.starts_with("movement")).unwrap();
    let text = SCENARIO.replace(&format!("{movement}\n"), "");
    let fleet = "scenario = \"walk.toml\"\nhosts = [{ name = \"gateway\", interface = \"wlan0\" }]\nssh_program = \"false\"\n";
    let dir = folder(&[("walk.toml", &*text), ("moving.toml", SCENARIO), ("fleet.toml", fleet)]);
    let of = |file: &str| checked(dir.path(), &[file, "--as", "gateway", "--interface", "wlan0"]).0;
    assert_eq!(of("walk.toml"), of("moving.toml"));
    // No host is reached, but the scenario is read.
    let report = run_in(dir.path(), &["fleet", "check", "fleet.toml"]);
    assert!(report.status == Some(1) && report.out.contains("gateway"), "{}{}", report.out, report.err);
    let e = run_in(dir.path(), &["node", "walk.toml", "--interface", "wlan0", "--check"]).failure(2);
    assert!(e.contains("this is a scenario") && e.contains("with names: gateway"), "{e}");
    for command in [&["run"][..], &["run", "--check"], &["topology"], &["export", "macfilter"]] {
        let e = run_in(dir.path(), &[command, &["walk.toml"]].concat()).failure(2);
        assert!(
            e.contains("walk.toml: movement: missing; only real hosts do without it; add: movement"),
            "{e}"
        );
    }
}
