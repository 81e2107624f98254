//! Every frame of ns-3's AODV captures (captures/ns3) reads as tshark shows it.

use std::path::{Path, PathBuf};

use crate::common::{IEEE802_11, decimal, read_pcap, shows};
use wayhop_testkit::tshark;
use wayhop_wire::aodv::{self, Message};
use wayhop_wire::{arp, dot11, icmp, ipv4, llc, udp};

const CAPTURES: [&str; 4] = ["ns3-bug-606-0", "ns3-chain-0", "ns3-chain-1", "ns3-chain-2"];

fn path(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures/ns3");
    folder.join(name).with_extension("pcap")
}

/// One row a frame, as [`tshark::fields`] gives them, from our own reading.
fn compare(fields: &[&str], ours: impl Fn(&[u8]) -> Vec<String>) {
    for name in CAPTURES {
        let (link_type, frames) = read_pcap(&path(name));
        assert_eq!(link_type, IEEE802_11);
        let rows = tshark::fields(&path(name), "", fields).expect("tshark answers");
        assert_eq!(rows.len(), frames.len());
        for (i, (frame, row)) in frames.iter().zip(rows).enumerate() {
            let row: Vec<String> = row.iter().map(|v| decimal(v)).collect();
            assert_eq!(ours(frame), row, "frame {} of {name}", i + 1);
        }
    }
}

/// IP header and payload, if the frame carries IP.
fn ip_of(frame: &[u8]) -> Option<ipv4::Packet<'_>> {
    let f = dot11::Frame::new_checked(frame).expect("ns-3 writes whole frames");
    let snap = llc::Repr::parse(f.payload()).ok()?;
    (snap.ether_type == llc::IPV4)
        .then(|| ipv4::Packet::new_checked(&f.payload()[llc::LEN..]).expect("whole"))
}

/// The payload of the frame's AODV datagram.
fn aodv_of(frame: &[u8]) -> Option<&[u8]> {
    let ip = ip_of(frame).filter(|ip| ip.protocol() == ipv4::protocol::UDP)?;
    let datagram = udp::Packet::new_checked(ip.payload()).expect("whole");
    assert!(datagram.checksum_is_valid(ip.src(), ip.dst()));
    (datagram.dst_port() == aodv::PORT).then(|| datagram.payload())
}

/// Puts values into the columns of these names; the other columns stay empty.
fn row(fields: &[&str], values: &[(&'static str, String)]) -> Vec<String> {
    for (name, _) in values {
        assert!(fields.contains(name), "{name} is compared");
    }
    let value = |f: &&str| values.iter().find(|(name, _)| name == f).map(|(_, v)| v.clone());
    fields.iter().map(|f| value(f).unwrap_or_default()).collect()
}

#[test]
fn every_aodv_message() {
    const FIELDS: [&str; 18] = [
        "aodv.type",
        "aodv.flags.rreq_join",
        "aodv.flags.rreq_repair",
        "aodv.flags.rreq_gratuitous",
        "aodv.flags.rreq_destinationonly",
        "aodv.flags.rreq_unknown",
        "aodv.flags.rrep_repair",
        "aodv.flags.rrep_ack",
        "aodv.flags.rerr_nodelete",
        "aodv.prefix_sz",
        "aodv.hopcount",
        "aodv.rreq_id",
        "aodv.dest_ip",
        "aodv.dest_seqno",
        "aodv.orig_ip",
        "aodv.orig_seqno",
        "aodv.lifetime",
        "aodv.unreach_dest_ip",
    ];
    let bit = u8::from;
    let seen = std::cell::Cell::new([0; 4]);
    let count = |i: usize| {
        let mut s = seen.get();
        s[i] += 1;
        seen.set(s);
    };
    compare(&FIELDS, |frame| {
        let Some(payload) = aodv_of(frame) else { return row(&FIELDS, &[]) };
        let message = Message::parse(payload).expect("ns-3 writes RFC 3561");
        assert_eq!(message.buffer_len(), payload.len(), "ns-3 sends no extensions");
        let values = match message {
            Message::Rreq(r) => {
                count(0);
                shows! {
                    "aodv.type" => 1, "aodv.flags.rreq_join" => bit(r.join),
                    "aodv.flags.rreq_repair" => bit(r.repair),
                    "aodv.flags.rreq_gratuitous" => bit(r.gratuitous),
                    "aodv.flags.rreq_destinationonly" => bit(r.destination_only),
                    "aodv.flags.rreq_unknown" => bit(r.unknown_seq),
                    "aodv.hopcount" => r.hop_count, "aodv.rreq_id" => r.id,
                    "aodv.dest_ip" => r.destination, "aodv.dest_seqno" => r.destination_seq,
                    "aodv.orig_ip" => r.originator, "aodv.orig_seqno" => r.originator_seq,
                }
            }
            Message::Rrep(r) => {
                count(1);
                shows! {
                    "aodv.type" => 2, "aodv.flags.rrep_repair" => bit(r.repair),
                    "aodv.flags.rrep_ack" => bit(r.ack_required),
                    "aodv.prefix_sz" => r.prefix_size, "aodv.hopcount" => r.hop_count,
                    "aodv.dest_ip" => r.destination, "aodv.dest_seqno" => r.destination_seq,
                    "aodv.orig_ip" => r.originator, "aodv.lifetime" => r.lifetime_ms,
                }
            }
            Message::Rerr(r) => {
                count(2);
                let join = |v: Vec<String>| v.join(",");
                shows! {
                    "aodv.type" => 3, "aodv.flags.rerr_nodelete" => bit(r.no_delete),
                    "aodv.unreach_dest_ip" => join(r.unreachable.iter().map(|u| u.destination.to_string()).collect()),
                    "aodv.dest_seqno" => join(r.unreachable.iter().map(|u| u.seq.to_string()).collect()),
                }
            }
            Message::RrepAck => {
                count(3);
                shows! { "aodv.type" => 4 }
            }
        };
        row(&FIELDS, &values)
    });
    // As tshark counts them in the four files.
    assert_eq!(seen.get(), [31, 73, 2, 3]);
}

#[test]
fn every_802_11_header() {
    const FIELDS: [&str; 6] =
        ["wlan.fc.type_subtype", "wlan.fc.retry", "wlan.duration", "wlan.ra", "wlan.ta", "wlan.seq"];
    compare(&FIELDS, |frame| {
        let values = match dot11::Repr::parse(frame).expect("ns-3's nodes are in an IBSS") {
            dot11::Repr::Data(d) => shows! {
                "wlan.fc.type_subtype" => 0x20, "wlan.fc.retry" => u8::from(d.retry),
                "wlan.duration" => d.duration_us, "wlan.ra" => d.receiver, "wlan.ta" => d.transmitter,
                "wlan.seq" => d.sequence,
            },
            dot11::Repr::Rts { duration_us, retry, receiver, transmitter } => shows! {
                "wlan.fc.type_subtype" => 0x1b, "wlan.fc.retry" => u8::from(retry),
                "wlan.duration" => duration_us, "wlan.ra" => receiver, "wlan.ta" => transmitter,
            },
            dot11::Repr::Cts { duration_us, receiver } => shows! {
                "wlan.fc.type_subtype" => 0x1c, "wlan.fc.retry" => 0, "wlan.duration" => duration_us,
                "wlan.ra" => receiver,
            },
            dot11::Repr::Ack { duration_us, receiver } => shows! {
                "wlan.fc.type_subtype" => 0x1d, "wlan.fc.retry" => 0, "wlan.duration" => duration_us,
                "wlan.ra" => receiver,
            },
        };
        row(&FIELDS, &values)
    });
}

#[test]
fn every_arp_message_and_ping() {
    const FIELDS: [&str; 9] = [
        "arp.opcode",
        "arp.src.proto_ipv4",
        "arp.dst.proto_ipv4",
        "ip.src",
        "ip.dst",
        "ip.ttl",
        "icmp.type",
        "icmp.ident",
        "icmp.seq",
    ];
    compare(&FIELDS, |frame| {
        let f = dot11::Frame::new_checked(frame).expect("whole");
        if let Ok(a) = llc::Repr::parse(f.payload())
            && a.ether_type == llc::ARP
        {
            let a = arp::Repr::parse(&f.payload()[llc::LEN..]).expect("whole");
            let opcode = if a.operation == arp::Operation::Request { 1 } else { 2 };
            let values = shows! {
                "arp.opcode" => opcode, "arp.src.proto_ipv4" => a.sender, "arp.dst.proto_ipv4" => a.target,
            };
            return row(&FIELDS, &values);
        }
        let Some(ip) = ip_of(frame) else { return row(&FIELDS, &[]) };
        let mut values = shows! { "ip.src" => ip.src(), "ip.dst" => ip.dst(), "ip.ttl" => ip.ttl() };
        if ip.protocol() == ipv4::protocol::ICMP {
            let (kind, ident, seq) = match icmp_without_checksum(ip.payload()) {
                Ok((0 | 8, ident, seq)) => (ip.payload()[0], ident, seq),
                other => panic!("ns-3 sends echoes only: {other:?}"),
            };
            values.extend(shows! { "icmp.type" => kind, "icmp.ident" => ident, "icmp.seq" => seq });
        }
        row(&FIELDS, &values)
    });
}

/// ns-3 leaves checksums zero: the right one is put in before parsing.
fn icmp_without_checksum(message: &[u8]) -> Result<(u8, u16, u16), wayhop_wire::Error> {
    let mut m = message.to_vec();
    m[2..4].fill(0);
    let sum = !wayhop_wire::checksum::sum(0, &m);
    m[2..4].copy_from_slice(&sum.to_be_bytes());
    match icmp::Repr::parse(&m)? {
        icmp::Repr::EchoRequest { ident, seq, .. } => Ok((8, ident, seq)),
        icmp::Repr::EchoReply { ident, seq, .. } => Ok((0, ident, seq)),
        _ => Err(wayhop_wire::Error::Value("type")),
    }
}
