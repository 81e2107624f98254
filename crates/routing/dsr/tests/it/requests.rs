//! Route Requests, step by step: RFC 4728 sections 4.3, 4.6, 8.2 and 8.2.1 to 8.2.3.

use crate::common::{
    Ip, RERR, RREP, RREQ, SOURCE_ROUTE, UDP, addrs, at, delivered_at, error, full_mesh, isolated, line_of,
    net, option_of, packet, profile, reasons, reply, request, sent_with, source_route, teach,
};
use wayhop_core::{DropReason, Span};
use wayhop_dsr::Params;
use wayhop_testkit::{Net, addr};

/// Node 1 hears this packet as a broadcast of node `from`.
fn hear(net: &mut Net, from: usize, p: &[u8]) {
    net.inject(1, addr(from), true, p);
    net.run_for(Span::from_millis(20));
}

#[test]
fn what_a_request_carries_is_delivered_to_the_targets_address() {
    let mut net = line_of(3, &profile("rfc"));
    hear(&mut net, 0, &packet(&Ip::broadcast(0, 9), &[request(5, 1, &[])], &UDP));
    let got = delivered_at(&net, 1);
    assert_eq!(got.len(), 1);
    assert_eq!(got[0][12..20], addrs(&[0, 1]), "section 8.2.2: the target in place of 255.255.255.255");
    assert_eq!(got[0][20..], UDP);
    net.assert_conserved();
}

#[test]
fn a_reply_behind_a_request_counts_at_the_requests_target() {
    // Node 2 has no way back to node 1 and asks for one; its answer 1 0 2 travels behind the request (section 8.2.4).
    let mut net = net(3, &profile("rfc"));
    net.line();
    net.send_at(at(1.0), 1, 7, 1);
    net.run_until(at(1.1));
    hear(&mut net, 0, &packet(&Ip::broadcast(2, 9), &[request(5, 1, &[0]), reply(&[0, 2, 7])], &[]));
    let data = net.sent_by(1).find(|s| s.2[16..20] == addr(7).octets()).expect("the waiting packet went");
    assert_eq!(option_of(data.2, SOURCE_ROUTE).unwrap()[2..], addrs(&[0, 2]));
    assert!(net.notes("discovery_done").iter().any(|n| n.1.about == addr(7)), "the discovery has ended");
}

#[test]
fn a_request_that_contradicts_itself_is_discarded() {
    for (what, from, options) in [
        ("lists its initiator", 2, vec![request(5, 9, &[0, 2])]),
        ("lists its initiator, for its target", 2, vec![request(6, 1, &[3, 0, 2])]),
        ("lists a node twice", 2, vec![request(5, 9, &[2, 3, 2])]),
        ("two in one header", 0, vec![request(5, 8, &[]), request(6, 9, &[])]),
    ] {
        let mut net = full_mesh(4, &profile("rfc"));
        hear(&mut net, from, &packet(&Ip::broadcast(0, 9), &options, &[]));
        assert_eq!(reasons(&net), [DropReason::Malformed], "{what}");
        assert_eq!(net.sent_by(1).count(), 0, "{what}: neither propagated nor answered");
    }
}

#[test]
fn a_request_with_a_time_to_live_of_one_goes_no_further() {
    let mut net = isolated(3, &profile("rfc"));
    for ttl in [0, 1] {
        hear(&mut net, 0, &packet(&Ip::broadcast(0, ttl), &[request(ttl.into(), 9, &[])], &[]));
    }
    assert_eq!(net.sent_by(1).count(), 0);
    assert_eq!(reasons(&net), []);
}

/// Node 1 of five, which could not pass a Route Reply on to node 2.
fn blacklisting(p: &Params) -> Net {
    let mut net = isolated(5, p);
    let failing = packet(&Ip::new(4, 0), &[reply(&[2, 1, 3, 4]), source_route(0, 0, 2, &[3, 1, 2])], &[]);
    net.inject(1, addr(3), false, &failing);
    net.run_until(at(1.1));
    assert_eq!(net.inspect(1).table("blacklist").count(), 1);
    net
}

#[test]
fn the_target_answers_a_neighbour_on_its_blacklist() {
    let mut net = blacklisting(&profile("rfc"));
    hear(&mut net, 2, &packet(&Ip::broadcast(0, 9), &[request(5, 1, &[2])], &[]));
    let replies: Vec<_> = sent_with(&net, 1, RREP).iter().map(|s| s.2[12..20].to_vec()).collect();
    assert!(
        replies.contains(&addrs(&[1, 0])),
        "the first step of section 8.2.2 asks nothing of the blacklist"
    );
}

#[test]
fn a_neighbour_heard_to_repeat_our_request_leaves_the_blacklist() {
    let mut net = blacklisting(&profile("rfc"));
    // Node 2 repeats node 1's request with itself listed right behind the initiator: it heard the broadcast.
    hear(&mut net, 2, &packet(&Ip::broadcast(1, 9), &[request(5, 9, &[2])], &[]));
    assert_eq!(net.inspect(1).table("blacklist").count(), 0);
    // If another node stands between, nothing is proven.
    let mut net = blacklisting(&profile("rfc"));
    hear(&mut net, 2, &packet(&Ip::broadcast(1, 9), &[request(5, 9, &[3, 2])], &[]));
    assert_eq!(net.inspect(1).table("blacklist").count(), 1);
}

#[test]
fn a_neighbour_that_did_not_fail_for_a_while_is_trusted_again() {
    // "Probable" for 1 s, "questionable" until 3 s (section 4.6 leaves the times open).
    for (after, requests, probes) in [(0.5, 0, 0), (2.0, 0, 1), (3.5, 1, 0)] {
        let mut net = blacklisting(&profile("rfc"));
        net.run_until(at(1.007 + after));
        hear(&mut net, 2, &packet(&Ip::broadcast(0, 9), &[request(5, 9, &[2])], &[]));
        let sent = sent_with(&net, 1, RREQ);
        let is_probe = |s: &&(f64, std::net::Ipv4Addr, Vec<u8>)| s.1 == addr(2);
        assert_eq!(sent.iter().filter(is_probe).count(), probes, "after {after} s");
        assert_eq!(sent.len() - probes, requests, "after {after} s");
    }
}

#[test]
fn a_probe_that_is_not_answered_ends_the_request_that_caused_it() {
    let mut net = blacklisting(&profile("rfc"));
    net.run_until(at(3.0));
    hear(&mut net, 2, &packet(&Ip::broadcast(0, 9), &[request(5, 9, &[2])], &[]));
    net.run_until(at(10.0));
    let sent = sent_with(&net, 1, RREQ);
    assert_eq!(sent.len(), 1, "the probe");
    assert_eq!((sent[0].1, sent[0].2[8]), (addr(2), 1), "unicast, TTL 1");
    assert_eq!(option_of(&sent[0].2, RREQ).unwrap()[2..], addrs(&[2]), "asks the neighbour for itself");
    assert_eq!(net.inspect(1).held, [], "the request of before is gone");
    net.assert_conserved();
}

#[test]
fn the_initiator_unused_for_longest_leaves_the_request_table() {
    let mut net = isolated(9, &Params { request_table_size: 3, ..profile("rfc") });
    // Initiators 2, 3, 4, then 2 again, then 5: 3 is the one to go.
    for (k, from) in [2, 3, 4, 2, 5].into_iter().enumerate() {
        hear(&mut net, from, &packet(&Ip::broadcast(from, 9), &[request(k as u16, 8, &[])], &[]));
    }
    let tables = net.inspect(1);
    let known: Vec<_> = tables.table("request_ids").map(|r| r[0].1.clone()).collect();
    let mut known: Vec<_> = known.iter().map(|a| a.trim_start_matches("10.0.0.")).collect();
    known.sort_unstable();
    assert_eq!(known, ["3", "5", "6"], "10.0.0.3, .5 and .6 are nodes 2, 4 and 5");
    // What was forgotten is new again; what is kept is not.
    let before = sent_with(&net, 1, RREQ).len();
    hear(&mut net, 2, &packet(&Ip::broadcast(2, 9), &[request(0, 8, &[])], &[]));
    assert_eq!(sent_with(&net, 1, RREQ).len(), before);
    hear(&mut net, 3, &packet(&Ip::broadcast(3, 9), &[request(1, 8, &[])], &[]));
    assert_eq!(sent_with(&net, 1, RREQ).len(), before + 1);
}

#[test]
fn the_oldest_identification_of_an_initiator_is_forgotten_first() {
    let mut net = isolated(3, &Params { request_table_ids: 2, ..profile("rfc") });
    let mut ask = |id: u16| {
        let before = sent_with(&net, 1, RREQ).len();
        hear(&mut net, 0, &packet(&Ip::broadcast(0, 9), &[request(id, 9, &[])], &[]));
        sent_with(&net, 1, RREQ).len() > before
    };
    // First in, first out: 7 leaves when 9 comes, although 7 was asked again after 8.
    assert_eq!([7, 8, 7, 9, 8, 7].map(&mut ask), [true, true, false, true, false, true]);
}

#[test]
fn the_target_asked_for_least_lately_leaves_the_request_table() {
    let mut net = net(2, &Params { request_table_size: 2, ..profile("rfc") });
    for (t, to) in [(1.0, 5), (1.1, 6), (1.2, 7)] {
        net.send_at(at(t), 0, to, 1);
    }
    net.run_until(at(1.21));
    let tables = net.inspect(0);
    let known: Vec<_> = tables.table("request_targets").map(|r| r[0].1.clone()).collect();
    assert_eq!(known.len(), 2);
    assert!(!known.contains(&addr(5).to_string()), "{known:?}");
    let latest = tables.table("request_targets").find(|r| r[0].1 == addr(7).to_string()).unwrap();
    assert_eq!(latest[2].0, "age_s");
    let age: f64 = latest[2].1.parse().unwrap();
    assert!((0.0..=0.01).contains(&age), "{age} s since the request of 1.2 s, at 1.21 s");
}

#[test]
fn nobody_asks_for_a_route_that_no_packet_waits_for() {
    let mut net = net(2, &Params { send_buffer_timeout_s: 3, ..profile("rfc") });
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(60.0));
    let last = sent_with(&net, 0, RREQ).last().unwrap().0;
    assert!(last < 4.0, "{last}: the packet was gone after 4 s");
    assert_eq!(reasons(&net), [DropReason::BufferTimeout]);
}

#[test]
fn every_step_of_a_discovery_is_sent_once() {
    let mut net = net(3, &profile("rfc"));
    net.line();
    net.send_at(at(1.0), 0, 2, 1);
    net.run_until(at(5.0));
    // Section 8.2.1: neither acknowledged nor repeated; the two requests differ in their identification.
    for n in [0, 1] {
        let sent = sent_with(&net, n, RREQ);
        assert!(sent.iter().all(|s| s.1 == wayhop_core::BROADCAST));
        let mut ids: Vec<_> = sent.iter().map(|s| option_of(&s.2, RREQ).unwrap()[..2].to_vec()).collect();
        let all = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), all, "node {n}");
    }
    assert!(sent_with(&net, 0, RREQ).iter().all(|s| option_of(&s.2, SOURCE_ROUTE).is_none()));
    assert!(sent_with(&net, 0, RREQ).iter().all(|s| option_of(&s.2, 160).is_none()), "no Ack Request");
}

#[test]
fn requests_and_targets_replies_wait_a_random_time_up_to_the_broadcast_jitter() {
    // Uniform from 0 to 10 ms (sections 8.2.2 and 8.2.4), to which the testkit's queue adds nothing.
    for (target, kind) in [(9, RREQ), (1, RREP)] {
        let mut waits = Vec::new();
        for id in 0..200u16 {
            let mut net = net(3, &profile("rfc"));
            net.config.seed = u64::from(id);
            net.up(0, 1);
            net.run_until(at(1.0));
            hear(&mut net, 0, &packet(&Ip::broadcast(0, 9), &[request(id, target, &[])], &[]));
            waits.push(sent_with(&net, 1, kind)[0].0 - 1.0);
        }
        assert!(waits.iter().all(|w| (0.0..=0.010).contains(w)));
        // The mean of 200 such draws is 5 ms with a standard error of 0.2 ms.
        let mean = waits.iter().sum::<f64>() / 200.0;
        assert!((mean - 0.005).abs() < 0.001, "{mean}");
        assert!(waits.iter().any(|w| *w < 0.001) && waits.iter().any(|w| *w > 0.009));
    }
}

#[test]
fn an_answered_request_sends_its_data_on_by_the_cached_route() {
    let mut net = full_mesh(6, &profile("rfc"));
    teach(&mut net, 1, &[2, 3]);
    hear(&mut net, 0, &packet(&Ip { id: 9, ..Ip::broadcast(0, 9) }, &[request(5, 3, &[])], &UDP));
    let (_, to, p) = sent_with(&net, 1, SOURCE_ROUTE)
        .into_iter()
        .find(|s| option_of(&s.2, RREP).is_none())
        .expect("the data went on");
    assert_eq!(to, addr(2));
    assert_eq!(p[12..20], addrs(&[0, 3]), "IP source stays, IP destination is the target");
    // Section 8.2.3: Address[1] is this node, F = 0, Salvage is MAX_SALVAGE_COUNT; node 2 is the next of two listed.
    assert_eq!(
        option_of(&p, SOURCE_ROUTE).unwrap(),
        [vec![15 >> 2, (15 & 3) << 6 | 1], addrs(&[1, 2])].concat()
    );
    assert_eq!(option_of(&p, RREQ), None);
    assert_eq!(sent_with(&net, 1, RREQ).len(), 0, "not propagated");
    net.run_for(Span::from_millis(50));
    assert_eq!(delivered_at(&net, 3).len(), 1);
    net.assert_conserved();
}

#[test]
fn an_answered_request_sends_options_for_the_target_on_but_not_errors() {
    for (more, sent_on) in [(reply(&[5, 0]), true), (error(0, 7, 0, 8), false)] {
        let mut net = full_mesh(6, &profile("rfc"));
        teach(&mut net, 1, &[2, 3]);
        hear(&mut net, 0, &packet(&Ip::broadcast(0, 9), &[more.clone(), request(5, 3, &[])], &[]));
        let on = net.sent_by(1).filter(|s| s.2[16..20] == addr(3).octets()).count();
        assert_eq!(on > 0, sent_on, "{more:?}");
        net.assert_conserved();
    }
}

#[test]
fn a_request_of_a_packet_with_an_error_teaches_the_error_first() {
    let mut net = isolated(6, &profile("rfc"));
    teach(&mut net, 1, &[2, 3]);
    hear(&mut net, 0, &packet(&Ip::broadcast(0, 9), &[error(0, 2, 0, 3), request(5, 3, &[])], &[]));
    assert_eq!(sent_with(&net, 1, RREP).len(), 0);
    assert_eq!(sent_with(&net, 1, RERR).len(), 1, "the request travels on with its error");
}
