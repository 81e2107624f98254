//! Automatic route shortening of flows: RFC 4728 sections 3.5.6, 5.2, 8.6.3 and 8.6.5.

use crate::common::flow::{chain, data, line, params};
use crate::common::{RREP, SOURCE_ROUTE, addrs, at, option_of, sent_with};
use wayhop_dsr::Params;
use wayhop_testkit::addr;

/// The Route Replies that a node sent, as their route's octets behind the L bit, with the neighbour that each went to.
fn replies(net: &wayhop_testkit::Net, n: usize) -> Vec<(std::net::Ipv4Addr, Vec<u8>)> {
    sent_with(net, n, RREP)
        .into_iter()
        .map(|(_, to, p)| (to, option_of(&p, RREP).unwrap()[1..].to_vec()))
        .collect()
}

#[test]
fn a_plain_packet_that_skipped_a_hop_is_told_to_its_source_by_its_ttl() {
    let mut net = chain(&params(), 5);
    net.up(0, 2);
    net.send_at(at(2.0), 0, 3, 1);
    net.run_until(at(2.1));
    assert_eq!(data(&net, 0)[5][9], 17, "no header shows the route");
    // Node 2 heard the packet from node 0, and got it from node 1: the hop that precedes it is left out.
    assert_eq!(replies(&net, 2), [(addr(0), addrs(&[2, 3]))]);
    net.send_at(at(2.2), 0, 3, 1);
    net.run_until(at(2.3));
    let next = data(&net, 0).pop().unwrap();
    assert_eq!(
        option_of(&next, SOURCE_ROUTE).unwrap()[2..],
        addrs(&[2]),
        "a new flow along the shorter route"
    );
    net.assert_conserved();
}

#[test]
fn a_packet_with_a_flow_state_header_is_told_by_its_hop_count() {
    let mut net = line(5, &params(), 5);
    net.up(1, 3);
    // Another TTL than the flow's: the packet needs a header.
    net.config.ttl = 40;
    net.send_at(at(2.0), 0, 4, 1);
    net.run_until(at(2.1));
    let p = data(&net, 1).pop().unwrap();
    assert_eq!((p[9], p[20], p[21]), (48, 17, 0x81));
    assert_eq!(replies(&net, 3), [(addr(1), addrs(&[1, 3, 4]))], "back over the hops that it came by");
    net.assert_conserved();
}

#[test]
fn all_hops_skipped_are_left_out() {
    let mut net = line(5, &params(), 5);
    net.up(0, 3);
    net.send_at(at(2.0), 0, 4, 1);
    net.run_until(at(2.1));
    assert_eq!(replies(&net, 3), [(addr(0), addrs(&[3, 4]))]);
}

#[test]
fn the_destination_shortens_too() {
    let mut net = chain(&params(), 5);
    net.up(1, 3);
    net.send_at(at(2.0), 0, 3, 1);
    net.run_until(at(2.1));
    assert_eq!(replies(&net, 3), [(addr(1), addrs(&[1, 3]))]);
    assert_eq!(*net.delivered(1).last().unwrap(), 5, "the overheard copy is not delivered");
    assert_eq!(net.delivered(1).len(), 6);
}

#[test]
fn a_packet_overheard_from_a_node_behind_says_nothing() {
    // Node 1 overhears each packet that node 2 sends to node 3.
    let net = chain(&params(), 8);
    assert!(net.notes("gratuitous_reply").is_empty());
}

#[test]
fn a_source_is_told_of_one_shortcut_once_a_second() {
    let mut net = chain(&params(), 5);
    net.up(0, 2);
    // Node 0 never hears of it, so it goes on as before.
    net.set_link(2, 0, wayhop_testkit::Link::DOWN);
    net.send_every(at(2.0), wayhop_core::Span::from_millis(100), 12, 0, 3, 1);
    net.run_until(at(3.3));
    let told: Vec<_> = net.notes("gratuitous_reply").iter().map(|(n, _)| n.0).collect();
    assert_eq!(told, [2, 2], "GratReplyHoldoff");
}

#[test]
fn shortening_can_be_turned_off() {
    let mut net = chain(&Params { flow_shortening: false, ..params() }, 5);
    net.up(0, 2);
    net.send_at(at(2.0), 0, 3, 1);
    net.run_until(at(2.1));
    assert!(net.notes("gratuitous_reply").is_empty());
}
