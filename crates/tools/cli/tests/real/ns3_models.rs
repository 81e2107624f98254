//! ns-3's routing models (`ns3/`) as daemons: in the lab, and on hosts of their own. Needs root.

use std::time::Duration;

use crate::mesh::{Mesh, run_scenario, skip_without_root};
use crate::ns3_libraries::{VERSIONS, build};

const CHAIN: &str = "\
duration_s = 25
nodes.count = 3
movement = { kind = \"chain\", spacing_m = 200 }
[[traffic]]
kind = \"cbr\"
src = 0
dst = 2
rate_pps = 10
start_s = 15
stop_s = 22
";

#[test]
fn the_models_deliver_in_the_lab() {
    skip_without_root!();
    build(VERSIONS[0], "all");
    let fast = ["--set", "protocol.PeriodicUpdateInterval=2s", "--set", "protocol.SettlingTime=500ms"];
    let models = [("ns3:aodv", &[][..]), ("ns3:olsr", &[]), ("ns3:olsr-routes", &[]), ("ns3:dsdv", &fast)];
    for (model, sets) in models {
        let args = ["lab", "s.toml", "--protocol", model, "--no-out", "--json"];
        let (done, _folder) = run_scenario(CHAIN, &[&args[..], sets].concat());
        assert!(done.status.success(), "{model}: {}", String::from_utf8_lossy(&done.stderr));
        let summary: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        let ratio = summary["flows"][0]["delivery_ratio"].as_f64().unwrap();
        assert!(ratio > 0.95, "{model}: {summary}");
    }
}

#[test]
fn hosts_with_ns3s_aodv_ping_each_other() {
    skip_without_root!();
    build(VERSIONS[0], "all");
    let mut mesh = Mesh::line(3);
    mesh.start_all("ns3:aodv", &[]);
    mesh.ping(0, 2, 5);
    mesh.stop_all();
}

#[test]
fn hosts_with_ns3s_aodv_measure_with_iperf3() {
    skip_without_root!();
    build(VERSIONS[0], "all");
    let mut mesh = Mesh::line(3);
    let _server = mesh.start_program(2, &["iperf3", "-s", "--logfile", "/dev/null"]);
    mesh.start_all("ns3:aodv", &[]);
    mesh.until("iperf3 measures", Duration::from_secs(60), |m| {
        let (ok, said) = m.run(0, "iperf3 -J -u -b 100k -l 500 -t 2 -c 10.0.0.3");
        let measured: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
        let sum = &measured["end"]["sum"];
        ok && sum["packets"].as_u64() >= Some(40)
            && sum["lost_percent"].as_f64().is_some_and(|lost| lost < 10.0)
    });
    mesh.stop_all();
}

#[test]
fn nodes_of_both_aodvs_share_a_mesh() {
    skip_without_root!();
    build(VERSIONS[0], "all");
    for protocols in [["aodv", "ns3:aodv", "aodv"], ["ns3:aodv", "aodv", "ns3:aodv"]] {
        let mut mesh = Mesh::line(3);
        for (i, protocol) in protocols.into_iter().enumerate() {
            mesh.start(i, protocol, &[]);
        }
        mesh.ping(0, 2, 5);
        mesh.ping(2, 0, 5);
        mesh.stop_all();
    }
}
