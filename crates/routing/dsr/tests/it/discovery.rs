//! Route Discovery: RFC 4728 sections 3.3.3, 4.2, 4.3, 8.2.1 and 8.2.2.

use crate::common::{
    Ip, RREP, RREQ, SOURCE_ROUTE, UDP, at, delivered_at, full_mesh, isolated, line_of, net, option_of,
    options, packet, profile, reasons, request, routes, sent_with,
};
use wayhop_core::{DropReason, Span};
use wayhop_dsr::Params;
use wayhop_testkit::addr;

#[test]
fn a_chain_of_five_discovers_a_route_and_delivers() {
    for name in ["rfc", "ns2", "cmu"] {
        let mut net = net(5, &profile(name));
        net.line();
        net.send_at(at(1.0), 0, 4, 7);
        net.send_at(at(2.0), 0, 4, 7);
        net.run_until(at(5.0));
        assert_eq!(net.delivered(7), [0, 1], "{name}");
        assert_eq!(net.drops(), [], "{name}");
        net.assert_conserved();
    }
}

#[test]
fn the_first_request_stays_with_the_neighbours_and_the_second_propagates() {
    let mut net = net(4, &profile("rfc"));
    net.line();
    net.send_at(at(1.0), 0, 3, 1);
    net.run_until(at(1.2));
    let sent = sent_with(&net, 0, RREQ);
    assert_eq!(sent.iter().map(|s| s.2[8]).collect::<Vec<_>>(), [1, 255], "TTL 1, then DiscoveryHopLimit");
    // NonpropRequestTimeout 30 ms; each request has up to BroadcastJitter 10 ms and 1 ms of airtime.
    let wait = sent[1].0 - sent[0].0;
    assert!((0.020..=0.040).contains(&wait), "{wait}");
    // The neighbour repeats only the second.
    let repeated = sent_with(&net, 1, RREQ);
    assert_eq!(repeated.len(), 1);
    assert_eq!(repeated[0].2[8], 254);
}

#[test]
fn a_request_is_the_octets_of_figure_6_2() {
    let mut net = net(3, &profile("rfc"));
    net.line();
    net.send_at(at(1.0), 0, 2, 1);
    net.run_until(at(1.2));
    let p = &sent_with(&net, 0, RREQ)[1].2;
    let id = u16::from_be_bytes([p[26], p[27]]);
    let ip_id = u16::from_be_bytes([p[4], p[5]]);
    let expected = |ttl, passed: &[usize]| {
        packet(&Ip { id: ip_id, ..Ip::broadcast(0, ttl) }, &[request(id, 2, passed)], &[])
    };
    assert_eq!(*p, expected(255, &[]));
    // The next node appends itself and counts the TTL down; everything else stays.
    assert_eq!(sent_with(&net, 1, RREQ)[0].2, expected(254, &[1]));
}

#[test]
fn each_request_has_an_identification_of_its_own() {
    let mut net = net(2, &profile("rfc"));
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(20.0));
    let mut ids: Vec<_> = sent_with(&net, 0, RREQ).iter().map(|s| [s.2[26], s.2[27]]).collect();
    let n = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert!(n > 4);
    assert_eq!(ids.len(), n);
}

#[test]
fn identifications_begin_elsewhere_after_a_reboot() {
    let mut net = net(2, &profile("rfc"));
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(1.5));
    net.stop(0);
    net.restart(0, Box::new(wayhop_dsr::Engine::new(profile("rfc"))));
    net.send_at(at(2.0), 0, 1, 1);
    net.run_until(at(2.5));
    let ids: Vec<_> =
        sent_with(&net, 0, RREQ).iter().map(|s| u16::from_be_bytes([s.2[26], s.2[27]])).collect();
    assert!(ids.len() >= 4, "{ids:?}");
    assert!(ids[2..].iter().all(|i| !ids[..2].contains(i)), "{ids:?}");
}

/// When discoveries for an absent target begin, in seconds, and how far apart they are.
fn pauses(p: &Params, until: f64) -> Vec<f64> {
    let mut net = net(2, p);
    for i in 0..(until as u32) {
        net.send_at(at(1.0 + f64::from(i)), 0, 1, 1);
    }
    net.run_until(at(until));
    let starts: Vec<f64> = sent_with(&net, 0, RREQ).iter().filter(|s| s.2[8] == 1).map(|s| s.0).collect();
    starts.windows(2).map(|w| w[1] - w[0]).collect()
}

#[test]
fn the_wait_between_discoveries_grows_up_to_its_maximum() {
    // RFC: RequestPeriod 0.5 s, doubled up to MaxRequestPeriod 10 s; jitter of up to 10 ms on either request. ns-2.35:
    // (1 << 2 * requests) * 0.5 s, at most 10 s, looked at every 30 to 60 ms.
    let (rfc, ns2) = ([0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0], [2.0, 8.0, 10.0]);
    for (name, expected, until, within) in [("rfc", &rfc[..], 40.0, 0.012), ("ns2", &ns2, 32.0, 0.072)] {
        let found = pauses(&profile(name), until);
        assert!(found.len() >= expected.len(), "{name}: {found:?}");
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < within), "{name}: {found:?}");
    }
}

#[test]
fn the_ns2_and_cmu_profiles_look_at_their_send_buffer_now_and_then() {
    // A packet waits; its second request is due 2 s or 0.5 s after the first and leaves at the next look, up to 60 or 30 ms
    // later, with up to 10 ms of jitter on either.
    for (name, due, latest, not_at_once) in [("ns2", 2.0, 0.070, 0.020), ("cmu", 0.5, 0.040, 0.012)] {
        let late = (1..40).map(|seed| {
            let mut net = net(2, &profile(name));
            net.config.seed = seed;
            net.send_at(at(1.0), 0, 1, 1);
            net.run_until(at(2.0 + due));
            let starts: Vec<_> =
                sent_with(&net, 0, RREQ).iter().filter(|s| s.2[8] == 1).map(|s| s.0).collect();
            starts[1] - starts[0] - due
        });
        let late: Vec<f64> = late.collect();
        assert!(late.iter().all(|l| (-0.010..=latest).contains(l)), "{name}: {late:?}");
        assert!(late.iter().any(|l| *l > not_at_once), "{name}: not at the moment when it is due: {late:?}");
    }
}

#[test]
fn a_reply_ends_the_backoff() {
    let mut net = net(2, &profile("rfc"));
    net.send_at(at(1.0), 0, 1, 1);
    net.up_at(at(4.2), 0, 1);
    net.down_at(at(6.0), 0, 1);
    net.send_at(at(7.0), 0, 1, 1);
    net.run_until(at(9.0));
    let starts: Vec<f64> = sent_with(&net, 0, RREQ).iter().filter(|s| s.2[8] == 1).map(|s| s.0).collect();
    assert_eq!(net.delivered(1), [0]);
    // After the loss at 7 s the waits are 0.5 and 1 s again, not 8.
    let late: Vec<_> = starts.iter().filter(|t| **t > 6.5).collect();
    assert_eq!(late.len(), 3, "{starts:?}");
}

#[test]
fn after_the_last_request_the_waiting_packets_are_dropped() {
    let p = Params { max_request_rexmt: 2, ..profile("rfc") };
    let mut net = net(2, &p);
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(10.0));
    assert_eq!(reasons(&net), [DropReason::DiscoveryFailed]);
    net.assert_conserved();
}

#[test]
fn a_packet_waits_for_thirty_seconds_and_no_longer() {
    for name in ["rfc", "ns2"] {
        let mut net = net(2, &profile(name));
        net.send_at(at(1.0), 0, 1, 1);
        net.run_until(at(30.9));
        assert_eq!(net.drops(), [], "{name}");
        net.run_until(at(31.2));
        assert_eq!(reasons(&net), [DropReason::BufferTimeout], "{name}");
    }
}

#[test]
fn the_oldest_packet_leaves_a_full_send_buffer() {
    let mut net = net(2, &Params { send_buffer_packets: 4, ..profile("rfc") });
    net.send_every(at(1.0), Span::from_millis(1), 6, 0, 1, 1);
    net.run_until(at(1.3));
    assert_eq!(reasons(&net), [DropReason::BufferFull; 2]);
    net.up(0, 1);
    net.run_until(at(3.0));
    assert_eq!(net.delivered(1), [2, 3, 4, 5]);
    net.assert_conserved();
}

#[test]
fn a_repeated_request_is_not_propagated_again() {
    let mut net = isolated(3, &profile("rfc"));
    net.up(1, 2);
    let p = packet(&Ip::broadcast(0, 9), &[request(5, 8, &[])], &[]);
    net.inject(1, addr(0), true, &p);
    net.inject(1, addr(0), true, &p);
    net.run_until(at(1.1));
    assert_eq!(sent_with(&net, 1, RREQ).len(), 1);
    // Another target or another identification is another request.
    for p in [request(5, 9, &[]), request(6, 8, &[])] {
        net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 9), &[p], &[]));
    }
    net.run_until(at(1.2));
    assert_eq!(sent_with(&net, 1, RREQ).len(), 3);
    net.assert_conserved();
}

#[test]
fn a_request_that_lists_this_node_is_discarded() {
    let mut net = isolated(3, &profile("rfc"));
    net.inject(1, addr(2), true, &packet(&Ip::broadcast(0, 9), &[request(5, 8, &[1, 2])], &[]));
    net.run_until(at(1.1));
    assert_eq!(net.sent_by(1).count(), 0);
    // Its own request, too.
    net.inject(1, addr(2), true, &packet(&Ip::broadcast(1, 9), &[request(5, 8, &[2])], &[]));
    net.run_until(at(1.2));
    assert_eq!(net.sent_by(1).count(), 0);
    assert_eq!(net.drops(), []);
    net.assert_conserved();
}

#[test]
fn the_target_answers_every_copy_and_forwards_none() {
    for name in ["rfc", "ns2"] {
        let mut net = full_mesh(5, &profile(name));
        for via in [2, 3, 4] {
            net.inject(1, addr(via), true, &packet(&Ip::broadcast(0, 9), &[request(5, 1, &[via])], &[]));
        }
        net.run_until(at(1.1));
        let replies = sent_with(&net, 1, RREP);
        let mut routes: Vec<_> = replies.iter().map(|r| option_of(&r.2, RREP).unwrap()[4]).collect();
        routes.sort_unstable();
        assert_eq!(routes, [3, 4, 5], "{name}: one by each of 10.0.0.3 to .5");
        assert_eq!(sent_with(&net, 1, RREQ).len(), 0);
    }
}

#[test]
fn a_request_is_not_propagated_beyond_the_longest_route() {
    let mut net = isolated(20, &Params { max_route_hops: 4, ..profile("rfc") });
    let with = |n: usize| request(n as u16, 19, &(2..2 + n).collect::<Vec<_>>());
    for n in [3, 4, 5] {
        net.inject(1, addr(1 + n), true, &packet(&Ip::broadcast(0, 9), &[with(n)], &[]));
    }
    net.run_until(at(1.1));
    let sent = sent_with(&net, 1, RREQ);
    // A route of 4 hops has 5 nodes: with the initiator, three others and this node it is full but for the target's place.
    assert_eq!(sent.len(), 1);
    assert_eq!(option_of(&sent[0].2, RREQ).unwrap().len(), 6 + 4 * 4);
}

#[test]
fn what_the_request_carries_reaches_the_target() {
    let mut net = line_of(3, &profile("rfc"));
    net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 9), &[request(5, 2, &[])], &UDP));
    net.run_until(at(2.0));
    let delivered = delivered_at(&net, 2);
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0][9], 17, "the protocol is UDP again");
    assert_eq!(delivered[0][20..], UDP);
    net.assert_conserved();
}

#[test]
fn all_who_hear_a_request_learn_the_way_back_but_in_ns2() {
    for (name, learned) in [("rfc", vec![vec![3, 2, 1, 0]]), ("ns2", vec![])] {
        let mut net = isolated(4, &profile(name));
        net.inject(3, addr(2), true, &packet(&Ip::broadcast(0, 9), &[request(5, 9, &[1, 2])], &[]));
        net.run_until(at(1.1));
        assert_eq!(routes(&net, 3), learned, "{name}");
    }
}

#[test]
fn any_newly_learned_route_frees_waiting_packets() {
    let mut net = net(3, &profile("rfc"));
    net.send_at(at(1.0), 0, 2, 1);
    net.run_until(at(1.3));
    net.line();
    // Nobody replies to node 0, but it hears a request of node 2 come by.
    net.inject(0, addr(1), true, &packet(&Ip::broadcast(2, 9), &[request(5, 9, &[1])], &[]));
    net.run_until(at(1.4));
    assert_eq!(net.delivered(1), [0]);
}

#[test]
fn data_packets_carry_a_source_route_and_arrive_without_it() {
    let mut net = net(3, &profile("rfc"));
    net.line();
    net.send_at(at(1.0), 0, 2, 1);
    net.run_until(at(2.0));
    let first = sent_with(&net, 0, SOURCE_ROUTE).pop().unwrap().2;
    // Fixed header: Next Header UDP, 8 octets of options; Source Route: one address, Segments Left 1 (figure 6.7).
    assert_eq!(first[20..32], [17, 0, 0, 8, 96, 6, 0, 1, 10, 0, 0, 2]);
    let second = sent_with(&net, 1, SOURCE_ROUTE).pop().unwrap().2;
    assert_eq!(second[20..32], [17, 0, 0, 8, 96, 6, 0, 0, 10, 0, 0, 2]);
    assert_eq!(second[8], first[8] - 1, "the TTL counts hops");
    let plain = &delivered_at(&net, 2)[0];
    assert_eq!((plain[9], plain.len()), (17, 20 + 8 + 64));
    assert!(options(plain).is_empty());
}

#[test]
fn a_broadcast_packet_goes_to_the_neighbours_only() {
    let mut net = line_of(3, &profile("rfc"));
    net.send_to(0, [255; 4].into(), 1);
    net.run_until(at(2.0));
    assert_eq!([0, 1, 2].map(|n| delivered_at(&net, n).len()), [0, 1, 0]);
    net.assert_conserved();
}
