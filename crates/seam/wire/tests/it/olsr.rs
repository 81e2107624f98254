//! OLSR: octets by hand from RFC 3626, tshark, ns-3.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use wayhop_testkit::tshark;
use wayhop_wire::Error;
use wayhop_wire::olsr::{
    Address, Body, Hello, LinkCode, LinkMessage, LinkType, Message, NeighbourType, Network, PORT, Packet,
    PacketRepr, TimeCode,
};

use crate::common::{
    A, B, Case, RAW_IP, assert_tshark_agrees, datagram, decimal, joined, payloads, shows, written,
};

const HEAD: Message<'static> = Message {
    vtime: TimeCode(0x86),
    originator: A,
    ttl: 255,
    hop_count: 2,
    seq: 0x0102,
    body: Body::Other { kind: 200, data: &[] },
};

fn emitted<A: Address>(seq: u16, messages: &[Message<'_, A>]) -> Vec<u8> {
    let repr = PacketRepr { seq, messages };
    let mut out = vec![0xee; repr.buffer_len()];
    repr.emit(&mut out).expect("its fields fit");
    out
}

#[test]
fn octets_are_those_of_the_rfc() {
    let (one, two) = ([B], [A, B]);
    let links = [
        LinkMessage { code: LinkCode(6), neighbours: (&two[..]).into() },
        LinkMessage { code: LinkCode(10), neighbours: (&one[..]).into() },
    ];
    let hello = Hello { htime: TimeCode(0x05), willingness: 3, links: (&links[..]).into() };
    let network = [Network { address: A, netmask: Ipv4Addr::new(255, 0, 0, 0) }];
    let messages = [
        Message { vtime: TimeCode(0x86), ttl: 1, hop_count: 0, body: Body::Hello(hello), ..HEAD },
        Message {
            vtime: TimeCode(0xe7),
            body: Body::Tc { ansn: 0x0a0b, advertised: (&two[..]).into() },
            ..HEAD
        },
        Message { body: Body::Mid((&one[..]).into()), ..HEAD },
        Message { body: Body::Hna((&network[..]).into()), ..HEAD },
        Message { body: Body::Other { kind: 200, data: &[1, 2, 3] }, ..HEAD },
    ];
    #[rustfmt::skip]
    let octets = [
        0, 115, 0xca, 0xfe,
        1, 0x86, 0, 36, 10, 0, 0, 1, 1, 0, 1, 2,
            0, 0, 0x05, 3,
            6, 0, 0, 12, 10, 0, 0, 1, 192, 168, 3, 4,
            10, 0, 0, 8, 192, 168, 3, 4,
        2, 0xe7, 0, 24, 10, 0, 0, 1, 255, 2, 1, 2,
            10, 11, 0, 0, 10, 0, 0, 1, 192, 168, 3, 4,
        3, 0x86, 0, 16, 10, 0, 0, 1, 255, 2, 1, 2,
            192, 168, 3, 4,
        4, 0x86, 0, 20, 10, 0, 0, 1, 255, 2, 1, 2,
            10, 0, 0, 1, 255, 0, 0, 0,
        200, 0x86, 0, 15, 10, 0, 0, 1, 255, 2, 1, 2,
            1, 2, 3,
    ];
    assert_eq!(emitted(0xcafe, &messages), octets);
    let packet = Packet::new_checked(&octets).expect("a packet");
    assert_eq!((packet.seq(), packet.total_len()), (0xcafe, 115));
    let read: Vec<_> = packet.messages().map(Message::parse).collect();
    assert_eq!(read, messages.map(Ok));
}

/// The values of section 18.3, and the ends of the range.
#[test]
fn times_have_a_mantissa_and_an_exponent() {
    for (code, ms) in
        [(0x05, 2_000), (0x46, 5_000), (0x86, 6_000), (0xe7, 15_000), (0xe8, 30_000), (0xff, 3_968_000)]
    {
        assert_eq!(TimeCode(code).as_nanos(), ms * 1_000_000, "{code:#x}");
    }
    assert_eq!(TimeCode(0).as_nanos(), 62_500_000);
}

#[test]
fn a_link_code_has_two_fields_up_to_15() {
    let of = |code| (LinkCode(code).link(), LinkCode(code).neighbour());
    assert_eq!(of(6), (Some(LinkType::Symmetric), Some(NeighbourType::Symmetric)));
    assert_eq!(of(10), (Some(LinkType::Symmetric), Some(NeighbourType::Mpr)));
    assert_eq!(of(1), (Some(LinkType::Asymmetric), Some(NeighbourType::Not)));
    assert_eq!(of(3), (Some(LinkType::Lost), Some(NeighbourType::Not)));
    assert_eq!(of(12), (Some(LinkType::Unspecified), None));
    assert_eq!(of(16), (None, None));
    assert_eq!(of(22), (None, None));
}

#[test]
fn wrong_lengths_are_refused() {
    // Shorter than the header, no message, cut.
    for (octets, error) in [
        (&[0, 4][..], Error::Truncated),
        (&[0, 4, 0, 0], Error::Length),
        (&[0, 16, 0, 0, 1], Error::Truncated),
    ] {
        assert_eq!(Packet::new_checked(octets), Err(error));
    }
    let message = |kind, len, tail: &[u8]| [&[kind, 0, 0, len, 1, 2, 3, 4, 5, 6, 7, 8][..], tail].concat();
    for (octets, error) in [
        (message(3, 11, &[]), Error::Length),
        (message(3, 13, &[]), Error::Truncated),
        (message(3, 14, &[1, 2]), Error::Length),
        (message(2, 14, &[1, 2]), Error::Length),
        (message(4, 16, &[1, 2, 3, 4]), Error::Length),
        (message(1, 14, &[0, 0]), Error::Length),
        // Link messages of 3 and 6 octets, and one longer than the message.
        (message(1, 20, &[0, 0, 5, 3, 6, 0, 0, 3]), Error::Length),
        (message(1, 22, &[0, 0, 5, 3, 6, 0, 0, 6, 1, 2]), Error::Length),
        (message(1, 20, &[0, 0, 5, 3, 6, 0, 0, 8]), Error::Length),
    ] {
        assert_eq!(Message::parse(&octets), Err(error), "{octets:?}");
    }
    // A length that cannot be ends the walk, and the octets behind it are one message.
    let packet = [&[0, 42, 0, 0][..], &message(3, 16, &[1, 2, 3, 4]), &message(3, 11, &[0; 10])].concat();
    let lens: Vec<usize> =
        Packet::new_checked(&packet).expect("a packet").messages().map(<[u8]>::len).collect();
    assert_eq!(lens, [16, 22]);
    let known = Message { body: Body::Other { kind: 3, data: &[] }, ..HEAD };
    let refused = |messages: &[Message<'_>]| PacketRepr { seq: 1, messages }.emit(&mut [0; 40]);
    assert_eq!(refused(&[known]), Err(Error::Value("message type")));
    assert_eq!(refused(&[]), Err(Error::Value("number of messages")));
}

const FIELDS: [&str; 18] = [
    "olsr.packet_len",
    "olsr.packet_seq_num",
    "olsr.message_type",
    "olsr.vtime",
    "olsr.message_size",
    "olsr.origin_addr",
    "olsr.ttl",
    "olsr.hop_count",
    "olsr.message_seq_num",
    "olsr.htime",
    "olsr.willingness",
    "olsr.link_type",
    "olsr.link_message_size",
    "olsr.neighbor_addr",
    "olsr.ansn",
    "olsr.interface_addr",
    "olsr.network_addr",
    "olsr.netmask",
];

/// What tshark shows of a packet with these messages.
fn shown(len: usize, seq: u16, messages: &[Message<'_>]) -> Vec<(&'static str, String)> {
    let seconds = |t: TimeCode| t.as_nanos() as f64 / 1e9;
    let mut all = shows! { "olsr.packet_len" => len, "olsr.packet_seq_num" => seq };
    for m in messages {
        all.extend(shows! {
            "olsr.message_type" => m.body.kind(), "olsr.vtime" => seconds(m.vtime),
            "olsr.message_size" => m.buffer_len(), "olsr.origin_addr" => m.originator, "olsr.ttl" => m.ttl,
            "olsr.hop_count" => m.hop_count, "olsr.message_seq_num" => m.seq,
        });
        match &m.body {
            Body::Hello(h) => {
                all.extend(shows! { "olsr.htime" => seconds(h.htime), "olsr.willingness" => h.willingness });
                for l in h.links.iter() {
                    let len = 4 + 4 * l.neighbours.len();
                    all.extend(shows! { "olsr.link_type" => l.code.0, "olsr.link_message_size" => len });
                    all.extend(l.neighbours.iter().map(|a| ("olsr.neighbor_addr", a.to_string())));
                }
            }
            Body::Tc { ansn, advertised } => {
                all.extend(shows! { "olsr.ansn" => ansn });
                all.extend(advertised.iter().map(|a| ("olsr.neighbor_addr", a.to_string())));
            }
            Body::Mid(list) => all.extend(list.iter().map(|a| ("olsr.interface_addr", a.to_string()))),
            Body::Hna(list) => {
                for n in list {
                    all.extend(shows! { "olsr.network_addr" => n.address, "olsr.netmask" => n.netmask });
                }
            }
            Body::Other { .. } => {}
        }
    }
    all
}

#[test]
fn tshark_reads_what_we_write() {
    let addresses = [A, B, Ipv4Addr::new(172, 16, 0, 9)];
    let links = [
        LinkMessage { code: LinkCode(6), neighbours: (&addresses[..2]).into() },
        LinkMessage { code: LinkCode(10), neighbours: (&addresses[2..]).into() },
        LinkMessage { code: LinkCode(1), neighbours: (&addresses[..1]).into() },
        LinkMessage { code: LinkCode(3), neighbours: (&addresses[1..2]).into() },
    ];
    let hello = |n| Body::Hello(Hello { htime: TimeCode(0x05), willingness: 7, links: (&links[..n]).into() });
    let networks = [A, B].map(|address| Network { address, netmask: Ipv4Addr::new(255, 255, 240, 0) });
    let bodies = [
        hello(0),
        hello(4),
        Body::Tc { ansn: 65_535, advertised: (&addresses[..]).into() },
        Body::Mid((&addresses[1..]).into()),
        Body::Hna((&networks[..]).into()),
    ];
    let times = [0, 0x0f, 0x86, 0xe7, 0xff].map(TimeCode);
    let messages: Vec<Message<'_>> = bodies
        .into_iter()
        .zip(times)
        .zip(250..)
        .map(|((body, vtime), ttl)| Message { body, vtime, ttl, seq: u16::from(ttl) << 8, ..HEAD })
        .collect();
    let case = |messages: &[Message<'_>]| {
        let octets = emitted(40_000, messages);
        let shown = shown(octets.len(), 40_000, messages);
        written(datagram(A, B, PORT, &octets), &shown)
    };
    let cases: Vec<Case> = messages.chunks(1).chain([&messages[..]]).map(case).collect();
    assert_tshark_agrees(RAW_IP, &cases);
}

/// Section 17: the same with longer addresses.
#[test]
fn tshark_reads_what_we_write_over_ipv6() {
    let [a, b, c] = [1, 2, 3].map(|n| Ipv6Addr::new(0xfd00, 7, 0, 0, 0, 0, 0, n));
    let addresses = [b, c];
    let links = [
        LinkMessage { code: LinkCode(6), neighbours: (&addresses[..]).into() },
        LinkMessage { code: LinkCode(10), neighbours: (&addresses[1..]).into() },
    ];
    let hello = Hello { htime: TimeCode(0x05), willingness: 3, links: (&links[..]).into() };
    let networks = [Network { address: a, netmask: Ipv6Addr::new(0xffff, 0xffff, 0, 0, 0, 0, 0, 0) }];
    let messages = [
        Body::Hello(hello),
        Body::Tc { ansn: 7, advertised: (&addresses[..]).into() },
        Body::Mid((&addresses[1..]).into()),
        Body::Hna((&networks[..]).into()),
    ]
    .map(|body| Message { vtime: TimeCode(0x86), originator: a, ttl: 5, hop_count: 2, seq: 9, body });
    let octets = emitted(40_000, &messages);
    assert_eq!(octets[4..8], [1, 0x86, 0, 84], "24 octets of header, 4, and links of 36 and 20");
    assert_eq!(octets[8..24], a.octets());
    assert_eq!(octets[24..28], [5, 2, 0, 9]);
    let packet = Packet::new_checked(&octets).expect("a packet");
    assert!(packet.messages().map(|m| Message::parse6(m).expect("it was written")).eq(messages));
    assert!(packet.messages().all(|m| Message::parse6(&m[..23]).is_err()));
    // tshark takes every HNA message over IPv6 for malformed: its dissector asks for an IPv6 address of 4 octets.
    let shown = &messages[..3];
    let octets = emitted(40_000, shown);
    let mut expected = shows! { "olsr.packet_len" => octets.len(), "olsr.packet_seq_num" => 40_000 };
    for m in shown {
        expected.extend(shows! {
            "olsr.message_type" => m.body.kind(), "olsr.message_size" => m.buffer_len(), "olsr.origin6_addr" => a,
            "olsr.ttl" => 5, "olsr.hop_count" => 2, "olsr.message_seq_num" => 9,
        });
    }
    expected.extend(shows! {
        "olsr.neighbor6_addr" => b, "olsr.neighbor6_addr" => c, "olsr.neighbor6_addr" => c, "olsr.ansn" => 7,
        "olsr.neighbor6_addr" => b, "olsr.neighbor6_addr" => c, "olsr.interface6_addr" => c,
    });
    let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x6d);
    assert_tshark_agrees(RAW_IP, &[written(datagram(a, group, PORT, &octets), &expected)]);
}

#[test]
fn ns_3s_packets_read_as_tshark_shows_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures/ns3/ns3-olsr.pcap");
    let rows = tshark::fields(&path, "olsr", &FIELDS).expect("tshark answers");
    let packets = payloads(&path, PORT);
    assert_eq!(rows.len(), packets.len());
    let mut kinds = [0; 5];
    for ((_, octets), row) in packets.iter().zip(rows) {
        let packet = Packet::new_checked(octets).expect("ns-3 writes RFC 3626");
        let messages: Vec<Message<'_>> =
            packet.messages().map(|m| Message::parse(m).expect("ns-3 writes RFC 3626")).collect();
        for m in &messages {
            kinds[usize::from(m.body.kind().min(4))] += 1;
        }
        let row: Vec<String> = row.iter().map(|v| decimal(v)).collect();
        assert_eq!(joined(&FIELDS, &shown(packet.total_len(), packet.seq(), &messages)), row);
        assert_eq!(emitted(packet.seq(), &messages), *octets);
    }
    // As tshark counts them: HELLO, TC, MID, HNA.
    assert_eq!(kinds, [0, 30, 4, 6, 4]);
}

/// Lists of a message, and what else it has.
#[derive(Clone, Debug)]
struct Owned {
    kind: u8,
    head: (u8, u32, u8, u8, u16),
    links: Vec<(u8, Vec<u32>)>,
    data: Vec<u8>,
}

fn link<'a>(((code, _), list): (&(u8, Vec<u32>), &'a Vec<Ipv4Addr>)) -> LinkMessage<'a> {
    LinkMessage { code: LinkCode(*code), neighbours: list.into() }
}

fn owned() -> impl Strategy<Value = Owned> {
    let head = any::<(u8, u32, u8, u8, u16)>();
    let links = vec((any::<u8>(), vec(any::<u32>(), 0..5)), 0..4);
    (0u8..7, head, links, vec(any::<u8>(), 0..30)).prop_map(|(kind, head, links, data)| Owned {
        kind,
        head,
        links,
        data,
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(seq: u16, all in vec(owned(), 1..5)) {
        let addresses = |list: &[u32]| list.iter().map(|a| Ipv4Addr::from_bits(*a)).collect::<Vec<_>>();
        let lists: Vec<Vec<Vec<Ipv4Addr>>> =
            all.iter().map(|o| o.links.iter().map(|(_, list)| addresses(list)).collect()).collect();
        let links: Vec<Vec<LinkMessage<'_>>> = all.iter().zip(&lists).map(|(o, lists)| {
            o.links.iter().zip(lists).map(link).collect()
        }).collect();
        let flat: Vec<Vec<Ipv4Addr>> = lists.iter().map(|l| l.concat()).collect();
        let networks: Vec<Vec<Network>> =
            flat.iter().map(|l| l.iter().map(|a| Network { address: *a, netmask: *a }).collect()).collect();
        let messages: Vec<Message<'_>> = all.iter().enumerate().map(|(i, o)| {
            let (vtime, originator, ttl, hop_count, seq) = o.head;
            let body = match o.kind {
                1 => Body::Hello(Hello { htime: TimeCode(ttl), willingness: vtime, links: (&links[i][..]).into() }),
                2 => Body::Tc { ansn: seq, advertised: (&flat[i]).into() },
                3 => Body::Mid((&flat[i]).into()),
                4 => Body::Hna((&networks[i]).into()),
                kind => Body::Other { kind, data: &o.data },
            };
            Message { vtime: TimeCode(vtime), originator: Ipv4Addr::from_bits(originator), ttl, hop_count, seq, body }
        }).collect();
        let octets = emitted(seq, &messages);
        let packet = Packet::new_checked(&octets).expect("it was written");
        prop_assert_eq!((packet.seq(), packet.total_len()), (seq, octets.len()));
        let read: Vec<_> = packet.messages().map(|m| Message::parse(m).expect("it was written")).collect();
        prop_assert_eq!(read, messages);
    }
}
