//! Known field failures of DSR, and defects of other implementations, each as one scenario.

use crate::common::{
    Ip, RREP, SOURCE_ROUTE, UDP, at, error, isolated, linked, net, option_of, packet, profile, reasons,
    reply, request, routes, sent_with, source_route, teach,
};
use wayhop_core::{DropReason, Span};
use wayhop_testkit::{Link, Net, addr};

#[test]
fn of_the_neighbours_that_know_a_route_only_the_nearest_answers() {
    // The figure of section 8.2.5: A = 0, B = 1 next to G = 6; C, D, E, F = 2 to 5 know G over B and further.
    let storm = |delay_us: u32| {
        let mut net = net(7, &wayhop_dsr::Params { cached_reply_delay_us: delay_us, ..profile("rfc") });
        for n in 1..6 {
            net.up(0, n);
        }
        net.up(1, 6);
        for n in 2..6 {
            net.up(1, n);
        }
        net.up(2, 3);
        net.up(4, 5);
        net.run_until(at(1.0));
        teach(&mut net, 1, &[6]);
        teach(&mut net, 2, &[1, 6]);
        teach(&mut net, 3, &[2, 1, 6]);
        teach(&mut net, 4, &[5, 1, 6]);
        teach(&mut net, 5, &[1, 6]);
        net.send_at(at(2.0), 0, 6, 1);
        net.run_until(at(3.0));
        assert_eq!(net.delivered(1), [0]);
        net.assert_conserved();
        (1..6).filter(|&n| !sent_with(&net, n, RREP).is_empty()).collect::<Vec<_>>()
    };
    // H is "at least twice the propagation delay"; the testkit's frames take 1 ms, so 10 ms leave time to hear of one.
    assert_eq!(storm(10_000), [1], "all others hear node 0 use the shortest route, and are silent");
    assert_eq!(storm(0), [1, 2, 3, 4, 5], "the storm");
}

#[test]
fn a_stale_route_does_not_come_back_from_those_who_were_told() {
    // Nodes 1 and 2 both believe in the link 3 - 4, which is gone. Node 0 learns of that, and its next request says so.
    let mut net = linked(6, &profile("rfc"), &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    teach(&mut net, 0, &[1, 3, 4]);
    teach(&mut net, 1, &[3, 4]);
    teach(&mut net, 2, &[3, 4]);
    net.send_at(at(1.5), 0, 4, 1);
    net.run_until(at(3.0));
    assert!(net.notes("error_received").iter().any(|n| n.0.0 == 0), "node 0 was told");
    for n in [1, 2] {
        let offered = sent_with(&net, n, RREP);
        assert_eq!(
            offered.iter().filter(|s| s.2[16..20] == addr(0).octets()).count(),
            0,
            "node {n} offers nothing"
        );
        assert!(routes(&net, n).iter().all(|r| !r.contains(&4)), "node {n} has forgotten it");
    }
}

#[test]
fn a_neighbour_that_does_not_hear_us_teaches_no_routes() {
    // Node 1 hears node 2, which did not take a reply from it: routes over node 2 would fail.
    let mut net = net(6, &profile("rfc"));
    net.set_link(2, 1, Link::UP);
    net.run_until(at(1.0));
    let failing = packet(&Ip::new(4, 0), &[reply(&[2, 1, 3, 4]), source_route(0, 0, 2, &[3, 1, 2])], &[]);
    net.inject(1, addr(3), false, &failing);
    net.run_until(at(1.1));
    let before = routes(&net, 1);
    net.inject(2, addr(0), false, &packet(&Ip::new(0, 5), &[source_route(0, 0, 2, &[2, 4])], &UDP));
    net.inject(1, addr(2), true, &packet(&Ip::broadcast(0, 9), &[request(5, 9, &[2])], &[]));
    net.run_until(at(1.2));
    assert_eq!(routes(&net, 1), before);
}

#[test]
fn an_overheard_reply_teaches_no_way_that_its_transmitter_is_not_on() {
    // Node 9 overhears node 5 pass on a reply with the route 0 1 2 3, on which node 5 is not.
    let mut net = net(10, &profile("rfc"));
    net.set_link(5, 9, Link::UP);
    net.run_until(at(1.0));
    let p = packet(&Ip::new(3, 0), &[reply(&[1, 2, 3]), source_route(0, 0, 2, &[5, 6])], &[]);
    net.inject(5, addr(3), false, &p);
    net.run_until(at(1.01));
    assert!(routes(&net, 9).iter().all(|r| !r.contains(&2)), "{:?}", routes(&net, 9));
}

#[test]
fn the_time_to_live_counts_every_hop_of_every_packet() {
    // Data, replies and errors through a chain, and a salvaged packet: each hop takes one, and none
    // sets it again.
    let mut net = net(7, &profile("rfc"));
    net.line();
    net.send_at(at(1.0), 0, 6, 1);
    net.run_until(at(2.0));
    for kind in [SOURCE_ROUTE, RREP] {
        // Data packets have UDP behind the header; replies have nothing.
        let next = if kind == SOURCE_ROUTE { 17 } else { 59 };
        let of = |net: &Net, n: usize| {
            net.sent_by(n)
                .find(|s| s.2[9] == 48 && s.2[20] == next && option_of(s.2, kind).is_some())
                .map(|s| s.2[8])
        };
        let there: Vec<_> = (0..7).filter_map(|n| of(&net, n)).collect();
        assert!(there.len() >= 6);
        let steps: Vec<_> = there.windows(2).map(|w| i32::from(w[1]) - i32::from(w[0])).collect();
        assert!(steps.iter().all(|s| s.abs() == 1), "option {kind}: {there:?}");
    }
    let mut net = linked(6, &profile("rfc"), &[(2, 5), (5, 4)]);
    teach(&mut net, 2, &[5, 4]);
    let ip = Ip { ttl: 2, ..Ip::new(0, 4) };
    net.inject(2, addr(1), false, &packet(&ip, &[source_route(0, 0, 1, &[1, 2])], &UDP));
    net.run_for(Span::from_millis(100));
    let salvaged = net.sent_by(2).find(|s| s.1 == addr(5)).expect("salvaged").2;
    assert_eq!(salvaged[8], 1, "counted once at the node that salvages it");
    assert_eq!(
        reasons(&net),
        [DropReason::MacRetries, DropReason::TtlExpired],
        "the error to node 1; the packet at 5"
    );
}

#[test]
fn an_error_about_links_that_nobody_knows_changes_nothing() {
    let mut net = isolated(6, &profile("rfc"));
    teach(&mut net, 0, &[1, 2, 3]);
    for (from, to) in [(4, 5), (3, 2), (2, 1), (1, 0)] {
        net.inject(0, addr(1), false, &packet(&Ip::new(from, 0), &[error(0, from, 0, to)], &[]));
    }
    net.run_until(at(1.1));
    assert_eq!(routes(&net, 0), [[0, 1, 2, 3]]);
}
