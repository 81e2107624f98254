//! Section 6.13: a node that lost its memory.

use wayhop_aodv::{Engine, OwnNumber, Params};
use wayhop_core::{BROADCAST, DropReason};
use wayhop_testkit::addr;
use wayhop_wire::aodv::Message;

use crate::support::{
    alone, hear, hear_rerr, line, ms, own_seq, reply, request, rerrs, route, rreps, rreqs, said, secs,
    transit,
};

fn waiting() -> Params {
    Params { wait_after_reboot: true, delete_period_ms: Some(5_000), ..Params::rfc() }
}

#[test]
fn a_request_brings_the_lost_number_back_during_the_wait() {
    let mut net = alone(&waiting());
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(0), Some(41))));
    assert_eq!(own_seq(&net, 0), 41);
    assert!(said(&net, 0).is_empty(), "and no reply");
    net.run_until(secs(5.5));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(2, addr(4), 2, addr(0), None)));
    assert_eq!(rreps(&net, 0)[0].1.destination_seq, 41);
}

#[test]
fn without_a_request_the_own_number_is_zero() {
    let mut net = alone(&waiting());
    net.run_until(secs(5.5));
    assert_eq!(own_seq(&net, 0), 0);
}

#[test]
fn transit_data_is_refused_during_the_wait_although_a_route_is_known() {
    let mut net = alone(&waiting());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(0))));
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "valid", "it learns");
    net.run_until(secs(3.0));
    transit(&mut net, 0, 3, addr(9));
    let dropped: Vec<_> = net.drops().iter().filter(|d| d.0.0 == 0).map(|d| d.1).collect();
    assert_eq!(dropped, [DropReason::NoRoute]);
    let (s, _, lost) = rerrs(&net, 0).remove(0);
    assert_eq!((s.next_hop, lost[0].destination, lost[0].seq), (BROADCAST, addr(9), 11));
    // The wait restarted at 3.0 s; own packets wait, too, with and without a route.
    net.send_to(0, addr(9), 1);
    net.send_to(0, addr(7), 2);
    net.run_until(secs(7.9));
    assert!(rreqs(&net, 0).is_empty());
    assert_eq!(net.sent_by(0).filter(|(_, to, _)| *to == addr(4)).count(), 0);
    net.run_until(secs(8.2));
    assert_eq!(rreqs(&net, 0).len(), 1);
    assert_eq!(net.sent_by(0).filter(|(_, to, _)| *to == addr(4)).count(), 1);
    // What was learned serves from now on, others as well.
    transit(&mut net, 0, 3, addr(9));
    assert_eq!(net.sent_by(0).filter(|(_, to, _)| *to == addr(4)).count(), 2);
    net.assert_conserved();
}

#[test]
fn nothing_is_passed_on_during_the_wait() {
    let mut net = alone(&waiting());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, addr(9), None)));
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(5))));
    hear(&mut net, 0, addr(6), &Message::Rreq(request(1, addr(6), 1, addr(9), None)));
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), 11)]);
    net.run_for(ms(500));
    assert!(said(&net, 0).is_empty(), "{:?}", said(&net, 0));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11", "but all is learned");
    net.assert_conserved();
}

#[test]
fn a_request_for_an_address_of_its_subnet_brings_a_routers_number_back() {
    let mut net = alone(&Params { subnet_routers: vec!["10.0.0.1/29".to_owned()], ..waiting() });
    hear(&mut net, 0, addr(8), &Message::Rreq(request(1, addr(8), 1, addr(5), Some(41))));
    assert_eq!(own_seq(&net, 0), 41);
}

/// How many of 20 packets, one each 100 ms from its restart on, reach a node two hops away. In its life before, the restarted node
/// has asked for a node that is not there.
fn delivered_after_restart(first_number: u32) -> usize {
    let mut net = line(3, &Params::rfc());
    net.send_to(2, addr(9), 1);
    net.run_until(secs(20.0));
    net.send_to(2, addr(0), 2);
    net.run_until(secs(21.0));
    assert_eq!(net.delivered(2), [0]);
    net.stop(2);
    // The relay forgets the route to node 0, and nobody a number.
    net.run_until(secs(45.0));
    net.restart(2, Box::new(Engine::new(Params { first_number, ..Params::rfc() })));
    net.send_every(secs(45.0), ms(100), 20, 2, 0, 3);
    net.run_until(secs(47.1));
    net.delivered(3).len()
}

#[test]
fn a_restarted_node_that_goes_on_behind_its_numbers_is_believed_at_once() {
    let old = delivered_after_restart(0);
    assert!(old < 10, "nobody takes news with an old number: {old} of 20 arrived");
    assert_eq!(delivered_after_restart(1_000), 20);
}

#[test]
fn identifiers_and_numbers_begin_behind_the_first_number() {
    for own_number in [OwnNumber::Minimal, OwnNumber::IncrementIfNext, OwnNumber::Even] {
        let mut net = alone(&Params { own_number, first_number: u32::MAX - 2, ..Params::rfc() });
        net.send_to(0, addr(9), 1);
        net.run_for(ms(10));
        let (_, m) = rreqs(&net, 0).remove(0);
        assert_eq!(m.id, u32::MAX - 1);
        assert!(m.originator_seq.wrapping_sub(u32::MAX - 2) <= 4, "{own_number:?}: {}", m.originator_seq);
    }
}
