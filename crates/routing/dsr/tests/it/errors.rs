//! Route Errors and salvage, in the cases that `maintenance.rs` leaves out: RFC 4728 sections 8.2.5, 8.3.4 to 8.3.6, and
//! this node's own replies and packets.

use crate::common::{
    Ip, RERR, RREP, SOURCE_ROUTE, UDP, addrs, at, delivered_at, error, fix_checksum, line_of, linked,
    option_of, options, packet, profile, reasons, reply, request, sent_with, source_route, teach,
};
use wayhop_core::{
    Cx, DropReason, Effect, Interface, PacketMeta, Pool, Protocol, Purpose, RxMeta, Span, stream,
};
use wayhop_dsr::{Engine, Params};
use wayhop_testkit::addr;

#[test]
fn wrapped_errors_keep_their_order_and_stop_at_the_first_that_does_not_fit() {
    // Salvage counts 2, 11 and 0: 1 + (1 + 2) + (1 + 11) is more than 15, so the second stays, and the third after it.
    let inner = vec![error(2, 6, 0, 7), error(11, 5, 0, 6), error(0, 4, 0, 5)];
    let smaller = vec![error(2, 6, 0, 7), error(1, 5, 0, 6), error(0, 4, 0, 5)];
    let (fits, too_much) = (vec![error(12, 4, 0, 5)], vec![error(14, 4, 0, 5)]);
    for (errors, kept) in [(inner, 1), (smaller, 3), (fits, 1), (too_much, 0)] {
        let mut net = linked(8, &profile("rfc"), &[(3, 4)]);
        let all = [&errors[..], &[source_route(0, 0, 2, &[3, 2])]].concat();
        net.inject(3, addr(4), false, &packet(&Ip::new(4, 0), &all, &[]));
        net.run_until(at(1.1));
        let sent = sent_with(&net, 3, RERR);
        let last = &sent.iter().find(|e| e.2[12..20] == addrs(&[3, 4])).unwrap().2;
        let got: Vec<_> = options(last).into_iter().filter(|o| o.0 == RERR).map(|o| o.1).collect();
        let new = [vec![1, 0], addrs(&[3, 4, 2])].concat();
        let old = errors[..kept].iter().map(|e| e[2..].to_vec());
        assert_eq!(got, [new].into_iter().chain(old).collect::<Vec<_>>(), "the new error first");
    }
}

#[test]
fn an_error_sent_on_carries_the_count_of_the_one_that_failed() {
    let mut net = line_of(8, &profile("rfc"));
    teach(&mut net, 2, &[1, 0]);
    // Node 2 told node 0 of 2 - 6; that packet had been salvaged three times when it failed at node 4.
    net.inject(2, addr(3), false, &packet(&Ip::new(4, 2), &[error(3, 4, 2, 5), error(1, 2, 0, 6)], &[]));
    net.run_until(at(1.1));
    let sent = sent_with(&net, 2, RERR);
    let [(_, to, p)] = &sent[..] else { panic!("one error: {sent:?}") };
    assert_eq!((*to, &p[12..20]), (addr(1), &addrs(&[2, 0])[..]));
    // Section 8.3.5: Salvage 3; a way that begins with this node then lists it, as visited.
    assert_eq!(option_of(p, SOURCE_ROUTE).unwrap(), [vec![0, 3 << 6 | 1], addrs(&[2, 1])].concat());
    assert_eq!(option_of(p, RERR).unwrap(), [vec![1, 1], addrs(&[2, 0, 6])].concat());
    assert_eq!(net.notes("error_received").iter().filter(|n| n.0.0 == 0).count(), 1);
}

#[test]
fn data_with_a_reply_is_salvaged_without_the_reply() {
    let mut net = linked(8, &profile("rfc"), &[(2, 3), (2, 5), (5, 0)]);
    teach(&mut net, 2, &[5, 0]);
    let p = packet(&Ip::new(4, 0), &[reply(&[1, 2, 3, 4]), source_route(0, 0, 2, &[3, 2, 1])], &UDP);
    net.inject(2, addr(3), false, &p);
    net.run_until(at(1.5));
    let by_five: Vec<_> = net.sent_by(2).filter(|s| s.1 == addr(5)).map(|s| s.2.to_vec()).collect();
    assert_eq!(by_five.len(), 1);
    assert_eq!(option_of(&by_five[0], RREP), None);
    assert_eq!(option_of(&by_five[0], SOURCE_ROUTE).unwrap(), [vec![0, 1 << 6 | 1], addrs(&[2, 5])].concat());
    assert_eq!(delivered_at(&net, 0).len(), 1);
}

#[test]
fn each_packet_over_a_broken_link_is_reported_to_its_source() {
    // Section 8.3 bounds how many may pass unreported; here it is none.
    let mut net = linked(5, &profile("rfc"), &[(0, 1), (1, 2)]);
    for k in 0..5u16 {
        let ip = Ip { id: k, ..Ip::new(0, 4) };
        net.inject(2, addr(1), false, &packet(&ip, &[source_route(0, 0, 2, &[1, 2, 3])], &UDP));
        net.run_for(Span::from_millis(100));
    }
    assert_eq!(sent_with(&net, 2, RERR).len(), 5);
}

#[test]
fn an_own_reply_or_error_whose_first_link_breaks_is_dropped() {
    for (name, by_another_way) in [("rfc", 0), ("ns2", 1)] {
        let mut net = linked(6, &profile(name), &[(1, 5), (5, 0)]);
        teach(&mut net, 1, &[5, 0]);
        // Node 1 is asked by node 0 over node 2, which does not hear it.
        net.inject(1, addr(2), true, &packet(&Ip::broadcast(0, 9), &[request(5, 1, &[2])], &[]));
        net.run_until(at(1.5));
        let to: Vec<_> = sent_with(&net, 1, RREP).iter().map(|s| s.1).collect();
        assert_eq!(to.iter().filter(|a| **a == addr(2)).count(), 1, "{name}: over the reversed route");
        assert_eq!(to.iter().filter(|a| **a == addr(5)).count(), by_another_way, "{name}");
        if by_another_way == 0 {
            assert_eq!(reasons(&net), [DropReason::MacRetries]);
        }
        net.assert_conserved();
    }
}

#[test]
fn thirty_two_answers_wait_and_further_ones_leave_at_once() {
    let mut net = linked(3, &Params { cached_reply_delay_us: 100_000, ..profile("rfc") }, &[(1, 0)]);
    teach(&mut net, 1, &[2, 8]);
    for id in 0..40u16 {
        net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 1), &[request(id, 8, &[])], &[]));
    }
    net.run_for(Span::from_millis(50));
    assert_eq!(net.inspect(1).table("held_replies").count(), 32);
    assert_eq!(sent_with(&net, 1, RREP).len(), 8);
    net.run_until(at(2.0));
    assert_eq!(sent_with(&net, 1, RREP).len(), 40);
    net.assert_conserved();
}

#[test]
fn a_packet_to_a_neighbour_carries_an_empty_source_route() {
    for on in [true, false] {
        let mut net = line_of(2, &Params { source_route_on_one_hop: on, ..profile("rfc") });
        teach(&mut net, 0, &[1]);
        net.send_to(0, addr(1), 1);
        net.run_until(at(1.1));
        let p = net.sent_by(0).next().unwrap().2;
        assert_eq!(option_of(p, SOURCE_ROUTE), on.then(|| vec![0, 0]));
        assert_eq!(
            p[9],
            if on { 48 } else { 17 },
            "without: a packet as the application made it (section 8.1.1)"
        );
        assert_eq!(net.delivered(1), [0]);
    }
}

#[test]
fn a_packet_without_identification_gets_one_of_its_own() {
    // Passive acknowledgements and shortcuts tell packets apart by it (section 8.3.2), also those with DF set, which RFC
    // 6864 lets go without.
    let mut node = Engine::new(profile("rfc"));
    let (mut rng, mut pool, mut next) = (stream(1, Purpose::Protocol, 0), Pool::new(), 1);
    let learn = packet(&Ip::new(1, 0), &[reply(&[1])], &[]);
    let learn = pool.packet(&learn, PacketMeta::default());
    let out = [0, 0x40, 0x40].map(|flags| {
        let mut p = packet(&Ip { id: 0, ..Ip::new(0, 1) }, &[], &UDP);
        p.drain(20..24);
        (p[3], p[6], p[9]) = (32, flags, 17);
        fix_checksum(&mut p);
        pool.packet(&p, PacketMeta::default())
    });
    let mut effects = Vec::new();
    let interface = Interface::default();
    let mut cx = Cx::new(at(1.0), addr(0), interface, &mut rng, &mut pool, &mut next, &mut effects);
    node.start(&mut cx);
    node.on_frame(&mut cx, learn, &RxMeta::from(addr(1), false).with_signal(0.0));
    for p in out {
        node.on_outbound(&mut cx, p);
    }
    let mut ids: Vec<_> = effects
        .iter()
        .filter_map(|e| match e {
            Effect::Send(p, _) => Some(p.bytes()[4..6].to_vec()),
            _ => None,
        })
        .collect();
    assert!(!ids.contains(&vec![0, 0]));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}
