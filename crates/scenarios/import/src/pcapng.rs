//! The traffic in captures: the packets of programs, at the time when a capture first shows them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use rustc_hash::FxHashSet;
use toml::{Table, Value};
use wayhop_core::{Addr, Classifier};
use wayhop_document::{Error, Omissions, Result};
use wayhop_trace::{
    CaptureError, CaptureReader, CapturedFrame, ConversationEnds, Identity, PassedOver, carried, network,
};
use wayhop_wire::{ipv4, ipv6};

use crate::flows::{Departure, SentTraffic, add};
use crate::streams::{Segment, Streams};
use crate::{ImportedScenario, counted, table};

const MOST_PACKETS: usize = 10_000_000;
const MOST_NODES: usize = 1_000;
const SPACING_M: f64 = 100.0;

/// IP's number of TCP.
const TCP: u8 = 6;

/// A packet of a program, as a capture shows it.
#[derive(Copy, Clone)]
struct CapturedPacket {
    at_ns: u64,
    /// What identifies it.
    name: u64,
    ends: ConversationEnds,
    payload: u32,
    segment: Option<Segment>,
}

/// How many frames do not become traffic, and why.
#[derive(Default)]
struct UnusedFrames {
    routing: usize,
    cut: usize,
    damaged: usize,
    timeless: usize,
    without_packet: PassedOver,
}

/// A scenario from the traffic in captures (pcap or pcapng) with the same clock, of whole or truncated frames. Each
/// address that sends or receives is a node; captures do not contain positions, so the nodes form a chain, and a
/// remark says so. Routing messages are left out. Fails if a file is not a capture, or has no traffic.
pub fn pcapng<R: Read>(files: Vec<(&Path, R)>, classifier: &dyn Classifier) -> Result<ImportedScenario> {
    let mut all: Vec<CapturedPacket> = Vec::new();
    let mut left_out = UnusedFrames::default();
    let mut skipped = Vec::new();
    for (path, input) in files {
        let mut of_file = Omissions::of(path);
        read(input, classifier, &mut all, &mut left_out, &mut of_file).map_err(|e| e.in_file(path))?;
        skipped.push(of_file);
    }
    all.sort_by_key(|p| p.at_ns);
    let Some(begin_ns) = all.first().map(|p| p.at_ns) else { return Err(left_out.nothing_else()) };
    let mut nodes: BTreeMap<Addr, usize> = BTreeMap::new();
    let is_host = |a: &Addr| !a.is_multicast() && *a != Addr::BROADCAST;
    for a in all.iter().flat_map(|p| [p.ends.source, p.ends.destination]).filter(is_host) {
        let next = nodes.len();
        nodes.entry(a).or_insert(next);
    }
    if nodes.len() > MOST_NODES {
        let what = format!("{} addresses send or receive", nodes.len());
        let remedy = format!("reduce the captures to one mesh with at most {MOST_NODES} nodes");
        return Err(Error::new(what, remedy));
    }
    let seen = sent(&all, begin_ns);
    let mut imported = ImportedScenario { table: chain(&nodes), skipped, ..ImportedScenario::default() };
    imported.remarks.push(format!(
        "captures do not contain positions: nodes are placed in a chain, {SPACING_M} m apart; adjust `movement`"
    ));
    imported.remarks.extend(left_out.remarks());
    add(&mut imported, &seen, &|a| if is_host(&a) { nodes.get(&a).copied().map(Some) } else { Some(None) });
    Ok(imported)
}

/// Each packet once, however many captures show it, and TCP's streams.
fn sent(all: &[CapturedPacket], begin_ns: u64) -> SentTraffic {
    let mut seen = SentTraffic::default();
    let mut streams = Streams::default();
    let mut known: FxHashSet<u64> = FxHashSet::default();
    for p in all {
        if known.insert(p.name) {
            let at_s = (p.at_ns - begin_ns) as f64 / 1e9;
            seen.packets.entry(p.ends).or_default().push(Departure { at_s, payload: p.payload });
        }
        if let Some(segment) = p.segment {
            streams.add(p.ends, segment);
        }
    }
    seen.streams = streams.octets();
    seen
}

/// The packets of programs in a capture.
fn read(
    input: impl Read,
    classifier: &dyn Classifier,
    all: &mut Vec<CapturedPacket>,
    left_out: &mut UnusedFrames,
    skipped: &mut Omissions,
) -> Result<()> {
    let wrong = |e: CaptureError| Error::new(e.to_string(), "use a pcap or pcapng capture");
    let mut reader = CaptureReader::new(input).map_err(wrong)?;
    let mut frame = CapturedFrame::default();
    let mut room = Vec::new();
    let mut any = false;
    loop {
        match reader.next_into(&mut frame) {
            Ok(true) => any = true,
            Ok(false) => break,
            // A host that lost power leaves a partial frame; everything before it is complete.
            Err(e @ CaptureError::Format { .. }) if any => {
                let rest = format!("damaged end of the file: {e}");
                skipped.add(None, [&rest, &rest]);
                break;
            }
            Err(e) => return Err(wrong(e)),
        }
        let Some(shown) = shown(&frame, classifier, &mut room, left_out) else { continue };
        if all.len() >= MOST_PACKETS {
            let remedy = "cut the capture (editcap -c)";
            return Err(Error::new(format!("more than {MOST_PACKETS} packets"), remedy));
        }
        all.push(shown);
    }
    Ok(())
}

/// The packet of a program in a frame; `None`, and counted, if there is none.
fn shown(
    frame: &CapturedFrame,
    classifier: &dyn Classifier,
    room: &mut Vec<u8>,
    left_out: &mut UnusedFrames,
) -> Option<CapturedPacket> {
    let leave = |count: &mut usize| {
        *count += 1;
        None
    };
    let link = network(frame.link_type, &frame.bytes).map_err(|why| left_out.without_packet.add(why)).ok()?;
    if classifier.classify(link.ip).0.is_some() {
        return leave(&mut left_out.routing);
    }
    let is_cut = frame.bytes.len() < frame.original_len as usize;
    let packet = if is_cut { filled_up(link.ip, room) } else { link.ip };
    let known = Identity::of(packet, classifier).zip(wayhop_trace::ends(packet));
    // What was filled up is payload, or a header is not known.
    let fits = |(i, _): &(Identity, _)| !is_cut || link.ip.len() >= packet.len() - i.payload as usize;
    let Some((identity, (source, destination))) = known.filter(fits) else {
        return leave(if is_cut { &mut left_out.cut } else { &mut left_out.damaged });
    };
    let Some(at_ns) = frame.time_ns else { return leave(&mut left_out.timeless) };
    let segment = carried(packet, classifier).filter(|(protocol, _)| *protocol == TCP);
    Some(CapturedPacket {
        at_ns,
        name: identity.end_to_end,
        ends: ConversationEnds::new(source, destination, &identity),
        payload: identity.payload,
        segment: segment.and_then(|(_, octets)| Segment::of(octets)),
    })
}

/// A packet whose end was not captured, as long as its header says it is: with zeros there.
fn filled_up<'a>(packet: &'a [u8], room: &'a mut Vec<u8>) -> &'a [u8] {
    let v4 = ipv4::Packet::new_snapped(packet).map(|p| p.total_len());
    let stated = v4.or_else(|_| ipv6::Packet::new_snapped(packet).map(|p| p.total_len()));
    let Some(length) = stated.ok().filter(|length| *length > packet.len()) else { return packet };
    room.clear();
    room.extend_from_slice(packet);
    room.resize(length, 0);
    room
}

impl UnusedFrames {
    fn nothing_else(&self) -> Error {
        let remarks = self.remarks();
        let more = if remarks.is_empty() { String::new() } else { format!(": {}", remarks.join("; ")) };
        let remedy = if self.cut > 0 {
            "capture more of each frame, such as 200 bytes (tcpdump -s 200)"
        } else {
            "use captures in which programs send IP packets"
        };
        Error::new(format!("no capture has a program's packet{more}"), remedy)
    }

    fn remarks(&self) -> Vec<String> {
        let all = [
            (
                self.routing,
                "routing message is left out: the scenario's protocol sends its own",
                "routing messages are left out: the scenario's protocol sends its own",
            ),
            (
                self.cut,
                "packet is left out: the capture truncates its headers",
                "packets are left out: the captures truncate their headers",
            ),
            (
                self.damaged,
                "packet is left out: its headers are damaged",
                "packets are left out: their headers are damaged",
            ),
            (self.timeless, "packet without a time is left out", "packets without a time are left out"),
        ];
        let those = all.into_iter().filter(|(count, ..)| *count > 0);
        let mut said: Vec<String> = those.map(|(count, one, several)| counted(count, one, several)).collect();
        let reasons = self.without_packet.reasons();
        if !reasons.is_empty() {
            said.push(format!("frames left out{reasons}"));
        }
        said.extend(self.without_packet.undecoded());
        said
    }
}

fn chain(nodes: &BTreeMap<Addr, usize>) -> Table {
    let mut order: Vec<(&Addr, &usize)> = nodes.iter().collect();
    order.sort_by_key(|(_, i)| **i);
    let single = order.iter().filter_map(|(a, i)| {
        let address = a.v4()?.to_string();
        Some(Value::from(table([("id", (**i as i64).into()), ("address", address.into())])))
    });
    let mut all = table([("count", (nodes.len() as i64).into()), ("node", Value::Array(single.collect()))]);
    if nodes.keys().any(|a| a.v6().is_some()) {
        all.insert("ipv6".into(), true.into());
    }
    let movement = table([("kind", "chain".into()), ("spacing_m", SPACING_M.into())]);
    table([("movement", movement.into()), ("nodes", all.into())])
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use wayhop_wire::{ipv4, udp};

    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn made(files: &[&[u8]]) -> Result<ImportedScenario> {
        pcapng(
            ["a", "b"].map(Path::new).into_iter().zip(files.iter().copied()).collect(),
            wayhop_protocols::CLASSIFIER,
        )
    }

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

    /// One each tenth of a second.
    fn ten_datagrams(octets: usize) -> Vec<(u32, Vec<u8>)> {
        (0..10).map(|i| (5_000 + u32::from(i) * 100, datagram(i, octets))).collect()
    }

    fn number(table: &toml::Value, key: &str) -> i64 {
        table[key].as_integer().unwrap()
    }

    /// A segment from A to B with `octets` bytes of data from this number on.
    fn segment(id: u16, seq: u32, flags: u8, octets: usize) -> Vec<u8> {
        let mut p = datagram(id, 12 + octets);
        p[9] = ipv4::protocol::TCP;
        let header = &mut p[ipv4::HEADER_LEN..][..20];
        header[4..8].copy_from_slice(&seq.to_be_bytes());
        header[8..].copy_from_slice(&[0, 0, 0, 0, 5 << 4, flags, 255, 255, 0, 0, 0, 0]);
        p
    }

    /// A pcap file of raw IP (link type 101) in the format of libpcap's savefile page.
    fn pcap(packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
        snapped(packets, 65_535)
    }

    /// One with at most `most` bytes of each packet.
    fn snapped(packets: &[(u32, Vec<u8>)], most: usize) -> Vec<u8> {
        let mut file: Vec<u8> = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        for (ms, octets) in packets {
            let captured = &octets[..octets.len().min(most)];
            let head = [ms / 1_000, ms % 1_000 * 1_000, captured.len() as u32, octets.len() as u32];
            file.extend(head.into_iter().flat_map(u32::to_le_bytes).chain(captured.iter().copied()));
        }
        file
    }

    #[test]
    fn packets_that_two_captures_show_are_one_and_even_times_are_a_rate() {
        let sent = ten_datagrams(64);
        let later: Vec<(u32, Vec<u8>)> = sent.iter().map(|(ms, p)| (ms + 3, p.clone())).collect();
        let (a, b) = (pcap(&sent), pcap(&later));
        let i = made(&[&a, &b]).unwrap();
        let flow = i.flow();
        assert_eq!(flow["rate_pps"].as_float().map(|r| (r * 1e6).round()), Some(10e6));
        let numbers = ["src", "dst", "payload_bytes", "max_packets"].map(|key| number(flow, key));
        assert_eq!((numbers, number(&i.table["nodes"], "count")), ([0, 1, 64, 10], 2));
    }

    #[test]
    fn packets_that_are_cut_off_have_the_lengths_that_their_headers_say() {
        let sent = ten_datagrams(512);
        // One node's capture is truncated after 200 bytes and the other one's is not: the packets
        // are the same.
        let (a, b) = (snapped(&sent, 200), pcap(&sent));
        for files in [&[&a[..]][..], &[&a, &b]] {
            let i = made(files).unwrap();
            let flow = i.flow();
            assert_eq!((number(flow, "payload_bytes"), number(flow, "max_packets")), (512, 10));
            assert_eq!(i.remarks.len(), 1, "where the nodes are: {:?}", i.remarks);
        }
    }

    #[test]
    fn a_connection_has_the_octets_of_its_stream_whatever_was_sent_again_or_cut_off() {
        let (ack, syn, fin) = (16, 2, 17);
        // 1,200 + 1,200 + 600 bytes; the second 1,200 go twice, as packets of their own; then a
        // keep-alive and the FIN.
        let again = (2_200, ack, 1_200);
        let data = [(1_000, ack, 1_200), again, again, (3_400, ack, 600), (3_999, ack, 1)];
        let all = [&[(999, syn, 0)][..], &data, &[(4_000, fin, 0)]].concat();
        let made_of = |(i, (seq, flags, octets))| (1_000 + u32::from(i) * 10, segment(i, seq, flags, octets));
        let sent: Vec<(u32, Vec<u8>)> = (0..).zip(all).map(made_of).collect();
        for most in [65_535, 200, 40] {
            let file = snapped(&sent, most);
            let i = made(&[&file]).unwrap();
            let flow = i.flow();
            assert_eq!((flow["kind"].as_str(), number(flow, "bytes")), (Some("tcp"), 3_000));
            assert_eq!(i.remarks.len(), 1, "{:?}", i.remarks);
        }
    }

    #[test]
    fn what_is_left_out_of_captures_is_told() {
        // 27 octets end within UDP's header, which begins at 20.
        let mut file = snapped(&[(1, datagram(1, 100)), (2, datagram(2, 100))], 27);
        let said = made(&[&file]).unwrap_err().to_string();
        assert!(said.contains("2 packets are left out: the captures truncate their headers"), "{said}");
        assert!(said.contains("; capture more of each frame"), "{said}");
        file.extend_from_slice(&pcap(&[(3, datagram(3, 100)), (4, vec![0x45; 12])])[24..]);
        // A route request (type 1, 24 octets) to the port of AODV (RFC 3561, sections 5.1 and 12).
        let mut request = datagram(5, 24);
        request[22..24].copy_from_slice(&654_u16.to_be_bytes());
        request[28] = 1;
        let routing = pcap(&[(5, request)]);
        let said = made(&[&routing]).unwrap_err().to_string();
        assert!(said.contains("no capture has a program's packet: 1 routing message is left out"), "{said}");
        file.extend_from_slice(&routing[24..]);
        let i = made(&[&file]).unwrap();
        let left_out = [
            "1 routing message is left out: the scenario's protocol sends its own",
            "2 packets are left out: the captures truncate their headers",
            "1 packet is left out: its headers are damaged",
        ];
        assert_eq!(i.remarks[1..], left_out);
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        let said = made(&[b"no capture at all"]).unwrap_err().to_string();
        assert!(said.starts_with("a: "), "{said}");
        let said = made(&[&pcap(&[])]).unwrap_err().to_string();
        assert!(said.contains("no capture has a program's packet"), "{said}");
    }

    proptest::proptest! {
        #[test]
        fn traffic_is_the_same_however_much_of_the_payload_is_captured(
            lengths in proptest::collection::vec(0..1_400_usize, 1..20),
            most in 40..1_500_usize,
        ) {
            let sent = |(i, octets): (u16, &usize)| {
                let at_ms = u32::from(i) * 10;
                let udp = (at_ms, datagram(i, *octets));
                [udp, (at_ms + 5, segment(i, 1_000 * u32::from(i), 16, *octets))]
            };
            let sent: Vec<(u32, Vec<u8>)> = (0..).zip(&lengths).flat_map(sent).collect();
            let (cut, whole) = (snapped(&sent, most), pcap(&sent));
            let [cut, whole] = [cut, whole].map(|file| made(&[&file]).unwrap());
            proptest::prop_assert_eq!(cut, whole);
        }

        #[test]
        fn a_damaged_capture_is_read_or_refused(at in 0..400_usize, octet: u8, most in 0..80_usize) {
            let all = [(1, datagram(1, 20)), (2, segment(2, 7, 16, 30)), (3, datagram(3, 5))];
            let mut file = snapped(&all, most);
            let at = at % file.len();
            file[at] = octet;
            let _ = made(&[&file]);
        }
    }
}
