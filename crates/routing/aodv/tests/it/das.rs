//! The profile of Desilva and Das's testbed. Sections are those of their paper.

use wayhop_aodv::{LocalRepair, Params};
use wayhop_core::{BROADCAST, Command, DropReason, TxStatus};
use wayhop_testkit::{EventKind, Net, addr};

use crate::support::{held, line, line_with_route, ms, net, rerrs, rreps, rreqs, secs};

fn das() -> Params {
    Params::das()
}
fn hellos(net: &Net, node: usize) -> usize {
    rreps(net, node).iter().filter(|(s, _)| s.next_hop == BROADCAST).count()
}
fn forget(net: &mut Net, nodes: std::ops::Range<usize>) {
    nodes.for_each(|n| net.command(n, &Command::PurgeRoutes { destination: None }).expect("AODV can"));
}

#[test]
fn every_request_goes_to_everybody_and_three_leave_a_second_apart() {
    let mut net = net(2, &das());
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(20.0));
    let sent: Vec<_> = rreqs(&net, 0).iter().map(|(s, _)| (s.at, s.ip.ttl)).collect();
    assert_eq!(sent, [(secs(1.0), 35), (secs(2.0), 35), (secs(3.0), 35)]);
    assert_eq!(net.drops(), [(wayhop_core::NodeId(0), DropReason::DiscoveryFailed)]);
}

#[test]
fn a_distance_that_was_known_bounds_no_request() {
    let mut net = line_with_route(3, &das());
    forget(&mut net, 0..3);
    net.send_at(secs(2.0), 0, 2, 1);
    net.run_until(secs(3.0));
    assert_eq!(rreqs(&net, 0).iter().map(|(s, _)| s.ip.ttl).collect::<Vec<_>>(), [35, 35]);
    assert_eq!(net.delivered(1), [0, 1]);
}

#[test]
fn a_request_is_passed_on_at_once() {
    let net = line_with_route(5, &das());
    let at: Vec<_> = (0..4).map(|n| rreqs(&net, n)[0].0.at).collect();
    let hop = at[1].since(at[0]);
    assert!(at.windows(2).all(|w| w[1].since(w[0]) == hop), "{at:?}");
}

#[test]
fn a_hello_comes_each_second_whatever_else_is_broadcast_and_makes_no_route() {
    let mut net = line(2, &das());
    net.run_until(secs(5.0));
    assert!(net.routes(0).is_empty() && net.routes(1).is_empty());
    // A request every 0.4 s, each of which would do instead of a Hello by RFC 3561.
    for i in 0..25 {
        net.send_at(secs(5.0 + 0.4 * f64::from(i)), 0, 1, 1);
        net.run_until(secs(5.2 + 0.4 * f64::from(i)));
        forget(&mut net, 0..2);
    }
    assert_eq!(rreqs(&net, 0).len(), 25);
    assert!((14..=15).contains(&hellos(&net, 0)), "{}", hellos(&net, 0));
    assert_eq!(net.delivered(1).len(), 25);
}

#[test]
fn a_request_leaves_a_route_to_its_originator_for_a_second_and_none_to_neighbours() {
    let mut net = line(4, &das());
    net.send_at(secs(1.0), 0, 3, 1);
    net.run_until(secs(1.5));
    let known: Vec<_> = net.routes(3).iter().map(|r| r.destination).collect();
    assert_eq!(known, [addr(0).into()]);
    net.run_until(secs(2.3));
    assert!(net.routes(3).is_empty());
}

#[test]
fn an_intermediate_node_with_a_route_answers() {
    let mut net = net(4, &das());
    (0..4).filter(|n| *n != 1).for_each(|n| net.up(1, n));
    net.send_every(secs(1.0), ms(500), 6, 0, 2, 1);
    net.send_at(secs(2.2), 3, 2, 2);
    net.run_until(secs(4.0));
    assert_eq!((net.delivered(1).len(), net.delivered(2).len()), (6, 1));
    let answers = |node, to| {
        rreps(&net, node).iter().filter(|(s, m)| s.next_hop == addr(to) && m.destination == addr(2)).count()
    };
    assert_eq!(
        (answers(1, 3), rreps(&net, 2).len() - hellos(&net, 2)),
        (1, 1),
        "the destination was asked once"
    );
}

#[test]
fn thirty_packets_wait_for_a_route_or_three() {
    for (limit, p) in [(30, das()), (3, Params { buffer_packets: 3, ..das() })] {
        let mut net = net(2, &p);
        net.send_every(secs(1.0), ms(1), 40, 0, 1, 1);
        net.run_until(secs(1.5));
        assert_eq!(held(&net, 0), limit);
        assert!(net.drops().iter().all(|(_, why)| *why == DropReason::BufferFull));
    }
}

#[test]
fn a_node_on_the_way_drops_what_it_cannot_route_and_tells_its_predecessor() {
    assert_eq!(das().local_repair, LocalRepair::Off);
    let mut net = line(4, &das());
    net.send_every(secs(1.0), ms(100), 60, 0, 3, 1);
    net.down_at(secs(3.0), 1, 2);
    net.run_until(secs(5.6));
    let lost = net.notes("neighbour_lost");
    assert!(lost.iter().any(|(n, t)| n.0 == 1 && t.about == addr(2)), "{lost:?}");
    let (said, _, unreachable) = rerrs(&net, 1).remove(0);
    assert_eq!((said.next_hop, unreachable[0].destination), (addr(0), addr(3)));
    // The last Hello was heard by 3 s; two seconds later, and a check, the link is gone.
    assert!((secs(4.0)..secs(5.2)).contains(&said.at), "{}", said.at);
    assert!(rreqs(&net, 1).iter().all(|(_, m)| m.originator == addr(0)), "no repair");
    assert!(net.route(0, addr(3)).is_none());
}

#[test]
fn what_waits_for_the_driver_is_not_called_back_from_a_lost_neighbour() {
    for (p, recalled) in [(das(), 0), (Params { keep_queued: false, ..das() }, 1)] {
        let mut net = line(2, &p);
        net.send_every(secs(1.0), ms(100), 10, 0, 1, 1);
        net.down_at(secs(1.5), 0, 1);
        // Something always waits in the queue when the neighbour is given up.
        net.send_every(secs(1.0), ms(1), 3_000, 0, 1, 2);
        net.run_until(secs(4.0));
        assert_eq!(net.notes("neighbour_lost").iter().filter(|(n, _)| n.0 == 0).count(), 1);
        let back = |r: &&wayhop_testkit::Record| {
            matches!(r.what, EventKind::Status { status: TxStatus::Recalled, .. })
        };
        assert_eq!(net.record().iter().filter(back).count().min(1), recalled);
    }
}

#[test]
fn no_limit_holds_back_requests_for_many_destinations() {
    // RFC 3561 would let 10 of these leave in the first second; sections 3 and 4 of the paper name no limit.
    let mut net = net(30, &das());
    (1..30).for_each(|to| net.send_at(secs(1.0), 0, to, to as u32));
    net.run_until(secs(1.9));
    assert_eq!(rreqs(&net, 0).len(), 29);
}
