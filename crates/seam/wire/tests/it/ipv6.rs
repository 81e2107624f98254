//! IPv6, ICMPv6 and neighbour discovery: octets by hand, tshark, arbitrary bytes.

use std::net::Ipv6Addr;

use proptest::prelude::*;
use wayhop_core::Mac;
use wayhop_wire::icmpv6::{self, Repr};
use wayhop_wire::ipv6::{self, next_header};
use wayhop_wire::{Error, ip, ipv4, may_answer6, tcp, udp, unreachable6_for};

use crate::common::{Case, RAW_IP, assert_tshark_agrees, shows};

const A: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 1);
const B: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 2);
const MAC: Mac = Mac([2, 0, 10, 0, 0, 1]);

fn packet(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0; ipv6::HEADER_LEN];
    ipv6::Repr::new(A, B, next_header, payload.len() as u16).emit(&mut p);
    p.extend_from_slice(payload);
    p
}

fn datagram() -> Vec<u8> {
    let mut d = vec![0x55; 15];
    udp::Repr { src_port: 40_001, dst_port: 40_002, payload_len: 7 }.emit(&mut d, A, B);
    d
}

#[test]
fn a_header_is_what_rfc_8200_section_3_draws() {
    let r =
        ipv6::Repr { hop_limit: 9, traffic_class: 0xb8, flow_label: 0x12345, ..ipv6::Repr::new(A, B, 17, 8) };
    let mut p = [0; 48];
    r.emit(&mut p);
    assert_eq!(p[..8], [0x6b, 0x81, 0x23, 0x45, 0, 8, 17, 9]);
    assert_eq!(p[8..24], [0xfd, 0, 0, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(p[24..40], [0xfd, 0, 0, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    assert_eq!(ipv6::Repr::parse(&p), Ok(r));
    assert_eq!((ipv6::decrement_hop_limit(&mut p), p[7]), (Ok(8), 8));
}

#[test]
fn addresses_follow_from_link_addresses() {
    // RFC 4291, appendix A: ff:fe in the middle, and the universal bit turned over.
    let mac = Mac([0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]);
    let link_local: Ipv6Addr = "fe80::3656:78ff:fe9a:bcde".parse().unwrap();
    assert_eq!((ipv6::link_local(mac), ipv6::eui64_mac(link_local)), (link_local, Some(mac)));
    assert_eq!(ipv6::eui64_mac(A), None);
    // RFC 4291, section 2.7.1, and RFC 2464, section 7.
    let asked: Ipv6Addr = "4037::1:800:200e:8c6c".parse().unwrap();
    assert_eq!(ipv6::solicited_node(asked), "ff02::1:ff0e:8c6c".parse::<Ipv6Addr>().unwrap());
    assert_eq!(
        ipv6::group_mac("ff02::1:ff0e:8c6c".parse().unwrap()),
        Mac([0x33, 0x33, 0xff, 0x0e, 0x8c, 0x6c])
    );
}

#[test]
fn extension_headers_are_walked_over_and_later_fragments_show_nothing() {
    // Hop-by-Hop of 8 octets, Routing of 16, Destination of 8, Authentication of 12, then UDP.
    let mut chain = vec![43, 0, 1, 4, 0, 0, 0, 0];
    chain.extend([60, 1].into_iter().chain([0; 14]));
    chain.extend([51, 0, 1, 4, 0, 0, 0, 0]);
    chain.extend([17, 1].into_iter().chain([0; 10]));
    let len = chain.len();
    chain.extend(datagram());
    let p = packet(next_header::HOP_BY_HOP, &chain);
    let upper = ipv6::Packet::new_checked(&p).unwrap().upper().unwrap();
    assert_eq!((upper.protocol, upper.header_len, upper.is_fragment), (17, 40 + len, false));
    assert_eq!(upper.payload, datagram());
    // Fragments: the first, and another.
    for (offset_and_more, protocol, shown) in [(0x0001u16, 17, true), (0x0009, 44, false), (0, 17, true)] {
        let mut f = vec![17, 0];
        f.extend(offset_and_more.to_be_bytes());
        f.extend([0, 0, 0, 1]);
        f.extend(datagram());
        let p = packet(next_header::FRAGMENT, &f);
        let upper = ipv6::Packet::new_checked(&p).unwrap().upper().unwrap();
        assert_eq!((upper.protocol, upper.is_fragment), (protocol, offset_and_more != 0));
        assert_eq!(!ip::Packet::new_checked(&p).unwrap().payload.is_empty(), shown);
    }
    // One that says that it is longer than the packet.
    let p = packet(next_header::DESTINATION, &[17, 9, 0, 0, 0, 0, 0, 0]);
    assert_eq!(ipv6::Packet::new_checked(&p).unwrap().upper().err(), Some(Error::Truncated));
}

#[test]
fn ipv4_mapped_addresses_are_refused_on_a_link() {
    let mut p = packet(17, &datagram());
    p[8..24].copy_from_slice(&std::net::Ipv4Addr::new(10, 0, 0, 1).to_ipv6_mapped().octets());
    assert_eq!(ip::Packet::new_checked(&p).err(), Some(Error::Value("address")));
}

#[test]
fn tshark_reads_every_message_and_finds_every_checksum_right() {
    let message = |r: Repr<'_>, mut expected: Vec<(&'static str, String)>| {
        let mut m = vec![0; r.buffer_len()];
        r.emit(&mut m, A, B);
        let mut p = packet(next_header::ICMPV6, &m);
        p[7] = 255;
        expected.extend(shows! { "icmpv6.checksum.status" => 1 });
        Case { bytes: p, expected }
    };
    let mut original = packet(17, &datagram());
    original.truncate(48);
    let mut segment = vec![0x66; 25];
    let flags = tcp::Flags::ACK;
    tcp::Repr { src_port: 40_003, dst_port: 40_004, seq: 7, flags, ..tcp::Repr::default() }.emit(
        &mut segment,
        A,
        B,
    );
    assert_tshark_agrees(
        RAW_IP,
        &[
            Case { bytes: packet(17, &datagram()), expected: shows! { "udp.dstport" => 40_002 } },
            Case {
                bytes: packet(ipv4::protocol::TCP, &segment),
                expected: shows! { "tcp.dstport" => 40_004 },
            },
            message(
                Repr::EchoRequest { ident: 0x1234, seq: 7, data: &[0; 16] },
                shows! { "icmpv6.type" => 128, "icmpv6.code" => 0, "icmpv6.echo.identifier" => 0x1234 },
            ),
            message(
                Repr::EchoReply { ident: 0x1234, seq: 7, data: &[0; 16] },
                shows! { "icmpv6.type" => 129, "icmpv6.code" => 0, "icmpv6.echo.identifier" => 0x1234 },
            ),
            message(
                Repr::NeighbourSolicitation { target: B, source_mac: Some(MAC) },
                shows! {
                    "icmpv6.type" => 135, "icmpv6.code" => 0, "icmpv6.nd.ns.target_address" => B,
                    "icmpv6.opt.type" => 1, "icmpv6.opt.linkaddr" => "02:00:0a:00:00:01",
                },
            ),
            message(
                Repr::NeighbourAdvertisement {
                    target: A,
                    router: true,
                    solicited: true,
                    replace: false,
                    target_mac: Some(MAC),
                },
                shows! {
                    "icmpv6.type" => 136, "icmpv6.code" => 0, "icmpv6.nd.na.target_address" => A,
                    "icmpv6.nd.na.flag.r" => 1, "icmpv6.nd.na.flag.s" => 1, "icmpv6.nd.na.flag.o" => 0,
                    "icmpv6.opt.type" => 2, "icmpv6.opt.linkaddr" => "02:00:0a:00:00:01",
                },
            ),
            message(
                Repr::DestinationUnreachable { code: 0, original: &original },
                shows! { "icmpv6.type" => 1, "icmpv6.code" => 0, "udp.dstport" => 40_002 },
            ),
            message(
                Repr::PacketTooBig { mtu: 1_280, original: &original },
                shows! {
                    "icmpv6.type" => 2, "icmpv6.code" => 0, "icmpv6.mtu" => 1_280, "udp.dstport" => 40_002,
                },
            ),
            message(
                Repr::TimeExceeded { code: 0, original: &original },
                shows! { "icmpv6.type" => 3, "icmpv6.code" => 0, "udp.dstport" => 40_002 },
            ),
        ],
    );
}

#[test]
fn udp_and_tcp_checksums_are_over_the_ipv6_pseudo_header() {
    // RFC 8200, section 8.1, by hand: addresses, length as 32 bits, zeros, next header, then the datagram.
    let d = datagram();
    let mut covered = [A.octets(), B.octets()].concat();
    covered.extend([0, 0, 0, d.len() as u8, 0, 0, 0, 17]);
    covered.extend(&d);
    covered.push(0);
    let sum: u32 = covered.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
    assert!(udp::Repr::parse(&d, A, B).is_ok());
    assert_eq!(udp::Repr::parse(&d, A, A).err(), Some(Error::Checksum));
}

#[test]
fn an_error_answers_what_rfc_4443_lets_it() {
    let asks = |src, dst, next, payload: &[u8]| {
        let mut p = vec![0; ipv6::HEADER_LEN];
        ipv6::Repr::new(src, dst, next, payload.len() as u16).emit(&mut p);
        p.extend_from_slice(payload);
        may_answer6(&ipv6::Packet::new_checked(&p).unwrap(), false)
    };
    assert!(asks(A, B, 17, &datagram()) && asks(A, B, next_header::ICMPV6, &[128, 0]));
    assert!(!asks(A, B, next_header::ICMPV6, &[1, 0]), "about an error");
    assert!(!asks(Ipv6Addr::UNSPECIFIED, B, 17, &datagram()), "to nobody");
    assert!(!asks(A, ipv6::ALL_NODES, 17, &datagram()), "about a packet to a group");
    assert!(!asks(A, B, next_header::FRAGMENT, &[17, 0, 0, 9, 0, 0, 0, 1]), "about a later fragment");
    let long = packet(17, &[0; 2_000]);
    assert_eq!(unreachable6_for(&long, A).map(|a| a.len()), Some(ipv6::MIN_MTU));
    assert_eq!(unreachable6_for(&[0x45; 40], A), None);
}

#[test]
fn an_option_without_length_spoils_the_whole_message() {
    let r = Repr::NeighbourSolicitation { target: B, source_mac: Some(MAC) };
    let mut m = vec![0; r.buffer_len()];
    r.emit(&mut m, A, B);
    m[25] = 0;
    let sum = icmpv6_checksum(&m);
    m[2..4].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(Repr::parse(&m, A, B).err(), Some(Error::Length));
    assert!(icmpv6::is_neighbour_discovery(&m));
}

fn icmpv6_checksum(message: &[u8]) -> u16 {
    let mut m = message.to_vec();
    m[2..4].fill(0);
    let pseudo = wayhop_wire::checksum::pseudo_header6(A, B, next_header::ICMPV6, m.len() as u32);
    !wayhop_wire::checksum::sum(pseudo, &m)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_octets_make_anything_panic(
        start in prop_oneof![Just(vec![]), Just(vec![0x60, 0, 0, 0, 0, 60]), Just(packet(0, &[])[..40].to_vec())],
        tail in proptest::collection::vec(prop_oneof![any::<u8>(), 0u8..61], 0..120),
    ) {
        crate::exercise::ip6(&[start, tail].concat());
    }

    #[test]
    fn what_is_written_reads_the_same(
        ident in any::<u16>(), seq in any::<u16>(), mtu in any::<u32>(), code in any::<u8>(),
        flags in any::<[bool; 3]>(), mac in proptest::option::of(any::<[u8; 6]>()),
        data in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let [router, solicited, replace] = flags;
        let mac = mac.map(Mac);
        for r in [
            Repr::EchoRequest { ident, seq, data: &data },
            Repr::EchoReply { ident, seq, data: &data },
            Repr::NeighbourSolicitation { target: B, source_mac: mac },
            Repr::NeighbourAdvertisement { target: B, router, solicited, replace, target_mac: mac },
            Repr::DestinationUnreachable { code, original: &data },
            Repr::PacketTooBig { mtu, original: &data },
            Repr::TimeExceeded { code, original: &data },
            Repr::ParameterProblem { code, pointer: mtu, original: &data },
        ] {
            let mut m = vec![0; r.buffer_len()];
            r.emit(&mut m, A, B);
            // PacketTooBig has no code of its own.
            prop_assert_eq!(Repr::parse(&m, A, B), Ok(r));
        }
    }
}
