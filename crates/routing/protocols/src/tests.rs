//! What every description must keep to, and the way of packets to their protocol.

use std::collections::BTreeSet;

use proptest::prelude::*;
use wayhop_core::{Authentication, Carrier, Class, MessageCounts, Messages};
use wayhop_wire::ipv4;

use crate::{ALL, class, classify, decode, find, hop, messages, route_header};

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
    assert!(ALL.len() <= usize::from(Class::FIRST_FOREIGN), "the codes of classes have 8 bits");
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

proptest! {
    #[test]
    fn no_octets_make_any_protocol_panic(
        protocol in prop_oneof![Just(48u8), Just(17), any::<u8>()],
        port in prop_oneof![Just(654u16), any::<u16>()],
        junk in proptest::collection::vec(any::<u8>(), 0..120),
        cut in 0usize..150,
    ) {
        let udp = [&port.to_be_bytes()[..], &[0; 6], &junk].concat();
        for mut packet in [ip(protocol, &junk), ip(protocol, &udp)] {
            packet.truncate(cut);
            let (class, messages) = classify(&packet);
            class.map(Class::name);
            messages.names().for_each(|_| ());
            hop(&packet);
            if let Ok(p) = ipv4::Packet::new_snapped(&packet) {
                decode(&p);
                route_header(&p);
            }
        }
    }
}
