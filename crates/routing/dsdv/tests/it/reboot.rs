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

/// How long after its restart a node at the end of a line of three is reached again, s. It was gone for a minute, so that the others have
/// lost it.
fn return_s(p: &Params, restart_s: f64) -> f64 {
    let mut net = line(3, p);
    net.run_until(secs(100.0));
    net.stop(2);
    net.run_until(secs(restart_s));
    net.restart(2, Box::new(Engine::new(p.clone())));
    assert_eq!(net.route(0, addr(2)), None);
    let mut past = 0.0;
    while net.route(0, addr(2)).is_none() {
        past += 0.1;
        net.run_until(secs(restart_s + past));
    }
    past
}

#[test]
fn a_restarted_node_is_told_its_number_and_back_within_five_seconds() {
    let p = Params::rfc();
    let slowest = |p: &Params| (0..15).map(|i| return_s(p, 160.0 + f64::from(i))).fold(0.0, f64::max);
    // Up to 2 s until it says something, and twice 1 s at most until a triggered update may leave.
    assert!(slowest(&p) < 4.5, "{}", slowest(&p));
    let waits = slowest(&Params { answer_old_number: false, ..p });
    assert!(waits > 10.0, "it has to wait for a full update: {waits}");
}

#[test]
fn only_an_old_number_of_the_neighbours_own_is_answered_with_the_known_one() {
    let told = |p: &Params, said: (std::net::Ipv4Addr, u32, u32)| {
        let mut net = alone(&regular(p));
        hear(&mut net, 0, addr(1), &[(addr(1), 1, 40), (addr(50), 2, 100)]);
        net.run_until(secs(16.0));
        hear(&mut net, 0, addr(1), &[said]);
        net.run_until(secs(18.0));
        crate::support::said_since(&net, 0, secs(16.0))
            .into_iter()
            .flat_map(|s| s.entries)
            .collect::<Vec<_>>()
    };
    let p = Params::rfc();
    assert!(told(&p, (addr(1), 1, 2)).contains(&(addr(1), 2, 40)));
    // Somebody else's old number is old news, and the known number is no old one.
    for said in [(addr(50), 2, 2), (addr(1), 1, 40)] {
        assert_eq!(told(&p, said), [], "{said:?}");
    }
    assert_eq!(told(&Params { answer_old_number: false, ..p }, (addr(1), 1, 2)), []);
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
