//! Captures of every link type: decoded, or named and counted; never an empty answer.

use std::fs;
use std::path::Path;

use crate::{folder, run_in};

/// Captures whose messages tshark has counted.
fn capture(name: &str) -> String {
    format!("{}/../../../captures/link-types/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A pcap file of these frames.
fn pcap(dir: &Path, name: &str, link_type: u32, frames: &[&[u8]]) {
    let words = |w: &[u32]| w.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, link_type]);
    for f in frames {
        file.extend([words(&[1, 0, f.len() as u32, f.len() as u32]), f.to_vec()].concat());
    }
    fs::write(dir.join(name), file).expect("room on the disk");
}

#[test]
fn captures_of_any_and_of_ppi_decode_to_the_messages_that_tshark_finds() {
    let dir = folder(&[]);
    for name in ["sll2.pcap", "ppi.pcap"] {
        let path = capture(name);
        let theirs = wayhop_testkit::tshark::fields(Path::new(&path), "aodv", &["frame.number"]);
        let ran = run_in(dir.path(), &["decode", &path]);
        assert_eq!(ran.err, "");
        assert_eq!(ran.ok().lines().count(), theirs.expect("tshark answers").len(), "{name}");
    }
}

#[test]
fn a_link_type_that_is_not_decoded_is_named_and_counted_wherever_captures_are_read() {
    let dir = folder(&[]);
    // LINKTYPE_USB_LINUX and LINKTYPE_IEEE802_15_4_WITHFCS.
    pcap(dir.path(), "usb.pcap", 189, &[&[0; 64], &[0; 64]]);
    pcap(dir.path(), "lowpan.pcap", 195, &[&[0x41; 40]]);
    let usb = "usb.pcap: cannot decode 2 frames of link type 189 (";
    let said = run_in(dir.path(), &["decode", "usb.pcap"]).failure(1);
    assert!(said.contains(usb) && said.contains("radiotap") && said.contains("SLL2"), "{said}");
    let said = run_in(dir.path(), &["diff", "usb.pcap", &capture("sll2.pcap")]).failure(1);
    assert!(said.contains(usb), "{said}");
    let said = run_in(dir.path(), &["import", "pcapng", "lowpan.pcap"]).failure(2);
    assert!(said.contains("lowpan.pcap: ") || said.contains("no capture has a program's packet"), "{said}");
    assert!(said.contains("1 frame of link type 195"), "{said}");
    // Beside what is decoded: the answer, and that it is not all.
    let path = capture("sll2.pcap");
    let ran = run_in(dir.path(), &["diff", &path, "usb.pcap", "--sender", "10.0.0.1"]);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    let merged = dir.path().join("merged.pcapng");
    let made = std::process::Command::new("mergecap")
        .args(["-F", "pcapng", "-w"])
        .args([&merged, Path::new(&path), &dir.path().join("usb.pcap")])
        .status();
    assert!(made.expect("Wireshark's tools are installed").success());
    let ran = run_in(dir.path(), &["decode", "merged.pcapng"]);
    assert_eq!((ran.status, ran.out.lines().count()), (Some(1), 13), "{}", ran.err);
    assert!(ran.err.contains("2 frames of link type 189"), "{}", ran.err);
    let ran = run_in(dir.path(), &["diff", "merged.pcapng", &path, "--sender", "10.0.0.1"]);
    assert!(ran.err.contains("merged.pcapng: cannot decode 2 frames of link type 189"), "{}", ran.err);
    assert!(ran.ok().starts_with("sent "));
}

#[test]
fn a_capture_without_routing_messages_is_said_to_have_none() {
    let dir = folder(&[]);
    let arp = [&[0xff; 6][..], &[2, 0, 10, 0, 0, 1, 8, 6], &[0; 28]].concat();
    // Data of 802.11 with the flag Protected Frame.
    let encrypted = [&[8, 0x40, 0, 0][..], &[2; 18], &[0; 40]].concat();
    pcap(dir.path(), "arp.pcap", 1, &[&arp, &arp]);
    pcap(dir.path(), "wpa.pcap", 105, &[&encrypted]);
    pcap(dir.path(), "empty.pcap", 1, &[]);
    for (name, message) in [
        ("arp.pcap", "wayhop: arp.pcap: no routing messages in 2 frames (2 without an IP packet)\n"),
        ("wpa.pcap", "wayhop: wpa.pcap: no routing messages in 1 frames (1 encrypted)\n"),
        ("empty.pcap", "wayhop: empty.pcap: no routing messages in 0 frames\n"),
    ] {
        let ran = run_in(dir.path(), &["decode", name]);
        assert_eq!((ran.status, &ran.out[..], &ran.err[..]), (Some(0), "", message));
    }
}
