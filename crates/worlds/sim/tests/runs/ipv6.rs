//! Flows over IPv6: the cost of the longer header, conservation, hops over static routes, and what has no way.

use wayhop_core::DropReason;

use crate::{run, scenario};

/// A saturated flow between two nodes 100 m apart: packets a second that arrive.
fn saturated(ip: u32, payload: u32, protocol: &str) -> f64 {
    let text = format!(
        r#"
seed = 4
duration_s = 61
nodes = {{ count = 2, ipv6 = true }}
movement = {{ kind = "chain", spacing_m = 100 }}
protocol.name = "{protocol}"
[[traffic]]
kind = "cbr"
src = 0
dst = 1
ip = {ip}
payload_bytes = {payload}
rate_pps = 800
start_s = 1
"#
    );
    let (summary, audit) = run(&scenario(&text));
    assert_eq!(audit.defect(), None);
    summary.flows[0].goodput_bps.expect("a flow that ran") / f64::from(payload * 8)
}

#[test]
fn a_packet_over_ipv6_takes_as_long_as_one_of_20_octets_more_over_ipv4() {
    for protocol in ["none", "aodv"] {
        // Packets of the same length take the same time: 40 + 8 + 952 is 20 + 8 + 972.
        let (four, six) = (saturated(4, 972, protocol), saturated(6, 952, protocol));
        assert!((six / four - 1.0).abs() < 0.002, "{protocol}: {six} and {four} packets/s");
        // With the same payload, 20 octets at 2 Mb/s are 80 us more for each packet.
        let longer_us = 1e6 / saturated(6, 972, protocol) - 1e6 / four;
        assert!((longer_us - 80.0).abs() < 8.0, "{protocol}: {longer_us} us");
    }
}

const ROUTED: &str = r#"
seed = 2
duration_s = 30
nodes.count = 4
nodes.ipv6 = "2001:db8:1::/64"
movement = { kind = "chain", spacing_m = 200 }
[[nodes.node]]
id = 3
name = "far"
address6 = "2001:db8:2::3"
[[traffic]]
kind = "cbr"
src = 0
dst = "far"
ip = 6
[[traffic]]
kind = "poisson"
src = "far"
dst = 0
ip = 6
[[traffic]]
kind = "ping"
src = 0
dst = 3
ip = 6
[[traffic]]
kind = "tcp"
src = 3
dst = 0
ip = 6
bytes = 100000
[[traffic]]
kind = "cbr"
src = 0
dst = 3
[[routes]]
node = 0
destination = "2001:db8:2::/64"
via = 1
[[routes]]
node = 1
destination = "2001:db8:2::/64"
via = 2
[[routes]]
node = 2
destination = "2001:db8:2::3/128"
via = 3
[[routes]]
node = 3
destination = 0
via = 2
ip = 6
[[routes]]
node = 2
destination = "2001:db8:1::1"
via = 1
"#;

#[test]
fn every_kind_of_flow_goes_over_static_routes_beside_any_protocol_and_no_packet_is_lost_sight_of() {
    for protocol in ["dsr", "aodv", "dsdv", "none"] {
        for arp in ["derived", "bsd"] {
            let text = format!("{ROUTED}\n[protocol]\nname = \"{protocol}\"\n");
            let mut s = scenario(&text);
            if arp == "derived" {
                s.interfaces.radios[0].config.arp = wayhop_radio::Arp::None;
            }
            let (summary, audit) = run(&s);
            assert_eq!(audit.defect(), None, "{protocol} {arp}");
            let dropped: u64 = audit.ends.dropped.iter().sum();
            assert_eq!(summary.totals.sent, audit.ends.delivered + dropped + audit.ends.held);
            for f in &summary.flows[..4] {
                assert!(f.delivery_ratio.is_some_and(|r| r > 0.9), "{protocol} {arp}: {f:?}");
                assert!(f.hops_mean.is_some_and(|h| (h - 3.0).abs() < 1e-9), "{protocol} {arp}: {f:?}");
            }
            let tcp = summary.flows[3].tcp.as_ref().expect("a connection");
            assert_eq!(tcp.delivered_bytes, 100_000);
            // IPv4 beside it: by the protocol, which `none` is not.
            assert_eq!(summary.flows[4].received.unwrap() > 0, protocol != "none", "{protocol}");
        }
    }
}

#[test]
fn without_a_route_neighbours_are_reached_and_others_are_not() {
    let text = r#"
duration_s = 20
nodes.count = 3
nodes.ipv6 = true
movement = { kind = "chain", spacing_m = 200 }
protocol.name = "aodv"
[[nodes.node]]
id = 2
address6 = "2001:db8::2"
[[traffic]]
kind = "cbr"
src = 0
dst = 1
ip = 6
[[traffic]]
kind = "cbr"
src = 0
dst = 2
ip = 6
"#;
    let s = scenario(text);
    assert_eq!(s.warnings.len(), 1);
    assert!(s.warnings[0].contains("reach only neighbours"), "{:?}", s.warnings);
    let (summary, audit) = run(&s);
    assert!(summary.flows[0].delivery_ratio.is_some_and(|r| r > 0.95));
    assert_eq!((summary.flows[1].received.unwrap(), summary.flows[1].hops_mean), (0, None));
    let no_route = DropReason::ALL.iter().position(|r| *r == DropReason::NoRoute).unwrap();
    assert_eq!(audit.ends.dropped[no_route], summary.flows[1].sent.unwrap());
}

#[test]
fn a_node_without_ipv6_flows_runs_as_before_with_addresses_of_it() {
    let text = |v6: &str| {
        format!(
            "seed = 7\nduration_s = 30\nnodes = {{ count = 5{v6} }}\n\
             movement = {{ kind = \"chain\", spacing_m = 200 }}\n\
             [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 4\n"
        )
    };
    let hash = |v6| run(&scenario(&text(v6))).0.trace_hash;
    assert_eq!(hash(""), hash(", ipv6 = true"));
}
