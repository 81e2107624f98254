//! Gateways in simulation and emulation: what captures show, and real programs on both sides. Needs tshark; emulation needs root, curl,
//! dig, dnsmasq, iperf3 and Python.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use wayhop_testkit::tshark;

use crate::emulate::{is_root, skip_without_root};
use crate::{folder, run_in};

const TWO: &str = include_str!("../../../../../scenarios/gateways.toml");

fn json(dir: &Path, args: &[&str]) -> Value {
    run_in(dir, args).json()
}

#[test]
fn tshark_shows_the_external_bits_where_packets_leave_and_come_in() {
    let dir =
        folder(&[("s.toml", &TWO.replace("[captures]\nnodes = [\"reader\"]", "[captures]\nall = true"))]);
    run_in(dir.path(), &["run", "s.toml", "--out", "r", "--quiet", "--set", "duration_s=20"]).ok();
    let capture = dir.path().join("r/captures/reader.pcapng");
    assert_eq!(tshark::complaints(&capture).expect("tshark"), Vec::<Vec<String>>::new());
    // The reader's own packets to 198.51.100.1 by its neighbour `east`, 10.0.0.5: L, and one segment left.
    let source_route =
        ["dsr.option.srcrt.firsthopext", "dsr.option.srcrt.lasthopext", "dsr.option.srcrt.segsleft"];
    let with = |filter: &str, more: &[&str]| {
        let rows = tshark::fields(&capture, filter, &[&source_route[..], more].concat()).expect("tshark");
        assert!(!rows.is_empty(), "{filter}");
        rows
    };
    let is = |text: &str, value: bool| {
        if value { ["1", "True"].contains(&text) } else { ["0", "False"].contains(&text) }
    };
    let out = "ip.src == 10.0.0.4 && ip.dst == 198.51.100.1 && dsr.option.type == 96";
    for row in with(out, &["dsr.option.ack.address"]) {
        assert!(is(&row[0], false) && is(&row[1], true), "{row:?}");
        assert_eq!((row[2].as_str(), row[3].as_str()), ("1", "10.0.0.5"), "{row:?}");
    }
    // Answers to node `a`, 10.0.0.2: F, and the gateway first on the list.
    let back = "ip.src == 198.51.100.1 && dsr.option.type == 96";
    for name in ["reader", "west", "b"] {
        let capture = dir.path().join(format!("r/captures/{name}.pcapng"));
        let rows = tshark::fields(&capture, back, &[&source_route[..], &["dsr.option.ack.address"]].concat());
        for row in rows.expect("tshark") {
            assert!(is(&row[0], true) && is(&row[1], false), "{row:?}");
            assert!(
                row[3].starts_with("10.0.0.1") || row[3].starts_with("10.0.0.5"),
                "a gateway is first: {row:?}"
            );
        }
    }
    // Proxy replies: the last hop is External.
    let rows = tshark::fields(
        &capture,
        "dsr.option.type == 2 && ip.src == 10.0.0.5",
        &["dsr.option.rrep.lasthopex"],
    );
    let rows = rows.expect("tshark");
    assert!(!rows.is_empty() && rows.iter().all(|r| is(&r[0], true)), "{rows:?}");
    // On the wires there is plain IP.
    let east = dir.path().join("r/captures/internet.pcapng");
    assert!(tshark::fields(&east, "dsr", &["frame.number"]).expect("tshark").is_empty());
    assert!(!tshark::fields(&east, "ip.dst == 198.51.100.1", &["frame.number"]).expect("tshark").is_empty());
}

#[test]
fn when_the_nearer_gateways_uplink_is_cut_the_flow_goes_on_by_the_other() {
    for protocol in ["dsr", "aodv", "dsdv"] {
        let dir = folder(&[("s.toml", TWO)]);
        let args =
            ["run", "s.toml", "--json", "--quiet", "--no-out", "--set", &format!("protocol.name={protocol}")];
        let out = json(dir.path(), &args);
        let ratio = out["flows"][0]["delivery_ratio"].as_f64().expect("a ratio");
        // DSDV has no exit before its first updates: 10 s at most. The cut costs a second or two of 115.
        assert!(ratio > 0.88, "{protocol}: {ratio}");
        assert_eq!(
            out["totals"]["sent"],
            out["flows"].as_array().unwrap().iter().map(|f| f["sent"].as_u64().unwrap()).sum::<u64>()
        );
    }
}

#[test]
fn a_scenario_with_gateways_is_refused_where_there_are_none_with_the_remedy() {
    let dir = folder(&[("s.toml", TWO)]);
    let wrong =
        run_in(dir.path(), &["run", "s.toml", "--no-out", "--set", "gateways.0.uplink=east-up"]).failure(2);
    assert!(wrong.contains("gateways[0].uplink") || wrong.contains("gateways"), "{wrong}");
    if is_root() {
        let lab = run_in(dir.path(), &["lab", "s.toml", "--no-out"]).failure(2);
        assert!(lab.contains("not supported in a lab; emulate"), "{lab}");
    }
}

/// The scenario without flows and captures, with these programs; the uplink is not cut by itself.
fn with_programs(protocol: &str, programs: &str) -> String {
    let head =
        TWO.split("[[traffic]]").next().expect("a scenario").replace("cuts = [{ start_s = 60 }]\n", "");
    let head = head
        .replace("name = \"dsr\"", &format!("name = \"{protocol}\""))
        .replace("duration_s = 120", "duration_s = 600");
    format!("{head}{programs}")
}

const SERVERS: &str = r#"
[[programs]]
node = "internet"
command = ["sh", "-c", """echo from the Internet > page
exec python3 -m http.server 80"""]
[[programs]]
node = "internet"
command = ["sh", "-c", "exec iperf3 -s >/dev/null"]
[[programs]]
node = "internet"
command = ["dnsmasq", "--no-daemon", "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--pid-file=", "--user=", "--group=", "--port=53", "--address=/www.example/203.0.113.7"]
"#;

#[test]
fn real_programs_in_an_emulated_mesh_use_the_web_names_and_iperf3_outside() {
    skip_without_root!();
    for protocol in ["dsr", "aodv", "dsdv"] {
        let dir = folder(&[("s.toml", &with_programs(protocol, SERVERS))]);
        let script = "until said=$(curl -sS --max-time 20 http://198.51.100.1/page 2>/dev/null); do sleep 0.1; done; echo \"$said\"\n\
                      until said=$(dig +short +tries=1 +time=5 @198.51.100.1 www.example) && [ \"$said\" ]; do sleep 0.1; done; echo \"$said\"\n\
                      until iperf3 -c 198.51.100.1 -t 1 -J | grep -c sum_received; do sleep 0.1; done\n\
                      until iperf3 -c 198.51.100.1 -t 1 -R -J | grep -c sum_received; do sleep 0.1; done";
        let args = ["emulate", "s.toml", "--no-out", "--quiet", "--node", "a", "--", "sh", "-c", script];
        let said = run_in(dir.path(), &args).ok();
        let lines: Vec<&str> = said.lines().filter(|l| *l != "0").collect();
        assert_eq!(lines, ["from the Internet", "203.0.113.7", "1", "1"], "{protocol}");
    }
}

#[test]
fn the_outside_begins_connections_too_and_hears_of_addresses_that_nobody_has() {
    skip_without_root!();
    let dir = folder(&[("s.toml", &with_programs("dsr", ""))]);
    let script = "until ping -c 1 -W 5 10.0.0.4; do sleep 0.1; done >/dev/null\nping -c 1 -W 100 10.0.0.200";
    let args = ["emulate", "s.toml", "--no-out", "--quiet", "--node", "internet", "--", "sh", "-c", script];
    let begun = Instant::now();
    let said = run_in(dir.path(), &args);
    // ICMP of the gateway, after DSR's last request.
    assert!(
        said.out.contains("Destination Host Unreachable") || said.out.contains("100% packet loss"),
        "{}",
        said.out
    );
    assert!(begun.elapsed() < Duration::from_secs(300));
}
