//! Gateways: proxy replies, packets in both directions, and the effects of a gateway's end (RFC
//! 4728 sections 4.1, 6.3, 6.7, 8.2.2 and 8.3; Maltz, Broch and Johnson 1999, section 6.1).

use std::net::Ipv4Addr;

use crate::common::{
    Ip, RERR, RREP, RREQ, SOURCE_ROUTE, addrs, at, delivered_at, line_of, linked, net, option_of, packet,
    profile, reasons, reply, request, sent_with,
};
use wayhop_core::{Command, Outside, Prefix, Span};
use wayhop_dsr::{Maintenance, Params};
use wayhop_testkit::{Net, addr};

const F: u8 = 0x80;
const L: u8 = 0x40;
const OUT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);

/// Tells every node which addresses are the mesh's, and these that they lead to everything else.
fn outside(net: &mut Net, nodes: usize, mesh_bits: u8, gateways: &[usize]) {
    for n in 0..nodes {
        let reaches =
            if gateways.contains(&n) { vec![Prefix::around(Ipv4Addr::UNSPECIFIED, 0)] } else { vec![] };
        let what = Outside { mesh: Prefix::around(addr(0), mesh_bits), reaches };
        net.command(n, &Command::SetOutside(what)).unwrap();
    }
}

/// A line of nodes, the last of which is a gateway.
fn line(n: usize, params: &Params) -> Net {
    let mut net = line_of(n, params);
    outside(&mut net, n, 24, &[n - 1]);
    net
}

/// The octets of the addresses of these nodes, and of one outside.
fn to_out(nodes: &[usize]) -> Vec<u8> {
    [addrs(nodes), OUT.octets().to_vec()].concat()
}

/// The source routes of the data that a node sent: flags and Segments Left, then addresses.
fn routes(net: &Net, n: usize) -> Vec<Vec<u8>> {
    let data = sent_with(net, n, SOURCE_ROUTE)
        .into_iter()
        .filter(|(_, _, p)| option_of(p, RREP).is_none() && option_of(p, RERR).is_none());
    data.filter_map(|(_, _, p)| option_of(&p, SOURCE_ROUTE)).collect()
}

#[test]
fn a_gateway_answers_for_the_outside_as_last_but_one_and_the_packet_leaves_there_as_it_came() {
    let mut net = line(3, &profile("rfc"));
    net.send_to(0, OUT, 1);
    net.run_for(Span::from_secs(2));
    let replies = sent_with(&net, 2, RREP);
    assert_eq!(
        option_of(&replies[0].2, RREP).unwrap(),
        [vec![0x80], to_out(&[1, 2])].concat(),
        "L; 1, 2, outside"
    );
    assert_eq!(routes(&net, 0), [[vec![L, 2], addrs(&[1, 2])].concat()]);
    let got = delivered_at(&net, 2);
    assert_eq!(got.len(), 1);
    assert_eq!(got[0][9], 17, "UDP, without a DSR header");
    assert_eq!(got[0][16..20], OUT.octets());
    let sent_ttl = net.config.ttl;
    // Node 1 counted it down; the gateway's host will, for the hop that leaves.
    assert_eq!(got[0][8], sent_ttl - 1);
    net.assert_conserved();
}

#[test]
fn a_packet_from_outside_lists_the_gateway_as_visited_and_teaches_the_way_back() {
    let mut net = line(3, &profile("rfc"));
    net.enter(2, OUT, 0, 1);
    net.run_for(Span::from_secs(2));
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(
        routes(&net, 2),
        [[vec![F, 1], addrs(&[2, 1])].concat()],
        "section 6.7: F, and Address[1] is the gateway"
    );
    // Everybody on the way knows the way out now, and nobody asks.
    let before = sent_with(&net, 0, RREQ).len();
    net.send_to(0, OUT, 2);
    net.run_for(Span::from_secs(1));
    assert_eq!(net.delivered(2), [0]);
    assert_eq!(sent_with(&net, 0, RREQ).len(), before);
    assert_eq!(routes(&net, 0), [[vec![L, 2], addrs(&[1, 2])].concat()]);
    net.assert_conserved();
}

#[test]
fn a_neighbour_of_the_gateway_gets_a_source_route_too_and_answers_by_it() {
    let mut net = line(2, &profile("rfc"));
    net.enter(1, OUT, 0, 1);
    net.run_for(Span::from_secs(1));
    assert_eq!(routes(&net, 1), [[vec![F, 0], addrs(&[1])].concat()]);
    net.send_to(0, OUT, 2);
    net.run_for(Span::from_secs(1));
    assert_eq!((net.delivered(1), net.delivered(2)), (vec![0], vec![0]));
    assert!(sent_with(&net, 0, RREQ).is_empty());
}

#[test]
fn no_gateway_answers_for_the_mesh_and_a_false_proxy_reply_for_it_is_not_believed() {
    let mut net = line(3, &profile("rfc"));
    let asked = packet(&Ip::broadcast(0, 9), &[request(5, 9, &[1])], &[]);
    net.inject(2, addr(1), true, &asked);
    net.run_for(Span::from_millis(200));
    assert!(sent_with(&net, 2, RREP).is_empty());
    // A false claim that node 9 is behind node 1.
    let mut lie = reply(&[1, 9]);
    lie[2] = 0x80;
    net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[lie], &[]));
    net.run_for(Span::from_millis(200));
    net.send_to(0, addr(9), 1);
    net.run_for(Span::from_secs(1));
    assert!(routes(&net, 0).is_empty(), "it still asks");
    assert!(!sent_with(&net, 0, RREQ).is_empty());
}

#[test]
fn who_has_the_address_inside_is_preferred_to_a_nearer_gateway() {
    // The mesh is 10.0.0.0/30, nodes 0 to 2; node 5 is a guest with another address.
    let mut net = net(6, &profile("rfc"));
    for (a, b) in [(0, 2), (2, 1), (2, 3), (3, 4), (4, 5)] {
        net.up(a, b);
    }
    net.run_until(at(1.0));
    outside(&mut net, 6, 30, &[1]);
    net.send_to(0, addr(5), 1);
    net.run_for(Span::from_secs(2));
    net.send_to(0, addr(5), 1);
    net.run_for(Span::from_secs(1));
    let sent = routes(&net, 0);
    assert_eq!(sent.last().unwrap(), &[vec![0, 3], addrs(&[2, 3, 4])].concat(), "{sent:?}");
    assert_eq!(net.notes("proxy_reply").len(), 1, "the gateway answered, too");
    assert!(delivered_at(&net, 5).iter().any(|p| p[16..20] == addr(5).octets()));
}

/// Node 0 with gateway 1 beside it, and gateway 4 behind nodes 2 and 3.
fn two_gateways(params: &Params) -> Net {
    let mut net = net(5, params);
    for (a, b) in [(0, 1), (0, 2), (2, 3), (3, 4)] {
        net.up(a, b);
    }
    net.run_until(at(1.0));
    outside(&mut net, 5, 24, &[1, 4]);
    net.send_to(0, OUT, 1);
    net.run_for(Span::from_secs(2));
    assert_eq!(routes(&net, 0), [[vec![L, 1], addrs(&[1])].concat()], "the nearer one");
    net
}

#[test]
fn a_gateway_that_leads_nowhere_any_more_says_so_and_the_other_one_is_taken() {
    let mut net = two_gateways(&profile("rfc"));
    outside(&mut net, 5, 24, &[4]);
    net.send_to(0, OUT, 1);
    net.run_for(Span::from_secs(1));
    let errors = sent_with(&net, 1, RERR);
    // NODE_UNREACHABLE, salvage 0, from the gateway to node 0 about the destination.
    assert_eq!(
        option_of(&errors[0].2, RERR).unwrap(),
        [vec![1, 0], addrs(&[1, 0]), OUT.octets().to_vec()].concat()
    );
    net.send_to(0, OUT, 1);
    net.run_for(Span::from_secs(2));
    assert_eq!(routes(&net, 0).last().unwrap(), &[vec![L, 3], addrs(&[2, 3, 4])].concat());
    assert_eq!(net.delivered(1), [0, 2], "the packet at the dead end was lost");
}

#[test]
fn a_gateway_that_falls_silent_is_replaced_and_the_packet_at_hand_is_sent_again() {
    let mut net = two_gateways(&profile("rfc"));
    net.stop(1);
    net.send_to(0, OUT, 1);
    net.run_for(Span::from_secs(3));
    assert_eq!(routes(&net, 0).last().unwrap(), &[vec![L, 3], addrs(&[2, 3, 4])].concat());
    assert_eq!(net.delivered(1), [0, 1]);
}

#[test]
fn a_broken_link_on_the_way_in_is_told_to_the_gateway_which_sends_by_another() {
    // 0 - 1 - 2(gateway), and 0 - 3 - 2.
    let mut net = net(4, &Params { salvage: false, ..profile("rfc") });
    for (a, b) in [(0, 1), (1, 2)] {
        net.up(a, b);
    }
    net.run_until(at(1.0));
    outside(&mut net, 4, 24, &[2]);
    net.enter(2, OUT, 0, 1);
    net.run_for(Span::from_secs(1));
    net.down(0, 1);
    net.up(0, 3);
    net.up(3, 2);
    net.enter(2, OUT, 0, 1);
    net.run_for(Span::from_secs(1));
    let errors = sent_with(&net, 1, RERR);
    assert_eq!(
        option_of(&errors[0].2, RERR).unwrap(),
        [vec![1, 0], addrs(&[1, 2, 0])].concat(),
        "to the gateway, not outside"
    );
    net.enter(2, OUT, 0, 1);
    net.run_for(Span::from_secs(2));
    assert_eq!(net.delivered(1), [0, 2]);
    assert_eq!(routes(&net, 2).last().unwrap(), &[vec![F, 1], addrs(&[2, 3])].concat());
}

#[test]
fn a_link_that_breaks_at_the_gateway_makes_it_ask_and_no_packet_is_lost() {
    let mut net = linked(3, &profile("rfc"), &[(0, 2)]);
    outside(&mut net, 3, 24, &[2]);
    net.enter(2, OUT, 0, 1);
    net.run_for(Span::from_secs(1));
    net.down(0, 2);
    net.up(0, 1);
    net.up(1, 2);
    net.enter(2, OUT, 0, 1);
    net.run_for(Span::from_secs(2));
    assert_eq!(net.delivered(1), [0, 1]);
    assert!(sent_with(&net, 2, RERR).is_empty(), "there is nobody to tell");
    assert_eq!(reasons(&net), []);
}

#[test]
fn where_dsr_acknowledges_itself_the_last_hop_in_the_mesh_asks_since_nobody_there_passes_it_on() {
    let params = Params { maintenance: Maintenance::Network, ..profile("rfc") };
    let mut net = line(3, &params);
    net.send_to(0, OUT, 1);
    net.run_for(Span::from_secs(3));
    assert_eq!(net.delivered(1), [0]);
    // Acknowledgement Request, type 160, with the first transmission to the gateway; and no second one.
    let last_hop: Vec<_> = sent_with(&net, 1, SOURCE_ROUTE)
        .into_iter()
        .filter(|(_, to, p)| *to == addr(2) && p[16..20] == OUT.octets())
        .collect();
    assert_eq!(last_hop.len(), 1);
    assert!(option_of(&last_hop[0].2, 160).is_some());
}

#[test]
fn without_gateways_nothing_is_answered_for_the_outside() {
    let mut net = line(3, &profile("rfc"));
    outside(&mut net, 3, 24, &[]);
    net.send_to(0, OUT, 1);
    net.run_for(Span::from_secs(40));
    assert!(net.notes("proxy_reply").is_empty());
    assert_eq!(net.delivered(1), [] as [u32; 0]);
    net.assert_conserved();
}
