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

/// Each packet of the golden captures, with what tshark shows in these fields.
fn each(fields: &[&str], mut check: impl FnMut(&Capture, &GoldenPacket, &[String])) {
    for (folder, c) in captures() {
        let file = folder.join(format!("{}.pcapng", c.name));
        let rows = tshark::fields(&file, "", fields).expect("tshark answers");
        assert_eq!(rows.len(), c.packets.len(), "{}", c.name);
        for (p, row) in c.packets.iter().zip(&rows) {
            check(&c, p, row);
        }
    }
}

#[test]
fn tshark_shows_the_written_value_in_each_field() {
    let captures = captures();
    let packets = captures.iter().flat_map(|(_, c)| &c.packets);
    let named: BTreeSet<&str> = packets
        .flat_map(|p| {
            p.shows.iter().map(|(f, _)| f.as_str()).chain(p.faults.iter().map(|f| f.field.as_str()))
        })
        .collect();
    let named: Vec<&str> = named.into_iter().collect();
    each(&named, |c, p, row| {
        let at = |field: &str| named.iter().position(|n| *n == field).expect("it was asked for");
        let shown = |field| decimal(&row[at(field)]);
        for (field, value) in &p.shows {
            assert_eq!(shown(field), *value, "{}: {}: {field}", c.name, p.title);
        }
        for f in &p.faults {
            let shown = shown(&f.field);
            assert!(f.values.contains(&shown), "{}: {}: {} is {shown}", c.name, p.title, f.field);
        }
        // Every option and extension that is there was written down; a packet without has none.
        for kind in ["dsr.option.type", "aodv.ext_type"] {
            let mut described = p.shows.iter().map(|s| &s.0).chain(p.faults.iter().map(|f| &f.field));
            if !described.any(|f| f == kind) {
                assert_eq!(shown(kind), "", "{}: {}", c.name, p.title);
            }
        }
    });
}

#[test]
fn tshark_finds_no_fault_in_any_golden_capture_but_those_named_beside_it() {
    each(&["_ws.malformed", "_ws.expert.severity", "_ws.expert.message"], |c, p, row| {
        const ERROR: u32 = 0x0080_0000;
        let severe = row[1].split(',').filter_map(|s| s.parse().ok()).any(|s: u32| s >= ERROR);
        let faulty = severe || !row[0].is_empty();
        assert!(!faulty || p.complaints.is_some(), "{}: {}: {}", c.name, p.title, row[2]);
    });
}

#[test]
fn tshark_finds_every_checksum_right() {
    const GOOD: &str = "1";
    each(&["ip.checksum.status", "udp.checksum.status"], |c, p, row| {
        let of_ip = row[0].split(',').all(|s| s == GOOD);
        let of_udp = row[1].is_empty() || row[1] == GOOD || p.complaints.is_some();
        assert!(of_ip && of_udp, "{}: {}: {row:?}", c.name, p.title);
    });
}

#[test]
fn a_comment_says_what_each_packet_is() {
    each(&["frame.comment"], |c, p, row| assert_eq!(row[0], p.title, "{}", c.name));
}
