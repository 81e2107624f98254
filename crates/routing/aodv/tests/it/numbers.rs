//! Section 6.1: sequence numbers, where the RFC can be read in several ways.

use wayhop_aodv::{OwnNumber, Params, RerrNumber};
use wayhop_core::BROADCAST;
use wayhop_testkit::{Net, addr};
use wayhop_wire::aodv::{Message, Rreq};

use crate::support::{alone, frame, hear, hear_rerr, ms, own_seq, reply, request, rfc, route, rreps, rreqs};

/// Node 0 hears a Hello.
fn hello(net: &mut Net, from: usize, seq: u32) {
    let m = Message::Rrep(reply(addr(from), seq, 0, addr(from)));
    net.inject(0, addr(from), true, &frame(addr(from), BROADCAST, 1, &m));
    net.run_for(ms(2));
}
/// Node 0 with a route to 9 over 4 with this number, which nobody else uses.
fn with_route(params: &Params, seq: u32) -> Net {
    let mut net = alone(params);
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), seq, 2, addr(0))));
    net
}

#[test]
fn a_hellos_number_comes_with_its_way() {
    // The way to 4 leads over 5, three hops. A newer number of a Hello on that longer way would look fresher than what 5 itself
    // has, and 5 could be answered with its own route.
    for (seq, next_hop, hops, number) in
        [(9, 5, "3", "10"), (10, 4, "1", "10"), (12, 4, "1", "12"), (u32::MAX, 5, "3", "10")]
    {
        let mut net = alone(&rfc());
        hear(&mut net, 0, addr(5), &Message::Rrep(reply(addr(4), 10, 2, addr(0))));
        hello(&mut net, 4, seq);
        assert_eq!(net.route(0, addr(4)).unwrap().next_hop, addr(next_hop), "Hello with {seq}");
        assert_eq!(route(&net, 0, addr(4), "hops").unwrap(), hops);
        assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), number);
    }
}

#[test]
fn a_hello_after_a_break_restores_the_direct_way_under_the_raised_number() {
    let mut net = alone(&rfc());
    hello(&mut net, 4, 10);
    net.down(0, 4);
    net.send_to(0, addr(4), 1);
    net.run_for(ms(20));
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "11");
    net.up(0, 4);
    hello(&mut net, 4, 10);
    assert_eq!(route(&net, 0, addr(4), "state").unwrap(), "valid");
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "11", "never lowered");
}

#[test]
fn a_destination_that_only_increments_does_not_take_over_a_number_far_ahead() {
    // (rule, number asked for, number answered): own number 0.
    for (rule, asked, answered) in [
        (OwnNumber::Minimal, 1, 1),
        (OwnNumber::Minimal, 41, 41),
        (OwnNumber::Minimal, u32::MAX, 0),
        (OwnNumber::IncrementIfNext, 0, 0),
        (OwnNumber::IncrementIfNext, 1, 1),
        (OwnNumber::IncrementIfNext, 41, 0),
    ] {
        let mut net = alone(&Params { own_number: rule, ..rfc() });
        hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(0), Some(asked))));
        net.run_for(ms(5));
        assert_eq!(rreps(&net, 0)[0].1.destination_seq, answered, "{rule:?}, {asked}");
        assert_eq!(own_seq(&net, 0), answered);
    }
}

#[test]
fn a_route_error_raises_the_number_whichever_rule_counts_it() {
    // The route has number 10.
    for (rule, told, counts) in [
        (RerrNumber::Newer, 11, Some("11")),
        (RerrNumber::Newer, 10, None),
        (RerrNumber::Newer, 9, None),
        (RerrNumber::Newer, 0, Some("11")),
        (RerrNumber::NotOlder, 10, Some("11")),
        (RerrNumber::NotOlder, 9, None),
        (RerrNumber::Any, 10, Some("11")),
        (RerrNumber::Any, 9, Some("11")),
        (RerrNumber::Any, 30, Some("30")),
    ] {
        let mut p = rfc();
        p.rerr_number = rule;
        let mut net = with_route(&p, 10);
        hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), told)]);
        let is_broken = route(&net, 0, addr(9), "state").unwrap() == "invalid";
        assert_eq!(is_broken, counts.is_some(), "{rule:?}, {told}");
        assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), counts.unwrap_or("10"), "{rule:?}, {told}");
    }
}

#[test]
fn an_unknown_number_in_a_route_error_costs_one_even_in_the_upper_half() {
    // 0 is "newer" than 4294967290: a node that knows no number must not make others jump.
    let mut net = with_route(&rfc(), u32::MAX - 5);
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), 0)]);
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), (u32::MAX - 4).to_string());
}

#[test]
fn a_stale_request_does_not_turn_the_way_back_and_is_passed_on() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rreq(request(7, addr(4), 20, addr(9), None)));
    let stale = Rreq { hop_count: 1, ..request(5, addr(4), 19, addr(9), None) };
    hear(&mut net, 0, addr(5), &Message::Rreq(stale));
    net.run_for(ms(20));
    assert_eq!(net.route(0, addr(4)).unwrap().next_hop, addr(4));
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "20");
    assert_eq!(rreqs(&net, 0).len(), 2, "section 6.5 discards duplicates only");
}

#[test]
fn an_answer_to_a_stale_request_makes_users_of_both_neighbours() {
    // 4's request comes late over 5; the way back to 4 is direct.
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(6), &Message::Rrep(reply(addr(9), 10, 2, addr(0))));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(7, addr(4), 20, addr(99), None)));
    let stale = Rreq { hop_count: 1, ..request(5, addr(4), 19, addr(9), None) };
    hear(&mut net, 0, addr(5), &Message::Rreq(stale));
    net.run_for(ms(20));
    assert_eq!(rreps(&net, 0)[0].0.next_hop, addr(4));
    let users = route(&net, 0, addr(9), "precursors").unwrap();
    assert_eq!(users, format!("{} {}", addr(5), addr(4)));
}
