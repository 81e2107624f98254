//! Captures that end in the middle of a frame, as after a power failure.

use wayhop_import::pcapng;
use wayhop_protocols::CLASSIFIER;

/// An IPv4 datagram of UDP from 10.0.0.1 to 10.0.0.2 with 64 octets, by RFC 791 and 768; its number tells it from others.
fn datagram(id: u16) -> Vec<u8> {
    let mut p = vec![0x45, 0, 0, 92, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    p[4..6].copy_from_slice(&id.to_be_bytes());
    let sum: u32 = p.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    p[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    p.extend([0x13, 0x88, 0x23, 0x28, 0, 72, 0, 0]);
    p.extend([b'x'; 64]);
    p
}

/// A pcap file of raw IP with 40 datagrams.
fn pcap() -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xa1b2_c3d4_u32.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(101_u32.to_le_bytes());
    for i in 0..40 {
        for field in [u32::from(i), 0, 92, 92] {
            file.extend(field.to_le_bytes());
        }
        file.extend(datagram(i));
    }
    file
}

/// The same as pcapng: a section header, an interface, 40 enhanced packets.
fn ng() -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| -> Vec<u8> {
        let length = (12 + body.len() as u32).to_le_bytes();
        [&kind.to_le_bytes(), &length[..], body, &length].concat()
    };
    let words = |all: &[u32]| -> Vec<u8> { all.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let mut file = block(0x0a0d_0d0a, &words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
    file.extend(block(1, &words(&[101, 0])));
    for i in 0..40 {
        let micros = u32::from(i) * 1_000_000;
        file.extend(block(6, &[words(&[0, 0, micros, 92, 92]), datagram(i)].concat()));
    }
    file
}

#[test]
fn what_is_whole_of_a_capture_is_read() {
    let (pcap, ng) = (pcap(), ng());
    // The octets of one frame in each format, and those before the first one.
    for (name, file, frame, head) in [("pcap", &pcap, 108, 24), ("pcapng", &ng, 124, 48)] {
        assert_eq!(file.len(), head + 40 * frame, "{name}");
        for (cut, whole) in [
            (0, 40),
            (1, 39),
            (frame - 1, 39),
            (frame, 39),
            (frame + 1, 38),
            (10 * frame + 7, 29),
            (30 * frame - 3, 10),
        ] {
            let made = pcapng(vec![("c".as_ref(), &file[..file.len() - cut])], CLASSIFIER).unwrap();
            let flow = &made.table["traffic"][0];
            let packets = match flow["kind"].as_str() {
                Some("cbr") => flow["max_packets"].as_integer().unwrap(),
                _ => made.files[0].1.lines().filter(|l| !l.starts_with('#') && !l.is_empty()).count() as i64,
            };
            assert_eq!(packets, whole, "{name} without {cut} octets");
            let said: Vec<String> = made.skipped.iter().flat_map(wayhop_document::Omissions::kinds).collect();
            if cut % frame == 0 {
                assert!(said.is_empty(), "{name}: {said:?}");
            } else {
                assert!(
                    said[0].contains("the file ends in the middle of a frame or block"),
                    "{name}: {said:?}"
                );
            }
        }
        let nothing = pcapng(vec![("c".as_ref(), &file[..head + 5])], CLASSIFIER).unwrap_err().to_string();
        assert!(nothing.contains("the file ends in the middle"), "{nothing}");
    }
}
