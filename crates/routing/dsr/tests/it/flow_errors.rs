//! Errors about flows, hop by hop to the source: RFC 4728 sections 3.5.4, 3.5.5 and 8.6.3.

use crate::common::flow::{TIMEOUT, announcement, data, line, on_flow, params};
use crate::common::{
    Ip, RERR, RREQ, SOURCE_ROUTE, addrs, at, line_of, net, option, option_of, packet, sent_with,
};
use wayhop_core::{DropReason, Span};
use wayhop_dsr::Engine;
use wayhop_testkit::addr;

#[test]
fn an_error_about_a_flow_goes_back_over_the_flows_previous_hops() {
    let mut net = line(5, &params(), 5);
    net.stop(3);
    net.restart(3, Box::new(Engine::new(params())));
    net.send_at(at(2.0), 0, 4, 1);
    net.run_until(at(2.1));
    for (n, previous, ttl) in [(3, 2, 255), (2, 1, 254), (1, 0, 253)] {
        let sent = sent_with(&net, n, RERR);
        assert_eq!(sent.len(), 1, "node {n}");
        let (_, to, p) = &sent[0];
        assert_eq!((*to, p[8]), (addr(previous), ttl), "node {n}");
        assert_eq!(option_of(p, RERR).unwrap(), [vec![130, 0], addrs(&[3, 0, 4])].concat());
        assert_eq!(option_of(p, SOURCE_ROUTE), None, "the flow shows the way");
    }
    net.send_at(at(2.2), 0, 4, 1);
    net.run_until(at(2.3));
    let announced = data(&net, 0).pop().unwrap();
    assert!(option_of(&announced, TIMEOUT).is_some(), "not established end-to-end any more");
    assert_eq!(*net.delivered(1).last().unwrap(), 6);
    net.assert_conserved();
}

#[test]
fn an_error_that_does_not_reach_the_previous_hop_is_sent_by_a_route() {
    let mut net = net(4, &params());
    net.line();
    net.down(1, 2);
    net.run_until(at(1.0));
    net.inject(2, addr(1), false, &on_flow(Some((1, 9)), &Ip::new(0, 3)));
    net.run_until(at(1.2));
    assert_eq!(sent_with(&net, 2, RERR)[0].1, addr(1), "first the neighbour that sent the packet");
    let asked = sent_with(&net, 2, RREQ);
    assert!(!asked.is_empty(), "then a route is looked for, as for any packet of its own");
    assert_eq!(option_of(&asked[0].2, RREQ).unwrap()[2..6], addrs(&[0]));
    net.assert_conserved();
}

#[test]
fn a_forwarded_error_whose_previous_hop_is_gone_ends() {
    let mut net = line(5, &params(), 5);
    net.down(0, 1);
    let error = packet(&Ip::new(3, 0), &[option(RERR, &[vec![130, 0], addrs(&[3, 0, 4])].concat())], &[]);
    net.inject(1, addr(2), false, &error);
    net.run_for(Span::from_millis(50));
    assert_eq!(net.drops().last().unwrap().1, DropReason::MacRetries);
    net.assert_conserved();
}

#[test]
fn an_error_about_a_flow_that_a_forwarder_does_not_know_ends_there() {
    let mut net = line_of(3, &params());
    net.inject(1, addr(0), false, &announcement(5, &[1], 2));
    net.run_until(at(1.1));
    let error = |kind: u8, id: &[u8]| {
        let e = option(RERR, &[vec![kind, 0], addrs(&[2, 0, 2]), id.to_vec()].concat());
        packet(&Ip::new(2, 0), &[e], &[])
    };
    net.inject(1, addr(2), false, &error(129, &[0, 5]));
    net.run_for(Span::from_millis(5));
    assert_eq!(sent_with(&net, 1, RERR).len(), 1, "flow 5 is known");
    net.inject(1, addr(2), false, &error(129, &[0, 7]));
    net.run_for(Span::from_millis(5));
    assert_eq!(sent_with(&net, 1, RERR).len(), 1);
    assert_eq!(net.drops().last().unwrap().1, DropReason::NoRoute);
    net.assert_conserved();
}

#[test]
fn an_unknown_flow_error_is_for_its_destination_alone() {
    let mut net = line(4, &params(), 5);
    // An error about the flow that is told to node 2 does not concern node 0.
    let error = |to: usize| {
        packet(&Ip::new(2, to), &[option(RERR, &[vec![130, 0], addrs(&[2, to, 3])].concat())], &[])
    };
    net.inject(0, addr(1), false, &error(2));
    net.send_at(at(2.0), 0, 3, 1);
    net.run_until(at(2.1));
    assert_eq!(data(&net, 0).pop().unwrap()[9], 17, "still established");
    net.inject(0, addr(1), false, &error(0));
    net.send_at(at(2.2), 0, 3, 1);
    net.run_until(at(2.3));
    assert!(option_of(&data(&net, 0).pop().unwrap(), TIMEOUT).is_some());
}
