//! The traffic in captures: what programs sent, at the first moment at which a capture shows it.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use rustc_hash::FxHashSet;
use toml::{Table, Value};
use wayhop_core::Addr;
use wayhop_trace::{CaptureReader, CapturedFrame, Identity, classify, network};

use crate::Imported;
use crate::error::Error;
use crate::flows::{Ends, Seen, Sent, add};

/// Packets that are imported at most.
const MOST_PACKETS: usize = 10_000_000;
/// Nodes that are imported at most.
const MOST_NODES: usize = 1_000;
/// From node to node in the chain in which they are put, metres.
const SPACING_M: f64 = 100.0;

/// A scenario of the traffic in captures (pcap or pcapng) of the same clock. Each address that sends or receives is a node; where they
/// are no capture says, so they stand in a chain, and a remark says so. Routing messages are left out.
///
/// # Errors
/// If a file is no capture, or has no traffic.
pub fn pcapng<R: Read>(files: Vec<(&Path, R)>) -> Result<Imported, Error> {
    let mut packets: Vec<(u64, Ends, u32)> = Vec::new();
    let mut known: FxHashSet<u64> = FxHashSet::default();
    let mut all: Vec<(u64, u64, Ends, u32)> = Vec::new();
    for (path, input) in files {
        read(input, &mut all).map_err(|e| e.in_file(path))?;
    }
    all.sort_by_key(|(at_ns, ..)| *at_ns);
    for (at_ns, name, ends, payload) in all {
        if known.insert(name) {
            packets.push((at_ns, ends, payload));
        }
    }
    let Some((begin_ns, ..)) = packets.first().copied() else {
        return Err(Error::new("no capture has a packet of a program", "give captures with IP packets"));
    };
    let mut nodes: BTreeMap<Addr, usize> = BTreeMap::new();
    let is_host = |a: &Addr| !a.is_multicast() && *a != Addr::BROADCAST;
    for a in packets.iter().flat_map(|(_, e, _)| [e.source, e.destination]).filter(is_host) {
        let next = nodes.len();
        nodes.entry(a).or_insert(next);
    }
    if nodes.len() > MOST_NODES {
        let what = format!("{} addresses send or receive", nodes.len());
        return Err(Error::new(what, format!("cut the captures to those of a mesh: at most {MOST_NODES}")));
    }
    let mut seen = Seen::new();
    for (at_ns, ends, payload) in &packets {
        let at_s = (at_ns - begin_ns) as f64 / 1e9;
        seen.entry(*ends).or_default().push(Sent { at_s, payload: *payload });
    }
    let mut imported = Imported { table: chain(&nodes), ..Imported::default() };
    imported.remarks.push(format!(
        "no capture says where nodes are: they stand in a chain, {SPACING_M} m apart; say more in `movement`"
    ));
    add(&mut imported, &seen, &|a| if is_host(&a) { nodes.get(&a).copied().map(Some) } else { Some(None) });
    Ok(imported)
}

/// The packets of programs in a capture: when, by what it is known, whose, and its payload.
fn read(input: impl Read, all: &mut Vec<(u64, u64, Ends, u32)>) -> Result<(), Error> {
    let wrong = |e: wayhop_trace::CaptureError| Error::new(e.to_string(), "give a capture, pcap or pcapng");
    let mut reader = CaptureReader::new(input).map_err(wrong)?;
    let mut frame = CapturedFrame::default();
    while reader.next_into(&mut frame).map_err(wrong)? {
        let Some(link) = network(frame.link_type, &frame.bytes) else { continue };
        let (Some(identity), None) = (Identity::of(link.ip), classify(link.ip).0) else { continue };
        let Some((source, destination)) = wayhop_trace::ends(link.ip) else { continue };
        if all.len() >= MOST_PACKETS {
            return Err(Error::new(
                format!("more than {MOST_PACKETS} packets"),
                "cut the capture (editcap -c)",
            ));
        }
        let ends = Ends { source, destination, protocol: identity.protocol, ports: identity.ports };
        all.push((frame.time_ns.unwrap_or(0), identity.end_to_end, ends, identity.payload));
    }
    Ok(())
}

fn chain(nodes: &BTreeMap<Addr, usize>) -> Table {
    let mut table = Table::new();
    let mut movement = Table::new();
    movement.insert("kind".into(), "chain".into());
    movement.insert("spacing_m".into(), Value::Float(SPACING_M));
    table.insert("movement".into(), movement.into());
    let mut order: Vec<(&Addr, &usize)> = nodes.iter().collect();
    order.sort_by_key(|(_, i)| **i);
    let single = order.iter().filter_map(|(a, i)| {
        let mut one = Table::new();
        one.insert("id".into(), Value::Integer(**i as i64));
        one.insert("address".into(), a.v4()?.to_string().into());
        Some(Value::from(one))
    });
    let mut all = Table::new();
    all.insert("count".into(), Value::Integer(nodes.len() as i64));
    all.insert("node".into(), Value::Array(single.collect()));
    if nodes.keys().any(|a| a.v6().is_some()) {
        all.insert("ipv6".into(), true.into());
    }
    table.insert("nodes".into(), all.into());
    table
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use wayhop_wire::{ipv4, udp};

    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    /// A datagram with so many octets; `id` tells it from others.
    fn datagram(id: u16, octets: usize) -> Vec<u8> {
        let length = udp::HEADER_LEN + octets;
        let mut p = vec![0; ipv4::HEADER_LEN + length];
        ipv4::Repr::new(A, B, ipv4::protocol::UDP, length as u16).emit(&mut p);
        p[4..6].copy_from_slice(&id.to_be_bytes());
        // The header's checksum, by RFC 1071.
        p[10..12].fill(0);
        let sum: u32 = p[..ipv4::HEADER_LEN].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
        let folded = (sum & 0xffff) + (sum >> 16);
        p[10..12].copy_from_slice(&(!((folded & 0xffff) + (folded >> 16)) as u16).to_be_bytes());
        let segment = &mut p[ipv4::HEADER_LEN..];
        segment[..2].copy_from_slice(&5_000_u16.to_be_bytes());
        segment[2..4].copy_from_slice(&9_000_u16.to_be_bytes());
        segment[4..6].copy_from_slice(&(length as u16).to_be_bytes());
        p
    }

    /// A pcap file of raw IP (link type 101) in the format of libpcap's savefile page.
    fn pcap(packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut file = Vec::new();
        file.extend(0xa1b2_c3d4_u32.to_le_bytes());
        file.extend([2, 0, 4, 0]);
        file.extend([0; 8]);
        file.extend(65_535_u32.to_le_bytes());
        file.extend(101_u32.to_le_bytes());
        for (ms, octets) in packets {
            file.extend((ms / 1_000).to_le_bytes());
            file.extend((ms % 1_000 * 1_000).to_le_bytes());
            file.extend((octets.len() as u32).to_le_bytes());
            file.extend((octets.len() as u32).to_le_bytes());
            file.extend(octets);
        }
        file
    }

    #[test]
    fn packets_that_two_captures_show_are_one_and_even_times_are_a_rate() {
        let sent: Vec<(u32, Vec<u8>)> =
            (0..10).map(|i| (5_000 + u32::from(i) * 100, datagram(i, 64))).collect();
        let later: Vec<(u32, Vec<u8>)> = sent.iter().map(|(ms, p)| (ms + 3, p.clone())).collect();
        let (a, b) = (pcap(&sent), pcap(&later));
        let i = pcapng(vec![("a".as_ref(), &a[..]), ("b".as_ref(), &b[..])]).unwrap();
        let [flow] = &i.table["traffic"].as_array().unwrap()[..] else { panic!("one flow: {i:?}") };
        assert_eq!((flow["src"].as_integer(), flow["dst"].as_integer()), (Some(0), Some(1)));
        assert_eq!(flow["rate_pps"].as_float().map(|r| (r * 1e6).round()), Some(10e6));
        assert_eq!(
            (flow["payload_bytes"].as_integer(), flow["max_packets"].as_integer()),
            (Some(64), Some(10))
        );
        assert_eq!(i.table["nodes"]["count"].as_integer(), Some(2));
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let said = pcapng(vec![("a".as_ref(), &b"no capture at all"[..])]).unwrap_err().to_string();
        assert!(said.starts_with("a: "), "{said}");
        let said = pcapng(vec![("a".as_ref(), &pcap(&[])[..])]).unwrap_err().to_string();
        assert!(said.contains("no capture has a packet"), "{said}");
    }

    proptest::proptest! {
        #[test]
        fn a_damaged_capture_is_read_or_refused(at in 0..400_usize, octet: u8) {
            let mut file = pcap(&[(1, datagram(1, 20)), (2, datagram(2, 30)), (3, datagram(3, 5))]);
            let at = at % file.len();
            file[at] = octet;
            let _ = pcapng(vec![("a".as_ref(), &file[..])]);
        }
    }
}
