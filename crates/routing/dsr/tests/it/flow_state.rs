//! Flow state: RFC 4728 sections 3.5, 5.1, 5.3, 7 and 8.6.

use crate::common::flow::{TIMEOUT, chain, data, on_flow, params, with_flow_header};
use crate::common::{
    Ip, RERR, SOURCE_ROUTE, UDP, addrs, at, delivered_at, line_of, net, option, option_of, packet, profile,
    reasons, sent_with, source_route, teach,
};
use wayhop_core::{DropReason, Span};
use wayhop_dsr::Params;
use wayhop_testkit::{Net, addr};

#[test]
fn three_packets_announce_a_flow_and_the_others_travel_without_any_header() {
    let net = chain(&params(), 6);
    assert_eq!(net.delivered(1), [0, 1, 2, 3, 4, 5]);
    let sent = data(&net, 0);
    let id = [sent[0][22], sent[0][23]];
    assert_eq!(id[1] & 1, 1, "a default flow has an odd identifier");
    for p in &sent[..3] {
        // Flow State header: Next Header DSR, F and Hop Count 0, the flow; then the Options header with Timeout 60 s and
        // the Source Route (figures 7.1, 7.2.1 and 6.7).
        let expected = [
            &[48, 0x80, id[0], id[1], 17, 0, 0, 16, TIMEOUT, 2, 0, 60, SOURCE_ROUTE, 10, 0, 2][..],
            &addrs(&[1, 2]),
        ]
        .concat();
        assert_eq!(p[20..44], expected);
    }
    for p in &sent[3..] {
        assert_eq!((p[9], p.len()), (17, 20 + 8 + 64), "plain UDP over IP");
    }
    // Forwarders count hops, and forward the plain packets by the default flow.
    let forwarded = data(&net, 1);
    assert_eq!(forwarded[0][21], 0x81);
    assert_eq!(forwarded[5][9], 17);
    assert_eq!(delivered_at(&net, 3).iter().map(|p| p[9]).collect::<Vec<_>>(), [17; 6]);
    net.assert_conserved();
}

#[test]
fn a_flow_is_announced_again_after_five_seconds() {
    let net = chain(&params(), 60);
    let announced: Vec<_> = data(&net, 0)
        .iter()
        .enumerate()
        .filter(|(_, p)| option_of(p, TIMEOUT).is_some())
        .map(|(i, _)| i)
        .collect();
    // Packet 2 at 1.3 s; more than 5 s later is packet 53 at 6.4 s.
    assert_eq!(announced, [0, 1, 2, 53]);
}

#[test]
fn the_flow_tables_show_the_flow_at_every_forwarder() {
    let net = chain(&params(), 6);
    for (n, hop, next) in [(0, "0", "10.0.0.2"), (1, "1", "10.0.0.3"), (2, "2", "10.0.0.4")] {
        let t = net.inspect(n);
        let cell = |c| t.cell("flows", "source", "10.0.0.1", c).map(str::to_owned);
        assert_eq!(cell("hop_count").as_deref(), Some(hop));
        assert_eq!(cell("next_hop").as_deref(), Some(next));
        assert_eq!(cell("default").as_deref(), Some("true"));
    }
    // The destination forwards nothing; it knows the flow for shortening it.
    let at_the_end = net.inspect(3);
    assert_eq!(at_the_end.cell("flows", "source", "10.0.0.1", "hop_count"), Some("3"));
    assert_eq!(at_the_end.cell("flows", "source", "10.0.0.1", "next_hop"), Some("-"));
}

#[test]
fn a_broken_link_ends_the_flow_and_the_source_is_told_of_a_plain_packet_too() {
    let mut net = chain(&params(), 6);
    net.down(2, 3);
    net.send_at(at(2.0), 0, 3, 1);
    net.run_until(at(2.02));
    let errors = sent_with(&net, 2, RERR);
    assert_eq!(errors.len(), 1);
    // Node 2 knows the way back from the flow's route.
    assert_eq!(errors[0].1, addr(1));
    assert_eq!(option_of(&errors[0].2, RERR).unwrap(), [vec![1, 0], addrs(&[2, 0, 3])].concat());
    assert_eq!(net.inspect(0).table("flows").count(), 0);
    net.assert_conserved();
}

#[test]
fn a_plain_packet_is_salvaged_with_a_source_route() {
    let mut net = net(6, &params());
    net.line();
    net.down(3, 4);
    net.down(4, 5);
    net.run_until(at(1.0));
    teach(&mut net, 0, &[1, 2, 3]);
    net.send_every(at(1.1), Span::from_millis(100), 5, 0, 3, 1);
    net.run_until(at(1.8));
    net.up(2, 4);
    net.up(4, 3);
    net.down(2, 3);
    teach(&mut net, 2, &[4, 3]);
    net.send_at(at(2.0), 0, 3, 1);
    net.run_until(at(2.5));
    assert_eq!(net.delivered(1), [0, 1, 2, 3, 4, 5]);
    let salvaged = data(&net, 2)
        .into_iter()
        .find(|p| option_of(p, SOURCE_ROUTE).is_some_and(|o| o[1] & 0xc0 != 0))
        .unwrap();
    assert_eq!(salvaged[21] & 0x80, 0, "no Flow State header (section 8.6.7)");
    assert_eq!(option_of(&salvaged, SOURCE_ROUTE).unwrap(), [vec![0, 0x41], addrs(&[2, 4])].concat());
    assert_eq!(option_of(&salvaged, TIMEOUT), None);
}

#[test]
fn an_unknown_flow_is_reported_and_announced_again() {
    for name in ["rfc", "ns2"] {
        let p = Params { flow_state: true, ..profile(name) };
        let mut net = chain(&p, 6);
        net.stop(1);
        net.restart(1, Box::new(wayhop_dsr::Engine::new(p.clone())));
        net.send_at(at(2.0), 0, 3, 1);
        net.send_at(at(3.0), 0, 3, 1);
        net.run_until(at(4.0));
        let errors = sent_with(&net, 1, RERR);
        assert_eq!(errors.len(), 1, "{name}");
        // DEFAULT_FLOW_UNKNOWN (130) with the original destination (figure 7.3.2).
        assert_eq!(
            option_of(&errors[0].2, RERR).unwrap(),
            [vec![130, 0], addrs(&[1, 0, 3])].concat(),
            "{name}"
        );
        let last = data(&net, 0).pop().unwrap();
        assert!(option_of(&last, TIMEOUT).is_some(), "{name}: announced again");
        assert_eq!(*net.delivered(1).last().unwrap(), 7, "{name}");
        net.assert_conserved();
    }
}

#[test]
fn a_flow_that_is_not_the_default_needs_a_header() {
    let mut net = line_of(5, &params());
    // Two flows of node 0 to node 3 through node 1, then a packet of the first, which is not the default any more.
    for id in [3u8, 5] {
        let announce =
            packet(&Ip::new(0, 3), &[option(TIMEOUT, &[0, 60]), source_route(0, 0, 2, &[1, 2])], &UDP);
        net.inject(1, addr(0), false, &with_flow_header(announce, 0, id));
    }
    net.run_until(at(1.1));
    let bare = |state, ttl| on_flow(state, &Ip { ttl, ..Ip::new(0, 3) });
    net.inject(1, addr(0), false, &bare(Some((0, 3)), 60));
    net.run_for(Span::from_millis(5));
    let p = net.sent_by(1).last().unwrap().2.to_vec();
    assert_eq!(p[20..24], [17, 0x81, 0, 3], "Next Header UDP, Hop Count 1, flow 3");
    // The default flow with the expected TTL needs none; with a higher TTL it gets one (section 8.6.3).
    net.inject(1, addr(0), false, &bare(None, 60));
    net.run_for(Span::from_millis(5));
    assert_eq!(net.sent_by(1).last().unwrap().2[9], 17);
    net.inject(1, addr(0), false, &bare(None, 61));
    net.run_for(Span::from_millis(5));
    assert_eq!(net.sent_by(1).last().unwrap().2[20..24], [17, 0x81, 0, 5]);
    // A lower TTL is the sign of a loop (section 3.5.7); an unknown flow is unknown.
    for (p, kind) in [(bare(None, 59), 130), (bare(Some((0, 9)), 60), 129)] {
        net.inject(1, addr(0), false, &p);
        net.run_for(Span::from_millis(100));
        let e = sent_with(&net, 1, RERR).pop().unwrap();
        assert_eq!(option_of(&e.2, RERR).unwrap()[0], kind);
    }
}

#[test]
fn an_expired_flow_is_unknown() {
    let p = Params { flow_timeout_s: 2, ..params() };
    let mut net = chain(&p, 6);
    net.run_until(at(5.0));
    assert_eq!(net.inspect(1).table("flows").count(), 0);
    net.send_at(at(6.0), 0, 3, 1);
    net.run_until(at(7.0));
    assert_eq!(*net.delivered(1).last().unwrap(), 6, "the source announces a new one");
    assert_eq!(net.notes("flow_unknown").len(), 0);
}

#[test]
fn a_node_without_flow_state_says_so_and_is_served_with_source_routes() {
    let mut net = Net::new(4, |n| {
        let p = if n.0 == 1 { profile("rfc") } else { params() };
        Box::new(wayhop_dsr::Engine::new(p))
    });
    net.line();
    net.run_until(at(1.0));
    teach(&mut net, 0, &[1, 2, 3]);
    net.send_every(at(1.1), Span::from_millis(100), 4, 0, 3, 1);
    net.run_until(at(2.0));
    let errors = sent_with(&net, 1, RERR);
    assert_eq!(
        option_of(&errors[0].2, RERR).unwrap(),
        [vec![2, 0], addrs(&[1, 0])].concat(),
        "FLOW_STATE_NOT_SUPPORTED"
    );
    assert_eq!(net.delivered(1), [1, 2, 3]);
    assert_eq!(reasons(&net), [DropReason::Policy]);
    assert_eq!(data(&net, 0)[3][21] & 0x80, 0);
}
