//! Listening to others: RFC 4728 sections 3.3.1, 3.4.3, 4.1, 4.4 and 8.1.4.

use crate::common::{
    Ip, RREP, UDP, addrs, at, cached, isolated, line_of, linked, net, option_of, packet, profile, reply,
    routes, sent_with, source_route, teach,
};
use wayhop_core::{Protocol as _, Span};
use wayhop_dsr::{BadLinks, Engine, Params};
use wayhop_testkit::{Link, Net, addr};

/// What node 9 knows after it has overheard node 2 forward a packet of node 0 to node 4 by this source route, the last
/// listed node being node 3.
fn overhears(p: &Params, option: Vec<u8>) -> Vec<Vec<usize>> {
    let mut net = net(10, p);
    net.up(1, 2);
    net.up(2, 3);
    net.set_link(2, 9, Link::UP);
    net.run_until(at(1.0));
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[option], &UDP));
    net.run_until(at(1.002));
    let mut r = routes(&net, 9);
    r.sort();
    r
}

#[test]
fn an_overheard_source_route_teaches_both_directions_over_the_transmitter() {
    let known = overhears(&profile("rfc"), source_route(0, 0, 2, &[1, 2, 3]));
    assert_eq!(known, [vec![9, 2, 1, 0], vec![9, 2, 3, 4]]);
    // ns-2 keeps the way ahead only.
    assert_eq!(overhears(&profile("ns2"), source_route(0, 0, 2, &[1, 2, 3])), [[9, 2, 3, 4]]);
}

#[test]
fn there_is_no_link_from_the_source_to_the_first_address_of_a_salvaged_packet() {
    let known = overhears(&profile("rfc"), source_route(0, 1, 2, &[1, 2, 3]));
    assert_eq!(known, [vec![9, 2, 1], vec![9, 2, 3, 4]]);
}

#[test]
fn an_external_first_hop_is_cached_as_a_last_hop_only() {
    // 0 -> 1 is External: a route back to 0 may end with it, and is flagged.
    let mut net = net(10, &profile("rfc"));
    net.up(1, 2);
    net.up(2, 3);
    net.set_link(2, 9, Link::UP);
    net.run_until(at(1.0));
    net.inject(2, addr(1), false, &packet(&Ip::new(0, 4), &[source_route(0xc0, 0, 2, &[1, 2, 3])], &UDP));
    net.run_until(at(1.002));
    let mut known = cached(&net, 9);
    known.sort();
    assert_eq!(known[0], (vec![9, 2, 1, 0], true), "back over the External first hop");
    assert_eq!(known[1], (vec![9, 2, 3, 4], true), "on over the External last hop");
}

#[test]
fn a_frame_that_does_not_come_from_the_node_its_route_says_teaches_nothing() {
    // Node 2 is the receiver named, but node 1 is not the one that sends: it came from node 5.
    let mut net = net(10, &profile("rfc"));
    net.up(5, 2);
    net.up(2, 4);
    net.up(5, 8);
    net.set_link(5, 9, Link::UP);
    net.run_until(at(1.0));
    net.inject(5, addr(8), false, &packet(&Ip::new(0, 4), &[source_route(0, 0, 2, &[5, 2])], &UDP));
    net.run_until(at(1.01));
    assert_eq!(routes(&net, 9), [vec![9, 5, 2, 4], vec![9, 5, 0]], "consistent: learned");
    let mut net = isolated(10, &profile("rfc"));
    net.inject(2, addr(8), false, &packet(&Ip::new(0, 4), &[source_route(0, 0, 1, &[1, 2])], &UDP));
    net.run_until(at(1.0001));
    assert_eq!(routes(&net, 2), Vec::<Vec<usize>>::new(), "from node 8, not node 1");
}

/// A chain 0 1 2 3 4 in which node 3 also hears node 1, and node 0 uses all four hops.
fn shortcut(p: &Params) -> Net {
    let mut net = line_of(5, p);
    teach(&mut net, 0, &[1, 2, 3, 4]);
    net.up(1, 3);
    net
}

#[test]
fn a_packet_that_skipped_a_hop_is_answered_with_the_shorter_route() {
    for name in ["rfc", "ns2"] {
        let mut net = shortcut(&profile(name));
        net.send_at(at(1.1), 0, 4, 1);
        net.send_at(at(1.5), 0, 4, 1);
        net.run_until(at(2.0));
        let grat = sent_with(&net, 3, RREP);
        assert_eq!(grat.len(), 1, "{name}");
        let p = &grat[0].2;
        let id = u16::from_be_bytes([p[4], p[5]]);
        let expected = packet(
            &Ip { from: addr(3), to: addr(0), ttl: 255, id },
            &[reply(&[1, 3, 4]), source_route(0, 0, 1, &[1])],
            &[],
        );
        assert_eq!(*p, expected, "{name}");
        // Each packet arrives once, the second by three hops.
        assert_eq!(net.delivered(1), [0, 1], "{name}");
        assert_eq!(option_of(net.sent_by(0).last().unwrap().2, 96).unwrap()[2..], addrs(&[1, 3]), "{name}");
        net.assert_conserved();
    }
}

#[test]
fn one_shortcut_is_reported_once_a_second() {
    for name in ["rfc", "ns2"] {
        let mut net = shortcut(&profile(name));
        // The reply never gets back, so node 0 keeps the long route for 2.5 s.
        for k in 0..50u16 {
            let ip = Ip { id: 100 + k, ..Ip::new(0, 4) };
            net.set_link(1, 0, Link::DOWN);
            net.inject(1, addr(0), false, &packet(&ip, &[source_route(0, 0, 3, &[1, 2, 3])], &UDP));
            net.run_for(Span::from_millis(50));
        }
        let n = sent_with(&net, 3, RREP).iter().filter(|s| s.1 == addr(1)).count();
        assert_eq!(n, 3, "{name}: at 0, 1 and 2 s");
    }
}

#[test]
fn without_gratuitous_replies_nobody_answers() {
    let mut net = shortcut(&Params { gratuitous_replies: false, ..profile("rfc") });
    net.send_at(at(1.1), 0, 4, 1);
    net.run_until(at(2.0));
    assert_eq!(sent_with(&net, 3, RREP).len(), 0);
}

#[test]
fn the_ns2_profile_looks_at_an_overheard_packet_once() {
    // Node 9 hears nodes 1 and 2 forward the same packet.
    for (name, n) in [("rfc", 3), ("ns2", 1)] {
        let mut net = net(10, &profile(name));
        net.line();
        net.down(8, 9);
        net.set_link(1, 9, Link::UP);
        net.set_link(2, 9, Link::UP);
        net.run_until(at(1.0));
        net.inject(1, addr(0), false, &packet(&Ip::new(0, 4), &[source_route(0, 0, 3, &[1, 2, 3])], &UDP));
        net.run_until(at(1.5));
        let known = routes(&net, 9);
        assert!(known.contains(&vec![9, 1, 2, 3, 4]), "{name}: {known:?}");
        assert_eq!(known.contains(&vec![9, 2, 3, 4]), name == "rfc");
        assert!(known.len() >= n, "{name}: {known:?}");
    }
}

#[test]
fn an_unused_route_is_forgotten_after_its_timeout() {
    let mut net = linked(4, &Params { route_cache_timeout_s: 5, ..profile("rfc") }, &[(0, 1)]);
    teach(&mut net, 0, &[1, 2]);
    net.run_until(at(5.9));
    assert_eq!(routes(&net, 0), [[0, 1, 2]]);
    net.run_until(at(6.1));
    assert_eq!(routes(&net, 0), Vec::<Vec<usize>>::new());
    // Use keeps it.
    teach(&mut net, 0, &[1]);
    for k in 0..4 {
        net.send_at(at(8.0 + 3.0 * f64::from(k)), 0, 1, 1);
    }
    net.run_until(at(20.0));
    assert_eq!(routes(&net, 0), [[0, 1]]);
}

#[test]
fn an_acknowledgement_teaches_the_link_that_it_shows() {
    // Node 9 hears node 2 acknowledge a packet of node 1 (section 8.1.4); so does node 1 itself.
    let mut net = net(10, &Params { maintenance: wayhop_dsr::Maintenance::Network, ..profile("rfc") });
    net.up(1, 2);
    net.set_link(2, 9, Link::UP);
    net.run_until(at(1.0));
    let mut asked = vec![160, 2, 0, 7];
    asked.extend(source_route(0, 0, 0, &[]));
    net.inject(2, addr(1), false, &packet(&Ip::new(1, 2), &[asked], &UDP));
    net.run_until(at(1.1));
    assert!(net.sent_by(2).any(|s| option_of(s.2, 32).is_some()), "an Acknowledgement was sent");
    assert!(routes(&net, 9).contains(&vec![9, 2, 1]), "{:?}", routes(&net, 9));
    assert!(routes(&net, 1).contains(&vec![1, 2]), "{:?}", routes(&net, 1));
}

#[test]
fn a_packet_without_a_dsr_header_is_wanted_if_something_depends_on_it() {
    let plain = wayhop_wire::datagram(addr(1), addr(4), 9, 64, &UDP);
    let wants = |p: Params| Engine::new(p).wants_overheard(&plain);
    assert!(!wants(profile("ns2")) && !wants(profile("rfc")));
    assert!(wants(Params { watchdog: true, ..profile("ns2") }), "whether its next hop passes it on");
    assert!(wants(Params { flow_shortening: true, ..profile("ns2") }), "whether its flow takes a detour");
    assert!(wants(Params { bad_links: BadLinks::Probability, ..profile("rfc") }), "how well it is heard");
    let routed = packet(&Ip::new(1, 4), &[source_route(0, 0, 2, &[2, 3])], &UDP);
    assert!(Engine::new(profile("ns2")).wants_overheard(&routed));
}
