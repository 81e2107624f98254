//! Packets and links of limited length: RFC 4728 sections 8.1.5 and 8.5.

use crate::common::{
    Ip, SOURCE_ROUTE, UDP, addrs, at, delivered_at, fix_checksum, line_of, linked, net, option_of, packet,
    profile, reasons, sent_with, source_route, teach,
};
use wayhop_core::DropReason;
use wayhop_dsr::Params;
use wayhop_testkit::{Net, addr};

/// The octets that a header with a source route of three hops adds: 4, and an option of 4 + 2 addresses.
const HEADER: usize = 4 + 4 + 8;

fn mtu(bytes: u16) -> Params {
    Params { mtu_bytes: bytes, ..profile("rfc") }
}

/// A chain of four in which node 0 knows the way and sends one packet of 20 + 8 + `payload` octets to node 3.
fn sent(p: &Params, payload: usize) -> Net {
    let mut net = net(4, p);
    net.config.payload = payload;
    net.line();
    net.run_until(at(1.0));
    teach(&mut net, 0, &[1, 2, 3]);
    net.send_at(at(1.1), 0, 3, 1);
    net.run_until(at(2.0));
    net.assert_conserved();
    net
}

#[test]
fn a_packet_that_fits_beside_its_header_is_sent() {
    let net = sent(&mtu(200), 200 - HEADER - 28);
    assert_eq!(net.delivered(1), [0]);
}

#[test]
fn an_application_is_told_what_fits_beside_the_headers() {
    let net = sent(&mtu(200), 200 - HEADER - 28 + 1);
    assert_eq!(reasons(&net), [DropReason::TooLong]);
    let told = delivered_at(&net, 0);
    assert_eq!(told.len(), 1);
    let icmp = &told[0];
    // RFC 792 and RFC 1191: type 3, code 4, two octets unused, the next hop's MTU, the packet's header and 8 octets.
    assert_eq!(
        (icmp[9], &icmp[20..22], &icmp[24..28]),
        (1, &[3, 4][..], &[0, 0, 0, (200 - HEADER) as u8][..])
    );
    assert_eq!(icmp[28 + 9], 17, "the packet as the application made it");
    assert_eq!(icmp[28 + 12..28 + 20], addrs(&[0, 3]));
    assert_eq!(icmp.len(), 20 + 8 + 28);
    assert_eq!(sent_with(&net, 0, SOURCE_ROUTE).len(), 0);
}

#[test]
fn a_forwarder_tells_the_source_of_a_packet_too_long_for_its_link() {
    let mut net = line_of(4, &mtu(100));
    teach(&mut net, 1, &[0]);
    let p = packet(
        &Ip::new(0, 3),
        &[source_route(0, 0, 2, &[1, 2])],
        &[[0, 7, 0, 7, 0, 72, 0, 0].to_vec(), vec![0; 64]].concat(),
    );
    assert!(p.len() > 100);
    net.inject(1, addr(0), false, &p);
    net.run_until(at(2.0));
    assert_eq!(reasons(&net), [DropReason::TooLong]);
    let icmp = &delivered_at(&net, 0)[0];
    assert_eq!((&icmp[12..16], &icmp[20..22]), (&addrs(&[1])[..], &[3, 4][..]));
    assert_eq!(icmp[27], (100 - HEADER) as u8);
    net.assert_conserved();
}

#[test]
fn a_salvaged_packet_that_outgrew_the_link_is_reported() {
    let mut net = linked(9, &mtu(79), &[(0, 1)]);
    teach(&mut net, 1, &[0]);
    teach(&mut net, 1, &[5, 6, 7, 8, 3]);
    // 20 + 4 + 8 + 32 octets come; the way around has five hops and lists five nodes: 80.
    let payload = [&UDP[..], &[0; 20]].concat();
    net.inject(1, addr(0), false, &packet(&Ip::new(0, 3), &[source_route(0, 0, 1, &[1])], &payload));
    net.run_until(at(2.0));
    assert_eq!(reasons(&net), [DropReason::TooLong]);
    let told = delivered_at(&net, 0);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0][20..22], [3, 4]);
    net.assert_conserved();
}

#[test]
fn nothing_is_said_about_an_error_message_or_a_later_fragment() {
    // RFC 1122 section 3.2.2.
    for what in ["error", "fragment"] {
        let mut net = line_of(4, &mtu(100));
        teach(&mut net, 1, &[0]);
        let mut p = packet(
            &Ip::new(0, 3),
            &[source_route(0, 0, 2, &[1, 2])],
            &[[3, 1, 0, 0].to_vec(), vec![0; 90]].concat(),
        );
        if what == "error" {
            p[20] = 1;
        } else {
            p[7] = 5;
            fix_checksum(&mut p);
        }
        net.inject(1, addr(0), false, &p);
        net.run_until(at(2.0));
        assert_eq!(reasons(&net), [DropReason::TooLong], "{what}");
        assert_eq!(delivered_at(&net, 0).len(), 0, "{what}");
    }
}

#[test]
fn the_length_of_a_frame_is_the_limit_unless_a_scenario_says_otherwise() {
    let net = sent(&profile("rfc"), 2296 - HEADER - 28);
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(reasons(&sent(&profile("rfc"), 2296 - HEADER - 27)), [DropReason::TooLong]);
    assert_eq!(sent(&mtu(0), 9000).delivered(1), [0], "0 is no limit");
}

/// An IP-in-IP packet from node 0 to node 2 by node 1, with this inside.
fn tunnelled(inner: &[u8]) -> Vec<u8> {
    let mut p = packet(&Ip::new(0, 2), &[source_route(0, 1, 1, &[0, 1])], inner);
    p[20] = 4;
    p
}

#[test]
fn a_packet_inside_a_packet_is_taken_out_at_its_destination() {
    // What a node that fragments sends (section 8.5): the inner packet is a fragment of one from node 5.
    let mut inner = packet(&Ip::new(5, 2), &[], &[]);
    inner.truncate(20);
    inner[2..4].copy_from_slice(&[0, 28]);
    inner[6] = 0x20;
    inner[9] = 17;
    inner.extend([0, 7, 0, 7, 0, 99, 0, 0]);
    fix_checksum(&mut inner);
    let mut net = line_of(3, &profile("rfc"));
    net.inject(1, addr(0), false, &tunnelled(&inner));
    net.run_until(at(2.0));
    assert_eq!(delivered_at(&net, 2), [inner.clone()]);
    assert_eq!(
        option_of(&sent_with(&net, 1, SOURCE_ROUTE)[0].2, SOURCE_ROUTE).unwrap()[0..2],
        [0, 1 << 6],
        "a forwarder does not look inside"
    );
    // A broken inner packet is no packet.
    inner[10] ^= 1;
    net.inject(1, addr(0), false, &tunnelled(&inner));
    net.run_until(at(3.0));
    assert_eq!(reasons(&net), [DropReason::Malformed]);
    net.assert_conserved();
}
