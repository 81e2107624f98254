//! The packets of sources, and the answers to echo requests.

use std::net::Ipv4Addr;

use wayhop_core::{
    Application as _, ApplicationInput, EchoReply, FlowTag, NodeId, Packet, PacketId, Pool, Span, Time,
};
use wayhop_testkit::{pcap, tshark};
use wayhop_transport::{FlowConfig, FlowKind, MAX_PAYLOAD, Stamp, echo_reply};
use wayhop_wire::{icmp, ipv4, udp};

use crate::host::{A, B, FLOW, Host};

const CBR: FlowKind = FlowKind::Cbr { interval: Span::from_millis(1_500), jitter: 0.0 };
const PING: FlowKind = FlowKind::Ping { interval: Span::from_secs(1) };

/// The first packet leaves after a second.
fn source(kind: FlowKind, payload_bytes: u32) -> Host {
    let config = FlowConfig::new(kind, NodeId(0), NodeId(1), payload_bytes);
    Host::new(FlowConfig { tos: 0xb8, start: Time::from_secs_f64(1.0), ..config }, 1)
}

fn ip(p: &Packet) -> ipv4::Repr {
    ipv4::Repr::parse(p.bytes()).expect("the header is right")
}

#[test]
fn a_udp_packet_carries_its_stamp_and_the_given_identification() {
    let mut s = source(CBR, 512);
    s.send();
    let now = Time::from_secs_f64(2.5);
    let p = s.send();
    assert_eq!(
        (p.meta.id, p.meta.flow, p.meta.born),
        (PacketId(1), Some(FlowTag { flow: FLOW, seq: 1 }), now)
    );
    let header = ip(&p);
    assert_eq!((header.src, header.dst, header.ttl, header.tos, header.id), (A, B, 64, 0xb8, 1));
    assert_eq!(p.len(), 20 + 8 + 512);
    assert_eq!(udp::Repr::parse(&p.bytes()[20..], A, B).map(|u| u.payload_len), Ok(512));
    assert_eq!(
        p.bytes()[28..44],
        *b"WHOP\x00\x00\x00\x01\x00\x00\x00\x00\x95\x02\xf9\x00",
        "2.5e9 is 0x9502f900"
    );
    assert_eq!(Stamp::parse(&p.bytes()[28..]), Some(Stamp { seq: 1, sent: now }));
}

#[test]
fn a_payload_without_room_has_no_stamp() {
    for bytes in [0, 1, 15] {
        let p = source(CBR, bytes).send();
        assert!(p.bytes()[28..].iter().all(|b| *b == 0));
        assert_eq!(Stamp::parse(&p.bytes()[28..]), None);
    }
}

#[test]
fn the_longest_payload_fills_the_longest_packet() {
    for kind in [CBR, PING] {
        let p = source(kind, MAX_PAYLOAD).send();
        assert_eq!(p.len(), 65_535);
        assert_eq!(usize::from(ip(&p).payload_len), 65_515);
    }
}

#[test]
fn an_echo_request_is_answered_with_its_data_in_the_other_direction() {
    let mut pool = Pool::new();
    let mut ping = source(PING, 56);
    let request = ping.send();
    let now = Time::from_secs_f64(1.25);
    let reply = echo_reply(&request, now, PacketId(2), 900, &mut pool).expect("it is a request");
    let header = ip(&reply);
    assert_eq!((header.src, header.dst, header.ttl, header.tos, header.id), (B, A, 64, 0xb8, 900));
    assert_eq!((reply.meta.id, reply.meta.born, reply.meta.flow), (PacketId(2), now, request.meta.flow));
    let data = &request.bytes()[28..];
    assert_eq!(
        icmp::Repr::parse(&reply.bytes()[20..]),
        Ok(icmp::Repr::EchoReply { ident: 49_152, seq: 0, data })
    );
    let data = data.into();
    let heard = EchoReply { from: B.into(), identifier: 49_152, number: 0, data };
    assert!(ping.call(now, ApplicationInput::EchoReply(heard)).is_none());
    let mut figures = Vec::new();
    ping.source.figures(&mut |name, value| figures.push((name, value)));
    assert_eq!(figures, [("sent", 1.0), ("answered", 1.0)]);
    assert!(echo_reply(&reply, now, PacketId(3), 901, &mut pool).is_none(), "a reply is not answered");
    let datagram = source(CBR, 56).send();
    assert!(echo_reply(&datagram, now, PacketId(5), 902, &mut pool).is_none());
    let mut broken = pool.copy(&request);
    broken.bytes_mut()[40] ^= 1;
    assert!(echo_reply(&broken, now, PacketId(6), 903, &mut pool).is_none(), "the checksum is wrong");
    let mut everyone = pool.copy(&request);
    ipv4::set_dst(everyone.bytes_mut(), Ipv4Addr::BROADCAST).expect("a complete header");
    assert!(echo_reply(&everyone, now, PacketId(7), 904, &mut pool).is_none(), "a storm of replies");
}

#[test]
fn tshark_takes_packets_of_every_size_for_plain_udp_and_icmp() {
    let mut packets = Vec::new();
    for bytes in (0..80).chain([512, 1_000, 1_460, 1_472, 8_000]) {
        packets.extend([source(CBR, bytes).send(), source(PING, bytes).send()]);
    }
    let dir = tempfile::tempdir().expect("there is room for a capture");
    let capture = dir.path().join("traffic.pcap");
    let file = std::fs::File::create(&capture).expect("the capture can be written");
    pcap::write(file, packets.iter().map(|p| (p.meta.born, p.bytes()))).expect("the capture can be written");
    assert_eq!(tshark::complaints(&capture), Ok(vec![]));
    let rows = tshark::fields(&capture, "", &["frame.protocols"]).expect("tshark answers");
    let plain = ["raw:ip:udp", "raw:ip:udp:data", "raw:ip:icmp", "raw:ip:icmp:data"];
    assert!(rows.iter().all(|r| plain.contains(&r[0].as_str())), "{rows:?}");
    assert_eq!(rows.len(), packets.len());
}
