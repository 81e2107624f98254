//! Captures for the tests that ask tshark, a comparison of its answers, and messages that several tests write.

use std::net::Ipv4Addr;
use std::path::Path;

use wayhop_core::Addr;
use wayhop_testkit::{golden, tshark};
use wayhop_wire::aodv::{Rrep, Rreq};
use wayhop_wire::{ip, ipv4, udp};

/// Link types of pcap.
pub(crate) const RAW_IP: u32 = 101;
pub(crate) const IEEE802_11: u32 = 105;
pub(crate) const RADIOTAP: u32 = 127;

/// A packet, and what tshark shall say of it: (field, values joined by commas).
pub(crate) struct Case {
    pub(crate) bytes: Vec<u8>,
    pub(crate) expected: Vec<(&'static str, String)>,
}

/// Writes a capture of these packets, one a millisecond.
pub(crate) fn write_pcap<'a>(path: &Path, link_type: u32, packets: impl IntoIterator<Item = &'a [u8]>) {
    let mut out = Vec::new();
    let mut words = |w: &[u32]| w.iter().for_each(|w| out.extend_from_slice(&w.to_le_bytes()));
    words(&[0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, link_type]);
    for (i, p) in packets.into_iter().enumerate() {
        let len = p.len() as u32;
        let i = i as u32;
        for w in [i / 1_000, i % 1_000 * 1_000, len, len] {
            out.extend_from_slice(&w.to_le_bytes());
        }
        out.extend_from_slice(p);
    }
    std::fs::write(path, out).expect("the capture can be written");
}

/// The link type and the packets of a little-endian capture.
pub(crate) fn read_pcap(path: &Path) -> (u32, Vec<Vec<u8>>) {
    let file = std::fs::read(path).expect("the capture is in the repository");
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four octets"));
    assert_eq!(word(0), 0xa1b2_c3d4, "microseconds, little-endian");
    let (mut at, mut packets) = (24, Vec::new());
    while at < file.len() {
        let len = word(at + 8) as usize;
        packets.push(file[at + 16..at + 16 + len].to_vec());
        at += 16 + len;
    }
    (word(20), packets)
}

/// Fails unless tshark reads every packet without complaint and shows the expected fields, and none else of those that
/// any case expects.
pub(crate) fn assert_tshark_agrees(link_type: u32, cases: &[Case]) {
    let dir = tempfile::tempdir().expect("there is room for a capture");
    let capture = dir.path().join("cases.pcap");
    write_pcap(&capture, link_type, cases.iter().map(|c| &c.bytes[..]));
    assert_eq!(tshark::complaints(&capture), Ok(vec![]), "no frame is malformed");
    let mut names: Vec<&str> = cases.iter().flat_map(|c| c.expected.iter().map(|(f, _)| *f)).collect();
    names.sort_unstable();
    names.dedup();
    let rows = tshark::fields(&capture, "", &names).expect("tshark answers");
    assert_eq!(rows.len(), cases.len());
    for (row, case) in rows.iter().zip(cases) {
        let present = names.iter().zip(row).filter(|(_, v)| !v.is_empty());
        let mut shown: Vec<(&str, String)> = present.map(|(f, v)| (*f, decimal(v))).collect();
        let mut expected = case.expected.clone();
        shown.sort_unstable();
        expected.sort_unstable();
        assert_eq!(shown, expected, "{:02x?}", case.bytes);
    }
}

/// Calls `check` with each packet of the golden captures in this folder, and with its meaning. There are `least` captures or
/// more.
pub(crate) fn each_golden<T>(
    folder: &str,
    least: usize,
    meaning: impl Fn(&str) -> Vec<T>,
    mut check: impl FnMut(&str, &[u8], &T),
) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures").join(folder);
    let captures = golden::read_all(&folder).expect("the sources are in the repository");
    assert!(captures.len() >= least, "only {} captures", captures.len());
    for c in &captures {
        let meant = meaning(&c.name);
        assert_eq!(c.packets.len(), meant.len(), "{}: as many packets as are described", c.name);
        for (p, m) in c.packets.iter().zip(&meant) {
            check(&format!("{}: {}", c.name, p.title), &p.bytes, m);
        }
    }
}

/// An IP packet with a datagram from and to this port.
pub(crate) fn datagram(src: impl Into<Addr>, dst: impl Into<Addr>, port: u16, payload: &[u8]) -> Vec<u8> {
    let (src, dst) = (src.into(), dst.into());
    let (head, payload_len) = (ip::Repr::header_len(dst), payload.len() as u16);
    let mut p = vec![0; head + udp::HEADER_LEN];
    p.extend_from_slice(payload);
    udp::Repr { src_port: port, dst_port: port, payload_len }.emit(&mut p[head..], src, dst);
    let payload_len = payload_len + udp::HEADER_LEN as u16;
    ip::Repr { src, dst, protocol: ipv4::protocol::UDP, ttl: 1, tos: 0, id: 0, payload_len }.emit(&mut p);
    p
}

/// What is in the datagrams of a capture on an Ethernet, all of them of this port.
pub(crate) fn payloads(path: &Path, port: u16) -> Vec<(Addr, Vec<u8>)> {
    const ETHERNET: u32 = 1;
    let (link_type, frames) = read_pcap(path);
    assert_eq!(link_type, ETHERNET);
    let payload = |frame: &Vec<u8>| {
        let packet = ip::Packet::new_checked(&frame[14..]).expect("whole packets");
        let datagram = udp::Packet::new_checked(packet.payload).expect("whole datagrams");
        assert_eq!(datagram.dst_port(), port);
        (packet.src, datagram.payload().to_vec())
    };
    frames.iter().map(payload).collect()
}

/// Joins the values of each field by commas, in the order of the fields.
pub(crate) fn joined(fields: &[&str], values: &[(&'static str, String)]) -> Vec<String> {
    assert!(values.iter().all(|(name, _)| fields.contains(name)), "each field is compared");
    let of = |field: &&str| {
        let all: Vec<&str> = values.iter().filter(|(name, _)| name == field).map(|(_, v)| &v[..]).collect();
        all.join(",")
    };
    fields.iter().map(of).collect()
}

/// A packet that we wrote, with the values that tshark shows for each field.
pub(crate) fn written(bytes: Vec<u8>, values: &[(&'static str, String)]) -> Case {
    let mut expected: Vec<(&'static str, String)> = Vec::new();
    for (field, value) in values {
        match expected.iter_mut().find(|(name, _)| name == field) {
            Some((_, all)) => *all = format!("{all},{value}"),
            None => expected.push((field, value.clone())),
        }
    }
    Case { bytes, expected }
}

pub(crate) const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub(crate) const B: Ipv4Addr = Ipv4Addr::new(192, 168, 3, 4);

/// AODV's request of A for B.
pub(crate) const REQUEST: Rreq = Rreq {
    join: false,
    repair: false,
    gratuitous: false,
    destination_only: false,
    unknown_seq: false,
    hop_count: 3,
    id: 0x0102_0304,
    destination: B,
    destination_seq: 0xa0b0_c0d0,
    originator: A,
    originator_seq: 7,
};
/// A reply to A about B.
pub(crate) const REPLY: Rrep = Rrep {
    repair: false,
    ack_required: true,
    prefix_size: 24,
    hop_count: 2,
    destination: B,
    destination_seq: 9,
    originator: A,
    lifetime_ms: 6_000,
};

/// tshark's values, with those in hexadecimal notation in decimal.
pub(crate) fn decimal(values: &str) -> String {
    let one = |v: &str| match v.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        Some(n) => n.to_string(),
        None => v.to_owned(),
    };
    values.split(',').map(one).collect::<Vec<_>>().join(",")
}

/// `Vec<(field, value)>` from pairs of a field and anything that can be shown.
macro_rules! shows {
    ($($field:literal => $value:expr),* $(,)?) => { vec![$(($field, $value.to_string())),*] };
}
pub(crate) use shows;
