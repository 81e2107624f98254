//! tshark reads the radiotap, 802.11, LLC, ARP, IP, UDP and ICMP headers that we write, checksums included.

use std::net::Ipv4Addr;

use crate::common::{Case, RADIOTAP, RAW_IP, assert_tshark_agrees, shows};
use wayhop_core::Mac;
use wayhop_wire::{arp, dot11, icmp, ipv4, llc, radiotap, udp};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const NET: Mac = Mac([2, 0xca, 0xfe, 0, 0, 1]);

/// Radiotap, the frame, and its FCS.
fn framed(tap: &radiotap::Repr, header: &dot11::Repr, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; header.buffer_len()];
    header.emit(&mut frame);
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&dot11::fcs(&frame).to_le_bytes());
    let mut out = vec![0; tap.buffer_len()];
    tap.emit(&mut out);
    out.extend_from_slice(&frame);
    out
}

fn received() -> radiotap::Repr {
    radiotap::Repr {
        flags: Some(radiotap::flags::FCS_AT_END),
        rate_500kbps: Some(4),
        channel: Some(radiotap::Channel {
            mhz: 2412,
            flags: radiotap::channel_flags::CCK | radiotap::channel_flags::GHZ_2,
        }),
        signal_dbm: Some(-71),
        noise_dbm: Some(-100),
        tx_flags: None,
        data_retries: None,
    }
}

fn data() -> dot11::Data {
    dot11::Data {
        duration_us: 314,
        retry: true,
        more_fragments: false,
        receiver: Mac::from_addr(B),
        transmitter: Mac::from_addr(A),
        bssid: NET,
        sequence: 0x125,
        fragment: 0,
    }
}

#[test]
fn data_frame_with_arp_behind_radiotap_of_a_reception() {
    let message = arp::Repr {
        operation: arp::Operation::Reply,
        sender_mac: Mac::from_addr(A),
        sender: A,
        target_mac: Mac::from_addr(B),
        target: B,
    };
    let mut payload = vec![0; llc::LEN + arp::LEN];
    llc::Repr { ether_type: llc::ARP }.emit(&mut payload);
    message.emit(&mut payload[llc::LEN..]);
    assert_tshark_agrees(
        RADIOTAP,
        &[Case {
            bytes: framed(&received(), &dot11::Repr::Data(data()), &payload),
            expected: shows! {
                "radiotap.flags.fcs" => 1, "radiotap.datarate" => 2, "radiotap.channel.freq" => 2412,
                "radiotap.channel.flags" => 0xa0, "radiotap.dbm_antsignal" => -71,
                "radiotap.dbm_antnoise" => -100,
                "wlan.fc.type_subtype" => 0x20, "wlan.fc.retry" => 1, "wlan.duration" => 314,
                "wlan.ra" => "02:00:0a:00:00:02", "wlan.ta" => "02:00:0a:00:00:01",
                "wlan.bssid" => "02:ca:fe:00:00:01", "wlan.seq" => 0x125, "wlan.frag" => 0,
                "llc.type" => 0x0806,
                "arp.opcode" => 2, "arp.src.hw_mac" => "02:00:0a:00:00:01", "arp.src.proto_ipv4" => A,
                "arp.dst.hw_mac" => "02:00:0a:00:00:02", "arp.dst.proto_ipv4" => B,
            },
        }],
    );
}

#[test]
fn control_frames_behind_radiotap_of_a_transmission() {
    let tap = radiotap::Repr {
        flags: Some(radiotap::flags::FCS_AT_END),
        rate_500kbps: Some(2),
        tx_flags: Some(radiotap::tx_flags::RTS),
        data_retries: Some(6),
        ..Default::default()
    };
    let (receiver, transmitter) = (Mac::from_addr(B), Mac::from_addr(A));
    let case = |r: dot11::Repr, mut expected: Vec<(&'static str, String)>| {
        expected.extend(shows! {
            "radiotap.datarate" => 1, "radiotap.data_retries" => 6, "radiotap.txflags" => 4,
            "wlan.ra" => "02:00:0a:00:00:02",
        });
        Case { bytes: framed(&tap, &r, &[]), expected }
    };
    assert_tshark_agrees(
        RADIOTAP,
        &[
            case(
                dot11::Repr::Rts { duration_us: 1_000, retry: true, receiver, transmitter },
                shows! {
                    "wlan.fc.type_subtype" => 0x1b, "wlan.duration" => 1_000, "wlan.fc.retry" => 1,
                    "wlan.ta" => "02:00:0a:00:00:01",
                },
            ),
            case(
                dot11::Repr::Cts { duration_us: 700, receiver },
                shows! { "wlan.fc.type_subtype" => 0x1c, "wlan.duration" => 700, "wlan.fc.retry" => 0 },
            ),
            case(
                dot11::Repr::Ack { duration_us: 0, receiver },
                shows! { "wlan.fc.type_subtype" => 0x1d, "wlan.duration" => 0, "wlan.fc.retry" => 0 },
            ),
        ],
    );
}

fn ip_packet(r: ipv4::Repr, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0; ipv4::HEADER_LEN];
    ipv4::Repr { payload_len: payload.len() as u16, ..r }.emit(&mut p);
    p.extend_from_slice(payload);
    p
}

#[test]
fn udp_in_ip_with_every_field() {
    let mut datagram = vec![0x55; 15];
    udp::Repr { src_port: 40_001, dst_port: 40_002, payload_len: 7 }.emit(&mut datagram, A, B);
    let r = ipv4::Repr {
        ttl: 9,
        tos: 0xb8,
        id: 0x1234,
        dont_fragment: true,
        ..ipv4::Repr::new(A, B, ipv4::protocol::UDP, 0)
    };
    let mut changed = ip_packet(r, &datagram);
    ipv4::decrement_ttl(&mut changed).expect("a complete header");
    let case = |bytes, ttl: u8| Case {
        bytes,
        expected: shows! {
            "ip.src" => A, "ip.dst" => B, "ip.ttl" => ttl, "ip.dsfield.dscp" => 46, "ip.id" => 0x1234,
            "ip.flags.df" => 1, "ip.flags.mf" => 0, "ip.len" => 35, "ip.proto" => 17,
            "udp.srcport" => 40_001, "udp.dstport" => 40_002, "udp.length" => 15,
        },
    };
    assert_tshark_agrees(RAW_IP, &[case(ip_packet(r, &datagram), 9), case(changed, 8)]);
}

#[test]
fn ip_and_udp_checksums_are_verified_by_tshark() {
    let mut datagram = vec![0x55; 15];
    udp::Repr { src_port: 40_001, dst_port: 40_002, payload_len: 7 }.emit(&mut datagram, A, B);
    let right = ip_packet(ipv4::Repr::new(A, B, ipv4::protocol::UDP, 0), &datagram);
    let mut wrong = right.clone();
    wrong[8] = 1;
    wrong[30] ^= 1;
    // 1 is good, 0 is bad.
    assert_eq!(
        with_checks(RAW_IP, &[&right, &wrong], &["ip.checksum.status", "udp.checksum.status"]),
        "1\t1\n0\t0\n"
    );
}

#[test]
fn frame_check_sequence_is_verified_by_tshark() {
    let right = framed(&received(), &dot11::Repr::Data(data()), &[0xaa, 0xaa, 3, 0, 0, 0, 8, 6]);
    let mut wrong = right.clone();
    wrong[20] ^= 1;
    assert_eq!(with_checks(RADIOTAP, &[&right, &wrong], &["wlan.fcs.status"]), "1\n0\n");
}

/// What tshark says of these fields when it verifies every checksum.
fn with_checks(link_type: u32, packets: &[&[u8]], fields: &[&str]) -> String {
    let dir = tempfile::tempdir().expect("there is room for a capture");
    let capture = dir.path().join("sums.pcap");
    crate::common::write_pcap(&capture, link_type, packets.iter().copied());
    let mut tshark = std::process::Command::new("tshark");
    tshark.args(["-n", "-T", "fields", "-r"]).arg(&capture);
    for check in ["ip.check_checksum", "udp.check_checksum", "wlan.check_checksum"] {
        tshark.args(["-o", &format!("{check}:TRUE")]);
    }
    for f in fields {
        tshark.args(["-e", f]);
    }
    let out = tshark.output().expect("tshark runs (apt-get install tshark)");
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn icmp_messages() {
    let message = |r: icmp::Repr<'_>, mut expected: Vec<(&'static str, String)>| {
        let mut m = vec![0; r.buffer_len()];
        r.emit(&mut m);
        expected.extend(shows! { "icmp.checksum.status" => 1 });
        Case { bytes: ip_packet(ipv4::Repr::new(A, B, ipv4::protocol::ICMP, 0), &m), expected }
    };
    let mut datagram = vec![0x55; 12];
    udp::Repr { src_port: 40_001, dst_port: 40_002, payload_len: 4 }.emit(&mut datagram, B, A);
    let original = ip_packet(ipv4::Repr::new(B, A, ipv4::protocol::UDP, 0), &datagram);
    assert_tshark_agrees(
        RAW_IP,
        &[
            message(
                icmp::Repr::EchoRequest { ident: 0x1234, seq: 7, data: &[0; 16] },
                shows! { "icmp.type" => 8, "icmp.code" => 0, "icmp.ident" => 0x1234, "icmp.seq" => 7 },
            ),
            message(
                icmp::Repr::EchoReply { ident: 0x1234, seq: 7, data: &[0; 16] },
                shows! { "icmp.type" => 0, "icmp.code" => 0, "icmp.ident" => 0x1234, "icmp.seq" => 7 },
            ),
            message(
                icmp::Repr::DestinationUnreachable { code: 4, next_hop_mtu: 1_400, original: &original },
                shows! { "icmp.type" => 3, "icmp.code" => 4, "icmp.mtu" => 1_400, "udp.dstport" => 40_002 },
            ),
            message(
                icmp::Repr::TimeExceeded { code: 0, original: &original },
                shows! { "icmp.type" => 11, "icmp.code" => 0, "udp.dstport" => 40_002 },
            ),
            message(
                icmp::Repr::ParameterProblem { code: 0, pointer: 23, original: &original },
                shows! { "icmp.type" => 12, "icmp.code" => 0, "icmp.pointer" => 23, "udp.dstport" => 40_002 },
            ),
        ],
    );
}

#[test]
fn radiotap_fields_behind_any_other_field_are_where_tshark_finds_them() {
    const OURS: u32 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 15 | 1 << 17;
    let header = |present: u32| {
        // Octets that all differ, so that a wrong place shows as a wrong value. No FCS, no padding, no shortened payload.
        let mut h: Vec<u8> = (0..200u8).map(|i| i.wrapping_mul(5)).collect();
        h[..4].copy_from_slice(&[0, 0, 200, 0]);
        h[4..8].copy_from_slice(&present.to_le_bytes());
        let flags_at = if present & 1 == 1 { 16 } else { 8 };
        h[flags_at] = 0x02;
        let mut ack = [0; dot11::CTS_LEN];
        dot11::Repr::Ack { duration_us: 0, receiver: NET }.emit(&mut ack);
        h.extend_from_slice(&ack);
        h
    };
    // tshark 4.0.17 does not know bit 25 (HE-MU of another user). Without channel or noise, later
    // fields start at odd places.
    let masks = (0..28)
        .filter(|bit| *bit != 25)
        .flat_map(|bit| [OURS, OURS & !(1 << 2 | 1 << 3), OURS & !(1 << 6)].map(|ours| ours | 1 << bit));
    let cases: Vec<Case> = masks
        .map(|present| {
            let bytes = header(present);
            let (r, frame) = radiotap::split(&bytes).expect("it is complete");
            assert_eq!(frame.len(), dot11::CTS_LEN);
            let mut expected = shows! {
                "radiotap.dbm_antsignal" => r.signal_dbm.expect("it is present"),
                "radiotap.txflags" => r.tx_flags.expect("it is present"),
                "radiotap.data_retries" => r.data_retries.expect("it is present"),
            };
            if let Some(rate) = r.rate_500kbps {
                expected.extend(shows! { "radiotap.datarate" => f64::from(rate) / 2.0 });
            }
            if let Some(c) = r.channel {
                expected
                    .extend(shows! { "radiotap.channel.freq" => c.mhz, "radiotap.channel.flags" => c.flags });
            }
            if let Some(noise) = r.noise_dbm {
                expected.extend(shows! { "radiotap.dbm_antnoise" => noise });
            }
            Case { bytes, expected }
        })
        .collect();
    assert_tshark_agrees(RADIOTAP, &cases);
}
