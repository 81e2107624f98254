//! Options of the flow state extension, and identifiers and lifetimes of flows: RFC 4728 sections 3.5.1 to 3.5.4, 3.5.9,
//! 7.2 and 8.6.

use crate::common::flow::{
    FLOW_ID, TIMEOUT, announcement, chain, change, data, line, on_flow, params, with_flow_header,
};
use crate::common::{
    Ip, RERR, SOURCE_ROUTE, UDP, addrs, at, delivered_at, line_of, option, option_of, options, packet,
    sent_with, source_route,
};
use wayhop_core::{DropReason, Span};
use wayhop_dsr::Params;
use wayhop_testkit::{Net, addr};

/// Five nodes in a line, and flows of node 0: flow 6 to node 2, flow 8 to node 4.
fn two_flows() -> Net {
    let mut net = line_of(5, &params());
    net.inject(1, addr(0), false, &announcement(6, &[1], 2));
    net.inject(1, addr(0), false, &announcement(8, &[1, 2, 3], 4));
    net.run_until(at(1.1));
    net
}

/// A packet on flow 6 to node 2 with these options.
fn on_flow_6(opts: &[Vec<u8>]) -> Vec<u8> {
    with_flow_header(packet(&Ip::new(0, 2), opts, &UDP), 0, 6)
}

fn last_sent(net: &Net, n: usize) -> Vec<u8> {
    net.sent_by(n).last().unwrap().2.to_vec()
}

#[test]
fn a_packet_changes_flows_where_its_option_says() {
    let mut net = two_flows();
    net.inject(1, addr(0), false, &on_flow_6(&[change(8, 4)]));
    net.run_for(Span::from_millis(20));
    let at_node_1 = last_sent(&net, 1);
    assert_eq!(at_node_1[20..24], [48, 0x81, 0, 6], "still flow 6, and options behind it");
    assert_eq!(options(&at_node_1), [(FLOW_ID, [vec![0, 8], addrs(&[4])].concat())]);
    let at_node_2 = last_sent(&net, 2);
    assert_eq!(at_node_2[16..20], addrs(&[4]), "the new destination");
    assert_eq!(at_node_2[20..24], [17, 0x82, 0, 8], "the new flow, and no option left");
    assert_eq!(delivered_at(&net, 4).len(), 2, "the announcement and the packet");
    net.assert_conserved();
}

#[test]
fn a_change_to_an_unknown_flow_is_reported_with_the_new_destination() {
    let mut net = two_flows();
    net.inject(2, addr(1), false, &on_flow_6(&[change(10, 4)]));
    net.run_for(Span::from_millis(20));
    let e = sent_with(&net, 2, RERR).pop().unwrap();
    assert_eq!(option_of(&e.2, RERR).unwrap(), [vec![129, 0], addrs(&[2, 0, 4]), vec![0, 10]].concat());
}

#[test]
fn a_change_to_no_node_or_round_and_round_ends_the_packet() {
    let mut net = two_flows();
    let group = option(FLOW_ID, &[0, 8, 224, 0, 0, 1]);
    for opts in [vec![group], vec![change(6, 2); 200]] {
        net.inject(2, addr(1), false, &on_flow_6(&opts));
        net.run_for(Span::from_millis(5));
        assert_eq!(net.drops().pop().unwrap().1, DropReason::Malformed);
    }
    net.assert_conserved();
}

#[test]
fn options_for_one_hop_end_there_and_others_go_on_with_the_packet() {
    let mut net = two_flows();
    // An acknowledgement of others, and an option of type 31, which is to be ignored.
    let ack = option(32, &[vec![0, 1], addrs(&[0, 1])].concat());
    net.inject(1, addr(0), false, &on_flow_6(&[ack.clone(), option(31, &[1, 2])]));
    net.run_for(Span::from_millis(5));
    assert_eq!(options(&last_sent(&net, 1)), [(31, vec![1, 2])]);
    net.inject(1, addr(0), false, &on_flow_6(&[ack]));
    net.run_for(Span::from_millis(5));
    assert_eq!(last_sent(&net, 1)[20..24], [17, 0x81, 0, 6], "no empty header");
}

#[test]
fn an_even_identifier_makes_no_default_flow() {
    let mut net = two_flows();
    net.inject(1, addr(0), false, &on_flow(None, &Ip::new(0, 4)));
    net.run_for(Span::from_millis(20));
    let e = sent_with(&net, 1, RERR).pop().unwrap();
    assert_eq!(option_of(&e.2, RERR).unwrap()[0], 130);
}

#[test]
fn a_flow_needs_a_timeout_before_its_route_and_an_identifier_other_than_zero() {
    let mut net = line_of(3, &params());
    let timeout = option(TIMEOUT, &[0, 60]);
    let route = source_route(0, 0, 1, &[1]);
    for (id, opts) in [
        (5, vec![route.clone(), timeout.clone()]),
        (5, vec![route.clone()]),
        (0, vec![timeout.clone(), route.clone()]),
    ] {
        net.inject(1, addr(0), false, &with_flow_header(packet(&Ip::new(0, 2), &opts, &UDP), 0, id));
        net.run_for(Span::from_millis(5));
        assert_eq!(net.inspect(1).table("flows").count(), 0);
    }
    assert_eq!(net.sent_by(1).count(), 3, "they are forwarded all the same");
    net.inject(1, addr(0), false, &with_flow_header(packet(&Ip::new(0, 2), &[timeout, route], &UDP), 0, 5));
    net.run_for(Span::from_millis(5));
    assert_eq!(net.inspect(1).table("flows").count(), 1);
}

#[test]
fn two_timeouts_in_one_header_are_malformed() {
    let mut net = line_of(3, &params());
    let opts = [option(TIMEOUT, &[0, 60]), option(TIMEOUT, &[0, 61]), source_route(0, 0, 1, &[1])];
    net.inject(1, addr(0), false, &with_flow_header(packet(&Ip::new(0, 2), &opts, &UDP), 0, 5));
    net.run_for(Span::from_millis(5));
    assert_eq!(net.drops().pop().unwrap().1, DropReason::Malformed);
}

#[test]
fn a_forwarder_keeps_a_flow_no_longer_than_the_timeout_option_says() {
    let mut net = line_of(3, &params());
    let opts = [option(TIMEOUT, &[0, 3]), source_route(0, 0, 1, &[1])];
    net.inject(1, addr(0), false, &with_flow_header(packet(&Ip::new(0, 2), &opts, &UDP), 0, 5));
    net.run_until(at(3.9));
    assert_eq!(net.inspect(1).table("flows").count(), 1);
    // A packet of the flow does not put its end off.
    net.inject(1, addr(0), false, &on_flow(Some((0, 5)), &Ip::new(0, 2)));
    net.run_until(at(4.1));
    assert_eq!(net.inspect(1).table("flows").count(), 0);
}

#[test]
fn a_flow_announced_with_another_ttl_is_not_used_without_a_header() {
    let mut net = chain(&params(), 1);
    net.config.ttl = 40;
    net.send_at(at(1.3), 0, 3, 1);
    net.run_until(at(1.4));
    net.config.ttl = 64;
    net.send_every(at(1.5), Span::from_millis(100), 3, 0, 3, 1);
    net.run_until(at(1.9));
    let last = data(&net, 0).pop().unwrap();
    assert_eq!((last[9], last[20], last[21]), (48, 17, 0x80), "a Flow State header and no options");
    assert_eq!(net.delivered(1).len(), 5);
}

#[test]
fn a_packet_with_another_ttl_than_its_default_flow_carries_a_header() {
    let mut net = chain(&params(), 5);
    net.config.ttl = 40;
    net.send_at(at(2.0), 0, 3, 1);
    net.run_until(at(2.1));
    let p = data(&net, 0).pop().unwrap();
    assert_eq!((p[8], p[9], p[20], p[21]), (40, 48, 17, 0x80));
    assert_eq!(*net.delivered(1).last().unwrap(), 5);
}

#[test]
fn a_used_flow_ends_with_its_timeout_and_the_next_has_a_greater_identifier() {
    let ids = |extended: bool| {
        let p = Params { flow_timeout_s: 2, flow_announce_ms: 100_000, ..params() };
        let net = line(3, &Params { flow_extended_by_use: extended, ..p }, 50);
        assert_eq!(net.delivered(1).len(), 50);
        let mut ids: Vec<u16> = data(&net, 0)
            .iter()
            .filter(|p| option_of(p, TIMEOUT).is_some())
            .map(|p| u16::from_be_bytes([p[22], p[23]]))
            .collect();
        ids.dedup();
        ids
    };
    let strict = ids(false);
    assert_eq!(strict.len(), 3, "5 s of packets, flows of 2 s from the third announcement on");
    assert!(strict.windows(2).all(|w| w[1] == w[0].wrapping_add(2)), "odd, and each greater: {strict:?}");
    assert_eq!(ids(true).len(), 1);
}

#[test]
fn a_node_that_waits_after_its_start_uses_source_routes_meanwhile() {
    let p = Params { flow_recovery_wait_s: 2, ..params() };
    let net = chain(&p, 20);
    assert_eq!(net.delivered(1).len(), 20);
    let sent = data(&net, 0);
    assert!(sent[..9].iter().all(|p| p[21] & 0x80 == 0 && option_of(p, SOURCE_ROUTE).is_some()));
    assert!(sent[9..].iter().any(|p| option_of(p, TIMEOUT).is_some()), "from 2.0 s on");
}
