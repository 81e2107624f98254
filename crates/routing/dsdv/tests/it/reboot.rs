//! A node that lost its number and its table.

use wayhop_dsdv::{Engine, Params};
use wayhop_testkit::addr;
use wayhop_wire::dsdv::UNREACHABLE;

use crate::support::{alone, hear, line, own_seq, regular, said, secs};

#[test]
fn a_lost_number_comes_back_from_the_neighbours_and_is_raised_at_once() {
    let mut net = alone(&regular(&Params::rfc()));
    // What neighbours remember of the life before: a route, or its loss.
    for (seq, unreachable, next) in [(400, false, 402), (501, true, 502)] {
        let hops = if unreachable { UNREACHABLE } else { 2 };
        hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(0), hops, seq)]);
        net.run_for(crate::support::ms(1_100));
        assert_eq!(own_seq(&net, 0), next);
        assert_eq!(said(&net, 0).pop().expect("an update").entries[0], (addr(0), 1, next));
    }
}

#[test]
fn a_rebooted_node_is_reached_again_as_soon_as_it_is_heard() {
    let mut net = line(3, &Params::rfc());
    net.run_until(secs(100.0));
    net.stop(2);
    net.run_until(secs(101.0));
    net.restart(2, Box::new(Engine::new(Params::rfc())));
    // Its first numbers are old; the answers of its neighbour tell it.
    net.run_until(secs(120.0));
    net.send_at(secs(120.0), 0, 2, 1);
    net.run_until(secs(121.0));
    assert_eq!(net.delivered(1), [0]);
    assert!(own_seq(&net, 2) > 14, "{}", own_seq(&net, 2));
    net.assert_conserved();
}

#[test]
fn in_the_wait_after_a_reboot_a_node_says_and_believes_nothing_but_its_number() {
    let mut net = alone(&Params { wait_after_reboot: true, ..regular(&Params::rfc()) });
    hear(&mut net, 0, addr(1), &[(addr(1), 1, 8), (addr(50), 2, 100), (addr(0), 2, 40)]);
    net.send_to(0, addr(50), 1);
    net.run_until(secs(59.9));
    assert_eq!(said(&net, 0).len(), 0);
    assert_eq!(net.inspect(0).table("routes").count(), 0);
    assert_eq!(own_seq(&net, 0), 40);
    // Three missed updates, after which neighbours have lost the node, and one more period.
    net.run_until(secs(60.5));
    assert_eq!(said(&net, 0)[0].entries, [(addr(0), 1, 42)]);
    hear(&mut net, 0, addr(1), &[(addr(50), 2, 100)]);
    assert!(net.route(0, addr(50)).is_some());
}
