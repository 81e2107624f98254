//! Changes to a DSR header inside an IP packet, against octets written by hand.

use std::net::Ipv4Addr;

use wayhop_core::{Packet, PacketMeta, Pool};
use wayhop_wire::dsr::{Builder, DsrOption, edit};
use wayhop_wire::{Error, ipv4};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// A packet from A to B with this protocol and payload.
fn packet(protocol: u8, payload: &[u8]) -> Packet {
    let mut p = Pool::new().zeroed(ipv4::HEADER_LEN, PacketMeta::default());
    ipv4::Repr::new(A, B, protocol, payload.len() as u16).emit(p.bytes_mut());
    p.extend(payload);
    p
}

/// The packet has a right IP header of this protocol, and this payload.
fn assert_packet(p: &Packet, protocol: u8, payload: &[u8]) {
    let ip = ipv4::Packet::new_checked(p.bytes()).expect("it is complete");
    assert!(ip.checksum_is_valid());
    assert_eq!((ip.total_len(), ip.protocol(), ip.payload()), (p.len(), protocol, payload));
}

#[test]
fn inserting_a_header_keeps_the_payload_and_names_its_protocol() {
    let mut p = packet(17, &[1, 2, 3]);
    let mut scratch = Vec::new();
    let mut b = Builder::new(&mut scratch, ipv4::protocol::NO_NEXT_HEADER);
    b.push(&DsrOption::AckRequest { id: 7, source: None }).expect("it fits");
    edit::insert_header(&mut p, b.finish()).expect("there is room");
    assert_packet(&p, 48, &[17, 0, 0, 4, 160, 2, 0, 7, 1, 2, 3]);
    edit::replace_header(&mut p, &[59, 0, 0, 8, 32, 6, 0, 0, 0, 0, 0, 0]).expect("there is room");
    assert_packet(&p, 48, &[17, 0, 0, 8, 32, 6, 0, 0, 0, 0, 0, 0, 1, 2, 3]);
    edit::replace_header(&mut p, &[59, 0, 0, 0]).expect("there is room");
    assert_packet(&p, 48, &[17, 0, 0, 0, 1, 2, 3]);
    edit::remove_header(&mut p).expect("it has one");
    assert_packet(&p, 17, &[1, 2, 3]);
    assert_eq!(edit::remove_header(&mut p), Err(Error::Value("protocol")));
}

#[test]
fn appending_to_a_route_request_lengthens_option_header_and_packet() {
    let mut p = packet(48, &[17, 0, 0, 12, 1, 6, 0, 9, 10, 0, 0, 2, 128, 2, 0, 1, 0xaa]);
    edit::append_request_address(&mut p, Ipv4Addr::new(10, 0, 0, 7)).expect("there is room");
    assert_packet(&p, 48, &[17, 0, 0, 16, 1, 10, 0, 9, 10, 0, 0, 2, 10, 0, 0, 7, 128, 2, 0, 1, 0xaa]);
}

#[test]
fn a_full_route_request_takes_no_address_and_stays_as_it_was() {
    let mut payload = vec![59, 0, 1, 0, 1, 254];
    payload.resize(4 + 256, 1);
    let mut p = packet(48, &payload);
    assert_eq!(edit::append_request_address(&mut p, A), Err(Error::Full));
    assert_packet(&p, 48, &payload);
}

#[test]
fn a_removed_option_leaves_the_header_a_multiple_of_four() {
    let cases: [(&[u8], &[u8]); 4] = [
        (&[160, 2, 0, 1], &[]),
        (&[0x25, 3, 9, 9, 9], &[224]),
        (&[0x25, 4, 9, 9, 9, 9], &[0, 0]),
        (&[0x25, 5, 9, 9, 9, 9, 9], &[0, 1, 0]),
    ];
    for (option, padding) in cases {
        let mut payload = vec![17, 0, 0, 0, 224];
        payload.extend_from_slice(option);
        payload.extend_from_slice(&[128, 2, 0, 1]);
        payload[3] = payload.len() as u8 - 4;
        payload.push(0xaa);
        let mut p = packet(48, &payload);
        edit::remove_option(&mut p, 1..1 + option.len()).expect("it is there");
        let mut expected = vec![17, 0, 0, 5 + padding.len() as u8, 224];
        expected.extend_from_slice(padding);
        expected.extend_from_slice(&[128, 2, 0, 1, 0xaa]);
        assert_packet(&p, 48, &expected);
    }
    let mut p = packet(48, &[17, 0, 0, 4, 160, 2, 0, 1]);
    assert_eq!(edit::remove_option(&mut p, 0..5), Err(Error::Value("option range")));
}

#[test]
fn marking_sets_the_bit_behind_the_length_if_there_is_data() {
    let mut p = packet(48, &[17, 0, 0, 8, 0x45, 2, 1, 2, 0x45, 0, 0x45, 0]);
    edit::mark_option(p.bytes_mut(), 0).expect("it is there");
    edit::mark_option(p.bytes_mut(), 4).expect("it is there");
    edit::mark_option(p.bytes_mut(), 6).expect("it is there");
    assert_packet(&p, 48, &[17, 0, 0, 8, 0x45, 2, 0x81, 2, 0x45, 0, 0x45, 0]);
    assert_eq!(edit::mark_option(p.bytes_mut(), 8), Err(Error::Value("option range")));
}

#[test]
fn a_cost_is_appended_to_the_link_metrics_and_not_to_another_experiment() {
    // A probe without entries, a Route Request and link metrics with one cost.
    let options = [&[30, 2, 2, 0][..], &[1, 6, 0, 7, 10, 0, 0, 9], &[30, 6, 3, 0, 0, 0, 4, 0]].concat();
    let mut p = packet(48, &[&[59, 0, 0, 20][..], &options].concat());
    edit::append_link_metric(&mut p, 0x0a0b).expect("there is room");
    edit::append_request_address(&mut p, B).expect("there is room");
    let expected = [
        &[59, 0, 0, 28, 30, 2, 2, 0][..],
        &[1, 10, 0, 7, 10, 0, 0, 9, 10, 0, 0, 2],
        &[30, 10, 3, 0, 0, 0, 4, 0, 0, 0, 10, 11],
    ]
    .concat();
    assert_packet(&p, 48, &expected);
    let mut without = packet(48, &[59, 0, 0, 4, 30, 2, 2, 0]);
    assert_eq!(edit::append_link_metric(&mut without, 1), Err(Error::Value("option")));
    // 63 costs fill the length octet.
    let mut full = packet(48, &[&[59, 0, 1, 0, 30, 254, 3, 0][..], &[0; 252]].concat());
    assert_eq!(edit::append_link_metric(&mut full, 1), Err(Error::Full));
}
