//! IPv6 in labs and on real interfaces: the kernel's own IPv6 and tshark are the judges.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use wayhop_testkit::tshark;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

/// Three nodes in a line without a routing protocol.
const CHAIN: &str = r#"
duration_s = 6
nodes = { count = 3, ipv6 = true }
movement = { kind = "chain", spacing_m = 200 }
protocol.name = "none"
captures.all = true
routes = [
    { node = 0, destination = 2, via = 1, ip = 6 },
    { node = 2, destination = 0, via = 1, ip = 6 },
    { node = 0, destination = 2, via = 1 },
    { node = 1, destination = 2, via = 2 },
    { node = 1, destination = 0, via = 0 },
    { node = 2, destination = 0, via = 1 },
]
traffic = [
    { kind = "cbr", src = 0, dst = 2, rate_pps = 20, payload_bytes = 200, start_s = 1, stop_s = 4, ip = 6 },
    { kind = "ping", src = 2, dst = 0, start_s = 2, ip = 6 },
    { kind = "ping", src = 2, dst = 0, start_s = 2 },
]
"#;

fn wayhop(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(WAYHOP).args(arguments).current_dir(folder).output().unwrap()
}

fn said(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// The rows of the table `packets`, without its head.
fn packets(folder: &Path) -> Vec<Vec<String>> {
    let done = wayhop(folder, &["export", "csv", "run", "packets"]);
    assert!(done.status.success(), "{}", said(&done));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().skip(1).map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn flows_over_ipv6_cross_a_lab_by_static_routes_and_tshark_finds_nothing_wrong() {
    skip_without_root!();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.toml"), CHAIN).unwrap();
    let done = wayhop(dir.path(), &["lab", "s.toml", "--json", "--quiet", "--out", "run"]);
    assert!(done.status.success(), "{}", said(&done));
    let s: Value = serde_json::from_slice(&done.stdout).unwrap();
    for flow in 0..3 {
        let f = &s["flows"][flow];
        assert!(f["delivery_ratio"].as_f64().unwrap() >= 0.5, "{f}");
        assert!((f["hops_mean"].as_f64().unwrap() - 2.0).abs() < 0.1, "{f}");
    }
    let rows = packets(dir.path());
    for (event, node, hops_left, interface) in [
        ("originate", "0", "64", ""),
        ("send", "0", "64", "0"),
        ("receive", "1", "64", "0"),
        ("forward", "1", "63", "0"),
        ("receive", "2", "63", "0"),
        ("deliver", "2", "63", ""),
    ] {
        let wanted = |r: &&Vec<String>| {
            r[2] == event && r[1] == node && r[4] == "0" && r[13] == hops_left && r[16] == interface
        };
        let row = rows.iter().find(wanted).unwrap_or_else(|| panic!("no {event} at node {node}: {rows:?}"));
        let (octets, ends) = (&row[9], (row[10].as_str(), row[11].as_str()));
        // 200 octets behind 8 of UDP and 40 of IPv6.
        assert_eq!((octets.as_str(), ends), ("248", ("fd00:77::1", "fd00:77::3")), "{row:?}");
    }
    for node in 0..3 {
        let capture = dir.path().join(format!("run/captures/{node}.pcapng"));
        assert_eq!(tshark::complaints(&capture), Ok(vec![]), "node {node}");
        let fields = ["icmpv6.type", "icmpv6.checksum.status", "eth.dst", "ipv6.dst"];
        let of_icmp = tshark::fields(&capture, "icmpv6", &fields).expect("tshark");
        for kind in ["128", "129", "135", "136"] {
            assert!(of_icmp.iter().any(|r| r[0] == kind), "no ICMPv6 {kind} at node {node}: {of_icmp:?}");
        }
        for row in of_icmp {
            assert_eq!(row[1], "1", "a right checksum: {row:?}");
            assert!(row[0] != "135" || row[2].starts_with("33:33:ff:") && row[3].starts_with("ff02::1:ff"));
        }
    }
}

#[test]
fn programs_of_a_lab_reach_others_over_ipv6_and_hear_of_hop_limits() {
    skip_without_root!();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s.toml"), CHAIN).unwrap();
    let script = "ping -6 -n -c 3 -i 0.3 -W 5 mesh-2; ping -6 -n -c 1 -t 1 -W 5 mesh-2";
    let lab = ["lab", "s.toml", "--quiet", "--no-out", "--node", "0", "--", "sh", "-c", script];
    let text = said(&wayhop(dir.path(), &lab));
    assert!(text.contains("64 bytes from fd00:77::3: icmp_seq=3 ttl=63"), "{text}");
    // RFC 4443, section 3.3.
    assert!(text.contains("From fd00:77::2 icmp_seq=1 Time exceeded"), "{text}");
}

#[test]
fn programs_of_a_lab_transfer_a_file_by_tcp_over_ipv6() {
    skip_without_root!();
    let dir = tempfile::tempdir().unwrap();
    let server = "programs = [{ node = 2, command = [\"socat\", \"-u\", \"TCP6-LISTEN:7000\", \"CREATE:received\"] }]\n";
    std::fs::write(dir.path().join("s.toml"), format!("{server}{CHAIN}")).unwrap();
    let file: Vec<u8> = (0..300_000_u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).collect();
    std::fs::write(dir.path().join("sent"), &file).unwrap();
    let script = "socat -u OPEN:sent TCP6:mesh-2:7000,retry=50,interval=0.1; sleep 1";
    let lab = ["lab", "s.toml", "--quiet", "--out", "run", "--node", "0", "--", "sh", "-c", script];
    let done = wayhop(dir.path(), &lab);
    assert!(done.status.success(), "{}", said(&done));
    let received = std::fs::read(dir.path().join("run/files/2/received"));
    let received = received.unwrap_or_else(|e| panic!("{e}: {}", said(&done)));
    assert!(received == file, "{}", said(&done));
}

const ADDRESS: &str = "address6=fd00:77::2/64";

#[test]
fn the_kernels_ipv6_reaches_a_node_and_another_kernel_through_it() {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    for (i, other) in [(0, 3), (2, 1)] {
        mesh.ip(i, &format!("address add fd00:77::{}/64 dev eth1 nodad", i + 1));
        mesh.ip(i, &format!("-6 route add fd00:77::{other}/128 via fd00:77::2 dev eth1"));
    }
    mesh.start(1, "none", &[ADDRESS]);
    // Kernel to node, node to kernel, and kernel to kernel by the node.
    mesh.ping_address(0, "fd00:77::2", 3);
    mesh.ping_address(1, "fd00:77::3", 3);
    let through = mesh.ping_address(0, "fd00:77::3", 3);
    assert!(through.contains("ttl=63"), "{through}");
    let (_, expired) = mesh.run(0, "ping -6 -n -c 1 -t 1 -W 5 fd00:77::3");
    assert!(expired.contains("From fd00:77::2 icmp_seq=1 Time exceeded"), "{expired}");
    let (_, off) = mesh.run(1, "cat /proc/sys/net/ipv6/conf/eth1/disable_ipv6");
    assert_eq!(off.trim(), "1", "the kernel's own IPv6 is off where the node speaks");
    assert!(mesh.ip(0, "-6 neighbour show fd00:77::2").contains("02:00:0a:00:00:02"));
    mesh.stop_all();
    let (_, after) = mesh.run(1, "cat /proc/sys/net/ipv6/conf/eth1/disable_ipv6");
    assert_eq!(after.trim(), "0", "and on again afterwards");
    let asked = mesh.capture(1, "icmpv6.type == 135");
    assert!(!asked.is_empty(), "neighbour discovery is in the capture");
}

#[test]
fn a_static_route_leads_programs_to_a_network_behind_a_neighbour() {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    mesh.ip(0, "address add fd00:77::1/64 dev eth1 nodad");
    mesh.ip(0, "-6 route add fd00:99::/64 via fd00:77::2 dev eth1");
    for address in ["fd00:77::3/64", "fd00:99::1/64"] {
        mesh.ip(2, &format!("address add {address} dev eth1 nodad"));
    }
    mesh.ip(2, "-6 route add fd00:77::1/128 via fd00:77::2 dev eth1");
    let route = "routes=[{destination=\"fd00:99::/64\",via=\"fd00:77::3\"}]";
    mesh.start(1, "none", &[ADDRESS, route]);
    let led = mesh.ip(1, "-6 route show fd00:99::/64");
    assert!(led.contains("dev mesh0"), "{led}");
    for from in [1, 0] {
        mesh.ping_address(from, "fd00:99::1", 3);
    }
    mesh.stop_all();
    assert_eq!(mesh.ip(1, "-6 route show fd00:99::/64"), "", "the route goes with the node");
}

#[test]
fn a_node_says_what_stands_against_its_ipv6_address() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    mesh.ip(0, "address add fd00:99::1/64 dev eth1 nodad");
    let node = ["node", "--interface", "eth1", "--address", "10.0.0.1/16", "--protocol", "none", "--set"];
    mesh.start_with(0, &[&node[..], &[ADDRESS]].concat());
    assert_eq!(mesh.end_by_itself(0), Some(1));
    let said = mesh.said(0);
    assert!(said.contains("eth1 has the address fd00:99::1") && said.contains("address flush"), "{said}");
    mesh.ip(0, "address del fd00:99::1/64 dev eth1");
    for (set, wrong) in [
        ("address6=fe80::1/64", "address6"),
        ("routes=[{destination=\"fd00:77::9\", via=\"fd00:77::3\"}]", "an IPv6 route needs an IPv6 address"),
        (
            "routes=[{destination=\"10.0.0.0/24\", via=\"10.0.0.3\"}]",
            "not a route to another host of the mesh",
        ),
    ] {
        mesh.start_with(0, &[&node[..], &[set]].concat());
        assert_ne!(mesh.end_by_itself(0), Some(0), "{set}");
        let said = mesh.said(0);
        assert!(said.contains(wrong), "{set}: {said}");
    }
}

/// Two radios and a wire at one node or another, IPv6, and an outage that takes the tables with it.
const INTERFACES: &str = r#"
duration_s = 9
nodes = { count = 3, ipv6 = true }
movement = { kind = "chain", spacing_m = 200 }
radio = { name = "wlan0", preset = "80211b", channel = 1, nodes = [0, 1] }
radios = [{ name = "wlan1", preset = "80211b", channel = 6, nodes = [1, 2] }]
wires = [{ name = "cable", nodes = [1, 2] }]
outages = [{ node = 1, start_s = 3, length_s = 1.5 }]
traffic = [{ kind = "cbr", src = 0, dst = 2, rate_pps = 20, payload_bytes = 200, start_s = 1 }]
"#;

#[test]
fn logs_of_nodes_with_ipv6_several_interfaces_and_two_lives_replay_the_same() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("s.toml"), INTERFACES).unwrap();
        let lab = ["lab", "s.toml", "--protocol", protocol, "--quiet", "--out", "run", "--record-inputs"];
        let done = wayhop(dir.path(), &lab);
        assert!(done.status.success(), "{}", said(&done));
        let logs = ["0", "1", "1-2", "2"].map(|name| format!("run/inputs/{name}.jsonl"));
        let replay: Vec<&str> =
            ["replay", "--json"].into_iter().chain(logs.iter().map(String::as_str)).collect();
        let done = wayhop(dir.path(), &replay);
        let text = said(&done);
        assert!(done.status.success() && text.lines().count() == logs.len(), "{protocol}: {text}");
        for (log, line) in logs.iter().zip(text.lines()) {
            let o: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&o["verdict"], &o["end"]),
                (&"same".into(), &"whole".into()),
                "{protocol} {log}: {o}"
            );
            assert!(o["inputs"].as_u64() > Some(5) && o["effects"].as_u64() > Some(3), "{log}: {o}");
            let head = std::fs::read_to_string(dir.path().join(log)).unwrap();
            let head: Value = serde_json::from_str(head.lines().next().unwrap()).unwrap();
            assert!(head["address6"].as_str().is_some_and(|a| a.starts_with("fd00:77::")), "{head}");
            let several = if log.contains("/1") { 3 } else { head["interfaces"].as_array().unwrap().len() };
            assert_eq!(head["interfaces"].as_array().unwrap().len(), several, "{head}");
        }
        // Node 1 hears node 0 on its first interface and node 2 on the others.
        let rows = packets(dir.path());
        let on: std::collections::BTreeSet<(&str, &str)> = rows
            .iter()
            .filter(|r| r[1] == "1" && r[2] == "receive")
            .map(|r| (r[12].as_str(), r[16].as_str()))
            .collect();
        assert!(on.contains(&("10.0.0.1", "0")), "{on:?}");
        assert!(on.contains(&("10.0.0.3", "1")) && on.contains(&("10.0.0.3", "2")), "{on:?}");
    }
}
