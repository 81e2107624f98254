//! ns-3's routing models (`ns3/`) as protocols, in simulation and emulation.

use std::path::Path;
use std::process::Command;

use crate::emulate::skip_without_root;
use crate::ns3_libraries::{VERSIONS, build};
use crate::{folder, hash_without_randomised_memory, manifest, run_in, summary_of};

/// DSDV takes its time: an update every 15 s, which settles for some.
const CHAIN: &str = r#"
duration_s = 80
nodes.count = 4
movement = { kind = "chain", spacing_m = 200 }
[[traffic]]
kind = "cbr"
src = 0
dst = 3
rate_pps = 10
start_s = 60
stop_s = 75
"#;

/// The last node goes down while packets for it pass by the others.
const BREAK: &str = r#"
duration_s = 30
nodes.count = 4
movement = { kind = "chain", spacing_m = 200 }
[[traffic]]
kind = "cbr"
src = 0
dst = 3
rate_pps = 10
start_s = 1
stop_s = 20
[[outages]]
node = 3
start_s = 10
length_s = 100
tables = "kept"
"#;

#[test]
fn the_libraries_pass_their_own_tests_with_both_versions_of_ns3() {
    for version in VERSIONS {
        build(version, "check");
    }
}

#[test]
fn the_models_deliver_in_simulation_and_repeat_themselves() {
    let dir = folder(&[("s.toml", CHAIN)]);
    for version in VERSIONS {
        let libraries = build(version, "all");
        for model in ["aodv", "olsr", "dsdv"] {
            let name = format!("ns3:{model}");
            // Debian's by name, PyPI's by path.
            let library = libraries.join(format!("libwayhop-ns3-{model}.so")).display().to_string();
            let protocol = if version.1.is_none() { &name } else { &library };
            let first = summary_of(dir.path(), &["s.toml", "--protocol", protocol, "--out", "out"]);
            assert_eq!(first["protocol"], *name);
            assert_eq!(first["totals"]["delivery_ratio"], 1.0, "{version:?} {first}");
            let recorded = manifest(&dir.path().join("out"));
            assert_eq!(recorded["library"]["version"], version.0);
            // Another process has another layout of its memory, or always the same one.
            let again = summary_of(dir.path(), &["s.toml", "--protocol", protocol, "--out", "again"]);
            assert_eq!(first["trace_hash"], again["trace_hash"], "{version:?} {name}");
            let args = ["s.toml", "--protocol", protocol, "--no-out"];
            let fixed = hash_without_randomised_memory(dir.path(), &args);
            assert_eq!(first["trace_hash"], fixed, "{version:?} {name}");
        }
    }
}

#[test]
fn the_inputs_of_a_model_are_replayed_to_it() {
    build(VERSIONS[0], "all");
    let dir = folder(&[("s.toml", CHAIN)]);
    for model in ["ns3:aodv", "ns3:olsr", "ns3:dsdv"] {
        let args = ["run", "s.toml", "--protocol", model, "--out", "out", "--record-inputs", "--quiet"];
        run_in(dir.path(), &args).ok();
        // The model is found by its name, like that of a scenario.
        let logs = ["out/inputs/0.jsonl", "out/inputs/1.jsonl", "out/inputs/3.jsonl"];
        let told = run_in(dir.path(), &[&["replay"], &logs[..]].concat()).ok();
        assert_eq!(told.matches(": same ").count(), 3, "{model}: {told}");
    }
}

#[test]
fn packets_that_nodes_forward_by_olsrs_routes_take_the_way_of_those_that_olsr_forwards() {
    build(VERSIONS[0], "all");
    let dir = folder(&[("s.toml", CHAIN)]);
    let hash = |protocol: &str| {
        let summary = summary_of(dir.path(), &["s.toml", "--protocol", protocol, "--no-out"]);
        assert_eq!(summary["totals"]["delivery_ratio"], 1.0, "{summary}");
        summary["trace_hash"].clone()
    };
    assert_eq!(hash("ns3:olsr-routes"), hash("ns3:olsr"));
}

#[test]
fn attributes_of_a_model_are_checked_as_parameters() {
    build(VERSIONS[0], "all");
    let dir = folder(&[("s.toml", CHAIN)]);
    let said = |set: &str| {
        run_in(dir.path(), &["run", "s.toml", "--protocol", "ns3:aodv", "--no-out", "--set", set]).failure(2)
    };
    assert!(said("protocol.HelloInterval=soon").contains("\"500ms\""));
    assert!(said("protocol.HeloInterval=1s").contains("did you mean `HelloInterval`?"));
    assert!(said("protocol.TtlStart=70000").contains("65535"));
    let check = run_in(dir.path(), &["run", "s.toml", "--protocol", "ns3:olsr", "--check"]).ok();
    assert!(check.contains("Willingness") && check.contains("HelloInterval"), "{check}");
    let missing = run_in(dir.path(), &["run", "s.toml", "--protocol", "ns3:dsr", "--no-out"]).failure(2);
    assert!(missing.contains("use ns3:aodv, ns3:dsdv, ns3:olsr"), "{missing}");
}

/// What tshark shows of a node's capture.
fn tshark(run: &Path, node: &str, filter: &str, fields: &[&str]) -> Vec<String> {
    let capture = run.join(format!("captures/{node}.pcapng"));
    let mut command = Command::new("tshark");
    command.args(["-o", "udp.check_checksum:TRUE", "-r"]).arg(capture).args(["-Y", filter, "-T", "fields"]);
    for field in fields {
        command.args(["-e", field]);
    }
    let done = command.output().expect("tshark (.ci/install test)");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect()
}

/// How long after the break the third node's first Route Error came, seconds.
fn noticed(dir: &Path, sets: &[&str]) -> Option<f64> {
    let args = ["s.toml", "--protocol", "ns3:aodv", "--captures", "--out", "out"];
    summary_of(dir, &[&args[..], sets].concat());
    let times = tshark(&dir.join("out"), "2", "aodv.type == 3", &["frame.time_epoch"]);
    let times = times.iter().map(|t| t.parse::<f64>().unwrap());
    times.map(|t| t - 10.0).find(|t| *t > 0.0)
}

#[test]
fn ns3s_aodv_notices_a_broken_link_when_the_mac_gives_a_frame_up() {
    build(VERSIONS[0], "all");
    let dir = folder(&[("s.toml", BREAK)]);
    let with = noticed(dir.path(), &[]);
    // A packet every 100 ms, and the MAC's retries.
    assert!(with.is_some_and(|t| t < 0.2), "{with:?}");
    // Without acknowledgements it has its Hellos, which count after the last packet's 3 s only.
    let without = noticed(dir.path(), &["--set", "radio.acknowledge=false"]);
    assert!(without.is_none_or(|t| t > 12.0), "{without:?}");
}

#[test]
fn tshark_reads_the_messages_of_the_models() {
    build(VERSIONS[0], "all");
    let dir = folder(&[("s.toml", CHAIN)]);
    for (model, filter) in [("ns3:aodv", "aodv"), ("ns3:olsr", "olsr"), ("ns3:dsdv", "udp.port == 269")] {
        summary_of(dir.path(), &["s.toml", "--protocol", model, "--captures", "--out", "out"]);
        let out = dir.path().join("out");
        let count = |filter: &str| tshark(&out, "1", filter, &["frame.number"]).len();
        assert!(count(filter) > 20, "{model}");
        assert_eq!(
            count("_ws.malformed || udp.checksum.status == 0 || ip.checksum.status == 0"),
            0,
            "{model}"
        );
    }
}

#[test]
fn a_ping_crosses_an_emulated_chain_of_ns3s_nodes() {
    skip_without_root!();
    build(VERSIONS[0], "all");
    let dir = folder(&[("s.toml", CHAIN)]);
    let fast = ["protocol.PeriodicUpdateInterval=1s", "protocol.SettlingTime=200ms"];
    for (model, sets) in [("ns3:aodv", &[][..]), ("ns3:olsr", &[]), ("ns3:dsdv", &fast)] {
        let mut args = vec!["emulate", "s.toml", "--protocol", model, "--no-out", "--quiet", "--node", "0"];
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        // Until the routes are there, the kernel hears that there is none.
        let shell = "for i in $(seq 60); do ping -c 1 -W 1 mesh-3 >/dev/null && break; sleep 0.5; done; ping -c 5 -i 0.2 -w 30 mesh-3";
        args.extend(["--", "sh", "-c", shell]);
        let ran = run_in(dir.path(), &args);
        assert!(ran.out.contains("5 received"), "{model}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn iperf3_measures_ns3s_aodv_in_emulation_and_lab() {
    skip_without_root!();
    build(VERSIONS[0], "all");
    let nodes =
        CHAIN.split("[[traffic]]").next().unwrap_or_default().replace("nodes.count = 4", "nodes.count = 3");
    let server = "[[programs]]\nnode = 2\ncommand = [\"sh\", \"-c\", \"iperf3 -s >/dev/null\"]\n";
    let dir = folder(&[("s.toml", &format!("{nodes}{server}"))]);
    // Until the server listens, the client ends with an error; not every error is in its exit status.
    let script = "until said=$(iperf3 -u -c mesh-2 -b 100k -l 500 -t 2 -J) && echo \"$said\" | grep -q lost_packets; do \
                  sleep 0.2; done; echo \"$said\"";
    for world in ["emulate", "lab"] {
        let args = [world, "s.toml", "--protocol", "ns3:aodv", "--no-out", "--quiet", "--node", "0"];
        let measured = run_in(dir.path(), &[&args[..], &["--", "sh", "-c", script]].concat()).json();
        let sum = &measured["end"]["sum"];
        let (sent, lost) = (sum["packets"].as_u64().expect("a count"), sum["lost_packets"].as_u64());
        // A route that breaks under load costs the packets of its discovery.
        assert!(sent >= 40 && lost.is_some_and(|lost| lost * 4 < sent), "{world}: {measured}");
    }
}
