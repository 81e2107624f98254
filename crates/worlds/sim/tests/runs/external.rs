//! Networks open to external programs: here, a host that returns every packet at once.

use std::net::Ipv4Addr;

use wayhop_core::{DropReason, Mac, Time};
use wayhop_scenario::Resolved;
use wayhop_sim::{Exit, Simulation};
use wayhop_trace::{Recorder, Summary};

use crate::{run, scenario};

const CHAIN: &str = r#"
duration_s = 20
nodes.count = 4
movement = { kind = "chain", spacing_m = 200 }
[[traffic]]
kind = "cbr"
src = 0
dst = 3
rate_pps = 20
start_s = 1
stop_s = 19
[[traffic]]
kind = "ping"
src = 3
dst = 1
start_s = 1.02
interval_s = 0.3
stop_s = 19
"#;

/// Runs with the door open; `answer` is what a node's own network stack sends back for a packet that arrives there.
fn open(
    r: &Resolved,
    mut answer: impl FnMut(&mut Simulation, Time, u32, Exit, &[u8]),
) -> (Summary, wayhop_sim::Audit) {
    let mut s = Simulation::new(r, Recorder::hash_only()).expect("a scenario");
    s.open();
    while s.next_event().is_none_or(|at| at <= r.duration) {
        let at = s.next_event().unwrap_or(Time::ZERO);
        s.run_due(1, || at, |late| assert_eq!(late.as_nanos(), 0));
        while let Some(l) = s.leave() {
            if l.exit == Exit::Send {
                assert!(s.enter(l.at, l.node, l.packet.bytes()));
            } else {
                answer(&mut s, l.at, l.node, l.exit, l.packet.bytes());
            }
            s.recycle(l.packet);
        }
    }
    let (summary, audit, _) = s.finish(r, 0.0);
    (summary, audit)
}

/// An echo reply as a network stack makes it; nothing for other packets.
fn echo(bytes: &[u8]) -> Option<Vec<u8>> {
    use wayhop_wire::{icmp, ipv4};
    let ip = ipv4::Packet::new_checked(bytes).ok()?;
    let Ok(icmp::Repr::EchoRequest { ident, seq, data }) = icmp::Repr::parse(ip.payload()) else {
        return None;
    };
    let reply = icmp::Repr::EchoReply { ident, seq, data };
    let mut out = vec![0; ipv4::HEADER_LEN + reply.buffer_len()];
    let (header, message) = out.split_at_mut(ipv4::HEADER_LEN);
    reply.emit(message);
    ipv4::Repr::new(ip.dst(), ip.src(), ipv4::protocol::ICMP, message.len() as u16).emit(header);
    Some(out)
}

#[test]
fn flows_that_pass_through_the_outside_are_counted_as_in_a_closed_network() {
    for protocol in ["aodv", "dsr"] {
        let r = scenario(&format!("{CHAIN}\n[protocol]\nname = \"{protocol}\"\n"));
        let (closed, _) = run(&r);
        let (opened, audit) = open(&r, |s, at, node, exit, bytes| {
            assert_eq!(exit, Exit::Deliver);
            if let Some(reply) = echo(bytes) {
                assert!(s.enter(at, node, &reply));
            }
        });
        assert_eq!(audit.defect(), None, "{protocol}");
        for (a, b) in closed.flows.iter().zip(&opened.flows) {
            assert_eq!((a.sent, a.received, a.hops_mean), (b.sent, b.received, b.hops_mean), "{protocol}");
            let [a_ms, b_ms] = [a, b].map(|f| f.latency_ms.expect("an arrival").p50);
            assert!((a_ms - b_ms).abs() < 0.05 * a_ms, "{a:?} {b:?}");
        }
        assert!(
            opened.flows.iter().all(|f| f.received > Some(0) && f.delivery_ratio > Some(0.95)),
            "{opened:?}"
        );
    }
}

#[test]
fn a_programs_packet_without_a_route_comes_back_refused_and_foreign_ones_are_ignored() {
    let text =
        CHAIN.replace("nodes.count = 4", "nodes.count = 2").replace("duration_s = 20", "duration_s = 60");
    let text = text.split("[[traffic]]").next().unwrap().to_owned() + "[protocol]\nname = \"aodv\"\n";
    let r = scenario(&text);
    let packet = |from: Ipv4Addr, to: Ipv4Addr| {
        use wayhop_wire::ipv4;
        let mut out = vec![0; 48];
        ipv4::Repr::new(from, to, 17, 28).emit(&mut out);
        out
    };
    let (a, nobody) = (r.addresses[0], Ipv4Addr::new(10, 0, 9, 9));
    let mut s = Simulation::new(&r, Recorder::hash_only()).expect("a scenario");
    s.open();
    assert!(s.enter(Time::from_secs_f64(1.0), 0, &packet(a, nobody)));
    assert!(s.enter(Time::from_secs_f64(1.0), 0, &packet(a, r.addresses[1])));
    assert!(!s.enter(Time::from_secs_f64(1.0), 0, &packet(nobody, a)), "another node's address");
    assert!(!s.enter(Time::from_secs_f64(1.0), 0, b"no packet"));
    while s.run_due(1_000, || r.duration, |_| {}) {}
    let exits: Vec<(u32, Exit)> = std::iter::from_fn(|| s.leave()).map(|l| (l.node, l.exit)).collect();
    assert_eq!(exits, [(1, Exit::Deliver), (0, Exit::Refuse(DropReason::DiscoveryFailed))]);
}

/// An OLSR packet with a TC of a daemon on node 0, which enters by a TUN and by a TAP.
#[test]
fn packets_of_a_routing_daemon_are_overhead_and_in_no_flow() {
    use wayhop_wire::{ipv4, udp};
    let text = CHAIN.replace("nodes.count = 4", "nodes.count = 2");
    let text = text.split("[[traffic]]").next().unwrap().to_owned() + "[protocol]\nname = \"none\"\n";
    let r = scenario(&text);
    let [from, to] = [r.addresses[0], r.addresses[1]];
    let datagram = |port| {
        let mut p = vec![0; ipv4::HEADER_LEN + udp::HEADER_LEN];
        p.extend([0, 20, 0, 9, 2, 0xe7, 0, 16, 10, 0, 0, 1, 255, 0, 0, 8, 0, 5, 0, 0]);
        let (header, datagram) = p.split_at_mut(ipv4::HEADER_LEN);
        udp::Repr { src_port: port, dst_port: port, payload_len: 20 }.emit(datagram, from, to);
        ipv4::Repr::new(from, to, ipv4::protocol::UDP, datagram.len() as u16).emit(header);
        p
    };
    let [own, other] = [from, to].map(|a| Mac::at_medium(a, 0).0);
    let frame = |packet: &[u8]| [&other[..], &own, &[8, 0], packet].concat();
    let at = Time::from_secs_f64(1.0);
    for (by_tap, port, flows, routing) in
        [(false, 698, 0, 1), (false, 699, 1, 0), (true, 698, 0, 1), (true, 699, 1, 0)]
    {
        let mut s = Simulation::new(&r, Recorder::hash_only()).expect("a scenario");
        if by_tap {
            s.open_to_frames();
            assert!(s.enter_frame(at, 0, &frame(&datagram(port))));
        } else {
            s.open();
            assert!(s.enter(at, 0, &datagram(port)));
        }
        while s.run_due(1_000, || r.duration, |_| {}) {}
        let exits: Vec<_> = std::iter::from_fn(|| s.leave()).collect();
        assert_eq!(exits.len(), 1);
        for l in exits {
            let exit = if by_tap { Exit::Frame } else { Exit::Deliver };
            assert_eq!((l.node, l.exit), (1, exit), "the daemon on node 1 gets it");
            s.recycle(l.packet);
        }
        let (summary, audit, _) = s.finish(&r, 0.0);
        assert_eq!(audit.defect(), None);
        assert_eq!((summary.flows.len() as u64, summary.totals.routing_packets), (flows, routing));
        let programs = summary.programs.expect("an open network");
        assert_eq!((programs.sent, programs.without_flow), (flows, 0), "by TAP: {by_tap}");
        assert_eq!(summary.totals.by_type.get("tc").copied().unwrap_or(0), routing);
    }
}
