//! IPv6: neighbour discovery, forwarding by static routes, errors, and who gets which packet.

use std::net::Ipv6Addr;

use wayhop_wire::icmpv6::{self, Repr};
use wayhop_wire::ipv6::{self, next_header};

use super::*;
use crate::Resolution;

const NET: u128 = 0xfd00_0077 << 96;
const ME6: Ipv6Addr = Ipv6Addr::from_bits(NET + 1);
const NEXT6: Ipv6Addr = Ipv6Addr::from_bits(NET + 2);
/// In no prefix of the node's.
const FAR6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9);
const NEXT_MAC: Mac = Mac([2, 0, 10, 0, 0, 2]);

/// A node with IPv6, with an engine that has nothing to do with it.
fn node6(script: Script, resolution: Resolution) -> Node<Script> {
    let config = IfaceConfig { resolution, ..IfaceConfig::default() };
    let mut n = Node::new(ME, engine(script), Arc::new(config));
    n.set_ipv6(ME6, 64);
    n
}

fn packet6(w: &mut RecordingWorld, from: Ipv6Addr, to: Ipv6Addr, hop_limit: u8, len: usize) -> Packet {
    let u = udp::Repr { src_port: 9_000, dst_port: 9_000, payload_len: len as u16 };
    let ip = ipv6::Repr::new(from, to, ipv4::protocol::UDP, u.buffer_len() as u16);
    let mut p = w.work.new_packet(Time::ZERO, ipv6::HEADER_LEN + u.buffer_len());
    ipv6::Repr { hop_limit, ..ip }.emit(p.bytes_mut());
    u.emit(&mut p.bytes_mut()[ipv6::HEADER_LEN..], from, to);
    p
}

/// An IPv6 packet with a message of ICMPv6.
fn message(from: Ipv6Addr, to: Ipv6Addr, hop_limit: u8, r: Repr<'_>) -> Vec<u8> {
    let mut p = vec![0; ipv6::HEADER_LEN + r.buffer_len()];
    let ip = ipv6::Repr::new(from, to, next_header::ICMPV6, r.buffer_len() as u16);
    ipv6::Repr { hop_limit, ..ip }.emit(&mut p);
    r.emit(&mut p[ipv6::HEADER_LEN..], from, to);
    p
}

fn advertisement(target: Ipv6Addr, mac: Mac) -> Repr<'static> {
    Repr::NeighbourAdvertisement {
        target,
        router: false,
        solicited: true,
        replace: true,
        target_mac: Some(mac),
    }
}

#[test]
fn a_neighbour_is_asked_for_in_its_group_and_the_packet_goes_with_the_answer() {
    for resolution in [Resolution::Bsd, Resolution::Host] {
        let (mut n, mut w) = (node6(Script::default(), resolution), RecordingWorld::default());
        let p = packet6(&mut w, ME6, NEXT6, 64, 4);
        n.originate(&mut w, Time::ZERO, p);
        let asked = n.pull(IfaceId(0)).expect("a solicitation");
        // RFC 4291, section 2.7.1; RFC 2464, section 7.
        assert_eq!((asked.payload, asked.receiver), (Payload::Neighbour, Mac([0x33, 0x33, 0xff, 0, 0, 2])));
        let ip = ipv6::Packet::new_checked(asked.packet.bytes()).unwrap();
        assert_eq!((ip.dst(), ip.hop_limit()), ("ff02::1:ff00:2".parse().unwrap(), 255));
        let heard = Repr::parse(ip.payload(), ip.src(), ip.dst());
        let own = Some(n.mac(IfaceId(0)));
        assert_eq!(heard, Ok(Repr::NeighbourSolicitation { target: NEXT6, source_mac: own }));
        // An answer from another link, one about somebody else, and one that was changed under way are none.
        let mut changed = message(NEXT6, ME6, 255, advertisement(NEXT6, NEXT_MAC));
        changed[ipv6::HEADER_LEN + 20] ^= 1;
        let other = message(NEXT6, ME6, 255, advertisement(FAR6, NEXT_MAC));
        for wrong in [message(NEXT6, ME6, 254, advertisement(NEXT6, NEXT_MAC)), other, changed] {
            n.receive_discovery(&mut w, Time::ZERO, IfaceId(0), &wrong);
            assert!(n.pull(IfaceId(0)).is_none());
        }
        assert_eq!(n.neighbours(IfaceId(0)).count(), 0);
        let answer = message(NEXT6, ME6, 255, advertisement(NEXT6, NEXT_MAC));
        n.receive_discovery(&mut w, Time::ZERO, IfaceId(0), &answer);
        let sent = n.pull(IfaceId(0)).expect("the packet");
        assert_eq!((sent.payload, sent.receiver), (Payload::Ip6, NEXT_MAC));
        for f in [asked, sent] {
            n.finished(&mut w, Time::ZERO, f, TxStatus::Acked);
        }
        assert_eq!(w.work.pool.live(), 0);
    }
}

#[test]
fn who_is_asked_for_its_address_answers_and_knows_who_asked() {
    let (mut n, mut w) = (node6(Script::default(), Resolution::Host), RecordingWorld::default());
    let link_local = n.link_local(IfaceId(0));
    assert_eq!(link_local, "fe80::aff:fe00:1".parse::<Ipv6Addr>().unwrap(), "EUI-64 of 02:00:0a:00:00:01");
    for (target, answered) in [(ME6, true), (link_local, true), (NEXT6, false)] {
        let ask = Repr::NeighbourSolicitation { target, source_mac: Some(NEXT_MAC) };
        let asked = message(NEXT6, ipv6::solicited_node(target), 255, ask);
        n.receive_discovery(&mut w, Time::ZERO, IfaceId(0), &asked);
        let answer = n.pull(IfaceId(0));
        assert_eq!(answer.as_ref().map(|f| f.receiver), answered.then_some(NEXT_MAC), "{target}");
        let Some(f) = answer else { continue };
        let ip = ipv6::Packet::new_checked(f.packet.bytes()).unwrap();
        assert_eq!((ip.src(), ip.dst(), ip.hop_limit()), (target, NEXT6, 255));
        let mac = n.mac(IfaceId(0));
        let said = Repr::parse(ip.payload(), ip.src(), ip.dst());
        assert!(
            matches!(said, Ok(Repr::NeighbourAdvertisement { target: t, solicited: true, target_mac: Some(m), .. }) if t == target && m == mac)
        );
    }
    assert_eq!(n.mac_of(IfaceId(0), NEXT6), Some(NEXT_MAC));
    // Who wants an address and asks whether it is taken, is told by all nodes' group.
    let ask = Repr::NeighbourSolicitation { target: ME6, source_mac: None };
    let probe = message(Ipv6Addr::UNSPECIFIED, ipv6::solicited_node(ME6), 255, ask);
    n.receive_discovery(&mut w, Time::ZERO, IfaceId(0), &probe);
    assert_eq!(n.pull(IfaceId(0)).map(|f| f.receiver), Some(Mac([0x33, 0x33, 0, 0, 0, 1])));
}

#[test]
fn static_routes_forward_both_families_and_stay_over_a_reboot() {
    let script = || Script { plane: Some(DataPlane::Forwarding), ..Script::default() };
    let (mut n, mut w) = (node6(script(), Resolution::Derived), RecordingWorld::default());
    n.set_static_routes(vec![
        Route {
            destination: Prefix::around(FAR6, 32),
            ..Route::to_host(FAR6, ipv6::link_local(NEXT_MAC), 1)
        },
        Route::to_host(FAR, NEXT, 1),
    ]);
    n.start(&mut w, Time::ZERO);
    for _ in 0..2 {
        let p = packet6(&mut w, NEXT6, FAR6, 9, 4);
        n.receive(&mut w, Time::ZERO, p, RxMeta::from(NEXT6, false));
        let sent = n.pull(IfaceId(0)).expect("forwarded");
        assert_eq!(ipv6::Packet::new_checked(sent.packet.bytes()).unwrap().hop_limit(), 8);
        assert_eq!(sent.receiver, NEXT_MAC, "from the EUI-64 of the next hop");
        let p = datagram(&mut w, NEXT, FAR, 9);
        n.receive(&mut w, Time::ZERO, p, RxMeta::from(NEXT, false));
        assert_eq!(n.pull(IfaceId(0)).map(|f| f.next_hop), Some(NEXT.into()));
        n.reboot(&mut w, Time::ZERO, vec![engine(script())]);
    }
    let all = ["+2001:db8::/32 fe80::aff:fe00:2", "+10.0.0.9 10.0.0.2"];
    assert_eq!(w.routes[..2], all);
    assert_eq!(w.routes[2..4], ["-10.0.0.9", "-2001:db8::/32"]);
    assert_eq!(w.routes[4..6], all);
}

/// The ICMPv6 error that a node sent, and its source and destination.
fn error(n: &mut Node<Script>) -> Option<(Ipv6Addr, Ipv6Addr, String)> {
    let f = n.pull(IfaceId(0))?;
    let ip = ipv6::Packet::new_checked(f.packet.bytes()).unwrap();
    let what = match Repr::parse(ip.payload(), ip.src(), ip.dst()).unwrap() {
        Repr::TimeExceeded { code, .. } => format!("time exceeded {code}"),
        Repr::DestinationUnreachable { code, .. } => format!("unreachable {code}"),
        Repr::PacketTooBig { mtu, .. } => format!("too big {mtu}"),
        other => format!("{other:?}"),
    };
    assert!(f.packet.len() <= 1_280, "RFC 4443, section 2.4 (c)");
    Some((ip.src(), ip.dst(), what))
}

#[test]
fn the_source_hears_why_its_packet_ends_but_nobody_hears_of_errors() {
    let (mut n, mut w) = (node6(Script::default(), Resolution::Derived), RecordingWorld::default());
    let from = Ipv6Addr::from_bits(ipv6::link_local(NEXT_MAC).to_bits() & u128::from(u64::MAX) | NET);
    let to = Ipv6Addr::from_bits(from.to_bits() ^ 1);
    let said = |what: &str| Some((ME6, from, what.to_owned()));
    for (at, to, hop_limit, len, expected, why) in [
        (1.0, to, 1, 4, "time exceeded 0", DropReason::TtlExpired),
        (2.0, FAR6, 9, 4, "unreachable 0", DropReason::NoRoute),
        (3.0, to, 9, 1_453, "too big 1500", DropReason::TooLong),
    ] {
        let p = packet6(&mut w, from, to, hop_limit, len);
        n.receive(&mut w, secs(at), p, RxMeta::from(from, false));
        assert_eq!((error(&mut n), drops(&w).last()), (said(expected), Some(&why)));
    }
    // Not at once again, not about an error, and not to nobody.
    let p = packet6(&mut w, from, FAR6, 9, 4);
    n.receive(&mut w, secs(3.001), p, RxMeta::from(from, false));
    assert_eq!(error(&mut n), None);
    let about = message(from, FAR6, 9, Repr::DestinationUnreachable { code: 0, original: &[0; 48] });
    let ask = message(Ipv6Addr::UNSPECIFIED, FAR6, 9, Repr::EchoRequest { ident: 1, seq: 1, data: &[] });
    for (i, bytes) in [about, ask].iter().enumerate() {
        let meta = w.work.new_meta(Time::ZERO);
        let p = w.work.pool.packet(bytes, meta);
        n.receive(&mut w, secs(5.0 + i as f64), p, RxMeta::from(from, false));
        assert_eq!(error(&mut n), None);
    }
}

#[test]
fn an_engine_without_ipv6_sees_none_of_it_and_its_node_delivers_what_is_for_it() {
    // This engine handles every packet of IPv4, and listens to this very port.
    let script = Script { at_start: vec![Step::Open(DATA)], ..Script::default() };
    let (mut n, mut w) = (node6(script, Resolution::Derived), RecordingWorld::default());
    n.start(&mut w, Time::ZERO);
    let p = packet6(&mut w, NEXT6, ME6, 9, 4);
    n.receive(&mut w, secs(1.0), p, RxMeta::from(NEXT6, false));
    let p = packet6(&mut w, NEXT6, ipv6::ALL_NODES, 1, 4);
    n.receive(&mut w, secs(1.0), p, RxMeta::from(NEXT6, true));
    assert_eq!(w.delivered, 2);
    // A group that nobody joined, and link-local addresses of others, go no further.
    let link_local = ipv6::link_local(NEXT_MAC);
    for (to, broadcast) in [("ff05::7".parse().unwrap(), true), (link_local, false)] {
        let p = packet6(&mut w, NEXT6, to, 9, 4);
        n.receive(&mut w, secs(2.0), p, RxMeta::from(NEXT6, broadcast));
        assert_eq!(drops(&w).last(), Some(&DropReason::Policy));
    }
    let cut = packet6(&mut w, NEXT6, ME6, 9, 4);
    let meta = cut.meta;
    let p = w.work.pool.packet(&cut.bytes()[..50], meta);
    w.work.pool.recycle(cut);
    n.receive(&mut w, secs(3.0), p, RxMeta::from(NEXT6, false));
    assert_eq!(drops(&w).last(), Some(&DropReason::Malformed));
    assert_eq!(n.protocol(0).told, ["start"]);
    assert_eq!(w.work.pool.live(), 0);
}

#[test]
fn a_node_without_ipv6_takes_and_sends_none() {
    let (mut n, mut w) = (node(Script::default()), RecordingWorld::default());
    let p = packet6(&mut w, ME6, NEXT6, 64, 4);
    n.originate(&mut w, Time::ZERO, p);
    let p = packet6(&mut w, NEXT6, ME6, 64, 4);
    n.receive(&mut w, Time::ZERO, p, RxMeta::from(NEXT6, false));
    assert_eq!(drops(&w), [DropReason::Malformed, DropReason::NoListener]);
    assert!(icmpv6::is_neighbour_discovery(&[135]) && n.protocol(0).told.is_empty());
}
