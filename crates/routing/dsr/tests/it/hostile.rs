//! Input from outside: no panic, bounded tables, conserved packets.

use crate::common::{
    Ip, UDP, addrs, at, error, fix_checksum, isolated, line_of, linked, net, option, option_of, packet,
    profile, reasons, reply, request, sent_with, source_route,
};
use proptest::prelude::*;
use wayhop_core::{DropReason, Span};
use wayhop_testkit::{EventKind, Net, addr};

/// Three nodes in a line, the middle one of which is shown everything.
fn victim(name: &str) -> Net {
    line_of(3, &profile(name))
}

fn node() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0usize..6, 1 => Just(200)]
}

fn nodes() -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::vec(node(), 0..8)
}

/// Options that are mostly well formed.
fn any_option() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        (any::<u16>(), node(), nodes()).prop_map(|(id, t, n)| request(id, t, &n)),
        nodes().prop_map(|n| reply(&n)),
        (0u8..16, node(), node(), node()).prop_map(|(s, a, b, c)| error(s, a, b, c)),
        (any::<u8>(), 0u8..16, 0u8..64, nodes()).prop_map(|(f, s, l, n)| source_route(f & 0xc0, s, l, &n)),
        (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..20)).prop_map(|(k, d)| option(k, &d)),
    ]
}

fn any_packet() -> impl Strategy<Value = Vec<u8>> {
    let ip = (node(), prop_oneof![node().prop_map(addr), Just([255; 4].into())], any::<u8>(), any::<u16>());
    let options = proptest::collection::vec(any_option(), 0..4);
    let cuts = (proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3), any::<bool>());
    (ip, options, any::<bool>(), cuts).prop_map(|((from, to, ttl, id), options, data, (flips, fix))| {
        let ip = Ip { from: addr(from), to, ttl, id };
        let mut p = packet(&ip, &options, if data { &UDP } else { &[] });
        for (at, v) in flips {
            let i = at.index(p.len());
            p[i] = v;
        }
        if fix {
            fix_checksum(&mut p);
        }
        p
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn packets_of_any_content_neither_stop_a_node_nor_vanish(
        packets in proptest::collection::vec((any_packet(), 0usize..6, any::<bool>()), 1..20),
        name in prop_oneof![Just("rfc"), Just("ns2"), Just("cmu")],
    ) {
        let mut net = victim(name);
        for (p, from, broadcast) in packets {
            net.inject(1, addr(from), broadcast, &p);
            net.run_for(Span::from_millis(3));
        }
        net.send_to(1, addr(2), 1);
        net.run_for(Span::from_secs(40));
        net.assert_conserved();
    }

    #[test]
    fn octets_at_random_neither_stop_a_node_nor_vanish(
        p in proptest::collection::vec(any::<u8>(), 0..120), broadcast in any::<bool>(),
    ) {
        let mut net = victim("rfc");
        net.inject(1, addr(0), broadcast, &p);
        net.run_for(Span::from_secs(1));
        net.assert_conserved();
    }

    #[test]
    fn overheard_octets_do_not_stop_a_node(
        packets in proptest::collection::vec(any_packet(), 1..10), name in prop_oneof![Just("rfc"), Just("ns2")],
    ) {
        use wayhop_core::{Cx, Interface, Pool, Protocol, Purpose, RxMeta, stream};
        let mut engine = wayhop_dsr::Engine::new(profile(name));
        let (mut rng, mut pool, mut next, mut effects) = (stream(1, Purpose::Protocol, 0), Pool::new(), 1, Vec::new());
        let mut cx = Cx::new(at(1.0), addr(1), Interface::default(), &mut rng, &mut pool, &mut next, &mut effects);
        for p in &packets {
            for len in [p.len(), p.len() / 2] {
                let rx = RxMeta::from(addr(2), false).with_signal(-60.0);
                engine.on_overheard(&mut cx, &p[..len], addr(3).into(), &rx);
            }
        }
    }
}

#[test]
fn every_table_is_bounded() {
    let mut net = linked(2, &profile("rfc"), &[(0, 1)]);
    // 3000 initiators, routes and broken neighbours that nobody has.
    for k in 0..3000u32 {
        let [_, _, hi, lo] = k.to_be_bytes();
        let stranger = [10, 9, hi, lo].into();
        let mut p = packet(
            &Ip { from: stranger, to: [255; 4].into(), ttl: 9, id: 0 },
            &[request(lo.into(), 300, &[0])],
            &[],
        );
        net.inject(1, addr(0), true, &p);
        p = packet(&Ip { from: stranger, to: addr(1), ttl: 9, id: 0 }, &[reply(&[0, 7])], &[]);
        p[31..35].copy_from_slice(&[10, 9, hi, lo]);
        net.inject(1, addr(0), false, &p);
        net.send_to(1, [10, 8, hi, lo].into(), k);
        if k % 100 == 0 {
            net.run_for(Span::from_millis(1));
        }
    }
    net.run_for(Span::from_secs(1));
    let t = net.inspect(1);
    assert_eq!(t.table("request_ids").count(), 64);
    assert_eq!(t.table("request_targets").count(), 64);
    assert_eq!(t.table("send_buffer").count(), 64);
    assert!(t.table("route_cache").count() <= 94);
    net.assert_conserved();
}

#[test]
fn identifications_of_one_initiator_are_bounded() {
    let mut net = isolated(2, &profile("rfc"));
    for id in 0..500u16 {
        net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 9), &[request(id, 9, &[])], &[]));
    }
    net.run_for(Span::from_secs(1));
    assert_eq!(net.inspect(1).cell("request_ids", "initiator", "10.0.0.1", "ids"), Some("16"));
}

/// What node 1 does with a packet from node 0 to node 2 that carries an option of this type behind its source route.
fn strange(kind: u8) -> (Net, Option<Vec<u8>>) {
    let mut net = victim("rfc");
    let p = packet(&Ip::new(0, 2), &[option(kind, &[1, 2, 3, 4]), source_route(0, 0, 1, &[1])], &UDP);
    net.inject(1, addr(0), false, &p);
    net.run_until(at(1.5));
    let on = net.sent_by(1).find(|s| s.1 == addr(2)).map(|s| s.2.to_vec());
    net.assert_conserved();
    (net, on)
}

#[test]
fn an_unknown_option_is_ignored_removed_marked_or_the_packet_dropped() {
    // The bits 0x60 of the type: section 6.1.
    let (_, on) = strange(0x11);
    assert_eq!(option_of(&on.unwrap(), 0x11), Some(vec![1, 2, 3, 4]), "00: ignore");
    let (_, on) = strange(0x31);
    assert_eq!(option_of(&on.unwrap(), 0x31), None, "01: remove");
    let (_, on) = strange(0x51);
    assert_eq!(option_of(&on.unwrap(), 0x51), Some(vec![0x81, 2, 3, 4]), "10: mark");
    let (net, on) = strange(0x71);
    assert_eq!(on, None, "11: drop");
    assert_eq!(reasons(&net), [DropReason::Policy]);
}

#[test]
fn an_unknown_option_with_the_top_bit_is_reported_to_the_source() {
    for kind in [0x91, 0xb1, 0xd1, 0xf1] {
        let (net, _) = strange(kind);
        let mut errors = sent_with(&net, 1, 3);
        errors.retain(|e| e.2[12..16] == addr(1).octets());
        assert_eq!(errors.len(), 1);
        assert_eq!(option_of(&errors[0].2, 3).unwrap(), [vec![3, 0], addrs(&[1, 0]), vec![kind]].concat());
    }
    let (net, _) = strange(0x11);
    assert_eq!(sent_with(&net, 1, 3).len(), 0);
}

#[test]
fn an_unknown_option_beside_a_route_request_is_never_reported() {
    let mut net = victim("rfc");
    let p = packet(&Ip::broadcast(0, 9), &[option(0x91, &[0; 4]), request(5, 9, &[])], &[]);
    net.inject(1, addr(0), true, &p);
    net.run_until(at(1.5));
    assert_eq!(sent_with(&net, 1, 3).len(), 0);
    assert_eq!(sent_with(&net, 1, 1).len(), 1, "the request goes on");
}

#[test]
fn a_packet_with_a_wrong_checksum_is_discarded() {
    let mut net = victim("rfc");
    let mut p = packet(&Ip::new(0, 2), &[source_route(0, 0, 1, &[1])], &UDP);
    p[10] ^= 1;
    net.inject(1, addr(0), false, &p);
    net.run_until(at(1.5));
    assert_eq!(reasons(&net), [DropReason::Malformed]);
    assert!(!net.record().iter().any(|r| matches!(r.what, EventKind::Sent { .. })));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut net = net(8, &profile("ns2"));
        net.config.seed = seed;
        net.line();
        net.up(1, 4);
        for k in 0..40 {
            net.send_at(at(1.0 + f64::from(k) * 0.25), 0, 7, 1);
            net.send_at(at(1.1 + f64::from(k) * 0.25), 6, 2, 2);
        }
        net.down_at(at(4.0), 3, 4);
        net.up_at(at(7.0), 3, 4);
        net.down_at(at(8.0), 1, 4);
        net.run_until(at(20.0));
        net.assert_conserved();
        net.record().to_vec()
    };
    let (a, b, c) = (run(1), run(1), run(2));
    assert!(a == b);
    assert!(a != c, "another seed gives another run");
}
