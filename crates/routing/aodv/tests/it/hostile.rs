//! Bytes from anyone, in any order: no panic, bounded tables, nothing lost.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use wayhop_aodv::Params;
use wayhop_core::{BROADCAST, DropReason};
use wayhop_testkit::{Link, Net, addr};
use wayhop_wire::aodv::{Message, PORT, Rerr, Rrep, Rreq, Unreachable};
use wayhop_wire::{checksum, datagram};

use crate::support::{alone, frame, hear, line, ms, net, octets, reply, request, secs};

#[test]
fn a_message_that_a_neighbour_forwarded_and_one_with_ip_options_are_nobodys() {
    let m = Message::Rrep(reply(addr(9), 50, 2, addr(0)));
    let plain = frame(addr(4), addr(0), 60, &m);
    // A header of six words: three No Operations and an End of Option List (RFC 791, section 3.1).
    let mut with_options = plain.clone();
    with_options.splice(20..20, [1, 1, 1, 0]);
    with_options[0] = 0x46;
    let length = (with_options.len() as u16).to_be_bytes();
    with_options[2..4].copy_from_slice(&length);
    with_options[10..12].fill(0);
    let sum = (!checksum::sum(0, &with_options[..24])).to_be_bytes();
    with_options[10..12].copy_from_slice(&sum);
    for (from, message, believed) in
        [(addr(5), &plain, false), (addr(4), &with_options, false), (addr(4), &plain, true)]
    {
        let mut net = alone(&Params::rfc());
        net.inject(0, from, false, message);
        net.run_for(ms(5));
        assert_eq!(net.route(0, addr(9)).is_some(), believed, "from {from}");
        net.assert_conserved();
    }
}

#[test]
fn malformed_messages_are_dropped_as_such() {
    let sound = frame(addr(4), BROADCAST, 5, &Message::Rreq(request(1, addr(4), 1, addr(9), None)));
    let mut cases: Vec<Vec<u8>> = Vec::new();
    let mut with = |at: usize, value: u8| {
        let mut b = sound.clone();
        b[at] = value;
        cases.push(b);
    };
    with(10, 0xff); // IP checksum
    with(40, 0xff); // UDP checksum
    for (m, ttl) in [
        (Message::Rreq(request(1, BROADCAST, 1, addr(9), None)), 5),
        (Message::Rreq(request(1, addr(4), 1, Ipv4Addr::LOCALHOST, None)), 5),
        (Message::Rreq(Rreq { hop_count: 255, ..request(1, addr(4), 1, addr(9), None) }), 5),
        (Message::Rrep(reply(Ipv4Addr::UNSPECIFIED, 1, 1, addr(0))), 5),
        (Message::Rrep(Rrep { hop_count: 255, ..reply(addr(9), 1, 1, addr(0)) }), 5),
    ] {
        let to = if matches!(m, Message::Rrep(_)) { addr(0) } else { BROADCAST };
        cases.push(frame(addr(4), to, ttl, &m));
    }
    let n = cases.len();
    let mut net = alone(&Params::rfc());
    for b in &cases {
        let to_all = b[16..20] == BROADCAST.octets();
        net.inject(0, addr(4), to_all, b);
    }
    net.run_for(ms(50));
    assert_eq!(net.drops().len(), n);
    assert!(net.drops().iter().all(|d| d.1 == DropReason::Malformed), "{:?}", net.drops());
    assert_eq!(net.sent_by(0).count(), 0);
    net.assert_conserved();
}

#[test]
fn an_extension_that_may_not_be_skipped_stops_the_message_and_others_travel_on() {
    for (kind, passes) in [(9u8, true), (127, true), (128, false), (255, false)] {
        let mut net = alone(&Params::rfc());
        let m = Message::Rreq(request(1, addr(4), 1, addr(9), None));
        let b = datagram(addr(4), BROADCAST, PORT, 5, &[&octets(&m)[..], &[kind, 3, 7, 8, 9]].concat());
        net.inject(0, addr(4), true, &b);
        net.run_for(ms(50));
        let sent: Vec<_> = net.sent_by(0).map(|(_, _, b)| b.to_vec()).collect();
        assert_eq!(sent.len(), usize::from(passes), "type {kind}");
        if passes {
            assert_eq!(sent[0][52..], [kind, 3, 7, 8, 9]);
        }
    }
}

#[test]
fn a_flood_of_strangers_fills_no_more_than_the_limits() {
    let mut net = alone(&Params { max_routes: 100, max_requests_remembered: 50, ..Params::rfc() });
    hear(&mut net, 0, addr(4), &Message::Rrep(reply(addr(9), 10, 2, addr(0))));
    for n in 0..2_000 {
        let m = request(n, addr(1_000 + n as usize), 1, addr(9_000), None);
        hear(&mut net, 0, addr(5), &Message::Rreq(m));
    }
    let t = net.inspect(0);
    assert_eq!(t.table("routes").count(), 100);
    assert_eq!(t.cell("node", "request_id", "0", "requests_remembered"), Some("50"));
    assert!(net.routes(0).len() <= 100, "the host's table follows");
    assert!(net.route(0, addr(9)).is_some(), "the route that lives longest stays");
    net.assert_conserved();
}

fn address() -> impl Strategy<Value = Ipv4Addr> {
    prop_oneof![
        8 => (0usize..8).prop_map(addr),
        1 => any::<u32>().prop_map(Ipv4Addr::from_bits),
    ]
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..6, any::<u32>(), (u32::MAX - 3)..=u32::MAX]
}

prop_compose! {
    fn rreq()(flags: [bool; 5], hop_count: u8, id in 0u32..50, destination in address(), destination_seq in number(),
              originator in address(), originator_seq in number()) -> Rreq {
        let [join, repair, gratuitous, destination_only, unknown_seq] = flags;
        Rreq { join, repair, gratuitous, destination_only, unknown_seq, hop_count: hop_count % 12, id, destination,
               destination_seq, originator, originator_seq }
    }
}
prop_compose! {
    fn rrep()(flags: [bool; 2], prefix in 0u8..32, hop_count: u8, destination in address(), destination_seq in number(),
              originator in address(), lifetime_ms: u32) -> Rrep {
        Rrep { repair: flags[0], ack_required: flags[1], prefix_size: prefix, hop_count, destination, destination_seq,
               originator, lifetime_ms }
    }
}

/// What can happen to a node.
#[derive(Clone, Debug)]
enum Op {
    Bytes(Vec<u8>),
    Udp(Vec<u8>),
    Rreq(Ipv4Addr, Rreq),
    Rrep(Ipv4Addr, Rrep, bool),
    Rerr(Ipv4Addr, bool, Vec<(Ipv4Addr, u32)>),
    Ack(Ipv4Addr),
    Send(Ipv4Addr),
    Transit(Ipv4Addr, Ipv4Addr),
    Link(usize, bool),
    Wait(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => proptest::collection::vec(any::<u8>(), 0..80).prop_map(Op::Bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..60).prop_map(Op::Udp),
        4 => (address(), rreq()).prop_map(|(a, m)| Op::Rreq(a, m)),
        4 => (address(), rrep(), any::<bool>()).prop_map(|(a, m, b)| Op::Rrep(a, m, b)),
        2 => (address(), any::<bool>(), proptest::collection::vec((address(), number()), 1..5))
            .prop_map(|(a, n, l)| Op::Rerr(a, n, l)),
        1 => address().prop_map(Op::Ack),
        3 => address().prop_map(Op::Send),
        2 => (address(), address()).prop_map(|(a, b)| Op::Transit(a, b)),
        1 => (1usize..8, any::<bool>()).prop_map(|(n, up)| Op::Link(n, up)),
        3 => prop_oneof![0u64..20, 0u64..4_000, Just(60_000)].prop_map(Op::Wait),
    ]
}

fn apply(net: &mut Net, op: Op) {
    match op {
        Op::Bytes(b) => net.inject(0, addr(1), true, &b),
        Op::Udp(b) => net.inject(0, addr(1), true, &datagram(addr(1), BROADCAST, PORT, 64, &b)),
        Op::Rreq(from, m) => {
            net.inject(0, from, true, &frame(from, BROADCAST, m.hop_count, &Message::Rreq(m)));
        }
        Op::Rrep(from, m, broadcast) => {
            let to = if broadcast { BROADCAST } else { addr(0) };
            net.inject(0, from, broadcast, &frame(from, to, 9, &Message::Rrep(m)));
        }
        Op::Rerr(from, no_delete, list) => {
            let list: Vec<Unreachable> =
                list.into_iter().map(|(destination, seq)| Unreachable { destination, seq }).collect();
            let m = Message::Rerr(Rerr { no_delete, unreachable: list.as_slice().into() });
            net.inject(0, from, true, &frame(from, BROADCAST, 1, &m));
        }
        Op::Ack(from) => net.inject(0, from, false, &frame(from, addr(0), 1, &Message::RrepAck)),
        Op::Send(to) => net.send_to(0, to, 1),
        Op::Transit(source, destination) => {
            let t = wayhop_testkit::TestPacket { source, destination, ttl: 9, ident: 3, port: 9_000 };
            net.inject(0, addr(2), false, &wayhop_testkit::data_packet(t, &[1, 2, 3]));
        }
        Op::Link(n, up) => {
            let link = if up { Link::UP } else { Link::DOWN };
            net.set_link(0, n, link);
            net.set_link(n, 0, link);
        }
        Op::Wait(n) => net.run_for(ms(n)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_events_is_survived_with_every_packet_accounted_for(
        ops in proptest::collection::vec(op(), 1..120),
        profile in prop_oneof![Just("rfc"), Just("ns2"), Just("das"), Just("repair"), Just("small")],
    ) {
        let mut p = Params::profile(profile).unwrap_or_default();
        match profile {
            "repair" => {
                p.local_repair = wayhop_aodv::LocalRepair::WithinTtl;
                p.rrep_ack = true;
            }
            "small" => {
                p.max_routes = 3;
                p.max_requests_remembered = 2;
                p.buffer_packets = 2;
                p.wait_after_reboot = true;
            }
            _ => {}
        }
        let mut net = alone(&p);
        for op in ops {
            apply(&mut net, op);
        }
        net.run_for(ms(3));
        net.assert_conserved();
        let t = net.inspect(0);
        prop_assert!(t.table("routes").count() <= p.max_routes);
        prop_assert!(t.held.len() <= p.buffer_packets);
        let own = addr(0).to_string();
        prop_assert_eq!(t.cell("routes", "destination", &own, "state"), None, "a route to oneself");
        // The host's table is the valid part of the protocol's.
        let valid = t.table("routes").filter(|r| r.iter().any(|c| c.1 == "valid")).count();
        // Where there are routes to subnets, rows are made as addresses are used.
        let is_plain = !t.table("routes").any(|r| r.iter().any(|c| c.0 == "destination" && c.1.contains('/')));
        if !p.wait_after_reboot && is_plain {
            prop_assert_eq!(net.routes(0).len(), valid);
        }
    }

    #[test]
    fn numbers_in_the_table_never_go_back(
        ops in proptest::collection::vec(op(), 1..60),
        profile in prop_oneof![Just("rfc"), Just("ns2")],
    ) {
        let mut net = alone(&Params::profile(profile).unwrap_or_default());
        let mut last: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
        for op in ops {
            // A deleted entry may come back with an older number: that is what DELETE_PERIOD is for.
            if matches!(op, Op::Wait(n) if n > 4_000) {
                continue;
            }
            apply(&mut net, op);
            net.run_for(ms(2));
            for row in net.inspect(0).table("routes") {
                let get = |c| row.iter().find(|(k, _)| *k == c).map(|(_, v)| v.clone()).unwrap_or_default();
                if let Ok(seq) = get("seq").parse::<u32>()
                    && let Some(old) = last.insert(get("destination"), seq)
                {
                    prop_assert!(seq.wrapping_sub(old) as i32 >= 0, "{}: {old} -> {seq}", get("destination"));
                }
            }
        }
    }
}

#[test]
fn random_links_and_traffic_conserve_packets_and_carry_most() {
    for profile in ["rfc", "ns2"] {
        let mut net = net(9, &Params::profile(profile).unwrap());
        // A 3 x 3 grid whose links fail in turn.
        for i in 0..9 {
            if i % 3 < 2 {
                net.up(i, i + 1);
            }
            if i < 6 {
                net.up(i, i + 3);
            }
        }
        for k in 0..60 {
            let a = (k * 7) % 9;
            let b = if a % 3 < 2 { a + 1 } else { (a + 3) % 9 };
            if b == a + 1 || b == a + 3 {
                net.down_at(secs(2.0 + k as f64), a, b);
                net.up_at(secs(3.5 + k as f64), a, b);
            }
        }
        net.send_every(secs(1.0), ms(250), 240, 0, 8, 1);
        net.send_every(secs(1.1), ms(250), 240, 6, 2, 2);
        net.send_every(secs(1.2), ms(250), 240, 5, 3, 3);
        net.run_until(secs(120.0));
        net.assert_conserved();
        for flow in 1..4 {
            let n = net.delivered(flow).len();
            assert!(n >= 192, "{profile}, flow {flow}: {n} of 240");
        }
    }
}

#[test]
fn long_idle_nodes_set_no_timers() {
    let mut net = line(2, &Params::ns2());
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(1_000.0));
    // Nothing happens after the routes have expired: the record ends there.
    assert!(net.record().last().unwrap().at < secs(20.0));
}
