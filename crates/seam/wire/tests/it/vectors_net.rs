//! IPv4, UDP, ICMP, ARP and checksums against octets worked out by hand or published.

use std::net::Ipv4Addr;

use wayhop_core::Mac;
use wayhop_wire::tcp::{Flags, QuotedSegment, Repr, TcpOption};
use wayhop_wire::{Error, arp, checksum, icmp, ipv4, llc, tcp, udp};

const SRC: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const DST: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 199);

/// A header whose checksum, 0xb861, is worked out in textbooks.
const HEADER: [u8; 20] =
    [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 192, 168, 0, 1, 192, 168, 0, 199];

fn packet() -> Vec<u8> {
    let mut p = HEADER.to_vec();
    p.resize(0x73, 0xaa);
    p
}

#[test]
fn ipv4_header_reads_and_writes_a_known_one() {
    let r = ipv4::Repr { dont_fragment: true, ..ipv4::Repr::new(SRC, DST, 17, 0x73 - 20) };
    assert_eq!(ipv4::Repr::parse(&packet()), Ok(r));
    let mut out = [0xee; 20];
    r.emit(&mut out);
    assert_eq!(out, HEADER);
}

#[test]
fn ipv4_fields_are_where_rfc_791_puts_them() {
    let r = ipv4::Repr {
        tos: 0xb8,
        id: 0x1234,
        more_fragments: true,
        fragment_offset: 0x1567,
        ttl: 9,
        ..ipv4::Repr::new(SRC, DST, 48, 4)
    };
    let mut out = [0; 24];
    r.emit(&mut out);
    assert_eq!(out[..10], [0x45, 0xb8, 0, 24, 0x12, 0x34, 0x35, 0x67, 9, 48]);
    assert_eq!(ipv4::Repr::parse(&out), Ok(r));
}

#[test]
fn ipv4_options_are_seen_and_skipped() {
    let mut p = packet();
    p.splice(20..20, [1, 1, 1, 0]);
    p[0] = 0x46;
    p[3] += 4;
    let view = ipv4::Packet::new_checked(&p).expect("it is complete");
    assert_eq!((view.options(), view.payload().len()), (&[1, 1, 1, 0][..], 0x73 - 20));
    assert_eq!(ipv4::Repr::parse(&p), Err(Error::Checksum));
}

#[test]
fn ipv4_lengths_that_disagree_are_refused() {
    let check = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut p = packet();
        change(&mut p);
        ipv4::Packet::new_checked(&p).map(|_| ())
    };
    assert_eq!(check(&|_| {}), Ok(()));
    assert_eq!(check(&|p| p.push(0)), Ok(()), "padding of a link");
    assert_eq!(check(&|p| p.truncate(19)), Err(Error::Truncated));
    assert_eq!(check(&|p| p.truncate(0x72)), Err(Error::Truncated));
    assert_eq!(check(&|p| p[0] = 0x44), Err(Error::Length));
    assert_eq!(check(&|p| p[0] = 0x65), Err(Error::Value("version")));
    assert_eq!(check(&|p| p[3] = 19), Err(Error::Length));
    let snapped = packet();
    let view = ipv4::Packet::new_snapped(&snapped[..30]).expect("a complete header");
    assert_eq!((view.total_len(), view.payload().len()), (0x73, 10));
}

#[test]
fn changes_in_place_keep_the_header_checksum_right() {
    let mut p = packet();
    assert_eq!(ipv4::decrement_ttl(&mut p), Ok(0x3f));
    // One less in the high octet of a word: the checksum rises by 0x0100.
    assert_eq!(p[8..12], [0x3f, 0x11, 0xb9, 0x61]);
    ipv4::set_tos(&mut p, 0xb8).expect("a complete header");
    ipv4::set_dst(&mut p, SRC).expect("a complete header");
    ipv4::set_payload(&mut p, 48, 80).expect("it is short enough");
    let r = ipv4::Repr::parse(&p).expect("the checksum is right");
    assert_eq!((r.ttl, r.tos, r.dst, r.protocol, r.payload_len), (0x3f, 0xb8, SRC, 48, 80));
    assert_eq!(ipv4::set_payload(&mut p, 48, 65_516), Err(Error::Full));
    ipv4::set_ttl(&mut p, 0).expect("a complete header");
    assert_eq!(ipv4::decrement_ttl(&mut p), Ok(0));
}

#[test]
fn incremental_update_is_the_example_of_rfc_1624() {
    assert_eq!(checksum::update(0xdd2f, 0x5555, 0x3285), 0x0000);
}

#[test]
fn checksum_sum_is_the_example_of_rfc_1071() {
    let data = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    assert_eq!(checksum::sum(0, &data), 0xddf2);
    assert_eq!(checksum::sum(0, &data[..7]), 0xdcfb, "an odd octet counts as the high one");
}

#[test]
fn udp_checksum_covers_pseudo_header_header_and_payload() {
    // Words: c0a8 0001 c0a8 00c7 0011 000b + 028e 028e 000b (0000) + 6162 6300 = 2_4c2f, folded 4c31, inverted b3ce.
    let mut out = [0, 0, 0, 0, 0, 0, 0, 0, b'a', b'b', b'c'];
    let r = udp::Repr { src_port: 654, dst_port: 654, payload_len: 3 };
    r.emit(&mut out, SRC, DST);
    let sum: u32 = [0xc0a8u32, 1, 0xc0a8, 0xc7, 0x11, 0xb, 0x28e, 0x28e, 0xb, 0x6162, 0x6300].iter().sum();
    let by_hand = !(sum % 0xffff) as u16;
    assert_eq!(out[..6], [2, 0x8e, 2, 0x8e, 0, 11]);
    assert_eq!(out[6..8], by_hand.to_be_bytes());
    assert_eq!(udp::Repr::parse(&out, SRC, DST), Ok(r));
    out[8] ^= 1;
    assert_eq!(udp::Repr::parse(&out, SRC, DST), Err(Error::Checksum));
    out[6..8].fill(0);
    assert_eq!(udp::Repr::parse(&out, SRC, DST), Ok(r), "no checksum is no error");
}

#[test]
fn udp_never_writes_the_field_that_means_no_checksum() {
    // A payload word that makes the sum 0xffff.
    let r = udp::Repr { src_port: 1, dst_port: 2, payload_len: 2 };
    let mut out = [0; 10];
    r.emit(&mut out, SRC, DST);
    let fill = [out[6], out[7]];
    out[8..].copy_from_slice(&fill);
    r.emit(&mut out, SRC, DST);
    assert_eq!(out[6..8], [0xff, 0xff]);
    assert_eq!(udp::Repr::parse(&out, SRC, DST), Ok(r));
}

#[test]
fn udp_lengths_that_disagree_are_refused() {
    assert_eq!(udp::Packet::new_checked(&[0; 7]), Err(Error::Truncated));
    assert_eq!(udp::Packet::new_checked(&[0, 1, 0, 2, 0, 7, 0, 0]), Err(Error::Length));
    assert_eq!(udp::Packet::new_checked(&[0, 1, 0, 2, 0, 9, 0, 0]), Err(Error::Truncated));
    let view = udp::Packet::new_snapped(&[0, 1, 0, 2, 0, 90, 0, 0, 5]).expect("a complete header");
    assert_eq!((view.total_len(), view.payload()), (90, &[5][..]));
}

#[test]
fn icmp_messages_are_those_of_rfc_792() {
    let both_ways = |octets: &[u8], r: icmp::Repr<'_>| {
        let mut out = vec![0xee; r.buffer_len()];
        r.emit(&mut out);
        assert_eq!(out, octets);
        assert_eq!(icmp::Repr::parse(octets), Ok(r));
        let mut broken = octets.to_vec();
        broken[5] ^= 4;
        assert_eq!(icmp::Repr::parse(&broken), Err(Error::Checksum));
    };
    // 0800 + 1234 + 0001 + 6162 = 7b97
    both_ways(
        &[8, 0, 0x84, 0x68, 0x12, 0x34, 0, 1, b'a', b'b'],
        icmp::Repr::EchoRequest { ident: 0x1234, seq: 1, data: b"ab" },
    );
    let mut in_place = *b"\xee\xee\xee\xee\xee\xee\xee\xeeab";
    icmp::emit_echo_request(&mut in_place, 0x1234, 1);
    assert_eq!(in_place, [8, 0, 0x84, 0x68, 0x12, 0x34, 0, 1, b'a', b'b']);
    both_ways(
        &[0, 0, 0x8c, 0x68, 0x12, 0x34, 0, 1, b'a', b'b'],
        icmp::Repr::EchoReply { ident: 0x1234, seq: 1, data: b"ab" },
    );
    // 0304 + 05dc + 4500 = 4de0
    both_ways(
        &[3, 4, 0xb2, 0x1f, 0, 0, 0x05, 0xdc, 0x45, 0],
        icmp::Repr::DestinationUnreachable {
            code: icmp::unreachable_code::FRAGMENTATION_NEEDED,
            next_hop_mtu: 1500,
            original: &[0x45, 0],
        },
    );
    // 0b00 + 4500 = 5000
    both_ways(
        &[11, 0, 0xaf, 0xff, 0, 0, 0, 0, 0x45, 0],
        icmp::Repr::TimeExceeded { code: 0, original: &[0x45, 0] },
    );
    // 0c00 + 1700 + 4500 = 6800
    both_ways(
        &[12, 0, 0x97, 0xff, 23, 0, 0, 0, 0x45, 0],
        icmp::Repr::ParameterProblem { code: 0, pointer: 23, original: &[0x45, 0] },
    );
}

#[test]
fn arp_request_and_reply_are_those_of_rfc_826() {
    #[rustfmt::skip]
    let octets = [
        0, 1, 8, 0, 6, 4, 0, 1,
        2, 0, 10, 0, 0, 1, 10, 0, 0, 1,
        0, 0, 0, 0, 0, 0, 10, 0, 0, 2,
    ];
    let r = arp::Repr {
        operation: arp::Operation::Request,
        sender_mac: Mac::from_addr(Ipv4Addr::new(10, 0, 0, 1)),
        sender: Ipv4Addr::new(10, 0, 0, 1),
        target_mac: Mac([0; 6]),
        target: Ipv4Addr::new(10, 0, 0, 2),
    };
    assert_eq!(arp::Repr::parse(&octets), Ok(r));
    let mut out = [0xee; 28];
    arp::Repr { operation: arp::Operation::Reply, ..r }.emit(&mut out);
    let mut reply = octets;
    reply[7] = 2;
    assert_eq!(out, reply);
    for (at, error) in [
        (1, Error::Value("hardware type")),
        (2, Error::Value("protocol type")),
        (4, Error::Length),
        (5, Error::Length),
        (7, Error::Value("operation")),
    ] {
        let mut broken = octets;
        broken[at] = 9;
        assert_eq!(arp::Repr::parse(&broken), Err(error));
    }
    assert_eq!(arp::Repr::parse(&octets[..27]), Err(Error::Truncated));
}

#[test]
fn snap_header_is_that_of_rfc_1042() {
    let mut out = [0; 8];
    llc::Repr { ether_type: llc::IPV4 }.emit(&mut out);
    assert_eq!(out, [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    assert_eq!(llc::Repr::parse(&out), Ok(llc::Repr { ether_type: 0x0800 }));
    out[5] = 1;
    assert_eq!(llc::Repr::parse(&out), Err(Error::Value("LLC/SNAP")));
}

#[test]
fn tcp_fields_and_options_are_where_rfc_9293_puts_them() {
    let syn = Repr {
        src_port: 0xc000,
        dst_port: 80,
        seq: 0x0102_0304,
        ack: 0,
        flags: Flags::SYN,
        window: 0x7210,
        max_segment_size: Some(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        ..Repr::default()
    };
    let mut out = [0; 32];
    syn.emit(&mut out, SRC, DST);
    assert_eq!(
        out[..16],
        [0xc0, 0, 0, 80, 1, 2, 3, 4, 0, 0, 0, 0, 8 << 4, 2, 0x72, 0x10],
        "ports, numbers, eight words, SYN, window"
    );
    assert_eq!(out[18..20], [0, 0], "no urgent data");
    // Kinds 2, 3 and 4 (RFC 9293 section 3.2, RFC 7323, RFC 2018), each filled up to a word with 1.
    assert_eq!(out[20..], [2, 4, 5, 180, 1, 3, 3, 7, 1, 1, 4, 2]);
    assert_eq!(checksum::sum(checksum::pseudo_header(SRC, DST, 6, 32), &out), 0xffff);
    assert_eq!(Repr::parse(&out, SRC, DST), Ok(syn));
    assert_eq!(
        QuotedSegment::parse(&out[..8]),
        Some(QuotedSegment { src_port: 0xc000, dst_port: 80, seq: 0x0102_0304 })
    );
    assert_eq!(QuotedSegment::parse(&out[..7]), None);
    out[31] ^= 1;
    assert_eq!(Repr::parse(&out, SRC, DST), Err(Error::Checksum));
}

#[test]
fn selective_acknowledgements_are_option_5_with_two_numbers_a_block() {
    let mut sack = [None; tcp::MAX_SACK_BLOCKS];
    sack[0] = Some((0x100, 0x200));
    sack[1] = Some((0x300, 0x400));
    let r = Repr { ack: 0x50, flags: Flags::ACK, sack, ..Repr::default() };
    let mut out = [0; 20 + 20];
    r.emit(&mut out, SRC, DST);
    assert_eq!(out[20..24], [1, 1, 5, 18], "RFC 2018 section 3");
    assert_eq!(out[24..], [0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0]);
    assert_eq!(Repr::parse(&out, SRC, DST), Ok(r));
}

#[test]
fn padding_of_tcp_is_no_operations_in_whole_words_where_options_leave_room() {
    let octets = |padding: u8, blocks: usize| {
        let mut sack = [None; tcp::MAX_SACK_BLOCKS];
        sack[..blocks].fill(Some((2, 3)));
        let padded = Repr { flags: Flags::ACK, sack, padding, ..Repr::default() };
        let mut out = vec![0; padded.buffer_len()];
        padded.emit(&mut out, SRC, DST);
        assert_eq!(Repr::parse(&out, SRC, DST), Ok(Repr { padding: 0, ..padded }));
        let own = Repr { padding: 0, ..padded }.buffer_len();
        assert_eq!(
            (usize::from(out[12] >> 4) * 4, out.len() % 4),
            (out.len(), 0),
            "RFC 9293 section 3.1: data offset"
        );
        assert!(out[own..].iter().all(|b| *b == 1));
        out.len() - own
    };
    for (padding, blocks, added) in
        [(20, 0, 20), (20, 2, 20), (20, 3, 12), (20, 4, 4), (6, 0, 4), (255, 0, 40)]
    {
        assert_eq!(octets(padding, blocks), added, "{padding} behind {blocks} blocks");
    }
}

#[test]
fn broken_options_of_tcp_end_the_list_and_a_header_cut_short_is_refused() {
    let with = |options: &[u8]| {
        let mut b = vec![0; 20];
        b[12] = (5 + options.len().div_ceil(4) as u8) << 4;
        b.extend_from_slice(options);
        b.resize(usize::from(b[12] >> 4) * 4, 0);
        b
    };
    let count =
        |options: &[u8]| tcp::Packet::new_checked(&with(options)).expect("it is complete").options().count();
    assert_eq!(count(&[1, 1, 2, 4, 5, 180, 0, 3]), 1, "nothing behind the end");
    assert_eq!(count(&[8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2]), 2, "an unknown one is skipped");
    assert_eq!(count(&[4, 2, 3, 0, 2, 4, 1, 1]), 1, "a length below two");
    assert_eq!(count(&[4, 2, 2, 40]), 1, "a length beyond the header");
    let b = with(&[5, 9, 0, 0, 0, 0, 0, 0, 0]);
    let p = tcp::Packet::new_checked(&b).expect("it is complete");
    assert!(
        matches!(p.options().next(), Some(TcpOption::Other { kind: 5, .. })),
        "seven octets are no blocks"
    );
    assert_eq!(tcp::Packet::new_checked(&[0; 19]), Err(Error::Truncated));
    let mut short = [0; 20];
    short[12] = 4 << 4;
    assert_eq!(tcp::Packet::new_checked(&short), Err(Error::Length));
    short[12] = 6 << 4;
    assert_eq!(tcp::Packet::new_checked(&short), Err(Error::Truncated));
}
