//! Which news are believed.

use std::net::Ipv4Addr;

use wayhop_dsdv::Params;
use wayhop_testkit::addr;
use wayhop_wire::dsdv::UNREACHABLE;

use crate::support::{alone, hear, line, net, own_seq, regular, route, secs, way};

#[test]
fn a_line_learns_all_its_nodes_and_the_host_forwards() {
    let mut net = line(5, &Params::rfc());
    net.send_at(secs(80.0), 0, 4, 1);
    net.run_until(secs(81.0));
    assert_eq!(net.delivered(1), [0]);
    for node in 0..5usize {
        for to in (0..5).filter(|&to| to != node) {
            let r = net.route(node, addr(to)).expect("a route");
            assert_eq!(r.metric as usize, node.abs_diff(to));
            assert_eq!(r.next_hop, addr(if to > node { node + 1 } else { node - 1 }));
        }
    }
    net.assert_conserved();
}

#[test]
fn a_newer_number_wins_and_an_equal_one_with_a_shorter_way() {
    let mut net = alone(&regular(&Params::rfc()));
    let to = addr(50);
    for (from, hop_count, seq, wanted) in [
        (1, 4, 100, "10.0.0.2 4 100"),
        (2, 4, 100, "10.0.0.2 4 100"), // as long
        (2, 5, 100, "10.0.0.2 4 100"),
        (2, 3, 100, "10.0.0.3 3 100"), // shorter
        (3, 2, 98, "10.0.0.3 3 100"),  // older
        (3, 9, 102, "10.0.0.4 9 102"), // newer, and longer
    ] {
        hear(&mut net, 0, addr(from), &[(to, hop_count, seq)]);
        assert_eq!(way(&net, 0, to), wanted);
        assert_eq!(net.route(0, to).map(|r| (r.next_hop.to_string(), r.metric.to_string())), {
            let mut words = wanted.split(' ').map(str::to_owned);
            words.next().zip(words.next())
        });
    }
}

#[test]
fn numbers_are_compared_across_the_rollover() {
    let mut net = alone(&regular(&Params::rfc()));
    let to = addr(50);
    hear(&mut net, 0, addr(1), &[(to, 4, u32::MAX - 1)]);
    hear(&mut net, 0, addr(2), &[(to, 6, 0)]);
    assert_eq!(way(&net, 0, to), "10.0.0.3 6 0");
    hear(&mut net, 0, addr(1), &[(to, 2, u32::MAX - 1)]);
    assert_eq!(way(&net, 0, to), "10.0.0.3 6 0");
}

#[test]
fn a_newer_loss_ends_the_route_whoever_tells_it() {
    let mut net = alone(&regular(&Params::rfc()));
    let to = addr(50);
    hear(&mut net, 0, addr(1), &[(to, 4, 100)]);
    hear(&mut net, 0, addr(2), &[(to, UNREACHABLE, 101)]);
    assert_eq!(route(&net, 0, to, "state").as_deref(), Some("lost"));
    assert_eq!(net.route(0, to), None);
    // What has not heard of the loss yet does not bring the route back; the destination's next number does.
    hear(&mut net, 0, addr(3), &[(to, 2, 100)]);
    assert_eq!(net.route(0, to), None);
    hear(&mut net, 0, addr(3), &[(to, 2, 102)]);
    assert_eq!(net.route(0, to).map(|r| r.next_hop), Some(addr(3).into()));
    net.assert_conserved();
}

#[test]
fn ns3s_way_to_tell_a_loss_an_odd_number_and_any_hop_count_is_understood() {
    let mut net = alone(&regular(&Params::rfc()));
    let to = addr(50);
    hear(&mut net, 0, addr(1), &[(to, 4, 100)]);
    hear(&mut net, 0, addr(1), &[(to, 5, 101)]);
    assert_eq!(net.route(0, to), None);
    assert_eq!(route(&net, 0, to, "seq").as_deref(), Some("101"));
}

#[test]
fn entries_that_contradict_themselves_are_passed_over_and_the_others_count() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(50), 4, 100), (addr(51), 4, 100)]);
    let bad = [
        (addr(50), 0, 200),
        (addr(50), UNREACHABLE, 200), // only who lost it says so, under an odd number
        (Ipv4Addr::BROADCAST, 2, 200),
        (Ipv4Addr::new(224, 0, 0, 1), 2, 200),
        (Ipv4Addr::UNSPECIFIED, 2, 200),
        (Ipv4Addr::LOCALHOST, 2, 200),
    ];
    hear(&mut net, 0, addr(1), &[&bad[..], &[(addr(51), 3, 102)]].concat());
    assert_eq!(way(&net, 0, addr(50)), "10.0.0.2 4 100");
    assert_eq!(way(&net, 0, addr(51)), "10.0.0.2 3 102");
    // The two, and the neighbour, which did not say who it is.
    assert_eq!(net.inspect(0).table("routes").count(), 3);
}

#[test]
fn distances_end_below_infinity() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(50), 249, 100), (addr(51), 248, 100)]);
    assert_eq!(net.route(0, addr(50)).map(|r| r.metric), Some(249));
    net.run_until(secs(16.0));
    let update = crate::support::said(&net, 0).pop().expect("a full update");
    // 250 under an even number: receivers ignore it.
    assert!(update.entries.contains(&(addr(50), 250, 100)), "{update:?}");
    assert!(update.entries.contains(&(addr(51), 249, 100)), "{update:?}");
}

#[test]
fn a_node_takes_no_route_to_itself_and_has_the_last_word_on_its_number() {
    let mut net = alone(&regular(&Params::rfc()));
    assert_eq!(own_seq(&net, 0), 2, "the first update's");
    hear(&mut net, 0, addr(1), &[(addr(0), 3, 2)]);
    assert_eq!(route(&net, 0, addr(0), "state"), None);
    assert_eq!(own_seq(&net, 0), 2);
    // A loss of itself is answered with the next number, as soon as an update may leave.
    hear(&mut net, 0, addr(1), &[(addr(0), UNREACHABLE, 3)]);
    net.run_until(secs(1.5));
    assert_eq!(own_seq(&net, 0), 4);
    let answer = crate::support::said(&net, 0).pop().expect("an update");
    assert_eq!(answer.entries[0], (addr(0), 1, 4));
    // The same loss, later told by somebody else, is old.
    hear(&mut net, 0, addr(2), &[(addr(0), UNREACHABLE, 3)]);
    net.run_until(secs(9.0));
    assert_eq!(own_seq(&net, 0), 4);
}

#[test]
fn an_older_loss_is_answered_with_what_is_known() {
    let mut net = alone(&regular(&Params::rfc()));
    let to = addr(50);
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 20), (to, 4, 100)]);
    net.run_until(secs(16.0)); // told to all in a full update
    let before = crate::support::said(&net, 0).len();
    hear(&mut net, 0, addr(2), &[(addr(2), 1, 40), (to, UNREACHABLE, 99)]);
    net.run_until(secs(17.5));
    assert_eq!(way(&net, 0, to), "10.0.0.2 4 100");
    let told: Vec<_> = crate::support::said(&net, 0).drain(before..).flat_map(|s| s.entries).collect();
    assert!(told.contains(&(to, 5, 100)), "{told:?}");
}

#[test]
fn neighbours_that_say_nothing_of_themselves_are_known_and_told_to_nobody() {
    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(50), 2, 100)]);
    assert_eq!(way(&net, 0, addr(1)), "10.0.0.2 1 0");
    net.run_until(secs(20.0));
    let told: Vec<_> = crate::support::said(&net, 0).into_iter().flat_map(|s| s.entries).collect();
    assert!(told.iter().any(|e| e.0 == addr(50)) && told.iter().all(|e| e.0 != addr(1)), "{told:?}");
    // When they are silent, what came from them is lost.
    net.run_until(secs(46.5));
    assert_eq!(net.routes(0), []);
}

#[test]
fn two_ways_of_the_same_length_do_not_alternate() {
    let mut net = net(4, &Params::rfc());
    for (a, b) in [(0, 1), (1, 3), (0, 2), (2, 3)] {
        net.up(a, b);
    }
    net.run_until(secs(200.0));
    let r = net.route(0, addr(3)).expect("a route");
    assert_eq!(r.metric, 2);
    net.assert_conserved();
}
