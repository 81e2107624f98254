//! Link layers by hand, malformed messages, and kinds of packets.

use proptest::prelude::*;
use serde_json::Value;

use wayhop_protocols::CLASSIFIER;

use super::{dissect, messages, network};
use crate::{CapturedFrame, Messages, PacketClass, PassedOver};

/// IP from 10.0.0.1 to 10.0.0.2, TTL 5, identification 7, with this protocol and payload. The checksum is not looked at.
fn ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len() as u16).to_be_bytes();
    let mut p = vec![0x45, 0, len[0], len[1], 0, 7, 0, 0, 5, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    p.extend_from_slice(payload);
    p
}

const TO: [u8; 6] = [2, 0, 10, 0, 0, 2];
const FROM: [u8; 6] = [2, 0, 10, 0, 0, 1];
/// LLC and SNAP in front of IPv4.
const SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
/// Radiotap with a wrong FCS.
const BAD_FCS: [u8; 9] = [0, 0, 9, 0, 2, 0, 0, 0, 0x40];

/// Next header none, one Route Request without addresses: identification 0x0102, target 10.0.0.9.
const RREQ: [u8; 12] = [59, 0, 0, 8, 1, 6, 1, 2, 10, 0, 0, 9];

fn decoded(link_type: u16, bytes: &[u8]) -> Vec<Value> {
    let frame = CapturedFrame {
        number: 3,
        time_ns: Some(8),
        link_type,
        bytes: bytes.to_vec(),
        original_len: bytes.len() as u32,
        ..CapturedFrame::default()
    };
    network(link_type, bytes).map_or_else(|_| Vec::new(), |link| messages(&frame, &link, CLASSIFIER))
}

fn of(protocol: &str, types: &[&str]) -> Messages {
    wayhop_protocols::messages(protocol, types).expect("types of messages")
}

fn control(protocol: &str, class: &str) -> Option<PacketClass> {
    wayhop_protocols::class(protocol, class).map(PacketClass::Control)
}

fn classify(ip_packet: &[u8]) -> (Option<PacketClass>, Messages) {
    let (class, messages) = wayhop_protocols::classify(ip_packet);
    (class.map(PacketClass::Control), messages)
}

#[test]
fn every_link_type_leads_to_the_ip_packet() {
    let packet = ip(48, &RREQ);
    let plain_80211 = [&[8, 0, 0, 0][..], &TO, &FROM, &[0; 8]].concat();
    let qos_retry = [&[0x88, 8, 0, 0][..], &TO, &FROM, &[0; 10]].concat();
    let radiotap = [0, 0, 9, 0, 0x20, 0, 0, 0, 0xba]; // signal -70 dBm
    let radiotap_padded = [0, 0, 9, 0, 2, 0, 0, 0, 0x20]; // flags: pad behind the 802.11 header
    // PPI: aligned fields, one of 3 octets, then 802.11-Common with signal -50 dBm.
    let ppi_fields = [&[9, 0, 3, 0, 7, 7, 7, 0][..], &[2, 0, 20, 0], &[0; 18], &[0xce, 0]].concat();
    let ppi = [&[0, 1, 40, 0, 105, 0, 0, 0][..], &ppi_fields].concat();
    for (link_type, before, with_addresses) in [
        (101, vec![], false),
        (228, vec![], false),
        (1, [&TO[..], &FROM, &[8, 0]].concat(), true),
        (1, [&TO[..], &FROM, &[0x81, 0, 0, 5, 8, 0]].concat(), true),
        (113, [&[0, 0, 0, 1, 0, 6][..], &FROM, &[0, 0, 8, 0]].concat(), false),
        (276, [&[8, 0, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6][..], &FROM, &[0, 0]].concat(), false),
        (1, [&TO[..], &FROM, &[0, 44], &SNAP].concat(), true),
        (105, [&plain_80211[..], &SNAP].concat(), true),
        (192, [&ppi[..], &plain_80211, &SNAP].concat(), true),
        (127, [&radiotap[..], &plain_80211, &SNAP].concat(), true),
        (127, [&radiotap_padded[..], &qos_retry, &[0, 0], &SNAP].concat(), true),
    ] {
        let out = decoded(link_type, &[&before[..], &packet].concat());
        assert_eq!(out.len(), 1, "link type {link_type}");
        let v = &out[0];
        assert_eq!((&v["protocol"], &v["type"]), (&"dsr".into(), &"rreq".into()));
        assert_eq!((&v["id"], &v["target"]), (&0x0102.into(), &"10.0.0.9".into()));
        assert_eq!((&v["ttl"], &v["ip_id"], &v["src"]), (&5.into(), &7.into(), &"10.0.0.1".into()));
        if with_addresses {
            assert_eq!(v["transmitter"], "02:00:0a:00:00:01");
            assert_eq!(v["receiver"], "02:00:0a:00:00:02");
        }
    }
    let v = &decoded(127, &[&radiotap[..], &plain_80211, &SNAP, &packet].concat())[0];
    assert_eq!(v["signal_dbm"], -70);
    assert_eq!(v.get("retry"), None);
    let v = &decoded(192, &[&ppi[..], &plain_80211, &SNAP, &packet].concat())[0];
    assert_eq!(v["signal_dbm"], -50);
}

#[test]
fn frames_without_a_packet_are_counted_by_the_reason() {
    let protected = [&[8, 0x40, 0, 0][..], &TO, &FROM, &[0; 40]].concat();
    let arp = [&TO[..], &FROM, &[8, 6], &[0; 28]].concat();
    let mut passed_over = PassedOver::default();
    let mut add = |link_type, bytes: &[u8]| passed_over.add(network(link_type, bytes).expect_err("none"));
    add(127, &[&BAD_FCS[..], &[8, 0, 0, 0], &[0; 20], &SNAP, &ip(48, &RREQ)].concat());
    add(127, &[&BAD_FCS[..], &protected].concat());
    add(105, &protected);
    add(1, &arp);
    assert_eq!(passed_over.reasons(), " (1 encrypted, 2 with a wrong FCS, 1 without an IP packet)");
    assert_eq!(passed_over.undecoded(), None);
    // Inside of PPI (twice), and PPI in itself: no frame nests without end.
    for (link_type, bytes) in [
        (189, &[][..]),
        (189, &[]),
        (192, &[0, 0, 8, 0, 195, 0, 0, 0]),
        (192, &[0, 0, 8, 0, 192, 0, 0, 0]),
        (258, &[12, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0]),
    ] {
        passed_over.add(network(link_type, bytes).expect_err("none"));
    }
    let said = passed_over.undecoded().expect("some are not decoded");
    let list = "cannot decode 2 frames of link type 189, 1 frame of link type 192, 1 frame of link type 195, \
                1 frame of link type 258 (";
    assert!(said.starts_with(list), "{said}");
}

#[test]
fn ipv6_is_found_behind_every_header_that_names_it() {
    let six = [&[0x60][..], &[0; 39]].concat();
    for (link_type, before) in [
        (1, [&[0; 12][..], &[0x86, 0xdd]].concat()),
        (229, vec![]),
        (0, vec![30, 0, 0, 0]),
        (108, vec![0, 0, 0, 24]),
        (276, [&[0x86, 0xdd][..], &[0; 18]].concat()),
    ] {
        let bytes = [&before[..], &six].concat();
        assert_eq!(network(link_type, &bytes).expect("a packet").ip, six, "link type {link_type}");
        assert!(decoded(link_type, &bytes).is_empty(), "no protocol here sends over IPv6");
    }
}

#[test]
fn a_message_that_contradicts_its_format_is_said_to() {
    // A Route Request of 7 octets: no whole address.
    let out = decoded(101, &ip(48, &[59, 0, 0, 9, 1, 7, 1, 2, 10, 0, 0, 9, 0]));
    assert_eq!(out[0]["type"], "rreq");
    assert!(out[0]["malformed"].is_string(), "{out:?}");
    // A header that claims more options than the packet has.
    let out = decoded(101, &ip(48, &[59, 0, 0, 200, 224]));
    assert!(out[0]["malformed"].as_str().is_some_and(|m| m.contains("200")), "{out:?}");
    // A Route Error of AODV that claims 9 destinations and has one.
    let out = decoded(101, &ip(17, &[2, 142, 2, 142, 0, 20, 0, 0, 3, 0, 0, 9, 10, 0, 0, 9, 0, 0, 0, 1]));
    assert_eq!((&out[0]["protocol"], &out[0]["type"]), (&"aodv".into(), &"rerr".into()));
    assert!(out[0]["malformed"].is_string(), "{out:?}");
}

#[test]
fn options_behind_a_flow_state_header_are_messages_too() {
    // Flow State header: Next Header 48, F, Hop Count 2, flow 5; behind it an acknowledgement request and UDP.
    let bytes = ip(48, &[&[48, 0x82, 0, 5, 17, 0, 0, 4, 160, 2, 0, 1][..], &[0; 8]].concat());
    let out = decoded(101, &bytes);
    let types: Vec<_> = out.iter().map(|m| m["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["flow_state", "ack_request"]);
    assert_eq!((&out[0]["hop_count"], &out[1]["id"]), (&2.into(), &1.into()));
    assert_eq!(classify(&bytes), (None, of("dsr", &["ack_request"])));
}

#[test]
fn a_second_flow_state_header_is_malformed_however_many_follow() {
    let headers = [48, 0x80, 0, 5].repeat(10_000);
    let out = decoded(101, &ip(48, &headers));
    assert_eq!(out.len(), 2);
    assert!(out[1]["malformed"].is_string(), "section 8.6.2 allows one: {out:?}");
}

#[test]
fn packets_are_classified_by_the_messages_in_them() {
    assert_eq!(classify(&ip(48, &RREQ)), (control("dsr", "rreq"), of("dsr", &["rreq"])));
    // A Route Error and a Route Request: both count, the request gives the class.
    let both = [&[59, 0, 0, 24, 3, 14, 1, 0, 10, 0, 0, 1, 10, 0, 0, 3, 10, 0, 0, 2][..], &RREQ[4..]].concat();
    assert_eq!(classify(&ip(48, &both)), (control("dsr", "rreq"), of("dsr", &["rreq", "rerr"])));
    // Data (UDP) behind an acknowledgement request: data with a message.
    let data = [&[17, 0, 0, 4, 160, 2, 0, 1][..], &[0; 8]].concat();
    assert_eq!(classify(&ip(48, &data)), (None, of("dsr", &["ack_request"])));
    // Acknowledgement alone.
    let ack = [59, 0, 0, 12, 32, 10, 0, 1, 10, 0, 0, 1, 10, 0, 0, 2];
    assert_eq!(classify(&ip(48, &ack)), (control("dsr", "ack"), of("dsr", &["ack"])));
    // AODV: ports 654, type 2; a reply for somebody else, and a Hello: destination and originator are the sender.
    let rrep = |destination: [u8; 4], originator: [u8; 4]| {
        let header = [2, 142, 2, 142, 0, 28, 0, 0, 2, 0, 0, 0];
        ip(17, &[&header[..], &destination, &[0, 0, 0, 1], &originator, &[0, 0, 7, 208]].concat())
    };
    let reply = classify(&rrep([10, 0, 0, 1], [10, 0, 0, 8]));
    assert_eq!(reply, (control("aodv", "rrep"), of("aodv", &["rrep"])));
    let hello = classify(&rrep([10, 0, 0, 1], [10, 0, 0, 1]));
    assert_eq!(hello, (control("aodv", "hello"), of("aodv", &["hello"])));
    assert_eq!(classify(&ip(17, &[0, 80, 0, 80, 0, 8, 0, 0])), (None, Messages::NONE));
    assert_eq!(classify(&[]), (None, Messages::NONE));
}

/// Mostly of those that are decoded.
fn link_type() -> impl Strategy<Value = u16> {
    let known = vec![0_u16, 1, 12, 14, 101, 105, 108, 113, 119, 127, 163, 192, 228, 229, 258, 276];
    prop_oneof![9 => prop::sample::select(known), 1 => any::<u16>()]
}

/// How frames of the types that are wrapped begin, so that what follows is looked at.
fn beginning() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(vec![]),
        (any::<[u8; 2]>(), prop::sample::select(vec![0_u8, 1, 105, 119, 127, 163, 192]))
            .prop_map(|([flags, length], inner)| vec![0, flags, length, 0, inner, 0, 0, 0]),
        any::<u8>().prop_map(|length| vec![0x44, 0, 0, 0, length, 0, 0, 0]),
        any::<u8>().prop_map(|length| vec![0x80, 0x21, 0x10, 1, 0, 0, 0, length]),
        any::<u8>().prop_map(|length| vec![length, 0, 0, 0, 1, 0, 0, 0, 105, 0, 0, 0]),
    ]
}

proptest! {
    #[test]
    fn no_octets_behind_a_header_make_network_panic(
        link_type in link_type(), start in beginning(), rest in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        if let Ok(link) = network(link_type, &[start, rest].concat()) {
            prop_assert!(link.ip.len() <= 312);
        }
    }

    #[test]
    fn no_octets_make_decode_or_classify_panic(
        link in link_type(),
        junk in proptest::collection::vec(any::<u8>(), 0..120),
        protocol in prop_oneof![Just(48u8), Just(17)],
        cut in 0usize..140,
    ) {
        decoded(link, &junk);
        classify(&junk);
        let mut packet = ip(protocol, &junk);
        packet.truncate(cut);
        decoded(101, &packet);
        classify(&packet);
    }
}

#[test]
fn a_frame_is_told_layer_by_layer() {
    let packet = ip(48, &RREQ);
    // Radiotap with flags and signal -70 dBm; data, sent again, duration 0x0102 us, sequence number 0x123.
    let radiotap = [0, 0, 10, 0, 0x22, 0, 0, 0, 0, 0xba];
    let header = [&[8, 8, 2, 1][..], &TO, &FROM, &[0; 6], &[0x30, 0x12], &SNAP];
    let bytes = [&radiotap[..], &header.concat(), &packet].concat();
    let original_len = bytes.len() as u32 + 4;
    let comment = Some("lost: too weak".to_owned());
    let frame = CapturedFrame { link_type: 127, bytes, original_len, comment, ..CapturedFrame::default() };
    let v = dissect(&frame, CLASSIFIER);
    assert_eq!((&v["radio"]["signal_dbm"], &v["radio"]["bad_fcs"]), (&(-70).into(), &false.into()));
    assert_eq!(v["link"]["kind"], "data");
    assert_eq!(
        (&v["link"]["transmitter"], &v["link"]["receiver"]),
        (&"02:00:0a:00:00:01".into(), &"02:00:0a:00:00:02".into())
    );
    assert_eq!(
        (&v["link"]["retry"], &v["link"]["duration_us"], &v["link"]["sequence"]),
        (&true.into(), &0x102.into(), &0x123.into())
    );
    assert_eq!(
        (&v["ip"]["src"], &v["ip"]["ttl"], &v["ip"]["protocol_name"]),
        (&"10.0.0.1".into(), &5.into(), &"DSR".into())
    );
    assert_eq!(v["messages"][0]["type"], "rreq");
    assert_eq!(v["comment"], "lost: too weak");
    assert_eq!(v["bytes"].as_u64().unwrap(), v["captured_bytes"].as_u64().unwrap() + 4);
}

#[test]
fn a_control_frame_has_no_packet() {
    let rts = [&[0xb4, 0, 9, 0][..], &[2, 0, 10, 0, 0, 2], &[2, 0, 10, 0, 0, 1]].concat();
    let v = dissect(&CapturedFrame { link_type: 105, bytes: rts, ..CapturedFrame::default() }, CLASSIFIER);
    assert_eq!((&v["link"]["kind"], &v["ip"], &v["radio"]), (&"RTS".into(), &Value::Null, &Value::Null));
    assert_eq!(v["link"]["receiver"], "02:00:0a:00:00:02");
}

proptest! {
    #[test]
    fn no_octets_make_dissecting_panic(link_type in link_type(), bytes: Vec<u8>) {
        let v = dissect(&CapturedFrame { link_type, bytes, ..CapturedFrame::default() }, CLASSIFIER);
        prop_assert!(v["messages"].is_array());
    }
}
