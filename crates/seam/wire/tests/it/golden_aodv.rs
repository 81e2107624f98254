//! The golden captures of AODV (captures/rfc3561), whose octets were written down by hand from RFC 3561 sections 5 and 9:
//! our encoder makes them of what they mean, and our parser reads what they mean and writes them again.

use std::net::Ipv4Addr;

use crate::common::{self, A, each_golden};
use wayhop_wire::aodv::{Extension, Message, PORT, Rerr, Rrep, Rreq, Unreachable, extensions};
use wayhop_wire::{ipv4, udp};

const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
const D: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 4);
const E: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 5);
const ALL: Ipv4Addr = Ipv4Addr::BROADCAST;

/// A packet in our own terms: identification and TTL, addresses, the message, what follows it.
struct Sent {
    id: u16,
    ttl: u8,
    ends: (Ipv4Addr, Ipv4Addr),
    message: Message<'static>,
    extensions: Vec<Extension<'static>>,
}

fn sent(id: u16, ttl: u8, ends: (Ipv4Addr, Ipv4Addr), message: Message<'static>) -> Sent {
    Sent { id, ttl, ends, message, extensions: Vec::new() }
}

/// A request of A for D.
const REQUEST: Rreq =
    Rreq { hop_count: 0, id: 258, destination: D, destination_seq: 7, originator_seq: 12, ..common::REQUEST };
/// D's reply to it.
const REPLY: Rrep = Rrep {
    ack_required: false,
    prefix_size: 0,
    hop_count: 0,
    destination: D,
    destination_seq: 7,
    lifetime_ms: 20_000,
    ..common::REPLY
};
/// A Hello of B.
const HELLO: Rrep = Rrep { destination: B, destination_seq: 42, originator: B, lifetime_ms: 2_000, ..REPLY };

fn flagged() -> Vec<Sent> {
    let r = |id, r| sent(id, 1, (A, ALL), Message::Rreq(Rreq { originator_seq: 13, ..r }));
    let m = REQUEST;
    let unknown = Rreq { id: 263, unknown_seq: true, destination_seq: 0, ..m };
    let largest = Rreq {
        join: true,
        repair: true,
        gratuitous: true,
        destination_only: true,
        unknown_seq: true,
        hop_count: 255,
        id: u32::MAX,
        destination_seq: u32::MAX,
        originator_seq: 1 << 31,
        ..m
    };
    vec![
        r(0x0110, Rreq { id: 259, join: true, ..m }),
        r(0x0111, Rreq { id: 260, repair: true, ..m }),
        r(0x0112, Rreq { id: 261, gratuitous: true, ..m }),
        r(0x0113, Rreq { id: 262, destination_only: true, ..m }),
        r(0x0114, unknown),
        sent(0x0115, 1, (A, ALL), Message::Rreq(largest)),
    ]
}

fn extended(id: u16, extensions: &[(u8, &'static [u8])]) -> Sent {
    let m = Message::Rreq(Rreq { id: 272, originator_seq: 14, ..REQUEST });
    let extensions = extensions.iter().map(|&(kind, data)| Extension::Unknown { kind, data }).collect();
    Sent { extensions, ..sent(id, 2, (A, ALL), m) }
}

fn error(id: u16, ends: (Ipv4Addr, Ipv4Addr), no_delete: bool, list: &'static [Unreachable]) -> Sent {
    sent(id, 1, ends, Message::Rerr(Rerr { no_delete, unreachable: list.into() }))
}

const fn lost(destination: Ipv4Addr, seq: u32) -> Unreachable {
    Unreachable { destination, seq }
}

/// The packets of a capture, in order.
fn meaning(name: &str) -> Vec<Sent> {
    let request = |id, ttl, from, r| sent(id, ttl, (from, ALL), Message::Rreq(r));
    let reply = |id, ttl, ends, r| sent(id, ttl, ends, Message::Rrep(r));
    match name {
        "rreq" => vec![
            request(0x0101, 3, A, REQUEST),
            request(0x0201, 2, B, Rreq { hop_count: 1, ..REQUEST }),
            request(0x0301, 1, C, Rreq { hop_count: 2, destination_seq: 9, ..REQUEST }),
        ],
        "rreq-flags" => flagged(),
        "extensions-skippable" => vec![
            extended(0x0120, &[(127, &[0xaa, 0xbb, 0xcc])]),
            extended(0x0121, &[(2, &[])]),
            extended(0x0122, &[(2, &[]), (127, &[0xaa]), (3, &[1, 2])]),
        ],
        "extensions-mandatory" => {
            vec![extended(0x0130, &[(128, &[0xaa, 0xbb])]), extended(0x0131, &[(127, &[0xaa]), (255, &[])])]
        }
        "rrep" => vec![
            reply(0x0401, 35, (D, C), REPLY),
            reply(0x0302, 34, (C, B), Rrep { hop_count: 1, ..REPLY }),
            reply(0x0202, 35, (B, A), Rrep { hop_count: 2, lifetime_ms: 9_900, ..REPLY }),
        ],
        "rrep-gratuitous" => {
            let r = Rrep { hop_count: 1, destination: A, destination_seq: 12, originator: D, ..REPLY };
            vec![reply(0x0203, 35, (B, C), Rrep { lifetime_ms: 5_300, ..r })]
        }
        "rrep-flags" => {
            let largest = Rrep {
                repair: true,
                ack_required: true,
                prefix_size: 31,
                hop_count: 255,
                destination_seq: u32::MAX,
                lifetime_ms: u32::MAX,
                ..REPLY
            };
            vec![
                reply(0x0410, 35, (D, C), Rrep { repair: true, destination_seq: 8, ..REPLY }),
                reply(0x0411, 35, (D, C), Rrep { ack_required: true, destination_seq: 9, ..REPLY }),
                reply(0x0412, 255, (D, C), largest),
            ]
        }
        "rrep-prefix" => [(0x0420, 1), (0x0421, 8), (0x0422, 24), (0x0423, 30)]
            .map(|(id, prefix_size)| reply(id, 35, (D, C), Rrep { prefix_size, ..REPLY }))
            .into(),
        "hello" => vec![
            reply(0x0430, 1, (B, ALL), HELLO),
            reply(0x0431, 1, (B, ALL), Rrep { originator: Ipv4Addr::UNSPECIFIED, ..HELLO }),
        ],
        "hello-interval" => {
            let longer = Rrep { destination_seq: 43, lifetime_ms: 140_000, ..HELLO };
            let interval = |millis| Extension::HelloInterval { millis };
            let other = Extension::Unknown { kind: 127, data: &[0xaa] };
            let short = reply(0x0432, 1, (B, ALL), Rrep { lifetime_ms: 1_400, ..HELLO });
            let long = reply(0x0433, 1, (B, ALL), longer);
            vec![
                Sent { extensions: vec![interval(700)], ..short },
                Sent { extensions: vec![other, interval(70_000)], ..long },
            ]
        }
        "rerr" => vec![
            error(0x0501, (C, B), false, const { &[lost(D, 8)] }),
            error(0x0502, (C, ALL), false, const { &[lost(D, 8)] }),
        ],
        "rerr-many" => vec![
            error(0x0503, (B, ALL), false, const { &[lost(C, 0), lost(D, 8), lost(E, u32::MAX)] }),
            error(0x0504, (B, A), false, const { &[lost(E, 0), lost(D, 1 << 31)] }),
        ],
        "rerr-no-delete" => vec![error(0x0505, (C, ALL), true, const { &[lost(D, 9)] })],
        "rrep-ack" => vec![sent(0x0601, 1, (C, D), Message::RrepAck)],
        other => panic!("{other}: not described here"),
    }
}

fn encoded(m: &Sent) -> Vec<u8> {
    let mut payload = vec![0; m.message.buffer_len()];
    m.message.emit(&mut payload).expect("its fields fit");
    for e in &m.extensions {
        let at = payload.len();
        payload.resize(at + e.buffer_len(), 0);
        e.emit(&mut payload[at..]).expect("it fits");
    }
    let len = payload.len() as u16;
    let mut out = vec![0; ipv4::HEADER_LEN + udp::HEADER_LEN];
    out.extend_from_slice(&payload);
    let (src, dst) = m.ends;
    let datagram = udp::Repr { src_port: PORT, dst_port: PORT, payload_len: len };
    datagram.emit(&mut out[ipv4::HEADER_LEN..], src, dst);
    let ip = ipv4::Repr::new(src, dst, ipv4::protocol::UDP, udp::HEADER_LEN as u16 + len);
    ipv4::Repr { id: m.id, ttl: m.ttl, ..ip }.emit(&mut out);
    out
}

/// Calls `check` with each packet and what it means.
fn each(check: impl FnMut(&str, &[u8], &Sent)) {
    each_golden("rfc3561", 14, meaning, check);
}

#[test]
fn our_encoder_writes_the_golden_octets_of_aodv() {
    each(|what, bytes, m| assert_eq!(encoded(m), bytes, "{what}"));
}

#[test]
fn our_parser_reads_the_golden_octets_of_aodv_and_writes_them_again() {
    each(|what, bytes, m| {
        let ip = ipv4::Packet::new_checked(bytes).expect(what);
        assert!(ip.checksum_is_valid(), "{what}");
        assert_eq!((ip.src(), ip.dst(), ip.ttl(), ip.id()), (m.ends.0, m.ends.1, m.ttl, m.id), "{what}");
        let datagram = udp::Packet::new_checked(ip.payload()).expect(what);
        assert!(datagram.checksum_is_valid(ip.src(), ip.dst()), "{what}");
        assert_eq!((datagram.src_port(), datagram.dst_port()), (PORT, PORT), "{what}");
        let message = Message::parse(datagram.payload()).expect(what);
        assert_eq!(message, m.message, "{what}");
        let tail = &datagram.payload()[message.buffer_len()..];
        let read: Vec<_> = extensions(tail).map(|e| e.expect(what)).collect();
        assert_eq!(read, m.extensions, "{what}");
        let mut again = vec![0; datagram.payload().len()];
        let (head, mut rest) = again.split_at_mut(message.buffer_len());
        message.emit(head).expect(what);
        for e in read {
            e.emit(rest).expect(what);
            rest = &mut rest[e.buffer_len()..];
        }
        assert_eq!(again, datagram.payload(), "{what}: written again");
    });
}

#[test]
fn only_the_golden_captures_of_mandatory_extensions_have_one_that_may_not_be_skipped() {
    each(|what, _, m| {
        let mandatory = what.starts_with("extensions-mandatory");
        assert_eq!(m.extensions.iter().any(|e| !e.may_be_skipped()), mandatory, "{what}");
    });
}
