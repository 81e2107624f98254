//! Route Replies: RFC 4728 sections 8.2.3 to 8.2.6.

use crate::common::{
    Ip, RREP, RREQ, addrs, at, full_mesh, isolated, linked, net, option_of, packet, profile, reply, request,
    routes, sent_with, source_route, teach,
};
use wayhop_dsr::Params;
use wayhop_testkit::addr;

#[test]
fn a_reply_is_the_octets_of_figures_6_3_and_6_7() {
    let mut net = full_mesh(4, &profile("rfc"));
    net.inject(3, addr(2), true, &packet(&Ip::broadcast(0, 9), &[request(5, 3, &[1, 2])], &[]));
    net.run_until(at(1.1));
    let (_, to, p) = sent_with(&net, 3, RREP).remove(0);
    assert_eq!(to, addr(2), "over the reversed route");
    let id = u16::from_be_bytes([p[4], p[5]]);
    let expected = packet(
        &Ip { from: addr(3), to: addr(0), ttl: 255, id },
        &[reply(&[1, 2, 3]), source_route(0, 0, 2, &[2, 1])],
        &[],
    );
    assert_eq!(p, expected);
}

#[test]
fn a_cached_route_is_answered_and_the_request_ends_there() {
    for name in ["rfc", "ns2"] {
        let mut net = full_mesh(6, &profile(name));
        teach(&mut net, 1, &[2, 3]);
        net.inject(1, addr(4), true, &packet(&Ip::broadcast(0, 9), &[request(5, 3, &[4])], &[]));
        net.run_until(at(1.1));
        let replies = sent_with(&net, 1, RREP);
        assert_eq!(replies.len(), 1, "{name}");
        assert_eq!(option_of(&replies[0].2, RREP).unwrap()[1..], addrs(&[4, 1, 2, 3]), "{name}");
        assert_eq!(replies[0].1, addr(4));
        assert_eq!(sent_with(&net, 1, RREQ).len(), 0, "{name}: not propagated");
        net.assert_conserved();
    }
}

#[test]
fn a_cached_route_that_would_visit_a_node_twice_is_not_answered() {
    let mut net = isolated(6, &profile("rfc"));
    teach(&mut net, 1, &[4, 3]);
    net.inject(1, addr(4), true, &packet(&Ip::broadcast(0, 9), &[request(5, 3, &[4])], &[]));
    net.run_until(at(1.1));
    assert_eq!(sent_with(&net, 1, RREP).len(), 0);
    assert_eq!(sent_with(&net, 1, RREQ).len(), 1, "it is propagated instead");
}

#[test]
fn without_answers_from_the_cache_only_ring_zero_requests_get_them() {
    let p = Params { reply_from_cache: false, ..profile("rfc") };
    for (ttl, replies, requests) in [(1, 1, 0), (9, 0, 1)] {
        let mut net = isolated(6, &p);
        net.up(1, 0);
        teach(&mut net, 1, &[2, 3]);
        net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, ttl), &[request(5, 3, &[])], &[]));
        net.run_until(at(1.1));
        assert_eq!(sent_with(&net, 1, RREP).len(), replies);
        assert_eq!(sent_with(&net, 1, RREQ).len(), requests);
    }
}

#[test]
fn an_answer_from_the_cache_waits_the_longer_the_longer_its_route() {
    // d = H (h - 1 + r), H = 3 ms: a route of h hops leaves between 3 (h - 1) and 3 h ms later (section 8.2.5).
    for (route, hops) in [(&[2, 3][..], 3.0), (&[2, 4, 5, 3], 5.0)] {
        let mut net = full_mesh(8, &profile("rfc"));
        teach(&mut net, 1, route);
        let t = net.now().as_secs_f64();
        net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 9), &[request(5, 3, &[])], &[]));
        net.run_until(at(1.1));
        let waited = sent_with(&net, 1, RREP)[0].0 - t;
        assert!((0.003 * (hops - 1.0)..=0.003 * hops + 1e-6).contains(&waited), "{hops} hops: {waited}");
    }
}

#[test]
fn an_answer_from_the_cache_is_cancelled_when_as_short_a_route_is_used() {
    // Node 1 holds back an answer of 4 hops for node 0 and overhears node 0 send to node 3.
    let run = |way: &[usize]| {
        let mut net = isolated(8, &profile("rfc"));
        teach(&mut net, 1, &[2, 4, 3]);
        net.set_link(0, 1, wayhop_testkit::Link::UP);
        net.up(0, 5);
        let mut hops = way.to_vec();
        hops.push(3);
        teach(&mut net, 0, &hops);
        net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 9), &[request(5, 3, &[])], &[]));
        net.send_to(0, addr(3), 1);
        net.run_until(at(1.5));
        net.assert_conserved();
        (
            net.notes("reply_from_cache").len(),
            net.notes("reply_cancelled").len(),
            sent_with(&net, 1, RREP).len(),
        )
    };
    assert_eq!(run(&[5, 6, 7]), (1, 1, 0), "4 hops");
    assert_eq!(run(&[5, 6]), (1, 1, 0), "3 hops");
    assert_eq!(run(&[5, 6, 7, 4]), (1, 0, 1), "5 hops");
}

#[test]
fn the_forwarders_of_a_reply_learn_the_route_and_the_way_back() {
    let mut net = linked(5, &profile("rfc"), &[(2, 1), (2, 3), (0, 1), (3, 4)]);
    // Node 2 forwards node 4's reply to node 0: 0 1 2 3 4, on its way 4 3 2 1 0.
    let p = packet(&Ip::new(4, 0), &[reply(&[1, 2, 3, 4]), source_route(0, 0, 2, &[3, 2, 1])], &[]);
    net.inject(2, addr(3), false, &p);
    net.run_until(at(1.1));
    let mut known = routes(&net, 2);
    known.sort();
    // Ahead of a reply the links are not yet tested both ways (section 3.3.1): no route 2 1 0.
    assert_eq!(known, [[2, 3, 4]]);
}

#[test]
fn a_reply_that_cannot_be_a_route_is_not_cached() {
    for bad in [&[1, 2, 1, 3][..], &[0, 1]] {
        let mut net = isolated(5, &profile("rfc"));
        teach(&mut net, 0, bad);
        assert_eq!(routes(&net, 0), Vec::<Vec<usize>>::new(), "{bad:?}");
    }
}

#[test]
fn routes_with_external_hops_are_used_last_and_never_answered() {
    let mut net = net(8, &profile("rfc"));
    for n in [0, 2, 3] {
        net.up(1, n);
    }
    net.run_until(at(1.0));
    // 1 -> 2 -> 9th node with L set, and a longer one without.
    let mut external = reply(&[2, 7]);
    external[2] = 0x80;
    net.inject(1, addr(2), false, &packet(&Ip::new(7, 1), &[external], &[]));
    net.run_until(at(1.01));
    net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 1), &[request(5, 7, &[])], &[]));
    net.run_until(at(1.1));
    assert_eq!(sent_with(&net, 1, RREP).len(), 0, "an External hop is not returned");
    net.send_to(1, addr(7), 1);
    net.run_until(at(1.2));
    let sr = option_of(net.sent_by(1).last().unwrap().2, 96).unwrap();
    assert_eq!(sr, [vec![0x40, 1], addrs(&[2])].concat(), "the L bit says so to others");
    teach(&mut net, 1, &[3, 4, 7]);
    net.send_to(1, addr(7), 1);
    net.run_until(at(1.3));
    let sr = net.sent_by(1).find(|s| s.1 == addr(3)).and_then(|s| option_of(s.2, 96)).unwrap();
    assert_eq!(sr, [vec![0, 2], addrs(&[3, 4])].concat(), "longer, but without External hops");
}
