//! Route Maintenance: RFC 4728 sections 3.4.2, 3.4.4, 8.1.5 and 8.3.

use crate::common::{
    Ip, RERR, RREP, RREQ, SOURCE_ROUTE, UDP, addrs, at, delivered_at, error, full_mesh, isolated, linked,
    option_of, packet, profile, reasons, reply, request, routes, sent_with, source_route, teach,
};
use wayhop_core::{DropReason, Span};
use wayhop_dsr::Params;
use wayhop_testkit::addr;

#[test]
fn a_broken_link_is_reported_to_the_source_in_the_octets_of_figure_6_4() {
    for name in ["rfc", "ns2"] {
        let mut net = linked(5, &profile(name), &[(0, 1), (1, 2)]);
        let p = packet(&Ip::new(0, 4), &[source_route(0, 0, 2, &[1, 2, 3])], &UDP);
        net.inject(2, addr(1), false, &p);
        net.run_until(at(1.1));
        let errors = sent_with(&net, 2, RERR);
        let (_, to, p) = &errors[0];
        assert_eq!(*to, addr(1), "back over the hops that the packet came by");
        let id = u16::from_be_bytes([p[4], p[5]]);
        let expected = packet(
            &Ip { from: addr(2), to: addr(0), ttl: 255, id },
            &[error(0, 2, 0, 3), source_route(0, 0, 1, &[1])],
            &[],
        );
        assert_eq!(*p, expected, "{name}");
        net.assert_conserved();
    }
}

#[test]
fn the_error_about_a_salvaged_packet_goes_to_the_node_that_salvaged_it() {
    let mut net = linked(6, &profile("rfc"), &[(1, 2)]);
    // Node 1 salvaged a packet of node 0 to node 4: 1 2 3 4.
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[source_route(0, 1, 2, &[1, 2, 3])], &UDP));
    net.run_until(at(1.1));
    let errors = sent_with(&net, 2, RERR);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].2[16..20], addr(1).octets(), "IP destination");
    assert_eq!(option_of(&errors[0].2, RERR).unwrap(), [vec![1, 1], addrs(&[2, 1, 3])].concat());
}

#[test]
fn a_packet_is_salvaged_by_another_cached_route_after_the_error_was_sent() {
    let mut net = linked(6, &profile("rfc"), &[(1, 2), (2, 5), (5, 4)]);
    teach(&mut net, 2, &[5, 4]);
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[source_route(0, 3, 1, &[1, 2])], &UDP));
    net.run_until(at(1.5));
    let sent: Vec<_> = net.sent_by(2).map(|(_, to, p)| (to, p.to_vec())).collect();
    assert_eq!(sent[0].0, addr(4), "tried as asked");
    assert!(option_of(&sent[1].1, RERR).is_some(), "the error first (section 8.3.6)");
    assert_eq!(sent[2].0, addr(5));
    // Address[1] is the salvaging node, visited; the count grows; the IP addresses stay.
    assert_eq!(option_of(&sent[2].1, SOURCE_ROUTE).unwrap(), [vec![1, 1], addrs(&[2, 5])].concat());
    assert_eq!(sent[2].1[12..20], addrs(&[0, 4]));
    assert_eq!(delivered_at(&net, 4).len(), 1);
    net.assert_conserved();
}

#[test]
fn the_ns2_profile_salvages_before_it_reports() {
    let mut net = linked(6, &profile("ns2"), &[(1, 2), (0, 1), (2, 5), (5, 4)]);
    teach(&mut net, 2, &[5, 4]);
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[source_route(0, 0, 1, &[1, 2])], &UDP));
    net.run_until(at(1.5));
    let kinds: Vec<_> = net.sent_by(2).map(|(_, _, p)| option_of(p, RERR).is_some()).collect();
    assert_eq!(kinds, [false, false, true]);
}

#[test]
fn a_packet_salvaged_fifteen_times_is_dropped() {
    for name in ["rfc", "ns2"] {
        let mut net = linked(6, &profile(name), &[(1, 2), (2, 5)]);
        teach(&mut net, 2, &[5, 4]);
        net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[source_route(0, 15, 1, &[1, 2])], &UDP));
        net.run_until(at(1.5));
        assert_eq!(reasons(&net), [DropReason::RerouteLimit], "{name}");
        net.assert_conserved();
    }
}

#[test]
fn a_packet_without_another_route_is_dropped() {
    let mut net = linked(6, &profile("rfc"), &[(1, 2), (0, 1)]);
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[source_route(0, 0, 1, &[1, 2])], &UDP));
    net.run_until(at(1.5));
    assert_eq!(reasons(&net), [DropReason::NoOtherRoute]);
}

#[test]
fn the_ns2_profile_looks_for_a_route_for_it_once_without_propagation() {
    let mut net = linked(7, &profile("ns2"), &[(1, 2), (0, 1)]);
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[source_route(0, 0, 1, &[1, 2])], &UDP));
    net.run_until(at(5.0));
    let asked: Vec<_> = sent_with(&net, 2, RREQ).iter().map(|s| s.2[8]).collect();
    assert_eq!(asked, [1], "one request, with TTL 1");
    assert_eq!(reasons(&net), [DropReason::NoOtherRoute]);
    // If it finds one in time, the packet goes on as salvaged.
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 6), &[source_route(0, 0, 1, &[1, 2])], &UDP));
    net.run_for(Span::from_micros(1_100));
    net.up(2, 5);
    net.up(5, 6);
    teach(&mut net, 5, &[6]);
    net.run_until(at(10.0));
    assert!(!delivered_at(&net, 6).is_empty());
    net.assert_conserved();
}

#[test]
fn a_reply_is_not_salvaged() {
    let mut net = linked(8, &profile("rfc"), &[(2, 3), (3, 4), (2, 5)]);
    teach(&mut net, 2, &[5, 0]);
    let p = packet(&Ip::new(4, 0), &[reply(&[1, 2, 3, 4]), source_route(0, 0, 2, &[3, 2, 1])], &[]);
    net.inject(2, addr(3), false, &p);
    net.run_until(at(1.5));
    assert_eq!(sent_with(&net, 2, RREP).len(), 1, "only as asked");
    assert_eq!(reasons(&net), [DropReason::NoOtherRoute]);
    assert_eq!(net.inspect(2).table("blacklist").count(), 1, "the neighbour may not hear us (section 4.6)");
    net.assert_conserved();
}

#[test]
fn the_ns2_profile_salvages_a_reply_unless_it_names_the_broken_link() {
    for (route, salvaged) in [(&[1, 2, 3, 4][..], 0), (&[6, 3, 4], 1)] {
        let mut net = linked(8, &profile("ns2"), &[(2, 3), (3, 4), (0, 5), (2, 5)]);
        teach(&mut net, 2, &[5, 0]);
        let p = packet(&Ip::new(4, 0), &[reply(route), source_route(0, 0, 2, &[3, 2, 1])], &[]);
        net.inject(2, addr(3), false, &p);
        net.run_until(at(1.02));
        let by_five = sent_with(&net, 2, RREP).iter().filter(|s| s.1 == addr(5)).count();
        assert_eq!(by_five, salvaged, "{route:?}");
    }
}

#[test]
fn the_source_uses_another_route_or_asks_again() {
    let mut net = linked(4, &profile("rfc"), &[(0, 2), (2, 3)]);
    teach(&mut net, 0, &[1, 3]);
    net.send_to(0, addr(3), 1);
    net.run_until(at(2.0));
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(reasons(&net), []);
    assert!(sent_with(&net, 0, RERR).iter().all(|s| option_of(&s.2, RREQ).is_some()), "no error to itself");
    net.assert_conserved();
}

#[test]
fn queued_packets_for_the_broken_link_are_saved_too_and_each_source_is_told_once() {
    let mut net = linked(9, &profile("rfc"), &[(2, 1), (2, 5), (2, 7), (0, 1), (6, 7), (5, 4)]);
    teach(&mut net, 2, &[5, 4]);
    // Sources 0 and 6, two packets each, all for the link 2 - 4 that is not there.
    for (from, via, id) in [(0, 1, 1), (6, 7, 2), (0, 1, 3), (6, 7, 4)] {
        let ip = Ip { id, ..Ip::new(from, 4) };
        net.inject(2, addr(via), false, &packet(&ip, &[source_route(0, 0, 1, &[via, 2])], &UDP));
    }
    net.run_until(at(2.0));
    let told: Vec<_> = sent_with(&net, 2, RERR).iter().map(|s| s.2[19]).collect();
    assert_eq!(told, [1, 7], "10.0.0.1 and 10.0.0.7, once each");
    assert_eq!(delivered_at(&net, 4).len(), 4);
    assert_eq!(net.sent_by(2).filter(|s| s.1 == addr(4)).count(), 1, "the link is tried once");
    net.assert_conserved();
}

#[test]
fn an_error_removes_what_lies_behind_the_broken_link() {
    let mut net = isolated(6, &profile("rfc"));
    teach(&mut net, 0, &[1, 2, 3, 4]);
    net.inject(0, addr(1), false, &packet(&Ip::new(2, 0), &[error(0, 2, 0, 3)], &[]));
    net.run_until(at(1.1));
    assert_eq!(routes(&net, 0), [[0, 1, 2]]);
    // A link is one direction (section 8.3.5).
    net.inject(0, addr(1), false, &packet(&Ip::new(2, 0), &[error(0, 2, 0, 1)], &[]));
    net.run_until(at(1.2));
    assert_eq!(routes(&net, 0), [[0, 1, 2]]);
}

#[test]
fn an_error_told_to_this_node_travels_on_in_its_next_requests() {
    for name in ["rfc", "ns2"] {
        let mut net = isolated(6, &profile(name));
        teach(&mut net, 0, &[1, 2, 3]);
        net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[error(0, 1, 0, 2)], &[]));
        net.send_at(at(1.1), 0, 3, 1);
        net.run_until(at(4.0));
        let with: Vec<_> = sent_with(&net, 0, RREQ).iter().map(|s| (s.2[8], option_of(&s.2, RERR))).collect();
        let spread = Some([vec![1, 0], addrs(&[1, 0, 2])].concat());
        assert_eq!(with[0], (1, spread.clone()), "{name}");
        assert_eq!(with[1].1, spread, "{name}");
        assert_eq!(with[2].1, None, "{name}: not after it has propagated");
    }
}

#[test]
fn an_error_is_too_old_to_travel_on_after_a_second() {
    let mut net = isolated(6, &profile("ns2"));
    net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[error(0, 1, 0, 2)], &[]));
    net.send_at(at(2.1), 0, 3, 1);
    net.run_until(at(3.0));
    assert!(sent_with(&net, 0, RREQ).iter().all(|s| option_of(&s.2, RERR).is_none()));
}

#[test]
fn an_error_in_a_request_stops_an_answer_with_the_broken_link() {
    let mut net = isolated(6, &profile("rfc"));
    teach(&mut net, 1, &[2, 3]);
    let p = packet(&Ip::broadcast(0, 9), &[error(0, 2, 0, 3), request(5, 3, &[])], &[]);
    net.inject(1, addr(0), true, &p);
    net.run_until(at(1.1));
    assert_eq!(sent_with(&net, 1, RREP).len(), 0);
    assert!(option_of(&sent_with(&net, 1, RREQ)[0].2, RERR).is_some(), "the error travels on");
}

#[test]
fn more_segments_left_than_addresses_is_a_parameter_problem() {
    for name in ["rfc", "ns2"] {
        let mut net = linked(4, &profile(name), &[(1, 0)]);
        teach(&mut net, 1, &[0]);
        let bad = packet(&Ip::new(0, 3), &[source_route(0, 0, 3, &[1, 2])], &UDP);
        net.inject(1, addr(0), false, &bad);
        net.run_until(at(1.5));
        assert_eq!(reasons(&net), [DropReason::Malformed]);
        let icmp = &delivered_at(&net, 0)[0];
        assert_eq!(icmp[9], 1);
        // RFC 792: type 12, code 0, pointer to the octet: IP 20, DSR 4, option type, length and flags 3.
        assert_eq!(icmp[20..22], [12, 0]);
        assert_eq!(icmp[24], 27);
        assert_eq!(icmp[28..56], bad[..28], "the offending header and eight octets");
        net.assert_conserved();
    }
}

#[test]
fn a_group_address_in_a_source_route_ends_the_packet() {
    for group in [[224, 0, 0, 1], [255, 255, 255, 255]] {
        let mut net = full_mesh(4, &profile("rfc"));
        let mut p = packet(&Ip::new(0, 3), &[source_route(0, 0, 2, &[1, 2])], &UDP);
        p[32..36].copy_from_slice(&group);
        net.inject(1, addr(0), false, &p);
        net.run_until(at(1.5));
        assert_eq!(reasons(&net), [DropReason::Malformed]);
        assert_eq!(net.sent_by(1).count(), 0);
    }
}

#[test]
fn a_source_route_that_cannot_be_followed_ends_the_packet() {
    let whole_life = Ip::new(0, 3);
    let last_hop = Ip { ttl: 1, ..Ip::new(0, 3) };
    for (what, ip, left, listed, reason) in [
        ("visits node 1 twice", &whole_life, 3, &[1, 2, 1][..], DropReason::Loop),
        ("means node 2", &whole_life, 1, &[1, 2], DropReason::Malformed),
        ("its time to live ends", &last_hop, 2, &[1, 2], DropReason::TtlExpired),
    ] {
        let mut net = full_mesh(4, &profile("rfc"));
        net.inject(1, addr(0), false, &packet(ip, &[source_route(0, 0, left, listed)], &UDP));
        net.run_until(at(1.5));
        assert_eq!(reasons(&net), [reason], "{what}");
        assert_eq!(net.sent_by(1).count(), 0, "{what}");
    }
}

#[test]
fn a_neighbour_that_failed_to_get_a_reply_is_not_answered_until_it_proves_to_hear() {
    let p = Params { blacklist_probable_ms: 500, blacklist_expiry_ms: 60_000, ..profile("rfc") };
    let mut net = isolated(5, &p);
    // Node 2 cannot pass a reply on to node 1.
    let failing = packet(&Ip::new(4, 0), &[reply(&[1, 2, 3, 4]), source_route(0, 0, 2, &[3, 2, 1])], &[]);
    net.inject(2, addr(3), false, &failing);
    net.run_until(at(1.1));
    net.inject(2, addr(1), true, &packet(&Ip::broadcast(0, 9), &[request(5, 9, &[1])], &[]));
    net.run_until(at(1.2));
    assert_eq!(sent_with(&net, 2, RREQ).len(), 0, "probable: silently discarded");
    // Later it is asked, with a unicast request of TTL 1; it still does not hear.
    net.run_until(at(2.0));
    net.inject(2, addr(1), true, &packet(&Ip::broadcast(0, 9), &[request(6, 9, &[1])], &[]));
    net.run_until(at(2.2));
    let probes = sent_with(&net, 2, RREQ);
    assert_eq!(probes.iter().map(|s| (s.1, s.2[8])).collect::<Vec<_>>(), [(addr(1), 1)]);
    // Then it does, and its request is propagated.
    net.up(1, 2);
    net.run_until(at(3.0));
    net.inject(2, addr(1), true, &packet(&Ip::broadcast(0, 9), &[request(7, 9, &[1])], &[]));
    net.run_until(at(3.2));
    let sent = sent_with(&net, 2, RREQ);
    assert_eq!(sent.len(), 3);
    assert_eq!(option_of(&sent[2].2, RREQ).unwrap(), [vec![0, 7], addrs(&[9, 1, 2])].concat());
    net.assert_conserved();
}
