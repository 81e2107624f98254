//! Sections 5.2 and 7: routes to subnets.

use std::net::Ipv4Addr;

use wayhop_aodv::Params;
use wayhop_core::DropReason;
use wayhop_testkit::{EventKind, Net, addr};
use wayhop_wire::aodv::{Message, Rrep};
use wayhop_wire::{icmp, ipv4};

use crate::support::{
    alone, hear, hear_rerr, held, line_with_route, ms, net, reply, request, rerrs, route, rreps, rreqs, secs,
    transit,
};

/// A host in the subnet 192.168.1.0/24, for which node 0 has a route.
fn host(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(192, 168, 1, n)
}
const SUBNET: &str = "192.168.1.0/24";
fn subnet_reply(destination: Ipv4Addr, seq: u32, hops: u8, originator: Ipv4Addr) -> Message<'static> {
    Message::Rrep(Rrep { prefix_size: 24, ..reply(destination, seq, hops, originator) })
}
/// Data packets that node 0 sent: (next hop, destination).
fn data(net: &Net) -> Vec<(Ipv4Addr, Ipv4Addr)> {
    let all = net.sent_by(0).filter_map(|(_, hop, bytes)| {
        let ip = ipv4::Packet::new_checked(bytes).ok()?;
        (bytes[22..24] != [2, 142]).then_some((hop, ip.dst()))
    });
    all.collect()
}

#[test]
fn a_reply_with_a_prefix_makes_a_route_to_the_subnet_that_saves_further_requests() {
    let mut net = alone(&Params::rfc());
    net.send_to(0, host(7), 1);
    net.run_for(ms(10));
    assert_eq!(rreqs(&net, 0).len(), 1);
    hear(&mut net, 0, addr(4), &subnet_reply(host(7), 10, 2, addr(0)));
    assert_eq!(route(&net, 0, host(7), "seq").unwrap(), "-", "kept with respect to the subnet");
    let t = net.inspect(0);
    let cell = |column| t.cell("routes", "destination", SUBNET, column).unwrap();
    assert_eq!(
        (cell("state"), cell("next_hop"), cell("hops"), cell("seq")),
        ("valid", "10.0.0.5", "3", "10")
    );
    net.send_to(0, host(200), 1);
    transit(&mut net, 0, 3, host(7));
    transit(&mut net, 0, 3, host(8));
    assert_eq!(data(&net), [host(7), host(200), host(7), host(8)].map(|d| (addr(4), d)));
    assert_eq!(rreqs(&net, 0).len(), 1, "section 7: no further requests");
    // The host has a row for each address that was used.
    assert_eq!(net.route(0, host(8)).unwrap().metric, 3);
    assert!(net.route(0, Ipv4Addr::new(192, 168, 1, 0)).is_none());
    // Another subnet is not affected.
    net.send_to(0, Ipv4Addr::new(192, 168, 2, 7), 1);
    net.run_for(ms(10));
    assert_eq!(rreqs(&net, 0).len(), 2);
}

#[test]
fn a_subnets_reply_is_passed_on_and_its_route_offered_with_the_prefix() {
    let mut net = alone(&Params::rfc());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, host(7), None)));
    hear(&mut net, 0, addr(4), &subnet_reply(host(7), 10, 2, addr(5)));
    net.run_for(ms(20));
    // For any other address of the subnet this node answers itself.
    hear(&mut net, 0, addr(6), &Message::Rreq(request(1, addr(6), 1, host(9), None)));
    net.run_for(ms(20));
    let sent: Vec<_> = rreps(&net, 0)
        .iter()
        .map(|(s, m)| (s.next_hop, m.destination, m.prefix_size, m.hop_count, m.destination_seq))
        .collect();
    let gratuitous = sent.len();
    assert_eq!(sent[0], (addr(5), host(7), 24, 3, 10));
    assert_eq!(sent[1], (addr(6), host(9), 24, 3, 10));
    assert_eq!(gratuitous, 2);
    // Both are precursors of the subnet's route, not of an address's.
    let users = net.inspect(0).cell("routes", "destination", SUBNET, "precursors").unwrap().to_owned();
    assert_eq!(users, format!("{} {}", addr(5), addr(6)));
}

#[test]
fn a_broken_subnet_route_is_reported_by_the_subnets_address() {
    let mut net = alone(&Params::rfc());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, host(7), None)));
    hear(&mut net, 0, addr(4), &subnet_reply(host(7), 10, 2, addr(5)));
    transit(&mut net, 0, 5, host(7));
    net.down(0, 4);
    transit(&mut net, 0, 5, host(7));
    net.run_for(ms(20));
    let (_, _, lost) = rerrs(&net, 0).remove(0);
    let of_subnet =
        lost.iter().find(|u| u.destination == Ipv4Addr::new(192, 168, 1, 0)).expect("section 6.11 i");
    assert_eq!(of_subnet.seq, 11);
    assert!(net.route(0, host(7)).is_none(), "the rows of its addresses are gone");
    // The next request for any of its addresses asks for something newer.
    net.send_to(0, host(9), 1);
    net.run_for(ms(5));
    let (_, m) = rreqs(&net, 0).pop().unwrap();
    assert_eq!((m.destination, m.destination_seq, m.unknown_seq), (host(9), 11, false));
}

#[test]
fn a_route_error_for_the_subnet_or_an_address_in_it_breaks_the_subnets_route() {
    for (from, about, seq, breaks) in [
        (4, Ipv4Addr::new(192, 168, 1, 0), 11, true),
        (4, host(7), 11, true),
        (4, host(7), 0, true),
        (4, host(7), 10, false),
        (3, host(7), 11, false),
        (4, Ipv4Addr::new(192, 168, 2, 0), 11, false),
    ] {
        let mut net = alone(&Params::rfc());
        hear(&mut net, 0, addr(4), &subnet_reply(host(7), 10, 2, addr(0)));
        net.send_to(0, host(7), 1);
        net.run_for(ms(5));
        hear_rerr(&mut net, 0, addr(from), false, &[(about, seq)]);
        let state = net.inspect(0).cell("routes", "destination", SUBNET, "state").unwrap().to_owned();
        assert_eq!(state == "invalid", breaks, "from {from} about {about} {seq}");
        assert_eq!(net.route(0, host(7)).is_none(), breaks);
    }
}

#[test]
fn the_fresher_of_the_nodes_and_the_subnets_route_is_taken_and_else_the_nearer() {
    // (number and hops of the node's route over 5) against the subnet's (10, 3 hops) over 4.
    for (seq, hops, next_hop) in [(11, 7, 5), (9, 1, 4), (10, 1, 5), (10, 2, 5), (10, 6, 4)] {
        let mut net = alone(&Params::rfc());
        hear(&mut net, 0, addr(4), &subnet_reply(host(7), 10, 2, addr(0)));
        hear(&mut net, 0, addr(5), &Message::Rrep(reply(host(7), seq, hops, addr(0))));
        net.send_to(0, host(7), 1);
        net.run_for(ms(5));
        assert_eq!(data(&net), [(addr(next_hop), host(7))], "{seq}, {hops} hops");
        assert_eq!(net.route(0, host(7)).unwrap().next_hop, addr(next_hop));
        // An older broken route does not stand in the way; a newer one asks for newer news.
        hear_rerr(&mut net, 0, addr(5), false, &[(host(7), seq + 1)]);
        let is_usable = seq < 10;
        assert_eq!(net.route(0, host(7)).is_some(), is_usable, "{seq}");
        hear(&mut net, 0, addr(4), &subnet_reply(host(9), seq + 1, 2, addr(0)));
        net.send_to(0, host(7), 1);
        net.run_for(ms(5));
        assert_eq!(data(&net)[1], (addr(4), host(7)));
    }
}

/// With these routers. Node n has the address 10.0.0.(n + 1): nodes 0 to 6 are in 10.0.0.0/29, 7 and 8 are not.
fn routed(subnets: &[&str]) -> Params {
    Params { subnet_routers: subnets.iter().map(|s| (*s).to_owned()).collect(), ..Params::rfc() }
}

#[test]
fn the_router_answers_for_the_subnet_with_its_prefix_and_members_leave_that_to_it() {
    // 8 - 1 - 2 and 8 - 7 - 2: node 1 is the router, node 2 a member.
    let mut net = net(9, &routed(&["10.0.0.2/29"]));
    for (a, b) in [(8, 1), (1, 2), (8, 7), (7, 2)] {
        net.up(a, b);
    }
    net.send_at(secs(1.0), 8, 2, 1);
    net.run_until(secs(3.0));
    let answers: Vec<_> = rreps(&net, 1).into_iter().filter(|(_, m)| m.originator == addr(8)).collect();
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (answers[0].1.destination, answers[0].1.prefix_size, answers[0].1.hop_count),
        (addr(2), 29, 0)
    );
    assert!(rreps(&net, 2).iter().all(|(_, m)| m.originator == addr(1)), "only to its router");
    // The router asked its neighbours for the member, and delivers.
    let asked: Vec<_> = rreqs(&net, 1).into_iter().filter(|(_, m)| m.originator == addr(1)).collect();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].0.ip.ttl == 1 && asked[0].1.destination_only);
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(net.route(8, addr(2)).unwrap().next_hop, addr(1));
    net.assert_conserved();
}

#[test]
fn an_address_that_nobody_has_is_reported_by_icmp_and_the_subnets_route_stays() {
    // 10.0.0.7 is nobody in reach of the router.
    let mut net = net(9, &routed(&["10.0.0.2/29"]));
    net.up(8, 1);
    net.send_to(8, Ipv4Addr::new(10, 0, 0, 7), 1);
    net.run_until(secs(5.0));
    assert_eq!(rreps(&net, 1)[0].1.prefix_size, 29);
    let told = net.of(8).find_map(|r| match &r.what {
        EventKind::Delivered { bytes, .. } => {
            let ip = ipv4::Packet::new_checked(bytes).ok()?;
            Some((ip.src(), icmp::Repr::parse(ip.payload()).ok()?.is_host_unreachable()))
        }
        _ => None,
    });
    assert_eq!(told, Some((addr(1), true)));
    let state = net.inspect(8).cell("routes", "destination", "10.0.0.0/29", "state").unwrap().to_owned();
    assert_eq!(state, "valid");
    assert!(rerrs(&net, 1).is_empty(), "no Route Error");
    assert!(net.drops().contains(&(wayhop_core::NodeId(1), DropReason::DiscoveryFailed)));
    net.assert_conserved();
}

trait Unreachable {
    fn is_host_unreachable(&self) -> bool;
}
impl Unreachable for icmp::Repr<'_> {
    fn is_host_unreachable(&self) -> bool {
        matches!(self, Self::DestinationUnreachable { code: icmp::unreachable_code::HOST, .. })
    }
}

#[test]
fn of_two_routers_the_lowest_address_serves() {
    // Nodes 1 (10.0.0.2) and 2 (10.0.0.3) are both set up for 10.0.0.0/29.
    let mut net = net(9, &routed(&["10.0.0.3/29", "10.0.0.2/29"]));
    net.up(8, 1);
    net.up(8, 2);
    net.send_to(8, Ipv4Addr::new(10, 0, 0, 7), 1);
    net.run_until(secs(1.0));
    assert_eq!(rreps(&net, 1).len(), 1);
    assert_eq!(rreps(&net, 2).len(), 0);
}

#[test]
fn a_router_takes_no_route_to_its_own_subnet() {
    let mut net = alone(&routed(&["10.0.0.1/29"]));
    let own = Rrep { prefix_size: 29, ..reply(addr(2), 99, 2, addr(5)) };
    hear(&mut net, 0, addr(4), &Message::Rrep(own));
    assert_eq!(net.inspect(0).table("routes").count(), 1, "the neighbour only");
}

#[test]
fn the_rows_of_a_subnets_addresses_go_with_its_route() {
    // Section 6.2: use of any of its addresses renews the subnet's route, which the reply gave 5 s.
    let mut net = alone(&Params::rfc());
    let m = Rrep { prefix_size: 24, lifetime_ms: 5_000, ..reply(host(7), 10, 2, addr(0)) };
    hear(&mut net, 0, addr(4), &Message::Rrep(m));
    for n in 1..=20 {
        net.send_to(0, host(n), 1);
        net.run_for(ms(1_000));
    }
    assert_eq!(net.routes(0).len(), 21, "and the neighbour's");
    // The last use was at 20 s; ACTIVE_ROUTE_TIMEOUT is 10 s.
    net.run_until(secs(29.9));
    assert_eq!(net.routes(0).len(), 21);
    net.run_until(secs(30.3));
    assert_eq!(net.routes(0).len(), 0);
    assert_eq!((rreqs(&net, 0).len(), held(&net, 0)), (0, 0));
}

#[test]
fn prefixes_of_any_length_and_subnets_that_overlap_are_survived() {
    let mut net = alone(&Params::rfc());
    for bits in 1..32u8 {
        for from in 3..9 {
            let destination = Ipv4Addr::new(10, 0, bits, 77);
            let m = Rrep { prefix_size: bits, ..reply(destination, u32::from(bits), bits % 5, addr(0)) };
            hear(&mut net, 0, addr(from), &Message::Rrep(m));
        }
    }
    net.send_to(0, Ipv4Addr::new(10, 0, 31, 77), 1);
    net.run_for(ms(20));
    // The freshest is that of 31 bits; 10.0.0.0/9 and others of the same address have lost to the first that came.
    assert_eq!(data(&net).len(), 1);
    let net = line_with_route(3, &Params::rfc());
    assert_eq!(net.delivered(1), [0]);
}

#[test]
fn a_reply_about_fewer_addresses_does_not_take_the_place_of_a_lost_subnet() {
    // Number 43 of the lost route holds for all 256 addresses until DELETE_PERIOD is over (sections
    // 6.1, 6.11): no packets may go back, by an older route, to a node that still has the route
    // from this one.
    let subnet = Ipv4Addr::new(192, 168, 1, 0);
    for (prefix_size, taken) in [(0, false), (25, false), (23, true), (24, true)] {
        let mut net = alone(&Params::rfc());
        hear(&mut net, 0, addr(5), &Message::Rrep(reply(host(200), 10, 1, addr(0))));
        hear(&mut net, 0, addr(4), &subnet_reply(host(7), 42, 2, addr(0)));
        hear_rerr(&mut net, 0, addr(4), false, &[(subnet, 43)]);
        assert!(net.route(0, host(200)).is_none(), "older than what was known");
        let other = Rrep { prefix_size, ..reply(subnet, 50, 2, addr(0)) };
        hear(&mut net, 0, addr(3), &Message::Rrep(other));
        let next_hop = net.route(0, host(200)).map(|r| r.next_hop);
        assert_eq!(next_hop, taken.then_some(addr(3).into()), "/{prefix_size}");
        transit(&mut net, 0, 6, host(200));
        let sent = data(&net);
        assert_eq!(sent, if taken { vec![(addr(3), host(200))] } else { vec![] }, "/{prefix_size}");
    }
}
