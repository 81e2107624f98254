//! Sections 6.8 and 6.9: one-way links and Hellos.

use wayhop_aodv::{Hello, Params};
use wayhop_core::BROADCAST;
use wayhop_testkit::{Link, addr};
use wayhop_wire::aodv::Message;

use crate::support::{
    Kind, alone, frame, hear, line, ms, net, reply, request, rerrs, route, rreps, rreqs, said, secs,
};

fn hellos() -> Params {
    Params {
        hello: Hello::Always,
        link_feedback: false,
        blacklist: false,
        active_route_timeout_ms: 3_000,
        ttl_start: 2,
        ..Params::rfc()
    }
}

#[test]
fn a_hello_is_a_reply_for_oneself_with_ttl_one_each_second() {
    let mut net = line(2, &hellos());
    net.run_until(secs(10.5));
    let sent = rreps(&net, 0);
    assert!((9..=11).contains(&sent.len()), "{}", sent.len());
    let (s, m) = &sent[0];
    assert_eq!((s.next_hop, s.ip.ttl, s.ip.dst), (BROADCAST, 1, BROADCAST));
    // Section 6.9: lifetime ALLOWED_HELLO_LOSS * HELLO_INTERVAL.
    assert_eq!((m.destination, m.hop_count, m.lifetime_ms), (addr(0), 0, 2_000));
    assert_eq!(net.route(1, addr(0)).map(|r| (r.next_hop, r.metric)), Some((addr(0).into(), 1)));
}

#[test]
fn hellos_wait_for_an_active_route_where_they_are_told_to() {
    let mut net = line(2, &Params { hello: Hello::WhileActive, ..hellos() });
    net.run_until(secs(5.0));
    assert!(said(&net, 0).is_empty());
    net.send_at(secs(5.0), 0, 1, 1);
    net.run_until(secs(8.0));
    assert!(rreps(&net, 0).iter().any(|(s, _)| s.next_hop == BROADCAST));
}

#[test]
fn hellos_end_with_the_use_of_the_routes_and_do_not_keep_each_other_alive() {
    let mut net = line(3, &Params { hello: Hello::WhileActive, ..hellos() });
    net.send_every(secs(1.0), ms(500), 10, 0, 2, 1);
    net.run_until(secs(40.0));
    let last = |n: usize| said(&net, n).last().unwrap().at;
    // The last packet leaves at 5.5 s; a reply's lifetime and ACTIVE_ROUTE_TIMEOUT are over after 20 s more.
    assert!((0..3).all(|n| last(n) > secs(5.5) && last(n) < secs(27.0)), "{:?}", [last(0), last(1), last(2)]);
    assert!((0..3).all(|n| net.routes(n).is_empty()));
}

#[test]
fn a_broadcast_takes_the_place_of_a_hello() {
    // A request each 0.6 s, of the node's own or passed on: within each HELLO_INTERVAL there is one.
    let mut net = alone(&hellos());
    for id in 0..20 {
        hear(&mut net, 0, addr(4), &Message::Rreq(request(id, addr(4), id + 1, addr(99), None)));
        net.run_for(ms(599));
    }
    let sent = rreps(&net, 0);
    assert!(sent.iter().all(|(s, _)| s.at < secs(1.1)), "{sent:?}");
    net.run_for(ms(2_500));
    assert!(rreps(&net, 0).len() >= sent.len() + 2, "and then Hellos again");
}

#[test]
fn two_silent_seconds_break_the_link() {
    let mut net = line(3, &hellos());
    net.send_every(secs(1.0), ms(250), 40, 0, 2, 1);
    net.down_at(secs(4.0), 1, 2);
    net.run_until(secs(9.0));
    let lost = net.notes("neighbour_lost");
    assert!(lost.iter().any(|(n, t)| n.0 == 1 && t.about == addr(2)));
    let (s, _, list) = rerrs(&net, 1).remove(0);
    assert_eq!(list.iter().map(|u| u.destination).collect::<Vec<_>>(), [addr(2)]);
    assert!((secs(5.0)..secs(6.3)).contains(&s.at), "{}", s.at);
    assert!(net.route(0, addr(2)).is_none());
    net.assert_conserved();
}

#[test]
fn a_reply_to_all_that_is_no_hello_is_a_sign_of_life() {
    let mut net = alone(&hellos());
    let mut hear_to_all = |about: usize| {
        let m = Message::Rrep(reply(addr(about), 1, 0, addr(about)));
        net.inject(0, addr(4), true, &frame(addr(4), BROADCAST, 1, &m));
        net.run_for(ms(1_500));
        net.notes("neighbour_lost").len()
    };
    // It says Hello once, which is good for two seconds.
    assert_eq!([4, 9, 9, 9, 9].map(&mut hear_to_all), [0; 5]);
    net.run_for(ms(3_000));
    assert_eq!(net.notes("neighbour_lost").len(), 1);
}

#[test]
fn another_interval_is_announced_and_heeded() {
    let mut net = line(2, &Params { hello_interval_ms: 3_000, active_route_timeout_ms: 10_000, ..hellos() });
    net.run_until(secs(20.0));
    assert_eq!(net.notes("neighbour_lost").len(), 0, "the neighbour knows that 3 s of silence are usual");
    let with_extension = net.sent_by(0).next().unwrap().2;
    // Section 9.1: type 1, length 4, milliseconds.
    assert_eq!(with_extension[48..], [1, 4, 0, 0, 0x0b, 0xb8]);
}

#[test]
fn a_hello_does_not_lower_a_number() {
    let mut net = alone(&Params::rfc());
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 50, addr(99), None)));
    for (seq, kept) in [(49, "50"), (51, "51")] {
        let m = Message::Rrep(reply(addr(4), seq, 0, addr(4)));
        net.inject(0, addr(4), true, &frame(addr(4), BROADCAST, 1, &m));
        net.run_for(ms(5));
        assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), kept);
    }
}

#[test]
fn a_neighbour_that_a_reply_cannot_reach_is_blacklisted_and_another_way_is_found() {
    // 1 hears 0 directly but cannot answer; 0 - 2 - 1 works both ways, but is heard second.
    let mut net = net(3, &Params { ttl_start: 3, ..Params::rfc() });
    net.set_link(0, 1, Link::UP);
    net.up(0, 2);
    net.up(2, 1);
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(4.0));
    assert_eq!(
        net.notes("blacklisted").iter().map(|(n, t)| (n.0, t.about)).collect::<Vec<_>>(),
        [(1, addr(0).into())]
    );
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(net.route(0, addr(1)).unwrap().next_hop, addr(2));
    net.assert_conserved();
}

#[test]
fn without_the_blacklist_the_one_way_link_starves_the_search() {
    let mut net = net(3, &Params { ttl_start: 3, blacklist: false, ..Params::rfc() });
    net.set_link(0, 1, Link::UP);
    net.up(0, 2);
    net.up(2, 1);
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(1.45));
    assert_eq!(net.delivered(1), [0u32; 0]);
}

#[test]
fn a_reply_with_a_is_acknowledged_and_silence_blacklists() {
    let p = Params { rrep_ack: true, link_feedback: false, ..Params::rfc() };
    // Node 0 answers 4, which is mute: no RREP-ACK within NEXT_HOP_WAIT (50 ms).
    let mut net = alone(&p);
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(0), None)));
    net.run_for(ms(40));
    assert!(rreps(&net, 0)[0].1.ack_required);
    assert_eq!(net.notes("blacklisted").len(), 0);
    net.run_for(ms(20));
    assert_eq!(net.notes("blacklisted").len(), 1);
    hear(&mut net, 0, addr(4), &Message::Rreq(request(2, addr(4), 2, addr(0), None)));
    net.run_for(ms(20));
    assert_eq!(rreps(&net, 0).len(), 1, "ignored");

    // Two that play by the rules.
    let mut net = line(2, &p);
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(3.0));
    let ack = said(&net, 0).into_iter().find(|s| s.what == Kind::Ack).expect("an RREP-ACK");
    assert_eq!((ack.next_hop, ack.ip.ttl, ack.ip.payload_len), (addr(1), 1, 10));
    assert_eq!(net.notes("blacklisted").len(), 0);
    assert_eq!(net.delivered(1), [0]);
}

#[test]
fn blacklisted_neighbours_are_heard_again_after_the_timeout() {
    let mut net = alone(&Params { blacklist_timeout_ms: 5_000, ..Params::rfc() });
    net.set_link(4, 0, Link::DOWN);
    hear(&mut net, 0, addr(4), &Message::Rreq(request(1, addr(4), 1, addr(0), None)));
    net.run_for(ms(100));
    assert_eq!(net.inspect(0).table("blacklist").count(), 1);
    net.set_link(4, 0, Link::UP);
    net.run_until(secs(6.2));
    hear(&mut net, 0, addr(4), &Message::Rreq(request(2, addr(4), 2, addr(0), None)));
    net.run_for(ms(20));
    assert_eq!(rreps(&net, 0).len(), 2);
    assert_eq!(rreqs(&net, 0).len(), 0);
}
