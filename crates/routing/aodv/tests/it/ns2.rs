//! The choices of the `ns2` profile, as ns-2.35's sources have them.

use wayhop_aodv::Params;
use wayhop_core::{BROADCAST, DropReason};
use wayhop_testkit::addr;
use wayhop_wire::aodv::{Message, Rrep, Rreq};

use crate::support::{
    alone, hear, hear_rerr, held, line, line_with_route, ms, net, own_seq, reply, request, rerrs, route,
    rreps, rreqs, secs,
};

fn ns2() -> Params {
    Params::ns2()
}

#[test]
fn a_first_search_goes_to_everybody_at_the_half_second_marks_with_growing_waits() {
    // 2 * 30 * 30 ms = 1.8 s times 1, 2, 3, 4; repeated at the next multiple of 0.5 s; then 10 s of silence.
    let mut net = net(1, &ns2());
    net.send_at(secs(1.2), 0, 9, 1);
    net.run_until(secs(60.0));
    let asked = rreqs(&net, 0);
    assert!(asked.iter().all(|(s, _)| s.ip.ttl == 30));
    let at: Vec<u64> = asked.iter().map(|(s, _)| s.at.as_nanos() / 1_000_000).collect();
    // 1.2; 3.0 (due 3.0); 3.0 + 3.6 = 6.6 -> 7.0; 7.0 + 5.4 = 12.4 -> 12.5; 12.5 + 7.2 = 19.7 -> 20.0 gives up.
    assert_eq!(at, [1_200, 3_000, 7_000, 12_500]);
    let end =
        net.record().iter().find(|r| matches!(r.what, wayhop_testkit::EventKind::Dropped { .. })).unwrap();
    assert_eq!(end.at, secs(20.0));
    // During the silence packets wait; the next request goes out 10 s later.
    net.send_at(secs(60.0), 0, 9, 1);
    net.run_until(secs(61.0));
    assert_eq!(rreqs(&net, 0).len(), 5);
    net.assert_conserved();
}

#[test]
fn packets_during_the_silence_wait_for_its_end() {
    let mut net = net(1, &ns2());
    net.send_at(secs(1.2), 0, 9, 1);
    net.send_at(secs(22.0), 0, 9, 1);
    net.run_until(secs(29.9));
    assert_eq!(rreqs(&net, 0).len(), 4);
    net.run_until(secs(30.1));
    assert_eq!(rreqs(&net, 0).len(), 5);
}

#[test]
fn after_a_break_the_ring_starts_at_the_last_distance_plus_two() {
    let mut net = line_with_route(3, &ns2());
    net.down(0, 1);
    net.send_at(secs(2.1), 0, 2, 1);
    net.send_at(secs(2.2), 0, 2, 1);
    net.run_until(secs(2.3));
    assert_eq!(rreqs(&net, 0).last().unwrap().0.ip.ttl, 4);
    // Nobody answers: 4 + 2, then 6 < 7, so 6 + 2, then everybody.
    net.run_until(secs(20.0));
    let ttls: Vec<u8> = rreqs(&net, 0).iter().skip(1).map(|(s, _)| s.ip.ttl).collect();
    assert_eq!(ttls[..5], [4, 6, 8, 30, 30]);
    net.assert_conserved();
}

#[test]
fn the_wait_follows_the_measured_round_trip() {
    let mut net = line_with_route(3, &ns2());
    net.down(0, 1);
    net.send_at(secs(2.1), 0, 2, 1);
    net.send_every(secs(2.2), ms(1), 1_000, 0, 2, 2);
    net.run_until(secs(3.0));
    // The reply took about 4 ms and a jitter of up to 10 for two hops, so 2.1 to 7 ms a hop: 2 * 4 * that is 16 to 56 ms.
    // (A packet each millisecond asks again as soon as it may.)
    let asked: Vec<_> = rreqs(&net, 0).into_iter().skip(1).map(|(s, _)| s).collect();
    assert_eq!(asked[1].ip.ttl, 6);
    let wait = asked[1].at.since(asked[0].at).as_millis();
    assert!((14..=60).contains(&wait), "{wait}");
}

#[test]
fn own_numbers_are_even_and_new_for_every_reply() {
    let mut net = alone(&ns2());
    assert_eq!(own_seq(&net, 0), 2);
    for (id, seq) in [(1, None), (2, Some(3)), (3, Some(57)), (4, Some(1))] {
        hear(&mut net, 0, addr(4), &Message::Rreq(request(id, addr(4), 2 * id, addr(0), seq)));
    }
    net.run_for(ms(20));
    let replies = rreps(&net, 0);
    // max(own, request's) + 1, made even: 2 -> 4; max(4, 3) -> 6; max(6, 57) -> 58; 60.
    assert_eq!(replies.iter().map(|(_, m)| m.destination_seq).collect::<Vec<_>>(), [4, 6, 58, 60]);
    assert!(replies.iter().all(|(_, m)| m.lifetime_ms == 10_000));
    net.send_to(0, addr(77), 1);
    net.run_for(ms(20));
    assert_eq!(rreqs(&net, 0)[0].1.originator_seq, 62);
}

#[test]
fn no_route_to_a_neighbour_as_such() {
    let mut net = alone(&ns2());
    let m = Rreq { hop_count: 1, ..request(1, addr(5), 2, addr(99), None) };
    hear(&mut net, 0, addr(4), &Message::Rreq(m));
    assert!(net.route(0, addr(4)).is_none());
    assert_eq!(net.route(0, addr(5)).map(|r| (r.next_hop, r.metric)), Some((addr(4).into(), 2)));
}

#[test]
fn a_reverse_route_lives_six_seconds_to_the_next_half_second() {
    let mut net = alone(&ns2());
    net.run_until(secs(1.3));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 2, addr(99), None)));
    net.run_until(secs(7.49));
    assert!(net.route(0, addr(4)).is_some());
    net.run_until(secs(7.51));
    assert!(net.route(0, addr(4)).is_none());
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "3", "expiry makes it odd");
    net.run_until(secs(2_000.0));
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "3", "and it is never deleted");
}

#[test]
fn an_intermediate_answer_states_whole_seconds() {
    let mut net = alone(&ns2());
    let m = Rrep { lifetime_ms: 7_900, ..reply(addr(9), 10, 2, addr(0)) };
    hear(&mut net, 0, addr(4), &Message::Rrep(m));
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 2, addr(9), None)));
    net.run_for(ms(20));
    assert_eq!(rreps(&net, 0)[0].1.lifetime_ms, 7_000);
}

#[test]
fn a_reply_releases_packets_ten_milliseconds_apart_and_a_request_at_once() {
    for (by_reply, gaps) in [(true, [10, 10]), (false, [1, 1])] {
        let mut net = alone(&ns2());
        (0..3).for_each(|_| net.send_to(0, addr(9), 1));
        net.run_for(ms(5));
        assert_eq!(held(&net, 0), 3);
        let m = if by_reply {
            Message::Rrep(reply(addr(9), 10, 0, addr(0)))
        } else {
            Message::Rreq(request(1, addr(9), 2, addr(77), None))
        };
        hear(&mut net, 0, addr(9), &m);
        net.run_for(ms(60));
        let data: Vec<_> = net.sent_by(0).filter(|(_, hop, _)| *hop == addr(9)).map(|(r, ..)| r.at).collect();
        let got: Vec<u64> = data.windows(2).map(|w| w[1].since(w[0]).as_millis()).collect();
        assert_eq!(got, gaps, "the air takes a packet each millisecond");
    }
}

#[test]
fn a_source_whose_link_breaks_drops_the_packet_and_broadcasts_a_route_error() {
    let mut net = line_with_route(2, &ns2());
    net.down(0, 1);
    net.send_every(secs(2.0), ms(0), 5, 0, 1, 1);
    let before = own_seq(&net, 0);
    net.run_until(secs(2.1));
    let errors = rerrs(&net, 0);
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].0.next_hop, errors[0].0.ip.ttl), (BROADCAST, 1));
    let why: Vec<DropReason> = net.drops().iter().map(|d| d.1).collect();
    assert_eq!(
        why,
        [
            DropReason::MacRetries,
            DropReason::NoRoute,
            DropReason::NoRoute,
            DropReason::NoRoute,
            DropReason::NoRoute
        ]
    );
    assert_eq!(own_seq(&net, 0), before + 2);
    assert_eq!(held(&net, 0), 0);
    net.assert_conserved();
}

#[test]
fn past_half_way_a_break_is_repaired_without_a_word() {
    // 0 - 1 - 2 - 3: at node 2 the packet came 2 hops and has 1 to go.
    let mut net = net(5, &ns2());
    net.line();
    net.down(3, 4);
    net.send_every(secs(1.0), ms(250), 20, 0, 3, 1);
    net.run_until(secs(2.9));
    net.down(2, 3);
    net.up(2, 4);
    net.up(4, 3);
    net.run_until(secs(8.0));
    assert_eq!(net.delivered(1).len(), 20, "the packet that broke the link, too");
    assert!((0..5).all(|n| rerrs(&net, n).is_empty()));
    let (s, _) = rreqs(&net, 2).into_iter().find(|(_, m)| m.originator == addr(2)).unwrap();
    // The destination's entry at node 2 never went down before: to everybody.
    assert_eq!(s.ip.ttl, 30);
    assert_eq!(
        net.notes("repair_start").iter().map(|(n, t)| (n.0, t.about)).collect::<Vec<_>>(),
        [(2, addr(3).into())]
    );
    net.assert_conserved();
}

#[test]
fn before_half_way_a_break_is_reported() {
    // At node 1 the packet came 1 hop and has 2 to go.
    let mut net = line(4, &ns2());
    net.send_every(secs(1.0), ms(250), 20, 0, 3, 1);
    net.run_until(secs(2.9));
    net.down(1, 2);
    net.run_until(secs(3.3));
    assert_eq!(rerrs(&net, 1).len(), 1);
    assert_eq!(net.notes("repair_start").len(), 0);
    assert!(net.route(0, addr(3)).is_none());
}

#[test]
fn a_repair_that_fails_holds_packets_and_goes_down_silently_at_twice_the_clock() {
    let mut net = line_with_route(4, &ns2());
    net.down(2, 3);
    net.send_every(secs(2.0), ms(1_000), 10, 0, 3, 1);
    net.run_until(secs(4.5));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "repair");
    assert!(held(&net, 2) >= 2);
    // Broken at about 2.0 s, first wait 1.8 s: the deadline is about 2.0 + 3.8.
    net.run_until(secs(5.7));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "repair");
    net.run_until(secs(6.0));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "invalid");
    assert!(rerrs(&net, 2).is_empty(), "nobody is told");
    net.run_until(secs(8.0));
    assert!(!rerrs(&net, 2).is_empty(), "until the next packet comes");
    net.assert_conserved();
}

#[test]
fn while_it_repairs_a_node_still_answers_for_the_route() {
    let mut net = line_with_route(4, &ns2());
    net.down(2, 3);
    net.send_at(secs(2.0), 0, 3, 1);
    net.run_until(secs(2.2));
    assert_eq!(route(&net, 2, addr(3), "state").unwrap(), "repair");
    hear(&mut net, 2, addr(1), &Message::Rreq(request(900, addr(50), 2, addr(3), None)));
    net.run_for(ms(20));
    let (_, m) = rreps(&net, 2).pop().unwrap();
    assert_eq!((m.destination, m.hop_count, m.lifetime_ms, m.originator), (addr(3), 1, u32::MAX, addr(50)));
}

#[test]
fn a_route_error_with_an_equal_number_counts_and_empties_the_queue() {
    let mut net = alone(&ns2());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 2, addr(9), None)));
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(5))));
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(8), 10, 2, addr(0))));
    net.run_for(ms(20));
    // Five packets for another destination over the same next hop, four of them still queued.
    (0..5).for_each(|_| net.send_to(0, addr(8), 1));
    hear_rerr(&mut net, 0, addr(4), false, &[(addr(9), 10)]);
    net.run_for(ms(20));
    assert_eq!(route(&net, 0, addr(9), "state").unwrap(), "invalid");
    assert_eq!(route(&net, 0, addr(8), "state").unwrap(), "valid");
    let dropped = net.drops().iter().filter(|d| d.1 == DropReason::NoRoute).count();
    assert_eq!(dropped, 4);
    assert_eq!(rerrs(&net, 0).len(), 1, "the route to 9 had a user");
    assert_eq!(route(&net, 0, addr(9), "precursors").unwrap(), "", "who is forgotten");
}

#[test]
fn a_lost_reply_is_lost() {
    let mut net = alone(&ns2());
    net.down(0, 4);
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 2, addr(0), None)));
    net.run_for(ms(20));
    assert_eq!(net.drops().iter().map(|d| d.1).collect::<Vec<_>>(), [DropReason::MacRetries]);
    assert!(net.route(0, addr(4)).is_some());
    assert!(rerrs(&net, 0).is_empty() && net.notes("blacklisted").is_empty());
}

#[test]
fn use_refreshes_the_destination_only() {
    let mut net = line(3, &ns2());
    net.send_every(secs(1.0), ms(1_000), 20, 0, 2, 1);
    net.run_until(secs(20.0));
    // The way back was renewed by the reply and has expired 10 s later.
    assert!(net.route(1, addr(2)).is_some());
    assert!(net.route(1, addr(0)).is_none());
}
