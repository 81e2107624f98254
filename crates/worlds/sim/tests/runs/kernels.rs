//! Networks open to kernels: here, kernels that forward IPv4 packets along a line, as frames.

use wayhop_core::{Mac, Time};
use wayhop_sim::{Exit, Simulation};
use wayhop_trace::Recorder;
use wayhop_wire::{arp, ipv4};

use crate::scenario;

const LINE: &str = r#"
duration_s = 20
nodes.count = 3
movement = { kind = "chain", spacing_m = 200 }
protocol.name = "none"
"#;

fn frame(to: Mac, from: Mac, ether_type: u16, payload: &[u8]) -> Vec<u8> {
    [&to.0[..], &from.0, &ether_type.to_be_bytes(), payload].concat()
}

/// A datagram of port 5000, to the discard port.
fn datagram(from: std::net::Ipv4Addr, to: std::net::Ipv4Addr) -> Vec<u8> {
    let mut out = vec![0; 48];
    ipv4::Repr::new(from, to, ipv4::protocol::UDP, 28).emit(&mut out);
    out[20..26].copy_from_slice(&[0x13, 0x88, 0, 9, 0, 28]);
    out
}

#[test]
fn a_packet_that_kernels_forward_is_one_packet_and_ends_where_they_do_not() {
    let r = scenario(LINE);
    let macs: Vec<Mac> = r.addresses.iter().map(|a| Mac::at_medium(*a, 0)).collect();
    let mut s = Simulation::new(&r, Recorder::hash_only()).expect("a scenario");
    s.open_to_frames();
    let (first, last) = (r.addresses[0], r.addresses[2]);
    let mut packet = datagram(first, last);
    let one = Time::from_secs_f64(1.0);
    assert!(s.enter_frame(one, 0, &frame(macs[1], macs[0], 0x0800, &packet)));
    packet[5] = 1;
    // The relay's kernel keeps this one, and nobody has the last one's address.
    assert!(s.enter_frame(one, 0, &frame(macs[1], macs[0], 0x0800, &packet)));
    packet[5] = 2;
    assert!(s.enter_frame(one, 0, &frame(Mac([2, 9, 9, 9, 9, 9]), macs[0], 0x0800, &packet)));
    assert!(!s.enter_frame(one, 0, &frame(macs[1], macs[2], 0x0800, &packet)), "another node's address");
    assert!(!s.enter_frame(one, 0, &packet[..13]), "no frame");
    let mut arrived = Vec::new();
    while s.next_event().is_some_and(|at| at <= r.duration) {
        s.run_due(1, || r.duration, |_| {});
        while let Some(l) = s.leave() {
            assert_eq!(l.exit, Exit::Frame);
            let mut octets = l.packet.bytes().to_vec();
            assert_eq!(
                (&octets[..6], &octets[6..12]),
                (&macs[l.node as usize].0[..], &macs[l.node as usize - 1].0[..])
            );
            arrived.push((l.node, octets[19]));
            if l.node == 1 && octets[19] == 0 {
                ipv4::decrement_ttl(&mut octets[14..]).expect("a packet");
                assert!(s.enter_frame(l.at, 1, &frame(macs[2], macs[1], 0x0800, &octets[14..])));
            }
            s.recycle(l.packet);
        }
    }
    s.pass(r.duration);
    let (summary, audit, _) = s.finish(&r, 0.0);
    arrived.sort_unstable();
    assert_eq!(arrived, [(1, 0), (1, 1), (2, 0)]);
    assert_eq!(audit.defect(), None);
    let flow = &summary.flows[0];
    assert_eq!((flow.sent, flow.received, flow.dropped), (Some(3), Some(1), Some(2)), "{flow:?}");
    assert_eq!(flow.hops_mean, Some(2.0));
    let drops: Vec<(&str, u64)> = summary.totals.drops.iter().map(|(why, n)| (why.as_str(), *n)).collect();
    assert_eq!(drops, [("MAC_RETRIES", 1), ("NO_ROUTE", 1)]);
}

/// A routing daemon has announced an address of node 1's loopback interface; nobody has the other one.
#[test]
fn an_address_that_no_node_of_the_scenario_has_is_that_of_the_node_that_sends_from_it() {
    let r = scenario(LINE);
    let macs: Vec<Mac> = r.addresses.iter().map(|a| Mac::at_medium(*a, 0)).collect();
    let mut s = Simulation::new(&r, Recorder::hash_only()).expect("a scenario");
    s.open_to_frames();
    let (own, [loopback, nobody]) = (r.addresses[0], [1, 2].map(|n| std::net::Ipv4Addr::new(10, 77, 0, n)));
    // The numbers of the packets tell them apart.
    let packet = |to, number| {
        let mut packet = datagram(own, to);
        packet[5] = number;
        frame(macs[1], macs[0], 0x0800, &packet)
    };
    for (second, to, number) in [(1.0, loopback, 1), (1.0, nobody, 2), (3.0, loopback, 3), (9.0, loopback, 4)]
    {
        assert!(s.enter_frame(Time::from_secs_f64(second), 0, &packet(to, number)));
    }
    let answer = frame(macs[0], macs[1], 0x0800, &datagram(loopback, own));
    assert!(s.enter_frame(Time::from_secs_f64(1.1), 1, &answer));
    while s.run_due(1_000, || r.duration, |_| {}) {}
    while let Some(l) = s.leave() {
        s.recycle(l.packet);
    }
    s.pass(r.duration);
    let (summary, audit, _) = s.finish(&r, 0.0);
    assert_eq!(audit.defect(), None);
    let to = |address: std::net::Ipv4Addr| {
        let is_to = |f: &&wayhop_trace::FlowSummary| f.dst_address.as_deref() == Some(&*address.to_string());
        summary.flows.iter().find(is_to).expect("a flow")
    };
    assert_eq!((to(loopback).sent, to(loopback).received), (Some(3), Some(3)), "{:?}", summary.flows);
    let latency = to(loopback).latency_ms.expect("it arrived");
    assert!(latency.max < 150.0 && latency.p50 < 150.0, "{latency:?}");
    assert_eq!((to(nobody).sent, to(nobody).received, to(nobody).dropped), (Some(1), Some(0), Some(1)));
    assert_eq!(summary.totals.drops.get("NO_ROUTE"), Some(&1), "{:?}", summary.totals.drops);
}

#[test]
fn a_broadcast_reaches_all_in_range_and_what_kernels_send_is_counted_by_its_kind() {
    let r = scenario(LINE);
    let mac = Mac::at_medium(r.addresses[1], 0);
    let mut s = Simulation::new(&r, Recorder::hash_only()).expect("a scenario");
    s.open_to_frames();
    let question = arp::Repr {
        operation: arp::Operation::Request,
        sender_mac: mac,
        sender: r.addresses[1],
        target_mac: Mac([0; 6]),
        target: r.addresses[0],
    };
    let mut asked = vec![0; question.buffer_len()];
    question.emit(&mut asked);
    let mut hello = datagram(r.addresses[1], std::net::Ipv4Addr::new(224, 0, 0, 111));
    hello[22..24].copy_from_slice(&520u16.to_be_bytes());
    let group = Mac([1, 0, 0x5e, 0, 0, 111]);
    // Reports of the groups ff02::1:6 and 224.0.0.111 (RFC 3810, section 5.2; RFC 2236, section 2).
    let mut mld = vec![0x60_u8, 0, 0, 0, 0, 36, 0, 1];
    mld.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    mld.extend([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16]);
    mld.extend([58, 0, 5, 2, 0, 0, 1, 0, 143, 0, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0]);
    mld.extend([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 6]);
    let mut igmp = vec![0; 28];
    ipv4::Repr::new(r.addresses[1], std::net::Ipv4Addr::new(224, 0, 0, 111), 2, 8).emit(&mut igmp);
    igmp[20..].copy_from_slice(&[0x16, 0, 0, 0, 224, 0, 0, 111]);
    let frames = [
        frame(Mac::BROADCAST, mac, 0x0806, &asked),
        frame(Mac([0x33, 0x33, 0, 0, 0, 0x16]), mac, 0x86dd, &mld),
        frame(group, mac, 0x0800, &igmp),
        frame(group, mac, 0x0800, &hello),
        frame(Mac([0x33, 0x33, 0, 0, 0, 1]), mac, 0x4305, b"batman"),
    ];
    for f in &frames {
        assert!(s.enter_frame(Time::from_secs_f64(1.0), 1, f));
    }
    let mut arrived = Vec::new();
    while s.run_due(1_000, || r.duration, |_| {}) {}
    while let Some(l) = s.leave() {
        arrived.push((l.node, l.packet.bytes().to_vec()));
        s.recycle(l.packet);
    }
    arrived.sort();
    let mut all: Vec<_> = frames.iter().flat_map(|f| [(0, f.clone()), (2, f.clone())]).collect();
    all.sort();
    assert_eq!(arrived, all, "both neighbours, octet for octet");
    let (summary, audit, _) = s.finish(&r, 0.0);
    assert_eq!(audit.defect(), None);
    let totals = &summary.totals;
    // RIP's message, and the frame of another kind; ARP and the reports of groups are none of them.
    let resolution = totals.overhead_frames.map(|frames| frames.resolution);
    assert_eq!((totals.routing_packets, resolution), (2, Some(3)));
    assert_eq!(
        (totals.transmissions.map(|t| t.packets), summary.programs.as_ref().map(|p| p.sent)),
        (Some(0), Some(0))
    );
    assert!(summary.flows.is_empty());
}

#[test]
fn a_packet_of_a_flow_that_its_own_kernel_drops_ends_there_and_later_ones_are_told_from_it() {
    let traffic = "[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 1\nstart_s = 1\nstop_s = 19.5\npayload_bytes = 64\n";
    let r = scenario(&format!("{LINE}{traffic}"));
    let macs: Vec<Mac> = r.addresses.iter().map(|a| Mac::at_medium(*a, 0)).collect();
    let mut s = Simulation::new(&r, Recorder::hash_only()).expect("a scenario");
    s.open_to_frames();
    let (mut dropped, mut sent) = (0, 0);
    // The first call begins the run.
    s.run_due(1, || Time::ZERO, |_| {});
    while let Some(at) = s.next_event().filter(|at| *at <= r.duration) {
        s.run_due(1, || at, |_| {});
        while let Some(l) = s.leave() {
            // The kernel waits for a link address for every second packet, and drops it without a word.
            if l.exit == Exit::Send && (dropped + sent) % 2 == 0 {
                dropped += 1;
            } else if l.exit == Exit::Send {
                sent += 1;
                assert!(s.enter_frame(l.at, 0, &frame(macs[1], macs[0], 0x0800, l.packet.bytes())));
            }
            s.recycle(l.packet);
        }
    }
    s.pass(r.duration);
    let (summary, audit, _) = s.finish(&r, 0.0);
    assert_eq!(audit.defect(), None);
    let flow = &summary.flows[0];
    assert_eq!((flow.sent, flow.received), (Some(dropped + sent), Some(sent)), "{flow:?}");
    // Those of the last seconds may still be sent.
    let (lost, held) = (flow.dropped.unwrap_or(0), flow.held.unwrap_or(0));
    assert_eq!(lost + held, dropped, "{flow:?}");
    assert!(lost >= 5 && held <= 4, "{flow:?}");
    assert_eq!(summary.totals.drops.get("NO_ROUTE"), Some(&lost), "{flow:?}");
    let unknown = summary.programs.as_ref().map_or(0, |programs| programs.without_flow);
    assert_eq!(unknown, 0, "each frame is the flow's");
}
