//! Section 6.11: broken links and Route Errors.

use wayhop_aodv::Params;
use wayhop_core::{BROADCAST, DropReason, TxStatus};
use wayhop_testkit::{EventKind, addr};
use wayhop_wire::aodv::Message;

use crate::support::{
    alone, hear, hear_rerr, held, line_with_route, ms, net, reply, request, rerrs, rfc, route, rreqs, secs,
    transit,
};

/// Node 0 with a route to 9 over 4 (number 10, 3 hops), used by 5.
fn with_a_user(params: &Params) -> wayhop_testkit::Net {
    let mut net = alone(params);
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, addr(9), None)));
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(5))));
    net.run_for(ms(20));
    assert_eq!(net.route(0, addr(9)).unwrap().next_hop, addr(4));
    net
}

#[test]
fn a_break_in_the_middle_is_reported_to_the_source_which_finds_another_way() {
    // 0 - 1 - 2 - 3, and 1 - 4 - 5 - 3 around it.
    let mut net = net(6, &rfc());
    net.line();
    net.down(3, 4);
    net.up(1, 4);
    net.up(5, 3);
    net.send_every(secs(1.0), ms(100), 60, 0, 3, 1);
    net.down_at(secs(3.0), 2, 3);
    net.run_until(secs(12.0));
    let errors = rerrs(&net, 2);
    assert_eq!(errors.len(), 1);
    let (s, no_delete, lost) = &errors[0];
    assert!(!no_delete);
    assert_eq!(lost.iter().map(|u| u.destination).collect::<Vec<_>>(), [addr(3)]);
    // One user: unicast, TTL 1.
    assert_eq!((s.next_hop, s.ip.dst, s.ip.ttl), (addr(1), addr(1), 1));
    assert_eq!(rerrs(&net, 1).len(), 1, "told on to the source");
    assert_eq!(rerrs(&net, 0).len(), 0, "which has nobody to tell");
    let got = net.delivered(1);
    assert!(got.len() >= 58 && got.contains(&59), "{got:?}");
    assert_eq!(net.route(0, addr(3)).unwrap().metric, 4);
    net.assert_conserved();
}

#[test]
fn a_broken_link_raises_the_number_and_keeps_the_distance() {
    let mut net = with_a_user(&rfc());
    net.down(0, 4);
    net.send_to(0, addr(9), 1);
    net.run_for(ms(20));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11");
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
    assert_eq!(route(&net, 0, addr(9), "hops").unwrap(), "3");
    let (s, _, lost) = rerrs(&net, 0).remove(0);
    // Section 6.11: the neighbour itself, whose number nobody told, and what was reached over it, in any order.
    let mut lost: Vec<_> = lost.iter().map(|u| (u.destination, u.seq)).collect();
    lost.sort_unstable();
    assert_eq!(lost, [(addr(4), 0), (addr(9), 11)]);
    assert_eq!(s.next_hop, addr(5));
    // The own packet waits, and the request asks for a newer number, over the last distance plus two.
    assert_eq!(held(&net, 0), 1);
    let (s, m) = rreqs(&net, 0).pop().unwrap();
    assert_eq!((m.destination_seq, m.unknown_seq, s.ip.ttl), (11, false, 5));
}

#[test]
fn a_route_error_for_several_users_is_broadcast_with_ttl_one() {
    let mut net = with_a_user(&rfc());
    hear(&mut net, 0, addr(6), &Message::Rreq(request(1, addr(6), 1, addr(9), None)));
    net.run_for(ms(20));
    net.down(0, 4);
    net.send_to(0, addr(9), 1);
    net.run_for(ms(20));
    let (s, _, _) = rerrs(&net, 0).remove(0);
    assert_eq!((s.next_hop, s.ip.dst, s.ip.ttl), (BROADCAST, BROADCAST, 1));
}

#[test]
fn a_route_that_nobody_else_uses_breaks_silently() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(0))));
    net.down(0, 4);
    net.send_to(0, addr(9), 1);
    net.run_for(ms(20));
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
    assert_eq!(rerrs(&net, 0).len(), 0);
}

#[test]
fn a_route_error_counts_only_from_the_next_hop_and_with_a_newer_number() {
    for (from, seq, breaks) in [(3, 11, false), (4, 9, false), (4, 10, false), (4, 11, true)] {
        let mut net = with_a_user(&rfc());
        hear_rerr(&mut net, 0, addr(from), false, &[(addr(9), seq)]);
        net.run_for(ms(20));
        assert_eq!(
            route(&net, 0, addr(9), "state").unwrap() == "invalid",
            breaks,
            "from {from}, number {seq}"
        );
        let number = if breaks { "11" } else { "10" };
        assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), number);
        assert_eq!(rerrs(&net, 0).len(), usize::from(breaks), "told on");
        assert_eq!(net.route(0, addr(9)).is_none(), breaks);
    }
}

#[test]
fn a_route_errors_number_is_compared_across_the_rollover() {
    for (known, told, breaks) in [(u32::MAX, 1, true), (1, u32::MAX, false)] {
        let mut net = alone(&rfc());
        hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), known, 2, addr(0))));
        hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), told)]);
        assert_eq!(route(&net, 0, addr(9), "state").unwrap() == "invalid", breaks);
        let number = if breaks { told } else { known };
        assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), number.to_string());
    }
}

#[test]
fn a_next_hop_that_lost_its_memory_breaks_the_route_and_the_number_still_grows() {
    let mut net = with_a_user(&rfc());
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), 0)]);
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11");
}

#[test]
fn a_transit_packet_without_a_route_is_dropped_and_reported_to_all() {
    // Node 1 forgets nothing, but its route to 3 broke before: the next transit packet finds none.
    let mut net = line_with_route(3, &rfc());
    net.down(1, 2);
    net.send_at(secs(2.1), 1, 2, 2);
    net.run_until(secs(2.2));
    // Node 1 told 0 already; a packet of 0's that was under way comes all the same.
    let before = rerrs(&net, 1).len();
    assert_eq!(before, 1);
    transit(&mut net, 1, 0, addr(2));
    let errors = rerrs(&net, 1);
    assert_eq!(errors.len(), before + 1);
    assert_eq!(errors[1].0.next_hop, BROADCAST);
    assert_eq!(errors[1].2[0].seq, errors[0].2[0].seq, "the number does not run ahead of its owner's");
    assert_eq!(net.drops().last().map(|(n, why)| (n.0, *why)), Some((1, DropReason::NoRoute)));
}

#[test]
fn packets_queued_for_a_broken_link_come_back_and_find_the_new_way() {
    let mut net = net(3, &rfc());
    net.up(0, 1);
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(2.0));
    net.down(0, 1);
    net.up(0, 2);
    net.up(2, 1);
    net.send_every(secs(2.0), ms(0), 10, 0, 1, 1);
    net.run_until(secs(5.0));
    let recalled =
        |r: &&wayhop_testkit::Record| matches!(r.what, EventKind::Status { status: TxStatus::Recalled, .. });
    assert_eq!(net.record().iter().filter(recalled).count(), 9);
    let mut got = net.delivered(1);
    got.sort_unstable();
    assert_eq!(got, (0..=10).collect::<Vec<_>>());
    net.assert_conserved();
}

#[test]
fn no_more_than_ten_route_errors_a_second() {
    let mut net = alone(&rfc());
    (0..40).for_each(|n| transit(&mut net, 0, 3, addr(20 + n)));
    assert_eq!(rerrs(&net, 0).len(), 10);
    assert_eq!(net.drops().iter().filter(|d| d.1 == DropReason::NoRoute).count(), 40);
    net.assert_conserved();
}

#[test]
fn many_lost_destinations_are_split_over_messages_that_fit() {
    let mut net = alone(&Params { rerr_rate_limit: 0, rerr_needs_precursors: false, ..rfc() });
    for n in 0..400 {
        hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(100 + n), 1, 2, addr(0))));
    }
    net.down(0, 4);
    net.send_to(0, addr(100), 1);
    net.run_for(ms(50));
    let errors = rerrs(&net, 0);
    assert_eq!(errors.iter().map(|e| e.2.len()).sum::<usize>(), 401, "400 and the neighbour itself");
    assert!(errors.iter().all(|e| e.0.ip.payload_len <= 1_480));
}

#[test]
fn a_transit_packet_without_a_route_is_reported_to_all_even_if_one_user_is_known() {
    // 5 has been answered; the packet comes from 3, which reached this node by a way back and is no known user.
    let mut p = rfc();
    p.keep_precursors = true;
    let mut net = with_a_user(&p);
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), 11)]);
    net.run_for(ms(20));
    let before = rerrs(&net, 0).len();
    transit(&mut net, 0, 3, addr(9));
    let errors = rerrs(&net, 0);
    assert_eq!(errors.len(), before + 1);
    assert_eq!((errors[before].0.next_hop, errors[before].2[0].seq), (BROADCAST, 11));
}

#[test]
fn with_n_a_route_error_is_told_on_whatever_its_number_and_the_route_stays() {
    // Section 6.12: told on if it comes from the next hop and somebody uses the route; nothing else happens.
    for (from, seq, told_on) in [(4, 11, 1), (4, 10, 1), (3, 10, 0)] {
        let mut net = with_a_user(&rfc());
        hear_rerr(&mut net, 0, addr(from), true, &[(addr(9), seq)]);
        net.run_for(ms(20));
        let errors = rerrs(&net, 0);
        assert_eq!(errors.len(), told_on, "from {from}, number {seq}");
        assert!(errors.iter().all(|(_, no_delete, _)| *no_delete), "the N flag stays");
        assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "valid");
        assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "10");
    }
}
