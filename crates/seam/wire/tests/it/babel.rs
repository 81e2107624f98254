//! Babel: octets by hand from RFC 8966, tshark, babeld.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use wayhop_core::hex;
use wayhop_testkit::tshark;
use wayhop_wire::Error;
use wayhop_wire::babel::{
    Body, Encoding, PORT, Packet, PacketRepr, ParserState, Prefix, Route, SubTlvs, Tlv, Update,
};

use crate::common::{RAW_IP, assert_tshark_agrees, datagram, decimal, joined, payloads, shows, written};

const ID: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
const LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 7);
const FAR: Ipv6Addr = Ipv6Addr::new(0xfd00, 1, 2, 3, 0, 0, 0, 9);
const V4: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

fn tlv(body: Body<'_>) -> Tlv<'_> {
    Tlv { body, sub_tlvs: SubTlvs::default() }
}

fn prefix(encoding: Encoding, len: u8, omitted: u8, octets: &[u8]) -> Prefix<'_> {
    Prefix { encoding, len, omitted, octets }
}

fn update(prefix: Prefix<'_>) -> Update<'_> {
    Update { sets_default: false, sets_router_id: false, prefix, interval_cs: 1600, seqno: 7, metric: 96 }
}

fn emitted(body: &[Tlv<'_>], trailer: &[Tlv<'_>]) -> Vec<u8> {
    let repr = PacketRepr { body, trailer };
    let mut out = vec![0xee; repr.buffer_len()];
    repr.emit(&mut out).expect("its fields fit");
    out
}

#[test]
fn octets_are_those_of_the_rfcs() {
    let sub_tlvs = SubTlvs::parse(&[0, 1, 1, 0, 130, 2, 9, 9]).expect("whole");
    let last = Body::Update(Update {
        sets_default: true,
        sets_router_id: true,
        ..update(prefix(Encoding::Ipv6, 60, 3, &[1, 0, 2, 0, 3]))
    });
    let body = [
        (Body::Pad1, &[0][..]),
        (Body::PadN(2), &[1, 2, 0, 0]),
        (Body::AckRequest { opaque: 0xabcd, interval_cs: 300 }, &[2, 6, 0, 0, 0xab, 0xcd, 1, 44]),
        (Body::Ack { opaque: 0xabcd }, &[3, 2, 0xab, 0xcd]),
        (Body::Hello { unicast: true, seqno: 258, interval_cs: 400 }, &[4, 6, 0x80, 0, 1, 2, 1, 0x90]),
        (Body::Ihu { rxcost: 96, interval_cs: 1200, address: None }, &[5, 6, 0, 0, 0, 96, 4, 0xb0]),
        (
            Body::Ihu { rxcost: 96, interval_cs: 1200, address: Some(LOCAL.into()) },
            &[5, 14, 3, 0, 0, 96, 4, 0xb0, 0, 0, 0, 0, 0, 0, 0, 7],
        ),
        (Body::RouterId(ID), &[6, 10, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
        (Body::NextHop(V4.into()), &[7, 6, 1, 0, 10, 0, 0, 2]),
        (Body::NextHop(FAR.into()), &[7, 18, 2, 0, 0xfd, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 9]),
        (last, &[8, 15, 2, 0xc0, 60, 3, 6, 0x40, 0, 7, 0, 96, 1, 0, 2, 0, 3]),
        (
            Body::Update(update(prefix(Encoding::LinkLocal, 72, 0, &[5]))),
            &[8, 11, 3, 0, 72, 0, 6, 0x40, 0, 7, 0, 96, 5],
        ),
        (Body::RouteRequest(Prefix::WILDCARD), &[9, 2, 0, 0]),
        (Body::RouteRequest(prefix(Encoding::Ipv4ViaIpv6, 9, 0, &[10, 128])), &[9, 4, 4, 9, 10, 128]),
        (
            Body::SeqnoRequest {
                seqno: 8,
                hop_count: 64,
                router_id: ID,
                prefix: prefix(Encoding::Ipv4, 8, 0, &[10]),
            },
            &[10, 15, 1, 8, 0, 8, 64, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10],
        ),
        (Body::Pc { counter: 5, index: &[1, 2] }, &[17, 6, 0, 0, 0, 5, 1, 2]),
        (Body::ChallengeRequest(&[7, 8]), &[18, 2, 7, 8]),
        (Body::ChallengeReply(&[9]), &[19, 1, 9]),
        (Body::Other { kind: 77, data: &[1] }, &[77, 1, 1]),
    ];
    let mut tlvs: Vec<Tlv<'_>> = body.iter().map(|(body, _)| tlv(*body)).collect();
    tlvs.push(Tlv { body: Body::Ack { opaque: 1 }, sub_tlvs });
    let tail: &[u8] = &[3, 10, 0, 1, 0, 1, 1, 0, 130, 2, 9, 9];
    let octets: Vec<u8> = body.iter().flat_map(|(_, octets)| octets.iter()).chain(tail).copied().collect();
    let trailer = [tlv(Body::Mac(&[0xaa; 3])), tlv(Body::PadN(0))];
    let whole = [&[42, 2, 0, octets.len() as u8][..], &octets, &[16, 3, 0xaa, 0xaa, 0xaa, 1, 0]].concat();
    assert_eq!(emitted(&tlvs, &trailer), whole);
    let packet = Packet::new_checked(&whole).expect("a packet");
    assert!(packet.body().map(|t| Tlv::parse(t).expect("whole")).eq(tlvs));
    assert!(packet.trailer().map(|t| Tlv::parse(t).expect("whole")).eq(trailer));
    let kinds: Vec<(u8, bool)> = sub_tlvs.iter().map(|s| (s.kind, s.is_mandatory())).collect();
    assert_eq!(kinds, [(130, true)], "padding is left out");
}

#[test]
fn what_the_rfcs_do_not_allow_is_refused() {
    for (octets, error) in [
        (&[42, 2, 0][..], Error::Truncated),
        (&[42, 2, 0, 1], Error::Truncated),
        (&[43, 2, 0, 0], Error::Value("magic")),
        (&[42, 3, 0, 0], Error::Value("version")),
    ] {
        assert_eq!(Packet::new_checked(octets), Err(error));
    }
    let (encoding, length, omitted) =
        (Error::Value("address encoding"), Error::Value("prefix length"), Error::Value("omitted"));
    for (octets, error) in [
        (&[4][..], Error::Truncated),
        (&[4, 6, 0, 0, 0, 0, 0], Error::Truncated),
        (&[4, 5, 0, 0, 0, 0, 0], Error::Truncated),
        (&[5, 8, 1, 0, 0, 96, 4, 0xb0, 1, 2], Error::Truncated),
        (&[5, 6, 5, 0, 0, 96, 4, 0xb0], encoding),
        (&[5, 10, 4, 0, 0, 96, 4, 0xb0, 1, 2, 3, 4], encoding),
        (&[7, 2, 0, 0], encoding),
        (&[8, 10, 1, 0, 33, 0, 0, 0, 0, 0, 0, 0], length),
        (&[8, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], length),
        (&[8, 10, 1, 0, 32, 5, 0, 0, 0, 0, 0, 0], omitted),
        (&[8, 10, 3, 0, 64, 1, 0, 0, 0, 0, 0, 0], omitted),
        (&[8, 10, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0], Error::Truncated),
        (&[9, 2, 2, 129], length),
        // A sub-TLV that is longer than its TLV, and half a sub-TLV.
        (&[3, 4, 0, 1, 2, 1], Error::Length),
        (&[3, 3, 0, 1, 2], Error::Length),
    ] {
        assert_eq!(Tlv::parse(octets), Err(error), "{octets:?}");
    }
    let refused = |body| PacketRepr { body: &[tlv(body)], trailer: &[] }.emit(&mut [0; 300]);
    assert_eq!(refused(Body::Other { kind: 8, data: &[] }), Err(Error::Value("type")));
    assert_eq!(refused(Body::Mac(&[0; 256])), Err(Error::Full));
    let short = prefix(Encoding::Ipv4, 16, 0, &[10]);
    assert_eq!(refused(Body::RouteRequest(short)), Err(length));
    assert_eq!(refused(Body::RouteRequest(prefix(Encoding::Ipv4, 16, 1, &[10]))), Err(omitted));
}

/// Section 4.5: what an Update says depends on the TLVs before it.
#[test]
fn updates_take_over_router_id_next_hop_and_prefix() {
    let mut state = ParserState::new(LOCAL.into());
    let (local, v4, far) = (IpAddr::from(LOCAL), IpAddr::from(V4), IpAddr::from(FAR));
    let mut take = |body| state.take(&tlv(body));
    let of = Body::Update;
    let sets = |p| Update { sets_default: true, ..update(p) };
    let route =
        |to: Option<IpAddr>, router_id, next_hop| Some(Route { destination: to, router_id, next_hop });
    let net = |a, b, c, d| Some(IpAddr::from(Ipv4Addr::new(a, b, c, d)));

    // Neither router-id nor a next hop of IPv4 yet; the bits behind the length do not count.
    assert_eq!(
        take(of(sets(prefix(Encoding::Ipv4, 23, 0, &[10, 1, 3])))),
        route(net(10, 1, 2, 0), None, None)
    );
    assert_eq!(take(Body::RouterId(ID)), None);
    assert_eq!(take(Body::NextHop(v4)), None);
    let compressed = update(prefix(Encoding::Ipv4, 32, 2, &[9, 9]));
    assert_eq!(take(of(compressed)), route(net(10, 1, 9, 9), Some(ID), Some(v4)));
    // More octets omitted than the prefix has.
    assert_eq!(
        take(of(update(prefix(Encoding::Ipv4, 8, 2, &[])))),
        route(net(10, 0, 0, 0), Some(ID), Some(v4))
    );
    // Each encoding has its own default prefix, that of RFC 9229 too (section 4.2), and IPv6's next hop is the source.
    let none = route(None, Some(ID), Some(local));
    assert_eq!(take(of(update(prefix(Encoding::Ipv4ViaIpv6, 32, 2, &[9, 9])))), none);
    assert_eq!(take(of(update(prefix(Encoding::Ipv6, 64, 2, &[0, 1, 0, 2, 0, 3])))), none);
    // R: the router-id is the end of the address, and stays for those behind.
    let host = Update {
        sets_router_id: true,
        ..sets(prefix(Encoding::Ipv6, 128, 0, &[0xfd, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 9]))
    };
    let id = Some([0, 0, 0, 0, 0, 0, 0, 9]);
    assert_eq!(take(of(host)), route(Some(far), id, Some(local)));
    let sibling = Ipv6Addr::new(0xfd00, 1, 2, 3, 0, 0, 0, 8);
    assert_eq!(
        take(of(update(prefix(Encoding::Ipv6, 128, 15, &[8])))),
        route(Some(sibling.into()), id, Some(local))
    );
    let v4_id =
        Update { sets_router_id: true, ..update(prefix(Encoding::Ipv4ViaIpv6, 32, 0, &[10, 0, 0, 5])) };
    assert_eq!(take(of(v4_id)), route(net(10, 0, 0, 5), Some([0, 0, 0, 0, 10, 0, 0, 5]), Some(local)));
    assert_eq!(take(Body::NextHop(far)), None);
    assert_eq!(take(of(update(Prefix::WILDCARD))).map(|r| (r.destination, r.next_hop)), Some((None, None)));
    let via = take(of(update(prefix(Encoding::LinkLocal, 72, 0, &[5])))).expect("a route");
    let five = Ipv6Addr::new(0xfe80, 0, 0, 0, 0x500, 0, 0, 0);
    assert_eq!((via.destination, via.next_hop), (Some(five.into()), Some(far)));
    // In a packet over IPv4, the source is the next hop of IPv4.
    let via = ParserState::new(V4.into()).take(&tlv(of(update(prefix(Encoding::Ipv4, 8, 0, &[10])))));
    assert_eq!(via, route(net(10, 0, 0, 0), None, Some(v4)));
}

/// RFC 8966, section 4.4: a TLV that is ignored because of a mandatory sub-TLV changes the state all the same.
#[test]
fn an_ignored_tlv_changes_the_state() {
    let mandatory = SubTlvs::parse(&[200, 0]).expect("whole");
    let mut state = ParserState::new(LOCAL.into());
    for body in [
        Body::RouterId(ID),
        Body::NextHop(FAR.into()),
        Body::Update(Update {
            sets_default: true,
            ..update(prefix(Encoding::Ipv6, 32, 0, &[0xfd, 0, 0, 5]))
        }),
    ] {
        state.take(&Tlv { body, sub_tlvs: mandatory });
    }
    let to = Some(IpAddr::from(Ipv6Addr::new(0xfd00, 5, 0, 0, 0, 0, 0, 0)));
    let got = state.take(&tlv(Body::Update(update(prefix(Encoding::Ipv6, 32, 4, &[])))));
    assert_eq!(got, Some(Route { destination: to, router_id: Some(ID), next_hop: Some(FAR.into()) }));
}

const FIELDS: [&str; 13] = [
    "babel.message.type",
    "babel.message.nonce",
    "babel.message.interval",
    "babel.message.seqno",
    "babel.message.rxcost",
    "babel.message.ae",
    "babel.message.routerid",
    "babel.message.flags",
    "babel.message.plen",
    "babel.message.omitted",
    "babel.message.metric",
    "babel.message.hopcount",
    "babel.message.prefix",
];

/// What tshark shows of these TLVs.
fn shown(tlvs: &[Tlv<'_>]) -> Vec<(&'static str, String)> {
    let raw = |octets: &[u8]| if octets.is_empty() { "<MISSING>".to_owned() } else { hex(octets) };
    let of_prefix = |p: &Prefix<'_>| {
        shows! {
            "babel.message.ae" => p.encoding as u8, "babel.message.plen" => p.len,
            "babel.message.prefix" => raw(p.octets),
        }
    };
    let mut all = Vec::new();
    for t in tlvs {
        all.extend(shows! { "babel.message.type" => t.body.kind() });
        match &t.body {
            Body::AckRequest { opaque, interval_cs } => all.extend(shows! {
                "babel.message.nonce" => opaque, "babel.message.interval" => interval_cs,
            }),
            Body::Ack { opaque } => all.extend(shows! { "babel.message.nonce" => opaque }),
            Body::Hello { seqno, interval_cs, .. } => all.extend(shows! {
                "babel.message.seqno" => seqno, "babel.message.interval" => interval_cs,
            }),
            // Wireshark 4.0.17 shows an IHU's rxcost and interval in front of its address.
            Body::Ihu { rxcost, interval_cs, address } => all.extend(shows! {
                "babel.message.rxcost" => rxcost, "babel.message.interval" => interval_cs,
                "babel.message.ae" => ae(*address),
                "babel.message.prefix" => format!("{rxcost:04x}{interval_cs:04x}{}", hex(&on_wire(*address))),
            }),
            Body::RouterId(id) => all.extend(shows! { "babel.message.routerid" => hex(id) }),
            Body::NextHop(a) => all.extend(shows! {
                "babel.message.ae" => ae(Some(*a)), "babel.message.prefix" => hex(&on_wire(Some(*a))),
            }),
            Body::Update(u) => {
                let flags = u8::from(u.sets_default) << 7 | u8::from(u.sets_router_id) << 6;
                all.extend(shows! {
                    "babel.message.flags" => flags, "babel.message.interval" => u.interval_cs,
                    "babel.message.seqno" => u.seqno, "babel.message.metric" => u.metric,
                    "babel.message.omitted" => u.prefix.omitted,
                });
                all.extend(of_prefix(&u.prefix));
            }
            Body::RouteRequest(p) => all.extend(of_prefix(p)),
            Body::SeqnoRequest { seqno, hop_count, router_id, prefix } => {
                all.extend(shows! {
                    "babel.message.seqno" => seqno, "babel.message.hopcount" => hop_count,
                    "babel.message.routerid" => hex(router_id),
                });
                all.extend(of_prefix(prefix));
            }
            _ => {}
        }
    }
    all
}

fn ae(a: Option<IpAddr>) -> u8 {
    match a {
        None => 0,
        Some(IpAddr::V4(_)) => 1,
        Some(IpAddr::V6(a)) if a.is_unicast_link_local() => 3,
        Some(IpAddr::V6(_)) => 2,
    }
}

fn on_wire(a: Option<IpAddr>) -> Vec<u8> {
    match a {
        None => Vec::new(),
        Some(IpAddr::V4(a)) => a.octets().to_vec(),
        Some(IpAddr::V6(a)) if a.is_unicast_link_local() => a.octets()[8..].to_vec(),
        Some(IpAddr::V6(a)) => a.octets().to_vec(),
    }
}

#[test]
fn tshark_reads_what_we_write() {
    let far = FAR.octets();
    let bodies = [
        Body::AckRequest { opaque: 0xabcd, interval_cs: 300 },
        Body::Ack { opaque: 0xabcd },
        Body::Hello { unicast: false, seqno: 65_535, interval_cs: 400 },
        Body::Ihu { rxcost: 256, interval_cs: 1200, address: Some(LOCAL.into()) },
        Body::Ihu { rxcost: 65_535, interval_cs: 1200, address: Some(V4.into()) },
        Body::RouterId(ID),
        Body::NextHop(LOCAL.into()),
        Body::NextHop(V4.into()),
        Body::Update(Update { sets_default: true, ..update(prefix(Encoding::Ipv6, 128, 0, &far)) }),
        Body::Update(Update { metric: 65_535, ..update(prefix(Encoding::Ipv6, 128, 15, &[8])) }),
        Body::Update(update(prefix(Encoding::Ipv4, 20, 0, &[10, 1, 0x20]))),
        Body::Update(Update { metric: 65_535, interval_cs: 65_535, ..update(Prefix::WILDCARD) }),
        Body::RouteRequest(Prefix::WILDCARD),
        Body::RouteRequest(prefix(Encoding::Ipv6, 64, 0, &far[..8])),
        Body::SeqnoRequest {
            seqno: 9,
            hop_count: 64,
            router_id: ID,
            prefix: prefix(Encoding::Ipv4, 32, 0, &[10, 0, 0, 9]),
        },
    ];
    let tlvs = bodies.map(tlv);
    let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 1, 6);
    let case = |tlvs: &[Tlv<'_>]| written(datagram(LOCAL, group, PORT, &emitted(tlvs, &[])), &shown(tlvs));
    let cases: Vec<_> = tlvs.chunks(1).chain([&tlvs[..]]).map(case).collect();
    assert_tshark_agrees(RAW_IP, &cases);
}

/// The captures of three daemons in a line, with routes of IPv4 and IPv6.
#[test]
fn babelds_packets_read_as_tshark_shows_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures/babeld");
    let (mut tlv_count, mut updates, mut destinations) = (0, 0, BTreeSet::new());
    for name in ["line-a-b", "line-b-c"] {
        let path = folder.join(name).with_extension("pcap");
        let rows = tshark::fields(&path, "babel", &FIELDS).expect("tshark answers");
        let packets = payloads(&path, PORT);
        assert_eq!(rows.len(), packets.len());
        for (number, ((source, octets), row)) in packets.iter().zip(rows).enumerate() {
            let packet = Packet::new_checked(octets).expect("babeld writes RFC 8966");
            assert_eq!(packet.trailer().count(), 0);
            let read = |t| Tlv::parse(t).expect("babeld writes RFC 8966");
            let tlvs: Vec<Tlv<'_>> = packet.body().map(read).collect();
            let mut row: Vec<String> = row.iter().map(|v| decimal(v)).collect();
            row.resize(FIELDS.len(), String::new());
            assert_eq!(joined(&FIELDS, &shown(&tlvs)), row, "packet {} of {name}", number + 1);
            assert_eq!(emitted(&tlvs, &[]), *octets);
            tlv_count += tlvs.len();
            let mut state = ParserState::new(*source);
            for t in &tlvs {
                let route = state.take(t);
                let Body::Update(Update { metric, prefix, .. }) = t.body else { continue };
                if metric == Update::INFINITY {
                    continue;
                }
                updates += 1;
                let route = route.expect("that of the Update");
                assert!(route.router_id.is_some());
                let next_hop = route.next_hop.expect("babeld names it").to_string();
                assert!(
                    next_hop == source.to_string()
                        || prefix.encoding == Encoding::Ipv4 && next_hop.starts_with("192.168.9."),
                    "{next_hop}"
                );
                destinations.insert(route.destination.expect("a prefix").to_string());
            }
        }
    }
    // As tshark counts them: all TLVs, and Updates with a finite metric.
    assert_eq!((tlv_count, updates), (382, 140));
    let all =
        ["10.0.0.1", "10.0.0.2", "10.0.0.3", "192.168.9.1", "192.168.9.2", "fd00::1", "fd00::2", "fd00::3"];
    assert!(destinations.iter().eq(all), "{destinations:?}");
}

fn address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![
        any::<u32>().prop_map(|b| Ipv4Addr::from_bits(b).into()),
        any::<u128>().prop_map(|b| Ipv6Addr::from_bits(b).into()),
        any::<u64>().prop_map(|b| Ipv6Addr::from_bits(0xfe80 << 112 | u128::from(b)).into()),
    ]
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same(
        words in any::<(u16, u16, u16, u8)>(),
        flags in any::<(bool, bool)>(),
        addresses in (address(), proptest::option::of(address())),
        id in any::<[u8; 8]>(),
        octets in vec(any::<u8>(), 16),
        (ae, len, omitted) in (0u8..5, 0u8..=128, 0u8..=16),
        sub_tlv in vec(any::<u8>(), 0..20),
    ) {
        let (encoding, width) = match ae {
            0 => (Encoding::Wildcard, 0),
            1 => (Encoding::Ipv4, 4),
            2 => (Encoding::Ipv6, 16),
            3 => (Encoding::LinkLocal, 16),
            _ => (Encoding::Ipv4ViaIpv6, 4),
        };
        let len = len.min(8 * width);
        let omitted = if ae == 3 { 0 } else { omitted.min(width) };
        let of = |omitted: u8| {
            let implied = if ae == 3 { 8 } else { omitted };
            prefix(encoding, len, omitted, &octets[..usize::from(len.div_ceil(8).saturating_sub(implied))])
        };
        let (a, b, c, d) = words;
        let bodies = [
            Body::AckRequest { opaque: a, interval_cs: b },
            Body::Ack { opaque: a },
            Body::Hello { unicast: flags.0, seqno: a, interval_cs: b },
            Body::Ihu { rxcost: a, interval_cs: b, address: addresses.1 },
            Body::RouterId(id),
            Body::NextHop(addresses.0),
            Body::Update(Update {
                sets_default: flags.0, sets_router_id: flags.1, prefix: of(omitted), interval_cs: a, seqno: b, metric: c,
            }),
            Body::RouteRequest(of(0)),
            Body::SeqnoRequest { seqno: a, hop_count: d, router_id: id, prefix: of(0) },
        ];
        let sub_tlv = [&[2 | d, sub_tlv.len() as u8][..], &sub_tlv].concat();
        let sub_tlvs = SubTlvs::parse(&sub_tlv).expect("one");
        let tlvs: Vec<Tlv<'_>> =
            bodies.map(|body| Tlv { body, sub_tlvs }).into_iter().chain(bodies.map(tlv)).collect();
        let packet = emitted(&tlvs, &[tlv(Body::Mac(&octets))]);
        let packet = Packet::new_checked(&packet).expect("it was written");
        let read: Vec<_> = packet.body().map(|t| Tlv::parse(t).expect("it was written")).collect();
        prop_assert_eq!(read, tlvs);
    }
}
