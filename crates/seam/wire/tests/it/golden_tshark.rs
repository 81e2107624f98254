//! tshark shows in the golden captures (captures/rfc3561, captures/rfc4728) what was written down beside them.
//!
//! Where tshark is wrong the source says so (`fault`, `complaints`); a tshark that is right there passes, too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::decimal;
use wayhop_testkit::golden::{self, Capture, GoldenPacket};
use wayhop_testkit::tshark;

/// Every capture, with the folder that it is in.
fn captures() -> Vec<(PathBuf, Capture)> {
    let in_folder = |rfc: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures").join(rfc);
        let captures = golden::read_all(&folder).expect("the sources are in the repository");
        captures.into_iter().map(move |c| (folder.clone(), c))
    };
    ["rfc3561", "rfc4728"].into_iter().flat_map(in_folder).collect()
}

/// What tshark shows in every packet, beside the fields that the sources name.
const FIXED: [&str; 6] = [
    "frame.comment",
    "ip.checksum.status",
    "udp.checksum.status",
    "_ws.malformed",
    "_ws.expert.severity",
    "_ws.expert.message",
];

// tshark takes longer to start than to read: it is asked once for all fields.
#[test]
fn tshark_shows_what_is_written_beside_each_packet_and_no_other_fault() {
    let captures = captures();
    let packets = captures.iter().flat_map(|(_, c)| &c.packets);
    let named: BTreeSet<&str> = packets
        .flat_map(|p| {
            p.shows.iter().map(|(f, _)| f.as_str()).chain(p.faults.iter().map(|f| f.field.as_str()))
        })
        .collect();
    let fields: Vec<&str> = FIXED.into_iter().chain(named).collect();
    for (folder, c) in &captures {
        let file = folder.join(format!("{}.pcapng", c.name));
        let rows = tshark::fields(&file, "", &fields).expect("tshark answers");
        assert_eq!(rows.len(), c.packets.len(), "{}", c.name);
        for (p, row) in c.packets.iter().zip(&rows) {
            let at = |field: &str| &row[fields.iter().position(|f| *f == field).expect("it was asked for")];
            let place = format!("{}: {}", c.name, p.title);
            assert_eq!(*at("frame.comment"), p.title, "{place}");
            checksums_are_right(p, at, &place);
            no_other_fault(p, at, &place);
            values_are_shown(p, at, &place);
        }
    }
}

fn checksums_are_right<'a>(p: &GoldenPacket, at: impl Fn(&str) -> &'a String, place: &str) {
    const GOOD: &str = "1";
    let of_ip = at("ip.checksum.status").split(',').all(|s| s == GOOD);
    let udp = at("udp.checksum.status");
    assert!(of_ip && (udp.is_empty() || udp == GOOD || p.complaints.is_some()), "{place}: UDP {udp}");
}

fn no_other_fault<'a>(p: &GoldenPacket, at: impl Fn(&str) -> &'a String, place: &str) {
    const ERROR: u32 = 0x0080_0000;
    let severities = at("_ws.expert.severity").split(',').filter_map(|s| s.parse().ok());
    let severe = severities.into_iter().any(|s: u32| s >= ERROR);
    let faulty = severe || !at("_ws.malformed").is_empty();
    assert!(!faulty || p.complaints.is_some(), "{place}: {}", at("_ws.expert.message"));
}

fn values_are_shown<'a>(p: &GoldenPacket, at: impl Fn(&str) -> &'a String, place: &str) {
    let shown = |field: &str| decimal(at(field));
    for (field, value) in &p.shows {
        assert_eq!(shown(field), *value, "{place}: {field}");
    }
    for f in &p.faults {
        let shown = shown(&f.field);
        assert!(f.values.contains(&shown), "{place}: {} is {shown}", f.field);
    }
    // Every option and extension that is there was written down; a packet without has none.
    for kind in ["dsr.option.type", "aodv.ext_type"] {
        let mut described = p.shows.iter().map(|s| &s.0).chain(p.faults.iter().map(|f| &f.field));
        if !described.any(|f| f == kind) {
            assert_eq!(shown(kind), "", "{place}");
        }
    }
}
