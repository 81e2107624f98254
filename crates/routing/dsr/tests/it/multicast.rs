//! Packets for a group in Route Requests: section 6.5.1 of Maltz, Broch and Johnson (1999).

use std::net::Ipv4Addr;

use crate::common::{
    Ip, RREP, RREQ, UDP, addrs, at, delivered_at, full_mesh, isolated, line_of, net, option_of, packet,
    profile, reasons, request, routes, sent_with,
};
use wayhop_core::{BROADCAST, DropReason};
use wayhop_dsr::Params;
use wayhop_testkit::{Net, addr};

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);

/// A request for the group with these nodes passed.
fn group_request(id: u16, passed: &[usize]) -> Vec<u8> {
    let mut o = request(id, 0, passed);
    o[4..8].copy_from_slice(&GROUP.octets());
    o
}

/// A chain of five in which node 0 has sent a packet to this address with this TTL.
fn flooded(p: &Params, to: Ipv4Addr, ttl: u8) -> Net {
    let mut net = net(5, p);
    net.config.ttl = ttl;
    net.line();
    net.run_until(at(1.0));
    net.send_to(0, to, 1);
    net.run_until(at(2.0));
    net.assert_conserved();
    net
}

#[test]
fn a_packet_for_a_group_reaches_every_node_behind_a_request() {
    let net = flooded(&profile("rfc"), GROUP, 64);
    for n in 1..5 {
        let got = delivered_at(&net, n);
        assert_eq!(got.len(), 1, "node {n}");
        assert_eq!(got[0][16..20], GROUP.octets(), "to the group again");
        assert_eq!(usize::from(got[0][8]), 64 - n + 1, "the TTL counts hops");
        assert_eq!((got[0][9], got[0].len()), (17, 20 + 8 + 64), "without DSR's header");
    }
    assert!(delivered_at(&net, 0).is_empty());
    // On the air: a request for the group, with the packet behind it.
    let (_, to, p) = sent_with(&net, 1, RREQ).remove(0);
    assert_eq!((to, &p[16..20]), (BROADCAST, &[255; 4][..]));
    assert_eq!(p[20], 17, "UDP follows");
    assert_eq!(option_of(&p, RREQ).unwrap()[2..], [GROUP.octets().to_vec(), addrs(&[1])].concat());
    for n in 0..5 {
        assert_eq!(sent_with(&net, n, RREP).len(), 0, "nobody answers for a group");
        assert!(net.sent_by(n).count() <= 1, "node {n} repeats it once");
    }
}

#[test]
fn a_flood_goes_as_far_as_its_time_to_live() {
    for (ttl, reached) in [(1, 1), (2, 2), (3, 3)] {
        let net = flooded(&profile("rfc"), GROUP, ttl);
        let n = (1..5).filter(|&n| !delivered_at(&net, n).is_empty()).count();
        assert_eq!(n, reached, "TTL {ttl}");
    }
    let net = flooded(&profile("rfc"), GROUP, 0);
    assert_eq!(reasons(&net), [DropReason::TtlExpired]);
    // And no farther than any request.
    let net = flooded(&Params { discovery_hop_limit: 2, ..profile("rfc") }, GROUP, 64);
    assert_eq!((1..5).filter(|&n| !delivered_at(&net, n).is_empty()).count(), 2);
}

#[test]
fn a_flooded_packet_is_delivered_once_however_many_copies_come() {
    let mut net = full_mesh(6, &profile("rfc"));
    for k in 0..3 {
        net.send_to(0, GROUP, 1);
        net.run_until(at(1.1 + f64::from(k) * 0.1));
    }
    for n in 1..6 {
        assert_eq!(delivered_at(&net, n).len(), 3, "three packets are three requests");
    }
    net.assert_conserved();
}

#[test]
fn groups_of_the_link_stay_with_the_neighbours() {
    for to in [Ipv4Addr::new(224, 0, 0, 251), BROADCAST] {
        let net = flooded(&profile("rfc"), to, 64);
        let got: Vec<_> = (0..5).map(|n| delivered_at(&net, n).len()).collect();
        assert_eq!(got, [0, 1, 0, 0, 0], "{to}");
        assert_eq!(sent_with(&net, 0, RREQ).len(), 0);
    }
}

#[test]
fn without_floods_a_group_packet_stays_with_the_neighbours() {
    for p in [profile("ns2"), Params { multicast_flood: false, ..profile("rfc") }] {
        let net = flooded(&p, GROUP, 64);
        let got: Vec<_> = (0..5).map(|n| delivered_at(&net, n).len()).collect();
        assert_eq!(got, [0, 1, 0, 0, 0]);
    }
}

#[test]
fn all_who_hear_a_flood_learn_the_way_back() {
    let net = flooded(&profile("rfc"), GROUP, 64);
    assert!(routes(&net, 4).contains(&vec![4, 3, 2, 1, 0]));
}

#[test]
fn a_request_for_a_group_without_data_is_passed_on_and_not_delivered() {
    let mut net = line_of(3, &profile("rfc"));
    net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 9), &[group_request(5, &[])], &[]));
    net.run_until(at(2.0));
    assert_eq!(sent_with(&net, 1, RREQ).len(), 1);
    assert_eq!(sent_with(&net, 2, RREQ).len(), 1);
    assert!((0..3).all(|n| delivered_at(&net, n).is_empty()));
    assert_eq!(reasons(&net), []);
    net.assert_conserved();
}

#[test]
fn a_flood_ends_where_its_route_is_as_long_as_any_may_be() {
    let mut net = isolated(8, &Params { max_route_hops: 3, ..profile("rfc") });
    let p = packet(&Ip::broadcast(0, 9), &[group_request(5, &[2, 3, 4])], &UDP);
    net.inject(1, addr(4), true, &p);
    net.run_until(at(2.0));
    assert_eq!(sent_with(&net, 1, RREQ).len(), 0);
    assert_eq!(delivered_at(&net, 1).len(), 1, "but it has reached this node");
    net.assert_conserved();
}
