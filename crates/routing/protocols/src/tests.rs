//! What every description must keep to, and the way of packets to their protocol.

use std::collections::BTreeSet;

use proptest::prelude::*;
use wayhop_core::{Authentication, Carrier, Class, MessageCounts, Messages};
use wayhop_wire::ipv4;

use crate::{ALL, CLASSIFIER, DAEMONS, class, classify, decode, find, formats, hop, messages, route_header};

fn all_different<T: Ord>(items: impl IntoIterator<Item = T>) -> bool {
    let mut seen = BTreeSet::new();
    items.into_iter().all(|item| seen.insert(item))
}

#[test]
fn no_two_protocols_share_a_name_or_a_carrier() {
    assert!(all_different(ALL.iter().map(|d| d.name)));
    assert!(all_different(ALL.iter().map(|d| format!("{:?}", d.messages.carrier))));
    for d in ALL {
        assert!(d.messages.carrier != Carrier::IpProtocol(ipv4::protocol::UDP), "{}: give the port", d.name);
        assert!(d.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{}", d.name);
        assert_eq!(find(d.name).map(|found| found.name), Some(d.name));
    }
    assert!(find("rip").is_none());
}

/// Tags of one protocol's packets are not those of another's, and hosts leave room for every block.
#[test]
fn authentication_differs_between_protocols_and_fits() {
    let all = || ALL.iter().filter_map(|d| d.messages.authentication);
    assert!(all_different(all().map(|a| a.number)));
    // Signed packets of all versions have them.
    let number = |name| find(name)?.messages.authentication.map(|a| a.number);
    assert_eq!(["aodv", "dsr", "dsdv"].map(number), [Some(1), Some(2), Some(3)]);
    for a in all() {
        assert!(a.mark.len() <= Authentication::LONGEST_MARK);
        assert_eq!(
            (a.room)(a.empty).map(|room| room.len()),
            Some(0),
            "an exchange has nothing but its block"
        );
    }
}

#[test]
fn every_profile_is_a_valid_whole_set_of_parameters() {
    for d in ALL {
        let schema = (d.schema)();
        let keys = schema["properties"].as_object().expect("a schema of an object");
        for profile in d.profiles {
            let values = (d.profile)(profile.name).expect("a profile that is listed");
            assert!(values.keys().all(|k| keys.contains_key(k)), "{} {}", d.name, profile.name);
            let parameters = (d.read)(values.clone()).expect("its own values");
            parameters.check().expect("a profile that works");
            assert_eq!(parameters.values(), values, "{} {}", d.name, profile.name);
        }
        assert!((d.profile)("no such profile").is_none());
        for key in [d.host.failure_notices, d.host.mtu].into_iter().flatten() {
            assert!(keys.contains_key(key), "{}: there is no parameter {key}", d.name);
        }
    }
}

#[test]
fn codes_of_classes_are_unique_and_those_of_before_the_registry() {
    let mut codes = Vec::new();
    for (place, d) in ALL.iter().enumerate() {
        let most = if place < 2 { 5 } else { 16 };
        assert!(d.messages.classes.len() <= most, "{} has more than {most} classes", d.name);
        codes.extend(d.messages.classes.iter().map(|c| class(d.name, c).expect("its own").code()));
        assert!(d.messages.types.iter().all(|(bit, _)| *bit < 16), "{}", d.name);
        assert!(all_different(d.messages.types.iter().map(|(bit, _)| bit)), "{}", d.name);
    }
    assert!(
        ALL.len() + DAEMONS.len() <= usize::from(Class::FIRST_FOREIGN),
        "the codes of classes have 8 bits"
    );
    assert!(!codes.contains(&15), "15 is ARP");
    assert_eq!(codes[..10], [5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    assert!(all_different(codes));
    // Bits that the trace hashes of published runs contain.
    let bits = |protocol, name| messages(protocol, &[name]).expect("a type").bits();
    assert_eq!(["rreq", "rrep", "rerr", "ack", "ack_request"].map(|n| bits("dsr", n)), [1, 2, 4, 8, 16]);
    assert_eq!(["rreq", "rrep", "rerr", "hello", "rrep_ack"].map(|n| bits("aodv", n)), [1, 2, 4, 32, 64]);
    assert!(["dsr", "aodv"].iter().all(|p| messages(p, &["rreq"]).is_some_and(|m| m.salt() == 0)));
}

#[test]
fn a_packet_may_carry_several_messages() {
    let both = messages("dsr", &["rerr", "rreq"]).expect("types");
    assert_eq!(both.names().collect::<Vec<_>>(), ["rreq", "rerr"]);
    assert!(both.has("rerr") && !both.has("rrep") && !both.is_empty());
    assert_eq!(messages("dsr", &["hello"]), None);
    assert_eq!(messages("rip", &[]), None);
    assert_eq!(Messages::NONE.names().count(), 0);
}

#[test]
fn types_of_one_name_are_counted_together() {
    let mut counts = MessageCounts::default();
    for (protocol, types) in [("dsr", &["rreq", "rerr"][..]), ("aodv", &["rreq"]), ("aodv", &["hello"])] {
        counts.add(messages(protocol, types).expect("types"));
    }
    counts.add(Messages::NONE);
    assert_eq!(counts.by_name().into_iter().collect::<Vec<_>>(), [("hello", 1), ("rerr", 1), ("rreq", 2)]);
}

/// IP from 10.0.0.1 to 10.0.0.2 with this protocol and payload. The checksum is not looked at.
fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len() as u16).to_be_bytes();
    let mut p = vec![0x45, 0, len[0], len[1], 0, 7, 0, 0, 5, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    p.extend_from_slice(payload);
    p
}

/// UDP over IPv6 from fe80::1 to ff02::1:6.
fn ip6(udp: &[u8]) -> Vec<u8> {
    let len = (udp.len() as u16).to_be_bytes();
    let mut p = vec![0x60, 0, 0, 0, len[0], len[1], 17, 1];
    p.extend([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    p.extend([0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 6]);
    p.extend_from_slice(udp);
    p
}

/// A datagram from and to this port.
fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let len = (8 + payload.len() as u16).to_be_bytes();
    [&port.to_be_bytes()[..], &port.to_be_bytes(), &len, &[0, 0], payload].concat()
}

#[test]
fn foreign_messages_keep_away_from_the_places_and_names_of_protocols() {
    let names = || formats().map(|(_, d)| d.name);
    assert!(all_different(names()) && all_different(formats().map(|(place, _)| place)));
    assert!(all_different(formats().map(|(_, d)| format!("{:?}", d.messages.carrier))));
    for d in DAEMONS {
        assert!(find(d.name).is_none(), "{} cannot be run", d.name);
        assert!((d.read)(serde_json::Map::new()).is_err_and(|e| e.contains("does not run")));
        assert!(d.messages.classes.len() <= 16 && d.messages.types.iter().all(|(bit, _)| *bit < 16));
    }
    // Trace hashes contain the codes: OLSR has the last place, Babel the one before.
    let code = |of, name| class(of, name).map(Class::code);
    assert_eq!((code("olsr", "hello"), code("olsr", "other")), (Some(208), Some(212)));
    assert_eq!((code("babel", "hello"), code("babel", "other")), (Some(192), Some(196)));
}

/// A HELLO without links and a TC from 10.0.0.1, in one packet.
const OLSR: [u8; 36] = [
    0, 36, 0, 9, // packet length and number
    1, 0x86, 0, 16, 10, 0, 0, 1, 1, 0, 0, 7, 0, 0, 5, 3, // HELLO
    2, 0xe7, 0, 16, 10, 0, 0, 1, 255, 0, 0, 8, 0, 5, 0, 0, // TC
];
/// A TC of fd00::1 over IPv6, with fd00::2.
#[rustfmt::skip]
const OLSR6: [u8; 48] = [
    0, 48, 0, 9,
    2, 0xe7, 0, 44, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 255, 0, 0, 8,
        0, 5, 0, 0, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
];
/// A Hello and an IHU, and a wildcard request.
const BABEL: [u8; 28] = [
    42, 2, 0, 24, 4, 6, 0, 0, 0, 1, 1, 0x90, // Hello
    5, 6, 0, 0, 1, 0, 4, 0xb0, // IHU
    9, 2, 0, 0, 1, 2, 0, 0, // request, PadN
];

#[test]
fn foreign_packets_are_routing_packets_by_their_heaviest_message() {
    let olsr = ip(17, &udp(698, &OLSR));
    let babel = ip6(&udp(6696, &BABEL));
    for (packet, protocol, heaviest, names) in [
        (&olsr, "olsr", "tc", &["hello", "tc"][..]),
        (&babel, "babel", "request", &["hello", "ihu", "route_request"]),
    ] {
        let (found, messages) = classify(packet);
        assert_eq!(found, class(protocol, heaviest));
        assert_eq!(messages.names().collect::<Vec<_>>(), names);
        assert_eq!(Some(messages), crate::messages(protocol, names));
        let (description, decoded) = decode(packet).expect("messages");
        assert_eq!(description.name, protocol);
        assert_eq!(decoded.iter().map(|m| m.kind).collect::<Vec<_>>(), names);
        assert!(decoded.iter().all(|m| m.malformed.is_none() && !m.truncated));
        // A capture that ends in the last message.
        let cut = &packet[..packet.len() - 5];
        assert_eq!(classify(cut), (found, messages));
        let truncated: Vec<bool> = decode(cut).expect("messages").1.iter().map(|m| m.truncated).collect();
        assert_eq!(truncated.iter().rposition(|t| *t), Some(names.len() - 1), "{protocol}: {truncated:?}");
        assert_eq!(truncated.iter().filter(|t| **t).count(), 1);
    }
    // Over IPv6 the addresses of messages are longer (RFC 3626, section 17): those of IPv4 do not fit.
    let (_, decoded) = decode(&ip6(&udp(698, &OLSR))).expect("its port");
    assert!(decoded.iter().all(|m| m.malformed.is_some()), "{decoded:?}");
    let olsr6 = ip6(&udp(698, &OLSR6));
    assert_eq!(classify(&olsr6), (class("olsr", "tc"), crate::messages("olsr", &["tc"]).expect("a type")));
    let (_, decoded) = decode(&olsr6).expect("its port");
    assert!(decoded.len() == 1 && decoded[0].malformed.is_none(), "{decoded:?}");
    assert_eq!(decoded[0].fields["originator"], "fd00::1");
    assert_eq!(decoded[0].fields["advertised"][0], "fd00::2");
    assert_eq!(classify(&ip(17, &udp(6696, &BABEL))).0, class("babel", "request"));
    // Data of a program that happens to use the port.
    assert_eq!(classify(&ip(17, &udp(6696, b"GET / HTTP/1.1"))), (None, Messages::NONE));
}

#[test]
fn the_names_of_recorded_protocols_are_known_within_bounds() {
    let learn = |name: &str, types: &[(u8, String)]| CLASSIFIER.learn(name, &["data".to_owned()], types);
    let types: Vec<(u8, String)> = (0..16).map(|bit| (bit, format!("t{bit}"))).collect();
    learn("recorded", &types).expect("room");
    learn("endless", &[&types[..], &types[..1]].concat()).expect("it is ignored");
    assert!(class("recorded", "data").is_some() && class("endless", "data").is_none());
    assert_eq!(messages("recorded", &["t0", "t15"]).map(Messages::bits), Some(0x8001));
    let most = 256 - usize::from(Class::FIRST_FOREIGN);
    for i in 1..most {
        learn(&format!("p{i}"), &[]).expect("room");
        assert!(class(&format!("p{i}"), "data").is_some(), "{i}");
    }
    let said = learn("one-more", &[]).expect_err("no room");
    assert!(said.contains("knows 241 protocols of libraries already"), "{said}");
    learn("p1", &[]).expect("it is known");
    assert!(class("one-more", "data").is_none());
}

proptest! {
    #[test]
    fn no_octets_make_any_protocol_panic(
        protocol in prop_oneof![Just(48u8), Just(17), any::<u8>()],
        port in prop_oneof![Just(654u16), Just(698), Just(6696), any::<u16>()],
        junk in proptest::collection::vec(any::<u8>(), 0..120),
        cut in 0usize..150,
    ) {
        let udp = [&port.to_be_bytes()[..], &[0; 6], &junk].concat();
        for mut packet in [ip(protocol, &junk), ip(protocol, &udp), ip6(&udp)] {
            packet.truncate(cut);
            let (class, messages) = classify(&packet);
            class.map(Class::name);
            messages.names().for_each(|_| ());
            hop(&packet);
            decode(&packet);
            if let Ok(p) = ipv4::Packet::new_snapped(&packet) {
                route_header(&p);
            }
        }
    }
}
