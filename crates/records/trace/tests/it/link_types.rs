//! The same messages in frames of every link type decode to what tshark shows.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use wayhop_protocols::CLASSIFIER;
use wayhop_testkit::tshark;
use wayhop_trace::{CaptureReader, CapturedFrame, Decoder, network};

use crate::captures::{FIELDS, as_tshark, decimal, decode};

/// What stands before the IP packet in a frame, by link type; the layouts are those of tcpdump.org/linktypes.html, the addresses of our
/// making.
fn link_types() -> Vec<(&'static str, u16, Vec<u8>)> {
    const TO: [u8; 6] = [0xff; 6];
    const FROM: [u8; 6] = [2, 0, 10, 0, 0, 1];
    const SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
    let ethernet = |rest: &[u8]| [&TO[..], &FROM, rest].concat();
    let dot11 = [&[8, 0, 0, 0][..], &TO, &FROM, &[2, 0x11, 0x22, 0x33, 0x44, 0x55, 0, 0], &SNAP].concat();
    let with_dot11 = |header: &[u8]| [header, &dot11].concat();
    let sll = |hardware: u8, protocol: [u8; 2]| {
        [&[0, 4, 3, hardware, 0, 6][..], &FROM, &[0, 0], &protocol].concat()
    };
    // Ethernet's hardware type is 1, that of 802.11 with radiotap 803.
    let sll2 = |protocol: [u8; 2], hardware: [u8; 2]| {
        [&protocol[..], &[0, 0, 0, 0, 0, 7], &hardware, &[4, 6], &FROM, &[0, 0]].concat()
    };
    let ppi =
        |inner: u8, fields: &[u8]| [&[0, 0, 8 + fields.len() as u8, 0, inner, 0, 0, 0][..], fields].concat();
    let common = [&[2, 0, 20, 0][..], &[0; 8], &[0; 2], &[4, 0, 0x6c, 9, 0x80, 0, 0, 0, 0xce, 0xa6]].concat();
    let radiotap = [0, 0, 9, 0, 0x20, 0, 0, 0, 0xba];
    let big = |words: &[u32]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
    let avs = big(&[0x8021_1001, 64, 0, 9, 0, 9, 4, 1, 110, 0, 0, 2, (-61_i32).cast_unsigned(), 0, 0, 0]);
    let mut prism = [0x44_u32, 144].iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    prism.resize(144, 0);
    let mut pktap = [108_u32, 1, 1].iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    pktap.extend(b"en0");
    pktap.resize(108, 0);
    vec![
        ("raw IP", 101, vec![]),
        ("raw IP as DLT 12", 12, vec![]),
        ("raw IPv4", 228, vec![]),
        ("Ethernet", 1, ethernet(&[8, 0])),
        ("VLAN", 1, ethernet(&[0x81, 0, 0, 5, 8, 0])),
        ("QinQ", 1, ethernet(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 5, 8, 0])),
        ("QinQ, old", 1, ethernet(&[0x91, 0, 0, 7, 0x81, 0, 0, 5, 8, 0])),
        ("802.11", 105, dot11.clone()),
        ("radiotap", 127, with_dot11(&radiotap)),
        ("PPI", 192, with_dot11(&ppi(105, &common))),
        ("PPI without fields", 192, with_dot11(&ppi(105, &[]))),
        ("PPI of Ethernet", 192, [ppi(1, &[]), ethernet(&[8, 0])].concat()),
        ("Prism", 119, with_dot11(&prism)),
        ("AVS", 163, with_dot11(&avs)),
        ("AVS as Prism", 119, with_dot11(&avs)),
        ("SLL", 113, [&[0, 4, 0, 1, 0, 6][..], &FROM, &[0, 0, 8, 0]].concat()),
        ("SLL, VLAN", 113, [&[0, 4, 0, 1, 0, 6][..], &FROM, &[0, 0, 0x81, 0, 0, 5, 8, 0]].concat()),
        ("SLL, monitor mode", 113, [&sll(35, [0, 0])[..], &radiotap, &dot11].concat()),
        ("SLL2", 276, sll2([8, 0], [0, 1])),
        ("SLL2, VLAN", 276, [&sll2([0x81, 0], [0, 1])[..], &[0, 5, 8, 0]].concat()),
        ("SLL2, monitor mode", 276, [&sll2([0, 0], [3, 35])[..], &radiotap, &dot11].concat()),
        ("NULL", 0, vec![2, 0, 0, 0]),
        ("NULL of a big-endian host", 0, vec![0, 0, 0, 2]),
        ("LOOP", 108, vec![0, 0, 0, 2]),
        ("PKTAP", 258, [pktap, ethernet(&[8, 0])].concat()),
    ]
}

/// The IP packets of a capture of ns-3 with AODV.
fn packets() -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures/ns3/ns3-chain-1.pcap");
    let mut reader = CaptureReader::new(File::open(path).expect("the capture")).expect("a capture");
    let (mut frame, mut all) = (CapturedFrame::default(), Vec::new());
    while reader.next_into(&mut frame).expect("a frame") {
        if let Ok(link) = network(frame.link_type, &frame.bytes) {
            all.push(link.ip.to_vec());
        }
    }
    all
}

/// 802.3: the length of LLC, SNAP and packet, and these.
fn ieee802_3(packet: &[u8]) -> Vec<u8> {
    let length = (packet.len() as u16 + 8).to_be_bytes();
    [&[0xff; 6][..], &[2, 0, 10, 0, 0, 1], &length, &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], packet].concat()
}

fn write(dir: &TempDir, name: &str, link_type: u16, frames: &[Vec<u8>], big: bool) -> PathBuf {
    let word = |w: u32| if big { w.to_be_bytes() } else { w.to_le_bytes() };
    let version = if big { 2 << 16 | 4 } else { 4 << 16 | 2 };
    let header = [0xa1b2_c3d4, version, 0, 0, 65_535, link_type.into()];
    let mut file: Vec<u8> = header.into_iter().flat_map(word).collect();
    for (i, f) in (0..).zip(frames) {
        file.extend([i, 7, f.len() as u32, f.len() as u32].into_iter().flat_map(word));
        file.extend(f);
    }
    let path = dir.path().join(name);
    fs::write(&path, file).expect("room on the disk");
    path
}

/// Fails unless tshark finds the same messages, with the same fields but for those of the link layer. Returns how many there are.
fn compared(path: &Path, what: &str) -> usize {
    let mut theirs = tshark::fields(path, "aodv", &FIELDS).expect("tshark answers");
    let mut ours: Vec<Vec<String>> = decode(path).iter().map(as_tshark).collect();
    for row in &mut theirs {
        row.resize(FIELDS.len(), String::new());
        row[7] = decimal(std::mem::take(&mut row[7]));
    }
    for row in theirs.iter_mut().chain(&mut ours) {
        row.remove(1);
    }
    assert_eq!(ours, theirs, "{what}");
    ours.len()
}

fn run(program: &str, args: &[&str], files: &[&Path]) {
    let out = Command::new(program).args(args).args(files).output().expect("Wireshark's tools are installed");
    assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn every_link_type_decodes_to_what_tshark_shows_in_either_byte_order() {
    let dir = TempDir::new().expect("a directory");
    let packets = packets();
    for (i, (what, link_type, before)) in (0..).zip(link_types()) {
        let frames: Vec<Vec<u8>> = packets.iter().map(|p| [&before[..], p].concat()).collect();
        let path = write(&dir, &format!("{i}.pcap"), link_type, &frames, i % 2 == 1);
        assert!(compared(&path, what) > 20, "{what}");
        let all = Decoder::new(File::open(&path).unwrap(), CLASSIFIER).unwrap().passed_over().undecoded();
        assert_eq!(all, None, "{what}");
    }
    let frames: Vec<Vec<u8>> = packets.iter().map(|p| ieee802_3(p)).collect();
    assert!(compared(&write(&dir, "snap.pcap", 1, &frames, false), "802.3 with LLC and SNAP") > 20);
}

#[test]
fn files_of_wiresharks_tools_decode_to_what_tshark_shows() {
    let dir = TempDir::new().expect("a directory");
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures/link-types");
    let [sll2, ppi] = ["sll2.pcap", "ppi.pcap"].map(|name| captures.join(name));
    for path in [&sll2, &ppi] {
        assert_eq!(compared(path, "as its tool wrote it"), 13);
    }
    let made = |name: &str| dir.path().join(name);
    for format in ["pcapng", "nsecpcap"] {
        let to = made(format);
        run("editcap", &["-F", format], &[&sll2, &to]);
        assert_eq!(compared(&to, format), 13);
    }
    // One file with an interface of each link type.
    let (ns3, both) = (captures.join("../ns3/ns3-chain-1.pcap"), made("merged.pcapng"));
    run("mergecap", &["-F", "pcapng", "-w", both.to_str().expect("text")], &[&sll2, &ppi, &ns3]);
    let of_ns3 = compared(&ns3, "802.11 of ns-3");
    assert_eq!(compared(&both, "merged"), 26 + of_ns3);
    // text2pcap writes link types that no tool here captures: NULL, LOOP, Prism, AVS, PKTAP.
    let frames = link_types().into_iter().filter(|(_, t, _)| [0, 108, 119, 163, 258].contains(t));
    for (i, (what, link_type, before)) in (0..).zip(frames) {
        let dump = packets().iter().fold(String::new(), |dump, p| {
            let octets: Vec<String> = before.iter().chain(p).map(|octet| format!("{octet:02x}")).collect();
            dump + "0000 " + &octets.join(" ") + "\n"
        });
        let (text, to) = (made("dump"), made(&format!("text2pcap-{i}.pcapng")));
        fs::write(&text, dump).expect("room on the disk");
        run("text2pcap", &["-q", "-l", &link_type.to_string()], &[&text, &to]);
        assert!(compared(&to, what) > 20, "{what}");
    }
}
