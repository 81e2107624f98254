//! Gateways to other networks (RFC 3561, sections 6.6, 6.11, 7 and 8).

use std::net::Ipv4Addr;

use wayhop_aodv::Params;
use wayhop_core::{Command, Outside, Prefix};
use wayhop_testkit::{Net, addr};

use crate::support::{held, line, ms, net, rerrs, route, rreps, rreqs};

const OUT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);
const NEAR_OUT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 99);

fn everything() -> Prefix {
    Prefix::around(Ipv4Addr::UNSPECIFIED, 0)
}

/// Tells every node which addresses are the mesh's, and gateways what they lead to.
fn outside(net: &mut Net, nodes: usize, gateways: &[usize], reaches: Prefix) {
    for n in 0..nodes {
        let reaches = if gateways.contains(&n) { vec![reaches] } else { vec![] };
        let what = Outside { mesh: Prefix::around(addr(0), 24), reaches };
        net.command(n, &Command::SetOutside(what)).unwrap();
    }
}

/// Node 0 with gateway 1 beside it, and gateway 4 behind nodes 2 and 3.
fn two_gateways() -> Net {
    let mut net = net(5, &Params::rfc());
    for (a, b) in [(0, 1), (0, 2), (2, 3), (3, 4)] {
        net.up(a, b);
    }
    net.run_for(ms(1_000));
    outside(&mut net, 5, &[1, 4], everything());
    net
}

#[test]
fn a_gateway_answers_for_one_address_outside_one_hop_beyond_itself() {
    let mut net = line(3, &Params::rfc());
    net.run_for(ms(1_000));
    outside(&mut net, 3, &[2], everything());
    net.send_to(0, OUT, 1);
    net.run_for(ms(3_000));
    let (_, reply) = rreps(&net, 2).into_iter().find(|(_, m)| m.destination == OUT).expect("an answer");
    assert_eq!(
        (reply.prefix_size, reply.hop_count, reply.originator),
        (0, 1, addr(0)),
        "section 8: no default route"
    );
    // Section 10: MY_ROUTE_TIMEOUT is 2 x ACTIVE_ROUTE_TIMEOUT, which is 10 s with feedback of the link layer.
    assert_eq!(reply.lifetime_ms, 2 * 10_000);
    assert_eq!(route(&net, 0, OUT, "hops").unwrap(), "3");
    assert_eq!(net.delivered(1), [0], "at the gateway, for its host to send on");
    assert_eq!(
        net.routes(2).iter().filter(|r| r.destination == Prefix::host(OUT)).count(),
        0,
        "none to itself"
    );
    net.assert_conserved();
}

#[test]
fn a_network_that_fits_the_prefix_size_is_answered_for_as_a_whole() {
    let mut net = line(3, &Params::rfc());
    net.run_for(ms(1_000));
    outside(&mut net, 3, &[2], Prefix::around(OUT, 24));
    net.send_to(0, OUT, 1);
    net.run_for(ms(3_000));
    let (_, reply) = rreps(&net, 2).into_iter().find(|(_, m)| m.destination == OUT).expect("an answer");
    assert_eq!(reply.prefix_size, 24, "section 7");
    let asked = rreqs(&net, 0).len();
    net.send_to(0, NEAR_OUT, 1);
    net.run_for(ms(500));
    assert_eq!((net.delivered(1), rreqs(&net, 0).len()), (vec![0, 1], asked), "no further request");
}

#[test]
fn no_gateway_answers_for_an_address_of_the_mesh() {
    let mut net = line(3, &Params::rfc());
    net.run_for(ms(1_000));
    outside(&mut net, 3, &[2], everything());
    net.send_to(0, addr(77), 1);
    net.run_for(ms(60_000));
    assert!(rreps(&net, 2).iter().all(|(_, m)| m.destination != addr(77)));
    assert_eq!(net.delivered(1), [] as [u32; 0]);
}

#[test]
fn of_two_gateways_the_nearer_counts_whichever_answers_first() {
    // Both are asked by a request with a number that none of them gave.
    let mut net = two_gateways();
    net.send_to(0, OUT, 1);
    net.run_for(ms(3_000));
    assert_eq!(route(&net, 0, OUT, "next_hop").unwrap(), addr(1).to_string());
    // Node 3 asks, too: its nearer one is node 4.
    net.send_to(3, OUT, 2);
    net.run_for(ms(3_000));
    assert_eq!(route(&net, 3, OUT, "next_hop").unwrap(), addr(4).to_string());
    let seq = |n| route(&net, n, OUT, "seq").unwrap();
    assert_eq!(seq(0), seq(3), "one number for both");
}

#[test]
fn a_gateway_whose_way_out_ends_tells_its_users_and_the_other_one_takes_over() {
    let mut net = two_gateways();
    net.send_to(0, OUT, 1);
    net.run_for(ms(3_000));
    let before: u32 = route(&net, 0, OUT, "seq").unwrap().parse().unwrap();
    outside(&mut net, 5, &[4], everything());
    net.run_for(ms(100));
    let told = rerrs(&net, 1);
    assert_eq!(told[0].2[0].destination, OUT);
    assert_eq!(told[0].2[0].seq, before + 1, "section 6.11: raised");
    assert_eq!(route(&net, 0, OUT, "state").unwrap(), "invalid");
    net.send_to(0, OUT, 1);
    net.run_for(ms(5_000));
    assert_eq!(route(&net, 0, OUT, "next_hop").unwrap(), addr(2).to_string());
    assert_eq!(
        route(&net, 0, OUT, "seq").unwrap(),
        (before + 1).to_string(),
        "answered with the request's number"
    );
    assert_eq!(net.delivered(1), [0, 1]);
}

#[test]
fn a_gateway_that_falls_silent_is_replaced() {
    let mut net = two_gateways();
    net.send_to(0, OUT, 1);
    net.run_for(ms(3_000));
    net.stop(1);
    net.send_to(0, OUT, 1);
    net.run_for(ms(10_000));
    assert_eq!(route(&net, 0, OUT, "next_hop").unwrap(), addr(2).to_string());
    assert_eq!(net.delivered(1), [0, 1]);
}

#[test]
fn a_packet_from_outside_waits_at_the_gateway_for_a_route_and_one_from_the_mesh_does_not() {
    let mut net = line(3, &Params::rfc());
    net.run_for(ms(1_000));
    outside(&mut net, 3, &[2], everything());
    net.enter(2, OUT, 0, 1);
    assert_eq!(held(&net, 2), 1);
    net.run_for(ms(3_000));
    assert_eq!(net.delivered(1), [0]);
    // Of another source, which is no node of the mesh's either, node 1 keeps nothing: it is no gateway.
    net.enter(1, OUT, 77, 2);
    assert_eq!(held(&net, 1), 0);
}
