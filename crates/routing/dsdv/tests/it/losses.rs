//! Broken links and silent neighbours: odd numbers.

use wayhop_core::{Command, DropReason};
use wayhop_dsdv::Params;
use wayhop_testkit::addr;
use wayhop_wire::dsdv::UNREACHABLE;

use crate::support::{alone, hear, line, ms, net, regular, route, said_since, secs, way};

#[test]
fn an_unacknowledged_packet_breaks_all_routes_over_the_link_and_that_is_told_at_once() {
    let mut net = line(4, &Params::rfc());
    net.run_until(secs(80.0));
    let numbers: Vec<u32> =
        [2, 3].map(|to| route(&net, 1, addr(to), "seq").unwrap().parse().unwrap()).to_vec();
    net.down(1, 2);
    net.send_at(secs(80.1), 0, 3, 1);
    net.run_until(secs(81.5));
    for (to, number) in [2, 3].into_iter().zip(numbers) {
        assert_eq!(route(&net, 1, addr(to), "state").as_deref(), Some("lost"));
        assert_eq!(route(&net, 1, addr(to), "seq"), Some((number + 1).to_string()), "one more, and odd");
        assert_eq!(number % 2, 0);
        assert_eq!(net.route(1, addr(to)), None);
    }
    let told = &said_since(&net, 1, secs(80.1))[0];
    assert!((told.at - secs(80.1)).as_secs_f64() < 1.05, "at once, or a second after the last update");
    assert_eq!(told.entries.iter().filter(|e| e.1 == UNREACHABLE && e.2 % 2 == 1).count(), 2, "{told:?}");
    // And its user has heard it.
    assert_eq!(net.route(0, addr(3)), None);
    assert!(net.drops().contains(&(wayhop_core::NodeId(1), DropReason::MacRetries)));
    net.assert_conserved();
}

#[test]
fn a_loss_travels_in_updates_of_its_own() {
    let mut net = line(5, &Params::rfc());
    net.run_until(secs(100.0));
    net.down(3, 4);
    net.send_at(secs(100.1), 3, 4, 1);
    net.run_until(secs(105.0));
    // Three hops, each at most a second after the last update: no full update was waited for.
    for node in 0..4 {
        assert_eq!(route(&net, node, addr(4), "state").as_deref(), Some("lost"), "node {node}");
    }
}

#[test]
fn the_destination_of_a_lost_route_brings_it_back_with_its_next_number() {
    let mut net = net(4, &Params::rfc());
    for (a, b) in [(0, 1), (1, 3), (0, 2), (2, 3)] {
        net.up(a, b);
    }
    net.run_until(secs(80.0));
    let first = net.route(0, addr(3)).expect("a route").next_hop;
    let (broken, other) = if first == addr(1) { (1, 2) } else { (2, 1) };
    net.down(broken, 3);
    net.send_every(secs(80.1), ms(500), 60, 0, 3, 1);
    net.run_until(secs(112.0));
    assert_eq!(net.route(0, addr(3)).map(|r| r.next_hop), Some(addr(other).into()));
    let number: u32 = route(&net, 0, addr(3), "seq").unwrap().parse().unwrap();
    assert_eq!(number % 2, 0, "the destination's own");
    assert!(net.delivered(1).len() >= 50, "{} of 60", net.delivered(1).len());
    net.assert_conserved();
}

#[test]
fn a_neighbour_that_misses_three_updates_is_lost() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    hear(&mut net, 0, addr(2), &[(addr(2), 1, 8), (addr(51), 2, 100)]);
    net.run_until(secs(20.0));
    hear(&mut net, 0, addr(2), &[(addr(2), 1, 10)]);
    net.run_until(secs(45.9));
    assert!(net.route(0, addr(50)).is_some());
    net.run_until(secs(46.5));
    assert_eq!(net.route(0, addr(50)), None);
    assert_eq!(way(&net, 0, addr(50)), "10.0.0.2 250 101");
    assert_eq!(way(&net, 0, addr(1)), "10.0.0.2 250 9");
    assert!(net.route(0, addr(51)).is_some());
    let told = said_since(&net, 0, secs(45.5));
    assert!(told.iter().any(|s| s.entries.contains(&(addr(50), UNREACHABLE, 101))), "{told:?}");
    assert_eq!(net.notes("neighbour_lost").len(), 1);
}

#[test]
fn a_loss_that_is_known_is_lost_no_further() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.command(0, &Command::PurgeRoutes { destination: Some(addr(50).into()) }).expect("known");
    assert_eq!(way(&net, 0, addr(50)), "10.0.0.2 250 101");
    net.command(0, &Command::PurgeRoutes { destination: None }).expect("known");
    net.run_until(secs(60.0));
    assert_eq!(way(&net, 0, addr(50)), "10.0.0.2 250 101", "odd numbers stay");
    assert_eq!(net.routes(0), []);
}

#[test]
fn lost_destinations_are_forgotten_after_the_delete_period() {
    let p = Params { delete_period_ms: Some(100_000), ..regular(&Params::rfc()) };
    let mut net = alone(&p);
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(145.5)); // the silence took 45 s
    assert_eq!(net.inspect(0).table("routes").count(), 2);
    net.run_until(secs(146.5));
    assert_eq!(net.inspect(0).table("routes").count(), 0);
}

#[test]
fn without_feedback_an_unacknowledged_packet_is_dropped_and_the_route_stays() {
    let mut net = line(3, &Params { link_feedback: false, ..Params::rfc() });
    net.run_until(secs(80.0));
    net.down(1, 2);
    net.send_at(secs(80.1), 0, 2, 1);
    net.run_until(secs(82.0));
    assert_eq!(net.drops(), [(wayhop_core::NodeId(1), DropReason::MacRetries)]);
    assert!(net.route(1, addr(2)).is_some());
    net.run_until(secs(130.0));
    assert_eq!(net.route(1, addr(2)), None, "the silence ends it");
}

#[test]
fn a_next_hop_that_the_hosts_forwarding_does_not_find_is_a_broken_link() {
    let mut net = line(3, &Params::rfc());
    net.config.acknowledged = false;
    net.config.resolves = true;
    net.run_until(secs(80.0));
    net.down(1, 2);
    net.send_at(secs(80.1), 0, 2, 1);
    net.run_until(secs(82.0));
    assert_eq!(net.route(1, addr(2)), None);
    net.assert_conserved();
}

#[test]
fn packets_queued_for_a_broken_link_come_back_and_wait() {
    let mut net = line(2, &Params::rfc());
    net.run_until(secs(40.0));
    net.down(0, 1);
    for _ in 0..4 {
        net.send_at(secs(40.1), 0, 1, 1);
    }
    net.up_at(secs(42.0), 0, 1);
    net.run_until(secs(41.0));
    assert_eq!(crate::support::held(&net, 0), 4);
    net.run_until(secs(60.0));
    assert_eq!(net.delivered(1).len(), 4);
    net.assert_conserved();
}
