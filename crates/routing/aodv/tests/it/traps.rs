//! Mistakes of other implementations, and messages of hostile or careless neighbours: one test for each.
//!
//! Elsewhere: numbers that a Route Error copies or ignores (`errors`), unknown numbers, duplicate requests, own messages
//! that come back (`discovery`), entries that are forgotten too early (`lifetimes`), one-way links (`neighbours`),
//! extensions that may not be skipped (`hostile`).

use std::net::Ipv4Addr;

use wayhop_aodv::Params;
use wayhop_core::{BROADCAST, DropReason};
use wayhop_testkit::{Net, TestPacket, addr, data_packet};
use wayhop_wire::aodv::{self, Message, Rerr, Rrep, Rreq, Unreachable};
use wayhop_wire::datagram;

use crate::support::{
    Kind, alone, frame, hear, hear_rerr, ms, octets, own_seq, reply, request, rerrs, rfc, route, rreps,
    rreqs, said, secs,
};

/// Lets node 0 hear this payload from `from`, sent to all.
fn hear_octets(net: &mut Net, from: usize, payload: &[u8]) {
    net.inject(0, addr(from), true, &datagram(addr(from), BROADCAST, aodv::PORT, 5, payload));
    net.run_for(ms(20));
}

/// Node 0 with a route to 9 over 4: number 10, 3 hops.
fn with_a_route() -> Net {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(0))));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "10");
    net
}

fn table(net: &Net) -> Vec<Vec<(&'static str, String)>> {
    let without_clock = |r: &Vec<(&'static str, String)>| {
        r.iter().filter(|(c, _)| *c != "expires_in_ms").cloned().collect::<Vec<_>>()
    };
    net.inspect(0).table("routes").map(without_clock).collect()
}

#[test]
fn a_hello_to_the_subnets_broadcast_address_is_a_hello() {
    // ns-3 sends there and not to 255.255.255.255 (section 6.9). Taken for a reply to one node it would be passed on to its
    // own sender.
    let mut net = alone(&rfc());
    let hello = Message::Rrep(reply(addr(4), 7, 0, addr(4)));
    net.inject(0, addr(4), true, &frame(addr(4), Ipv4Addr::new(10, 0, 0, 255), 1, &hello));
    net.run_for(ms(50));
    assert_eq!(net.inspect(0).table("neighbours").count(), 1);
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "7");
    assert!(said(&net, 0).is_empty());
}

#[test]
fn a_hello_about_somebody_else_is_no_hello() {
    // Section 6.9: the destination of a Hello is the node itself. Else anybody could replace anybody's number.
    let mut net = with_a_route();
    let before = table(&net);
    hear_octets(&mut net, 4, &octets(&Message::Rrep(reply(addr(9), 99, 0, addr(9)))));
    hear_octets(&mut net, 4, &octets(&Message::Rrep(reply(addr(4), 99, 3, addr(4)))));
    assert_eq!(table(&net), before);
    assert_eq!(net.inspect(0).table("neighbours").count(), 0);
}

#[test]
fn a_message_that_was_cut_anywhere_changes_nothing() {
    let list = [Unreachable { destination: addr(9), seq: 11 }, Unreachable { destination: addr(4), seq: 1 }];
    let messages = [
        octets(&Message::Rreq(request(1, addr(5), 1, addr(8), None))),
        octets(&Message::Rrep(reply(addr(8), 1, 1, addr(5)))),
        octets(&Message::Rerr(Rerr { no_delete: false, unreachable: list.as_slice().into() })),
        octets(&Message::RrepAck),
    ];
    let mut net = with_a_route();
    let before = table(&net);
    let mut cut = 0;
    for m in &messages {
        for len in 0..m.len() {
            hear_octets(&mut net, 4, &m[..len]);
            cut += 1;
        }
    }
    assert_eq!(cut, 24 + 20 + 20 + 2);
    assert_eq!(net.drops().len(), cut);
    assert!(net.drops().iter().all(|d| d.1 == DropReason::Malformed));
    assert_eq!(table(&net), before);
    assert!(said(&net, 0).is_empty());
    net.assert_conserved();
}

#[test]
fn a_route_error_whose_count_promises_more_than_its_length_holds_changes_nothing() {
    // Section 5.3. The count says 2; one destination is there.
    let mut net = with_a_route();
    let mut m = octets(&Message::Rerr(Rerr {
        no_delete: false,
        unreachable: [Unreachable { destination: addr(9), seq: 11 }].as_slice().into(),
    }));
    m[3] = 2;
    hear_octets(&mut net, 4, &m);
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "valid");
    // None at all, which section 5.3 forbids.
    m[3] = 0;
    hear_octets(&mut net, 4, &m);
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "valid");
    assert_eq!(net.drops().len(), 2);
    m[3] = 1;
    hear_octets(&mut net, 4, &m);
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
}

#[test]
fn a_destination_beyond_a_route_errors_count_is_not_read() {
    let mut net = with_a_route();
    let list = [Unreachable { destination: addr(8), seq: 3 }, Unreachable { destination: addr(9), seq: 11 }];
    let mut m = octets(&Message::Rerr(Rerr { no_delete: false, unreachable: list.as_slice().into() }));
    m[3] = 1;
    hear_octets(&mut net, 4, &m);
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "valid");
}

#[test]
fn a_route_error_of_255_destinations_is_read_to_its_end() {
    let mut net = with_a_route();
    let mut list: Vec<_> = (0..254).map(|n| Unreachable { destination: addr(100 + n), seq: 1 }).collect();
    list.push(Unreachable { destination: addr(9), seq: 11 });
    let m = Message::Rerr(Rerr { no_delete: false, unreachable: list.as_slice().into() });
    hear_octets(&mut net, 4, &octets(&m));
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
    assert_eq!(net.inspect(0).table("routes").count(), 2, "destinations without a route get no entry");
}

#[test]
fn a_message_full_of_empty_extensions_is_handled_and_ends() {
    // Section 9: a length of 0 is a length. A reader that steps by the length alone never ends.
    let mut net = alone(&rfc());
    let mut m = octets(&Message::Rreq(request(1, addr(4), 1, addr(8), None)));
    (0..700).for_each(|_| m.extend([127, 0]));
    hear_octets(&mut net, 4, &m);
    assert_eq!(rreqs(&net, 0).len(), 1);
    let passed = net.sent_by(0).next().unwrap().2;
    assert_eq!(passed.len(), 28 + 24 + 1_400);
}

#[test]
fn an_extension_that_runs_past_the_end_stops_the_message() {
    let mut net = alone(&rfc());
    let mut m = octets(&Message::Rreq(request(1, addr(4), 1, addr(8), None)));
    m.extend([127, 4, 1, 2, 3]);
    hear_octets(&mut net, 4, &m);
    assert!(table(&net).is_empty() && rreqs(&net, 0).is_empty());
    assert_eq!(net.drops()[0].1, DropReason::Malformed);
}

#[test]
fn hello_intervals_of_zero_and_of_seven_weeks_do_no_harm() {
    for (interval, bounded, lost) in
        [([0, 0, 0, 0], true, true), ([0xff; 4], true, true), ([0xff; 4], false, false)]
    {
        let mut net = alone(&Params { bounded_lifetimes: bounded, ..rfc() });
        let mut m = octets(&Message::Rrep(Rrep { lifetime_ms: u32::MAX, ..reply(addr(4), 7, 0, addr(4)) }));
        m.extend([1, 4]);
        m.extend(interval);
        hear_octets(&mut net, 4, &m);
        net.run_until(secs(60.0));
        assert_eq!(net.notes("neighbour_lost").len(), usize::from(lost), "{interval:?}");
        assert_eq!(net.route(0, addr(4)).is_some(), !lost);
        net.assert_conserved();
    }
}

#[test]
fn the_hop_count_never_rolls_over() {
    let mut net = alone(&rfc());
    // 254 and the way here are 255; more cannot be told, and is refused.
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 254, addr(0))));
    assert_eq!(net.route(0, addr(9)).unwrap().metric, 255);
    hear(&mut net, 0, addr(3), &Message::Rrep(reply(addr(9), 11, 255, addr(0))));
    assert_eq!(net.route(0, addr(9)).unwrap().next_hop, addr(4));
    let far = Rreq { hop_count: 255, ..request(1, addr(8), 1, addr(7), None) };
    hear(&mut net, 0, addr(3), &Message::Rreq(far));
    net.run_for(ms(20));
    assert_eq!(net.route(0, addr(8)), None);
    assert!(rreqs(&net, 0).is_empty());
}

#[test]
fn two_numbers_half_the_space_apart_are_not_newer_than_each_other() {
    // Section 6.1: the signed difference. 2^31 - 1 more is newer; 2^31 more is negative, both ways round.
    for own in [0, 5, u32::MAX / 2, 1 << 31, u32::MAX] {
        for (ahead, accepted) in [(1, true), (i32::MAX as u32, true), (1 << 31, false), (u32::MAX, false)] {
            let mut net = alone(&rfc());
            hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), own, 2, addr(0))));
            let offer = reply(addr(9), own.wrapping_add(ahead), 1, addr(0));
            hear(&mut net, 0, addr(3), &Message::Rrep(offer));
            let via = net.route(0, addr(9)).unwrap().next_hop;
            assert_eq!(via == addr(3), accepted, "{own} and {ahead} more");
        }
    }
}

#[test]
fn an_old_reply_does_not_bring_a_broken_route_back() {
    // The entry keeps the raised number for DELETE_PERIOD: a reply that was under way has the one before (section 6.2).
    let mut net = with_a_route();
    net.down(0, 4);
    net.send_to(0, addr(9), 1);
    net.run_for(ms(20));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "11");
    hear(&mut net, 0, addr(3), &Message::Rrep(reply(addr(9), 10, 1, addr(0))));
    assert_eq!(net.route(0, addr(9)), None);
    // A number as new as the entry's will do, now that the entry is invalid.
    hear(&mut net, 0, addr(3), &Message::Rrep(reply(addr(9), 11, 1, addr(0))));
    assert_eq!(net.route(0, addr(9)).unwrap().next_hop, addr(3));
}

#[test]
fn nobody_gives_a_node_a_route_to_itself() {
    let mut net = alone(&rfc());
    let own = addr(0);
    // As the destination of a reply, as the originator of a request, in a Route Error, as the sender of each.
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(own, 900, 1, addr(0))));
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(own, 900, 1, addr(5))));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, own, 900, addr(9), None)));
    hear_rerr(&mut net, 0, addr(4), false, &[(own, 900)]);
    for m in [Message::Rreq(request(2, addr(5), 1, addr(9), None)), Message::Rrep(reply(own, 7, 0, own))] {
        net.inject(0, addr(4), true, &frame(own, BROADCAST, 3, &m));
        net.run_for(ms(20));
    }
    assert_eq!(route(&net, 0, own, "state"), None);
    assert_eq!(own_seq(&net, 0), 0, "nor a number");
    assert!(net.routes(0).iter().all(|r| r.destination.addr != own && r.next_hop != own));
    assert!(said(&net, 0).is_empty());
}

#[test]
fn a_route_error_about_the_neighbour_that_sends_it_does_not_break_the_link_to_it() {
    // It names itself, with the number that its neighbour has (0, or not told). What is heard is there.
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 7, addr(8), None)));
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(4), 7)]);
    assert_eq!(route(&net, 0, addr(4), "state").unwrap(), "valid");
}

#[test]
fn what_nobody_asked_for_is_not_acknowledged_passed_on_or_told() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::RrepAck);
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), 11), (addr(8), 0)]);
    hear_rerr(&mut net, 0, addr(4), true, &[(addr(9), 11)]);
    net.run_for(ms(50));
    assert!(said(&net, 0).is_empty());
    assert!(table(&net).is_empty(), "no entry for what was never known");
}

#[test]
fn every_reply_with_flag_a_is_acknowledged_even_one_that_is_no_news() {
    // Section 6.8: the sender waits for it, and would put this node on its blacklist. ns-3 has the code and never runs it.
    let mut net = with_a_route();
    let asking = |seq| Rrep { ack_required: true, ..reply(addr(9), seq, 5, addr(0)) };
    hear(&mut net, 0, addr(3), &Message::Rrep(asking(10)));
    hear(&mut net, 0, addr(3), &Message::Rrep(asking(4)));
    net.run_for(ms(20));
    let acks: Vec<_> = said(&net, 0).iter().map(|s| (s.next_hop, s.ip.ttl, s.what.clone())).collect();
    assert_eq!(acks, [(addr(3), 1, Kind::Ack), (addr(3), 1, Kind::Ack)]);
}

#[test]
fn a_reply_that_came_with_its_last_ttl_is_used_by_its_originator_and_not_passed_on() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, addr(9), None)));
    net.inject(
        0,
        addr(4),
        false,
        &frame(addr(4), addr(0), 1, &Message::Rrep(reply(addr(9), 10, 2, addr(5)))),
    );
    net.run_for(ms(20));
    assert!(rreps(&net, 0).is_empty());
    assert_eq!(net.route(0, addr(9)).unwrap().next_hop, addr(4));
    net.inject(
        0,
        addr(4),
        false,
        &frame(addr(4), addr(0), 1, &Message::Rrep(reply(addr(8), 10, 2, addr(0)))),
    );
    net.run_for(ms(20));
    assert_eq!(net.route(0, addr(8)).unwrap().next_hop, addr(4));
}

#[test]
fn a_request_with_no_ttl_left_is_answered_and_not_passed_on() {
    let mut net = alone(&rfc());
    for (id, ttl, to) in [(1, 0, 9), (2, 1, 9), (3, 0, 0)] {
        let m = Message::Rreq(request(id, addr(4), 1, addr(to), None));
        net.inject(0, addr(4), true, &frame(addr(4), BROADCAST, ttl, &m));
        net.run_for(ms(20));
    }
    assert_eq!((rreqs(&net, 0).len(), rreps(&net, 0).len()), (0, 1));
}

#[test]
fn reserved_bits_and_the_multicast_flags_of_others_travel_no_further_than_they_must() {
    // Section 5: reserved bits are sent as 0 and ignored on reception; J and R belong to a request's originator.
    let mut net = alone(&rfc());
    let m = Rreq { join: true, repair: true, gratuitous: true, ..request(1, addr(4), 1, addr(8), None) };
    let mut b = octets(&Message::Rreq(m));
    b[1] |= 0x07;
    b[2] = 0xff;
    hear_octets(&mut net, 4, &b);
    let passed = net.sent_by(0).next().unwrap().2[28..32].to_vec();
    assert_eq!(passed, [1, 0xe8, 0, 1], "J, R, G and U; hop count 1");
}

#[test]
fn a_route_error_from_a_next_hop_breaks_only_the_routes_that_it_names() {
    let mut net = with_a_route();
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(8), 20, 2, addr(0))));
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), 11), (addr(7), 1)]);
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
    assert_eq!(route(&net, 0, addr(8), "state").unwrap(), "valid");
    assert_eq!(route(&net, 0, addr(4), "state").unwrap(), "valid");
    assert_eq!(rerrs(&net, 0).len(), 0, "nobody else used it");
}

#[test]
fn a_packet_for_another_node_that_came_as_a_link_broadcast_is_not_forwarded() {
    // RFC 1812 section 5.3.4; every neighbour of its sender would forward a copy.
    let mut net = with_a_route();
    let packet = TestPacket { source: addr(4), destination: addr(9), ttl: 9, ident: 1, port: 7 };
    for (broadcast, forwarded) in [(true, 0), (false, 1)] {
        net.inject(0, addr(4), broadcast, &data_packet(packet, b"to one"));
        net.run_for(ms(20));
        let data = net.sent_by(0).filter(|(_, next, bytes)| *next == addr(4) && bytes.ends_with(b"to one"));
        assert_eq!(data.count(), forwarded, "as a broadcast: {broadcast}");
    }
    let own: Vec<_> = net.drops().into_iter().filter(|(node, _)| node.0 == 0).collect();
    assert_eq!(own, [(wayhop_core::NodeId(0), DropReason::Policy)]);
}
