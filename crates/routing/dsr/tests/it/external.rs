//! Hops through other networks: the F and L bits of RFC 4728 sections 4.1, 6.3, 6.7, 8.1.3, 8.2.3 and 8.3.6.

use crate::common::{
    Ip, RREP, SOURCE_ROUTE, UDP, addrs, at, cached, full_mesh, linked, net, option_of, packet, profile,
    reply, request, sent_with, source_route, teach,
};
use wayhop_core::Span;
use wayhop_testkit::{Link, Net, addr};

const F: u8 = 0x80;
const L: u8 = 0x40;

/// A Route Reply option with the L bit.
fn external_reply(route: &[usize]) -> Vec<u8> {
    let mut o = reply(route);
    o[2] = 0x80;
    o
}

#[test]
fn a_replys_last_hop_is_cached_as_external_and_only_it() {
    let mut net = full_mesh(6, &profile("rfc"));
    net.inject(0, addr(1), false, &packet(&Ip::new(2, 0), &[external_reply(&[1, 2, 3])], &[]));
    net.run_until(at(1.1));
    assert_eq!(cached(&net, 0), [(vec![0, 1, 2, 3], true)]);
    // A route to a node before the External hop has none.
    net.send_to(0, addr(2), 1);
    net.send_to(0, addr(3), 1);
    net.run_until(at(1.2));
    let sent: Vec<_> = net.sent_by(0).filter_map(|s| option_of(s.2, SOURCE_ROUTE)).collect();
    assert_eq!(sent, [[vec![0, 1], addrs(&[1])].concat(), [vec![L, 2], addrs(&[1, 2])].concat()]);
}

#[test]
fn an_external_hop_never_stands_inside_a_cached_route() {
    // Node 9 overhears node 1 forward a packet whose first hop, 0 to 1, and last hop, 3 to 4, are External.
    let mut net = net(10, &profile("rfc"));
    net.up(1, 2);
    net.set_link(1, 9, Link::UP);
    net.run_until(at(1.0));
    net.inject(1, addr(0), false, &packet(&Ip::new(0, 4), &[source_route(F | L, 0, 3, &[1, 2, 3])], &UDP));
    net.run_until(at(1.002));
    let mut known = cached(&net, 9);
    known.sort();
    let each_is_the_last = [(vec![9, 1, 0], true), (vec![9, 1, 2, 3, 4], true)];
    assert_eq!(known, each_is_the_last);
    // Overheard from the source itself, the External first hop would be the second of the route: what lies behind it is
    // not learned.
    let mut net = crate::common::net(10, &profile("rfc"));
    net.set_link(0, 9, Link::UP);
    net.run_until(at(1.0));
    net.inject(0, addr(8), false, &packet(&Ip::new(7, 4), &[source_route(F, 1, 2, &[0, 1, 2])], &UDP));
    net.run_until(at(1.002));
    assert!(cached(&net, 9).iter().all(|r| !r.1), "F of a salvaged packet says nothing of Address[1]");
}

#[test]
fn a_salvaged_packet_keeps_the_last_external_bit_and_clears_the_first() {
    let mut net = linked(8, &profile("rfc"), &[(0, 1), (1, 5)]);
    net.inject(1, addr(5), false, &packet(&Ip::new(5, 1), &[external_reply(&[5, 4])], &[]));
    net.run_for(Span::from_millis(1));
    net.inject(1, addr(0), false, &packet(&Ip::new(0, 4), &[source_route(F, 0, 1, &[1])], &UDP));
    net.run_until(at(1.5));
    let salvaged =
        net.sent_by(1).find(|s| s.1 == addr(5)).and_then(|s| option_of(s.2, SOURCE_ROUTE)).unwrap();
    assert_eq!(
        salvaged,
        [vec![L, 1 << 6 | 1], addrs(&[1, 5])].concat(),
        "F = 0, L from the cache, Salvage 1"
    );
}

#[test]
fn a_route_with_an_external_hop_is_not_answered_in_part_either() {
    let mut net = full_mesh(8, &profile("rfc"));
    net.inject(1, addr(2), false, &packet(&Ip::new(2, 1), &[external_reply(&[2, 3, 7])], &[]));
    net.run_for(Span::from_millis(1));
    let answers = |net: &mut Net, target: usize| {
        let before = sent_with(net, 1, RREP).len();
        let asked = packet(&Ip::broadcast(0, 1), &[request(target as u16, target, &[])], &[]);
        net.inject(1, addr(0), true, &asked);
        net.run_for(Span::from_millis(30));
        sent_with(net, 1, RREP).len() - before
    };
    assert_eq!(answers(&mut net, 7), 0, "the External hop's end");
    assert_eq!(answers(&mut net, 3), 1, "the node before it");
}

#[test]
fn a_targets_own_reply_has_no_external_bit() {
    let mut net = full_mesh(3, &profile("rfc"));
    net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 1), &[request(1, 1, &[])], &[]));
    net.run_until(at(1.1));
    assert_eq!(option_of(&sent_with(&net, 1, RREP)[0].2, RREP).unwrap(), [vec![0], addrs(&[1])].concat());
}

#[test]
fn a_shorter_route_keeps_its_external_end_and_is_not_offered_over_an_external_beginning() {
    for (flags, offered) in [(L, 1), (F, 0)] {
        // Node 3 overhears node 1 send to node 2, which it comes after.
        let mut net = net(5, &profile("rfc"));
        net.line();
        net.set_link(1, 3, Link::UP);
        net.set_link(3, 1, Link::UP);
        net.run_until(at(1.0));
        let p = packet(&Ip::new(0, 4), &[source_route(flags, 0, 3, &[1, 2, 3])], &UDP);
        net.inject(1, addr(0), false, &p);
        net.run_until(at(1.1));
        let replies = sent_with(&net, 3, RREP);
        assert_eq!(replies.len(), offered);
        if offered == 1 {
            assert_eq!(option_of(&replies[0].2, RREP).unwrap(), [vec![0x80], addrs(&[1, 3, 4])].concat());
        }
    }
}

#[test]
fn a_route_without_external_hops_is_preferred_however_long() {
    let mut net = full_mesh(8, &profile("rfc"));
    net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[external_reply(&[1, 7])], &[]));
    net.run_for(Span::from_millis(1));
    teach(&mut net, 0, &[2, 3, 4, 5, 7]);
    net.send_to(0, addr(7), 1);
    net.run_until(at(1.1));
    assert_eq!(net.sent_by(0).next().unwrap().1, addr(2));
}
