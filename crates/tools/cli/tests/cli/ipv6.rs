//! IPv6 from scenario to capture, and with real programs: tshark and the kernel are the judges.

use serde_json::Value;
use wayhop_testkit::tshark;

use crate::emulate::skip_without_root;
use crate::{folder, run_in};

/// Four nodes in a line with static routes for IPv6 from end to end; every kind of traffic.
const LINE: &str = r#"
seed = 3
duration_s = 10
nodes = { count = 4, ipv6 = true }
movement = { kind = "chain", spacing_m = 200 }
protocol.name = "aodv"
captures = { all = true, snap_length_bytes = 3000 }
traffic = [
    { kind = "cbr", src = 0, dst = 3, ip = 6 },
    { kind = "ping", src = 3, dst = 0, ip = 6 },
    { kind = "tcp", src = 0, dst = 3, ip = 6, bytes = 20000 },
    { kind = "ping", src = 0, dst = 3 },
]
routes = [
    { node = 0, destination = 3, via = 1, ip = 6 },
    { node = 1, destination = 3, via = 2, ip = 6 },
    { node = 3, destination = 0, via = 2, ip = 6 },
    { node = 2, destination = "fd00:77::1", via = 1 },
]
"#;

#[test]
fn tshark_reads_the_captures_of_a_run_over_ipv6_and_finds_nothing_wrong() {
    let dir = folder(&[]);
    std::fs::write(dir.path().join("s.toml"), LINE).expect("a file");
    run_in(dir.path(), &["run", "s.toml", "--out", "out", "--quiet"]).ok();
    let mut seen = std::collections::BTreeSet::new();
    for node in 0..4 {
        let capture = dir.path().join(format!("out/captures/{node}.pcapng"));
        assert_eq!(tshark::complaints(&capture), Ok(vec![]), "node {node}");
        let fields = ["ipv6.src", "icmpv6.type", "icmpv6.checksum.status", "wlan.ra", "_ws.col.Protocol"];
        for row in tshark::fields(&capture, "ipv6", &fields).expect("tshark") {
            assert!(row[2].is_empty() || row[2] == "1", "a right checksum: {row:?}");
            seen.insert((row[1].clone(), row[4].clone()));
        }
        // What went to a group went to the group's link address.
        for row in tshark::fields(&capture, "icmpv6.type == 135", &["wlan.ra", "ipv6.dst"]).expect("tshark") {
            assert!(row[0].starts_with("33:33:ff:00:00:0") && row[1].starts_with("ff02::1:ff00:"), "{row:?}");
        }
    }
    for what in
        [("128", "ICMPv6"), ("129", "ICMPv6"), ("135", "ICMPv6"), ("136", "ICMPv6"), ("", "UDP"), ("", "TCP")]
    {
        assert!(seen.contains(&(what.0.to_owned(), what.1.to_owned())), "{what:?} in {seen:?}");
    }
}

#[test]
fn the_kernel_answers_pings_over_ipv6_of_a_neighbour_and_over_static_routes() {
    skip_without_root!();
    let dir = folder(&[]);
    let text = LINE
        .replace("captures = { all = true, snap_length_bytes = 3000 }\n", "")
        .replace("duration_s = 10", "duration_s = 60");
    let start = text.find("traffic = [").expect("traffic");
    let end = text.find("routes = [").expect("routes");
    let flows = "traffic = [{ kind = \"cbr\", src = 0, dst = 3, ip = 6, rate_pps = 10 }, { kind = \"ping\", src = 3, dst = 0, ip = 6 }]\n";
    let text = format!("{}{flows}{}", &text[..start], &text[end..]);
    std::fs::write(dir.path().join("s.toml"), text).expect("a file");
    let script = "ping -6 -n -c 5 -i 0.3 -W 5 mesh-1 && ping -6 -n -c 8 -i 0.3 -W 5 fd00:77::4";
    let args =
        ["emulate", "s.toml", "--out", "out", "--json", "--quiet", "--node", "0", "--", "sh", "-c", script];
    let out = run_in(dir.path(), &args).ok();
    let said = out.rsplit_once("\n{").map_or(out.as_str(), |(said, _)| said);
    for line in ["bytes from fd00:77::2", "bytes from fd00:77::4"] {
        assert!(said.contains(line), "{said}");
    }
    let json = &out[out.find("{\"wayhop\"").expect("a summary")..];
    let summary: Value = serde_json::from_str(json.trim()).expect("one JSON object");
    assert_eq!(summary["command_exit"], 0);
    for f in summary["flows"].as_array().expect("flows") {
        let (sent, received) = (f["sent"].as_u64().unwrap_or(0), f["received"].as_u64().unwrap_or(0));
        assert!(sent > 0 && received * 2 > sent, "{f}");
    }
}
