//! Hellos, where the link layer acknowledges nothing: a gateway that falls silent is noticed within seconds.

use wayhop_dsdv::Params;
use wayhop_testkit::{Net, addr};

use crate::support::{alone, hear, line, ms, regular, route, said_since, secs, way};

fn mute_line(n: usize, p: &Params) -> Net {
    let mut net = line(n, p);
    net.config.acknowledged = false;
    net
}

#[test]
fn a_silent_neighbour_is_lost_after_three_seconds_whether_or_not_packets_go_there() {
    for sends in [false, true] {
        let mut net = mute_line(3, &Params::rfc());
        net.run_until(secs(80.0));
        net.down(1, 2);
        if sends {
            net.send_every(secs(80.1), ms(100), 100, 0, 2, 1);
        }
        // The last Hello was up to a second before, and some 10 ms of jitter on its way.
        net.run_until(secs(81.9));
        assert!(net.route(1, addr(2)).is_some(), "three Hellos may be missed");
        net.run_until(secs(83.1));
        assert_eq!(net.route(1, addr(2)), None);
        // Told by a triggered update, no sooner than a second after the last one.
        net.run_until(secs(84.2));
        assert_eq!(net.route(0, addr(2)), None);
    }
}

#[test]
fn a_neighbour_that_comes_back_is_told_that_it_was_lost_and_has_a_route_within_two_seconds() {
    let mut net = mute_line(3, &Params::rfc());
    net.run_until(secs(80.0));
    net.down(1, 2);
    net.run_until(secs(86.0));
    net.up(1, 2);
    // A Hello within a second, the news of the loss, and the full update with the next number.
    net.run_until(secs(89.5));
    for (node, to) in [(1, 2), (2, 1), (0, 2)] {
        assert_eq!(route(&net, node, addr(to), "state").as_deref(), Some("valid"), "{node} to {to}");
    }
}

#[test]
fn a_hello_has_the_node_alone_and_leaves_only_where_no_update_does() {
    let mut net = mute_line(2, &regular(&Params::rfc()));
    net.run_until(secs(91.0));
    let said = said_since(&net, 0, secs(61.0));
    // Full updates at 75 and 90 s; Hellos every second, up to 100 ms earlier.
    let hellos = said.iter().filter(|s| s.entries.len() == 1).count();
    assert!((28..=32).contains(&hellos), "{hellos}");
    assert_eq!(said.len() - hellos, 2);
    for pair in said.windows(2) {
        assert!(pair[1].at - pair[0].at <= ms(1_100), "{pair:?}");
    }
    let number = said[0].entries[0].2;
    assert!(said.iter().take_while(|s| s.entries.len() == 1).all(|s| s.entries == [(addr(0), 1, number)]));
}

#[test]
fn links_that_acknowledge_have_none_and_who_sends_none_is_waited_for_as_ever() {
    let mut net = line(2, &regular(&Params::rfc()));
    net.run_until(secs(100.0));
    assert!(said_since(&net, 0, secs(20.0)).iter().all(|s| s.entries.len() > 1));

    let mut net = alone(&regular(&Params::rfc()));
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100)]);
    net.run_until(secs(44.0));
    assert!(net.route(0, addr(50)).is_some(), "it sends no Hellos");
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8)]);
    net.run_until(secs(46.9));
    assert!(net.route(0, addr(50)).is_some());
    net.run_until(secs(47.2));
    assert_eq!(way(&net, 0, addr(50)), "10.0.0.2 250 101", "now it does");
}
