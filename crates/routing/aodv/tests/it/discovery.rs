//! Sections 6.3 to 6.7: requests and replies.

use std::net::Ipv4Addr;

use wayhop_aodv::Params;
use wayhop_core::{BROADCAST, DropReason};
use wayhop_testkit::{Link, addr};
use wayhop_wire::aodv::{Message, Rreq};

use crate::support::{alone, hear, held, line, ms, net, reply, request, rfc, route, rreps, rreqs, secs};

#[test]
fn a_packet_finds_its_way_over_four_hops_and_the_next_one_needs_no_request() {
    let mut net = line(5, &rfc());
    net.send_at(secs(1.0), 0, 4, 1);
    net.send_at(secs(4.0), 0, 4, 1);
    net.run_until(secs(5.0));
    assert_eq!(net.delivered(1), [0, 1]);
    let asked = rreqs(&net, 0).len();
    assert!(asked >= 1);
    assert!(rreqs(&net, 0).iter().all(|(s, _)| s.at < secs(4.0)));
    assert_eq!(net.route(0, addr(4)).map(|r| (r.next_hop, r.metric)), Some((addr(1).into(), 4)));
    assert_eq!(net.route(4, addr(0)).map(|r| (r.next_hop, r.metric)), Some((addr(3).into(), 4)));
    net.assert_conserved();
}

#[test]
fn the_ring_expands_by_ttl_1_3_5_7_and_net_diameter_with_the_waits_of_section_10() {
    // Section 10: RING_TRAVERSAL_TIME = 2 * 40 ms * (TTL + 2); NET_TRAVERSAL_TIME = 2.8 s, doubling; two retries.
    let mut net = net(1, &rfc());
    net.send_at(secs(1.0), 0, 9, 1);
    net.run_until(secs(60.0));
    let asked = rreqs(&net, 0);
    let ttls: Vec<u8> = asked.iter().map(|(s, _)| s.ip.ttl).collect();
    assert_eq!(ttls, [1, 3, 5, 7, 35, 35, 35]);
    let waits: Vec<u64> = asked.windows(2).map(|w| w[1].0.at.since(w[0].0.at).as_millis()).collect();
    assert_eq!(waits, [240, 400, 560, 720, 2_800, 5_600]);
    let ids: Vec<u32> = asked.iter().map(|(_, m)| m.id).collect();
    assert!(ids.windows(2).all(|w| w[1] == w[0] + 1), "each request has an id of its own: {ids:?}");
    let numbers: Vec<u32> = asked.iter().map(|(_, m)| m.originator_seq).collect();
    assert!(numbers.windows(2).all(|w| w[1] == w[0] + 1), "each request raises the own number: {numbers:?}");
    assert!(asked.iter().all(|(s, m)| m.unknown_seq && m.destination_seq == 0 && s.next_hop == BROADCAST));
    assert_eq!(net.drops().iter().map(|d| d.1).collect::<Vec<_>>(), [DropReason::DiscoveryFailed]);
    // The last wait is 11.2 s: 1 + 1.92 + 2.8 + 5.6 + 11.2.
    assert_eq!(net.notes("discovery_failed").len(), 1);
    let failed =
        net.record().iter().find(|r| format!("{:?}", r.what).contains("discovery_failed")).unwrap().at;
    assert_eq!(failed, secs(22.52));
    net.assert_conserved();
}

#[test]
fn the_ring_restarts_at_the_last_known_distance_plus_two() {
    let mut net = line(4, &rfc());
    net.send_at(secs(1.0), 0, 3, 1);
    net.run_until(secs(3.0));
    net.down(0, 1);
    net.send_at(secs(3.5), 0, 3, 1);
    net.run_until(secs(3.6));
    // The link break invalidated a route of 3 hops (section 6.4).
    assert_eq!(rreqs(&net, 0).last().unwrap().0.ip.ttl, 5);
}

#[test]
fn the_threshold_bounds_the_growth_and_not_the_ring_around_a_known_distance() {
    // Section 6.4: 8 hops plus 2 first, although TTL_THRESHOLD is 7; NET_DIAMETER after that.
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 7, addr(0))));
    net.down(0, 4);
    net.send_to(0, addr(9), 1);
    net.run_until(secs(4.0));
    let asked = rreqs(&net, 0);
    assert_eq!(asked.iter().map(|(s, _)| s.ip.ttl).collect::<Vec<_>>(), [10, 35]);
    // RING_TRAVERSAL_TIME = 2 * 40 * (10 + 2).
    assert_eq!(asked[1].0.at.since(asked[0].0.at), ms(960));
}

#[test]
fn ttl_one_reaches_neighbours_only() {
    let mut net = line(3, &rfc());
    net.send_at(secs(1.0), 0, 2, 1);
    net.run_until(secs(1.1));
    assert_eq!(rreqs(&net, 0).len(), 1);
    assert_eq!(rreqs(&net, 1).len(), 0);
    net.run_until(secs(1.3));
    assert_eq!(rreqs(&net, 1).len(), 1, "TTL 3 is passed on");
    assert_eq!(rreqs(&net, 1)[0].0.ip.ttl, 2);
    assert_eq!(rreqs(&net, 1)[0].1.hop_count, 1);
}

#[test]
fn a_request_is_passed_on_once_per_originator_and_id() {
    let mut net = alone(&rfc());
    for id in [7, 7, 8] {
        hear(&mut net, 0, addr(4), &Message::Rreq(request(id, addr(5), 1, addr(9), None)));
    }
    // Another node's request with the same id is another request; the same one over another neighbour is not.
    hear(&mut net, 0, addr(4), &Message::Rreq(request(7, addr(6), 1, addr(9), None)));
    hear(&mut net, 0, addr(3), &Message::Rreq(request(7, addr(6), 1, addr(9), None)));
    net.run_for(ms(50));
    let passed: Vec<(Ipv4Addr, u32)> = rreqs(&net, 0).iter().map(|(_, m)| (m.originator, m.id)).collect();
    assert_eq!(passed.len(), 3, "{passed:?}");
    for key in [(addr(5), 7), (addr(5), 8), (addr(6), 7)] {
        assert!(passed.contains(&key));
    }
}

#[test]
fn a_request_is_forgotten_after_path_discovery_time() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rreq(request(7, addr(5), 1, addr(9), None)));
    net.run_until(secs(6.5));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(7, addr(5), 1, addr(9), None)));
    net.run_until(secs(6.59));
    assert_eq!(rreqs(&net, 0).len(), 1);
    net.run_until(secs(6.7));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(7, addr(5), 1, addr(9), None)));
    net.run_for(ms(50));
    assert_eq!(rreqs(&net, 0).len(), 2);
}

#[test]
fn the_destination_raises_its_number_to_the_requests_and_no_further() {
    // Section 6.1, which covers 6.6.1's "if equal to the incremented value".
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(0), Some(57))));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(2, addr(4), 2, addr(0), Some(12))));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(3, addr(4), 3, addr(0), Some(58))));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(4, addr(4), 4, addr(0), None)));
    net.run_for(ms(50));
    let numbers: Vec<u32> = rreps(&net, 0).iter().map(|(_, m)| m.destination_seq).collect();
    assert_eq!(numbers, [57, 57, 58, 58]);
    let (s, m) = &rreps(&net, 0)[0];
    assert_eq!((m.hop_count, m.lifetime_ms, s.next_hop, s.ip.dst), (0, 20_000, addr(4), addr(4)));
}

#[test]
fn own_numbers_roll_over() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(0), Some(u32::MAX / 2))));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(2, addr(4), 2, addr(0), Some(u32::MAX - 1))));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(3, addr(4), 3, addr(0), Some(3))));
    net.run_for(ms(50));
    let numbers: Vec<u32> = rreps(&net, 0).iter().map(|(_, m)| m.destination_seq).collect();
    assert_eq!(numbers, [u32::MAX / 2, u32::MAX - 1, 3]);
}

#[test]
fn the_number_in_a_request_passed_on_is_the_freshest_known_and_the_table_keeps_its_own() {
    // Section 6.5, with the maximum taken across the rollover.
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), u32::MAX, 2, addr(0))));
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, addr(9), Some(2))));
    let only = Rreq { destination_only: true, ..request(2, addr(5), 2, addr(9), None) };
    hear(&mut net, 0, addr(5), &Message::Rreq(only));
    net.run_for(ms(50));
    let mut passed: Vec<_> =
        rreqs(&net, 0).iter().map(|(_, m)| (m.id, m.unknown_seq, m.destination_seq)).collect();
    passed.sort_unstable();
    assert_eq!(passed, [(1, false, 2), (2, false, u32::MAX)]);
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), u32::MAX.to_string());
}

#[test]
fn an_intermediate_node_answers_if_its_number_is_fresh_enough_and_d_is_clear() {
    let mut net = alone(&Params { my_route_timeout_ms: 60_000, ..rfc() });
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(0))));
    let ask = |net: &mut _, id, seq, d| {
        let m = Rreq { destination_only: d, ..request(id, addr(5), id, addr(9), seq) };
        hear(net, 0, addr(5), &Message::Rreq(m));
    };
    ask(&mut net, 1, Some(11), false); // too old
    ask(&mut net, 2, Some(10), true); // D
    ask(&mut net, 3, Some(10), false);
    ask(&mut net, 4, None, false);
    ask(&mut net, 5, Some(9), false);
    net.run_for(ms(50));
    let answers = rreps(&net, 0);
    assert_eq!(answers.len(), 3, "{answers:?}");
    let (s, m) = &answers[0];
    assert_eq!((m.hop_count, m.destination_seq, m.originator, s.next_hop), (3, 10, addr(5), addr(5)));
    assert!((59_900..60_000).contains(&m.lifetime_ms), "what is left of 60 s: {}", m.lifetime_ms);
    assert_eq!(rreqs(&net, 0).len(), 2, "the others are passed on");
    assert_eq!(route(&net, 0, addr(9), "precursors").unwrap(), addr(5).to_string());
    assert_eq!(route(&net, 0, addr(5), "precursors").unwrap(), addr(4).to_string());
}

#[test]
fn with_g_an_intermediate_node_tells_the_destination_about_the_originator() {
    // Section 6.6.3: 9 - 8 - 0 ... 5: node 0 knows 9 over 8 and answers 5.
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(8), &Message::Rrep(reply(addr(9), 10, 1, addr(0))));
    let m = Rreq { gratuitous: true, hop_count: 1, ..request(1, addr(5), 44, addr(9), None) };
    hear(&mut net, 0, addr(7), &Message::Rreq(m));
    net.run_for(ms(50));
    let sent = rreps(&net, 0);
    assert_eq!(sent.len(), 2);
    let (s, m) = &sent[1];
    assert_eq!(s.next_hop, addr(8));
    assert_eq!((m.destination, m.destination_seq, m.originator, m.hop_count), (addr(5), 44, addr(9), 2));
}

#[test]
fn an_unknown_number_never_replaces_a_known_one() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(0))));
    // Node 9 itself is heard: a neighbour, whose number a request of somebody else does not tell (section 6.5).
    hear(&mut net, 0, addr(9), &Message::Rreq(request(1, addr(7), 1, addr(6), None)));
    assert_eq!(route(&net, 0, addr(9), "seq").unwrap(), "10");
    assert_eq!(net.route(0, addr(9)).unwrap().next_hop, addr(4));
    assert_eq!(route(&net, 0, addr(7), "next_hop").unwrap(), addr(9).to_string());
}

#[test]
fn a_route_is_replaced_by_a_newer_number_or_a_shorter_way_and_by_nothing_else() {
    let mut net = alone(&rfc());
    let mut offer = |seq, hops, from| {
        hear(&mut net, 0, addr(from), &Message::Rrep(reply(addr(9), seq, hops, addr(0))));
        let r = net.route(0, addr(9)).unwrap();
        (route(&net, 0, addr(9), "seq").unwrap(), r.metric, r.next_hop)
    };
    let is = |seq: u32, hops, via| (seq.to_string(), hops, addr(via).into());
    assert_eq!(offer(u32::MAX - 1, 4, 1), is(u32::MAX - 1, 5, 1));
    assert_eq!(offer(u32::MAX - 1, 4, 2), is(u32::MAX - 1, 5, 1), "as long");
    assert_eq!(offer(u32::MAX - 1, 3, 2), is(u32::MAX - 1, 4, 2), "shorter");
    assert_eq!(offer(u32::MAX - 2, 1, 3), is(u32::MAX - 1, 4, 2), "older");
    assert_eq!(offer(1, 7, 3), is(1, 8, 3), "newer, after rollover");
    assert_eq!(offer(u32::MAX, 1, 4), is(1, 8, 3), "older, before rollover");
}

#[test]
fn a_reply_that_is_no_news_is_not_passed_on() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(5), &Message::Rreq(request(1, addr(5), 1, addr(9), None)));
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(5))));
    hear(&mut net, 0, addr(3), &Message::Rrep(reply(addr(9), 10, 2, addr(5))));
    net.run_for(ms(50));
    let passed = rreps(&net, 0);
    assert_eq!(passed.len(), 1);
    assert_eq!((passed[0].1.hop_count, passed[0].0.next_hop), (3, addr(5)));
    // Section 6.7: precursors of the destination and of the next hop towards it.
    assert_eq!(route(&net, 0, addr(9), "precursors").unwrap(), addr(5).to_string());
    assert_eq!(route(&net, 0, addr(4), "precursors").unwrap(), addr(5).to_string());
}

#[test]
fn a_reply_without_a_way_back_is_dropped() {
    let mut net = alone(&rfc());
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(5))));
    net.run_for(ms(50));
    assert_eq!(rreps(&net, 0).len(), 0);
    assert_eq!(net.drops().iter().map(|d| (d.0.0, d.1)).collect::<Vec<_>>(), [(0, DropReason::NoRoute)]);
}

#[test]
fn a_search_started_by_both_ends_is_ended_by_the_others_request() {
    let mut net = line(2, &rfc());
    net.set_link(1, 0, Link::DOWN);
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(1.05));
    assert_eq!(held(&net, 0), 1);
    net.up(0, 1);
    net.send_at(secs(1.06), 1, 0, 2);
    net.run_until(secs(1.2));
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(net.delivered(2), [0]);
    assert_eq!(net.notes("discovery_done").iter().filter(|(n, _)| n.0 == 0).count(), 1);
    net.assert_conserved();
}

#[test]
fn the_buffer_drops_the_oldest_when_full_and_what_waited_too_long() {
    let mut net = net(1, &Params { buffer_packets: 3, buffer_timeout_ms: 2_000, ..rfc() });
    (0..5).for_each(|_| net.send_at(secs(1.0), 0, 9, 1));
    net.run_until(secs(1.5));
    assert_eq!(held(&net, 0), 3);
    net.run_until(secs(4.0));
    let why: Vec<DropReason> = net.drops().iter().map(|d| d.1).collect();
    let expected = [DropReason::BufferFull; 2].into_iter().chain([DropReason::BufferTimeout; 3]);
    assert_eq!(why, expected.collect::<Vec<_>>());
    net.assert_conserved();
}

#[test]
fn packets_leave_the_buffer_in_order() {
    let mut net = line(3, &rfc());
    net.send_every(secs(1.0), ms(1), 20, 0, 2, 1);
    net.run_until(secs(3.0));
    assert_eq!(net.delivered(1), (0..20).collect::<Vec<_>>());
    net.assert_conserved();
}

#[test]
fn no_more_than_ten_requests_a_second_are_originated() {
    let mut net = net(1, &rfc());
    (0..50).for_each(|d| net.send_at(secs(1.0), 0, 10 + d, d as u32));
    net.run_until(secs(8.0));
    let at: Vec<_> = rreqs(&net, 0).iter().map(|(s, _)| s.at).collect();
    assert!(at.len() >= 60);
    // The frames leave up to some milliseconds after they are made; eleven in a second would show.
    assert!(at.windows(11).all(|w| w[10].since(w[0]) >= ms(980)), "{at:?}");
    net.assert_conserved();
}

#[test]
fn two_runs_have_one_record() {
    let run = |seed| {
        let mut net = line(6, &rfc());
        net.config.seed = seed;
        net.set_link(2, 3, Link::lossy(0.5));
        net.send_every(secs(1.0), ms(100), 100, 0, 5, 1);
        net.send_every(secs(1.5), ms(130), 50, 4, 1, 2);
        net.down_at(secs(4.0), 3, 4);
        net.up_at(secs(5.0), 3, 4);
        net.run_until(secs(15.0));
        net.assert_conserved();
        net.record().to_vec()
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
}
