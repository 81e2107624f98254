//! `wayhop node`: nodes of a real mesh on Ethernet, each in a network namespace, for real programs.
//!
//! Needs root, network namespaces, and ip, nft, ping, python3 and tshark (`.ci/install test`). Without root the tests are
//! skipped with a message; in CI they fail.

use std::time::Duration;

use crate::mesh::{Mesh, skip_without_root};

#[test]
fn programs_reach_each_other_over_dsr_and_tshark_finds_nothing_malformed() {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    mesh.start_all("dsr", &[]);
    mesh.ping(0, 2, 5);
    mesh.stop_all();
    for node in 0..3 {
        let frames = mesh.capture(node, "dsr");
        assert!(frames.len() >= 5, "node {node} sent and heard {frames:?}");
        assert_eq!(mesh.capture(node, "_ws.malformed"), Vec::<String>::new());
    }
    // The echo requests of node 0 went by its own choice over node 1.
    let routed = mesh.capture(0, "dsr && icmp.type == 8 && ip.dst == 10.0.0.3");
    assert!(routed.len() >= 5, "{routed:?}");
}

#[test]
fn programs_reach_each_other_over_aodv_by_kernel_routes_that_live_while_used() {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    for i in 0..3 {
        mesh.start(i, "aodv", &["protocol.active_route_timeout_ms=2500", &format!("control=n{i}")]);
    }
    mesh.ping(0, 2, 2);
    let searches = |m: &Mesh| m.counters("n0")["type.rreq"].as_u64().unwrap_or(0);
    // Longer than a route lives unused, without another search: that would mean that a route in use had ended. (Where the
    // processor is busy for the time of two Hellos, links break, and there is another try.)
    mesh.until("routes live while they are used", Duration::from_secs(120), |m| {
        let before = searches(m);
        let (_, said) = m.run(0, "ping -c 30 -i 0.2 -W 10 10.0.0.3");
        said.contains(" 0% packet loss") && searches(m) == before && before > 0
    });
    let has = |m: &Mesh, to: &str| m.ip(1, "-4 route").contains(to);
    for to in ["10.0.0.1 via 10.0.0.1 dev eth1 proto 119", "10.0.0.3 via 10.0.0.3 dev eth1 proto 119"] {
        mesh.until(to, Duration::from_secs(20), |m| m.try_ping(0, 2) && has(m, to));
    }
    mesh.stop_all();
    for node in 0..3 {
        assert_eq!(mesh.capture(node, "_ws.malformed"), Vec::<String>::new());
    }
}

#[test]
fn a_node_without_a_configuration_file_is_reached_by_the_name_of_its_tun() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    mesh.start(0, "dsr", &[]);
    assert!(mesh.said(0).contains("control: wayhop ctl --run mesh0"), "{}", mesh.said(0));
    assert!(mesh.counters("mesh0").is_object());
    mesh.start(1, "dsr", &[]);
    assert!(mesh.said(1).contains("another node uses the control socket mesh0"), "{}", mesh.said(1));
    mesh.stop(1);
    assert!(mesh.counters("mesh0").is_object(), "the first still has its own");
    mesh.stop(0);
}

#[test]
fn a_node_that_is_killed_leaves_nothing_and_one_that_comes_back_is_found_again() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(3);
        let before = mesh.host_state(1);
        mesh.start_all(protocol, &[]);
        mesh.ping(0, 2, 2);
        assert_ne!(mesh.host_state(1), before, "a node changes its host");
        let busy = mesh.start_ping(0, 2);
        mesh.kill(1);
        mesh.until("the host is as it was", Duration::from_secs(30), |m| m.host_state(1) == before);
        mesh.start(1, protocol, &[]);
        mesh.until("the ends reach each other again", Duration::from_secs(20), |m| m.try_ping(0, 2));
        drop(busy);
        mesh.stop(1);
        assert_eq!(mesh.host_state(1), before, "after an orderly end");
    }
}

#[test]
fn a_program_whose_packets_find_no_route_is_told_that_the_host_is_unreachable() {
    skip_without_root!();
    for (protocol, sets) in [
        ("aodv", &["protocol.rreq_retries=0", "protocol.net_diameter=3"][..]),
        ("dsr", &["protocol.max_request_rexmt=1"][..]),
    ] {
        let mut mesh = Mesh::line(1);
        mesh.start_all(protocol, sets);
        let (_, said) = mesh.run(0, "ping -c 1 -W 30 10.0.0.9");
        assert!(said.contains("From 10.0.0.1 icmp_seq=1 Destination Host Unreachable"), "{protocol}: {said}");
    }
}

#[test]
fn routes_come_back_with_an_interface_that_was_down() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(2);
        mesh.start_all(protocol, &[]);
        mesh.ping(0, 1, 2);
        mesh.ip(0, "link set eth1 down");
        assert!(!mesh.try_ping(0, 1), "{protocol}: nothing goes over an interface that is down");
        mesh.ip(0, "link set eth1 up");
        mesh.until("the ends reach each other again", Duration::from_secs(20), |m| m.try_ping(0, 1));
    }
}

#[test]
fn a_node_whose_interface_is_down_says_so_and_works_when_it_is_up() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(2);
        mesh.ip(0, "link set eth1 down");
        mesh.start_all(protocol, &[]);
        assert!(mesh.said(0).contains("warning: eth1 is down"), "{}", mesh.said(0));
        assert!(mesh.said(0).contains("ip link set eth1 up"), "{}", mesh.said(0));
        assert!(!mesh.said(1).contains("is down"), "{}", mesh.said(1));
        mesh.ip(0, "link set eth1 up");
        mesh.until("the ends reach each other", Duration::from_secs(30), |m| m.try_ping(0, 1));
    }
}

/// IPv4 of protocol 48, and UDP to port 654, with random octets behind a right header, and frames of random octets.
const NOISE: &str = r"
import os, random, socket, struct
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('eth1', 0))
random.seed(4728)
def sum16(b):
    t = sum(struct.unpack('!%dH' % (len(b) // 2), b)); t = (t & 65535) + (t >> 16); return (t & 65535) + (t >> 16)
for i in range(20000):
    body = random.randbytes(random.randrange(0, 120))
    to = random.choice([b'\xff' * 6, bytes.fromhex('02000a000001'), random.randbytes(6)])
    if i % 3 == 0:
        p, body = 48, bytes([59, random.choice([0, 0, 128])]) + struct.pack('!H', len(body)) + body
    else:
        p, body = 17, struct.pack('!HHHH', 654, 654, 8 + len(body), 0) + bytes([random.randrange(0, 5)]) + body
    src = bytes([10, 0, 0, random.randrange(0, 6)]); dst = random.choice([b'\xff' * 4, bytes([10, 0, 0, 1])])
    h = struct.pack('!BBHHHBBH', 0x45, 0, 20 + len(body), i, 0, random.randrange(1, 255), p, 0) + src + dst
    h = h[:10] + struct.pack('!H', ~sum16(h) & 65535) + h[12:]
    packet = h + body if i % 5 else random.randbytes(60)
    s.send(to + bytes.fromhex('02000a0000') + bytes([random.randrange(2, 9)]) + b'\x08\x00' + packet)
";

#[test]
fn random_frames_by_the_thousand_do_not_stop_a_node() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(2);
        mesh.start(0, protocol, &[]);
        let (ok, said) = mesh.run_args(1, &["python3", "-c", NOISE]);
        assert!(ok, "{said}");
        mesh.start(1, protocol, &[]);
        mesh.until("the ends reach each other", Duration::from_secs(30), |m| m.try_ping(1, 0));
        let log = mesh.stop(0);
        assert!(log.contains("info: ends"), "{log}");
        assert!(!log.contains("panicked"), "{log}");
    }
}

#[test]
fn a_network_of_the_host_that_has_addresses_of_the_mesh_is_refused_with_the_remedy() {
    skip_without_root!();
    let mesh = Mesh::line(1);
    mesh.ip(0, "address add 10.0.0.7/16 dev eth1");
    let start =
        || mesh.run(0, &format!("{} node --interface eth1 --address 10.0.0.1/16", crate::mesh::WAYHOP));
    let (ok, said) = start();
    assert!(!ok && said.contains("ip address del 10.0.0.7/16 dev eth1"), "{said}");
    mesh.ip(0, "address del 10.0.0.7/16 dev eth1");
    // A network of the host within the mesh, and one around it.
    mesh.ip(0, "link add lan0 type veth peer name lan1");
    for (lan, network) in [("10.0.5.1/24", "10.0.5.0/24"), ("10.7.0.1/8", "10.0.0.0/8")] {
        mesh.ip(0, &format!("address replace {lan} dev lan0"));
        let (ok, said) = start();
        let wanted = format!("the mesh 10.0.0.0/16 overlaps with the network {network} of lan0");
        assert!(!ok && said.contains(&wanted), "{said}");
        mesh.ip(0, &format!("address del {lan} dev lan0"));
    }
}

#[test]
fn a_strict_check_of_the_way_back_is_loosened_and_any_other_is_left_as_it_is() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    // RFC 3704: 0 is no check, 1 strict, 2 loose.
    for (before, meanwhile) in [("0", "0"), ("1", "2"), ("2", "2")] {
        assert!(mesh.run(0, &format!("sysctl -w net.ipv4.conf.eth1.rp_filter={before}")).0);
        let now = |m: &Mesh| m.run(0, "sysctl -n net.ipv4.conf.eth1.rp_filter").1.trim().to_owned();
        mesh.start(0, "aodv", &[]);
        assert_eq!(now(&mesh), meanwhile);
        mesh.stop(0);
        assert_eq!(now(&mesh), before);
    }
}
