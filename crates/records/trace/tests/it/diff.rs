//! Packet trace differencing on captures made by hand.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use wayhop_core::{Mac, NodeId, Position, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::diff::{Places, Sender, Sightings, bursts, difference, windows};
use wayhop_trace::{Outputs, PositionEvent, Recorder, RunDir, RunStatus, Summary};
use wayhop_wire::{ipv4, llc};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// LINKTYPE_ETHERNET and LINKTYPE_RAW of tcpdump.org.
const ETHERNET: u32 = 1;
const RAW: u32 = 101;

fn ip(id: u16) -> Vec<u8> {
    let mut p = vec![0; ipv4::HEADER_LEN + 8];
    ipv4::Repr { id, ..ipv4::Repr::new(A, B, ipv4::protocol::UDP, 8) }.emit(&mut p);
    p
}

fn ethernet(from: Mac, packet: &[u8]) -> Vec<u8> {
    [&[0xff; 6][..], &from.0, &llc::IPV4.to_be_bytes(), packet].concat()
}

/// A pcap file (little-endian, microseconds; draft-ietf-opsawg-pcap): frames with their times in microseconds.
fn pcap(link_type: u32, frames: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let mut f = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0];
    f.extend(link_type.to_le_bytes());
    for (us, bytes) in frames {
        let len = bytes.len() as u32;
        for word in [(us / 1_000_000) as u32, (us % 1_000_000) as u32, len, len] {
            f.extend(word.to_le_bytes());
        }
        f.extend(bytes);
    }
    f
}

/// Packets 0, 1, 2, ..., one every 100 ms from `start_us` on, without those in `missing`.
fn every_100_ms(n: u16, start_us: u64, missing: &[u16]) -> Vec<u8> {
    let frames: Vec<_> =
        (0..n).filter(|i| !missing.contains(i)).map(|i| (start_us + u64::from(i) * 100_000, ip(i))).collect();
    pcap(RAW, &frames)
}

fn sent(capture: &[u8]) -> Sightings {
    Sightings::sent(capture, Sender::Ip(A), CLASSIFIER).expect("a capture")
}

fn heard(capture: &[u8]) -> Sightings {
    Sightings::heard(capture, CLASSIFIER).expect("a capture")
}

#[test]
fn what_is_missing_in_the_other_capture_was_lost() {
    let d = difference(&sent(&every_100_ms(10, 0, &[])), &heard(&every_100_ms(10, 4_000, &[3, 4, 9])));
    let lost: Vec<u64> = d.sent.iter().filter(|s| !s.received).map(|s| s.frame).collect();
    assert_eq!(lost, [4, 5, 10], "frames are counted from 1");
    assert_eq!((d.sent.len(), d.lost(), d.clock_offset_ns), (10, 3, 4_000_000));
}

#[test]
fn clocks_may_differ_by_hours() {
    let d = difference(&sent(&every_100_ms(50, 7_200_000_000, &[])), &heard(&every_100_ms(50, 500, &[7])));
    assert_eq!((d.lost(), d.clock_offset_ns), (1, -7_199_999_500_000));
}

#[test]
fn copies_of_a_packet_are_told_apart_by_time() {
    // Packet 1 goes out three times; the second copy alone arrives.
    let a = pcap(RAW, &[(0, ip(0)), (100_000, ip(1)), (160_000, ip(1)), (220_000, ip(1)), (300_000, ip(2))]);
    let b = pcap(RAW, &[(2_000, ip(0)), (162_000, ip(1)), (302_000, ip(2))]);
    let d = difference(&sent(&a), &heard(&b));
    let received: Vec<bool> = d.sent.iter().map(|s| s.received).collect();
    assert_eq!(received, [true, false, true, false, true]);
}

#[test]
fn what_a_busy_host_notes_late_was_received_all_the_same() {
    // 1 ms of flight; the third packet is noted 9 ms after it left, and the receiver seems to have had it before.
    let a = pcap(RAW, &[(0, ip(0)), (100_000, ip(1)), (209_000, ip(2)), (300_000, ip(3)), (400_000, ip(4))]);
    let b = pcap(RAW, &[(1_000, ip(0)), (101_000, ip(1)), (201_000, ip(2)), (301_000, ip(3))]);
    let d = difference(&sent(&a), &heard(&b));
    let received: Vec<bool> = d.sent.iter().map(|s| s.received).collect();
    assert_eq!((received, d.clock_offset_ns), (vec![true, true, true, true, false], 1_000_000));
}

#[test]
fn a_copy_that_a_third_node_passed_on_does_not_count() {
    let (a, c) = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 3]));
    let first = pcap(ETHERNET, &[(0, ethernet(a, &ip(0))), (100_000, ethernet(a, &ip(1)))]);
    let second = pcap(ETHERNET, &[(2_000, ethernet(a, &ip(0))), (120_000, ethernet(c, &ip(1)))]);
    let sent = Sightings::sent(&first[..], Sender::Mac(a), CLASSIFIER).expect("a capture");
    assert_eq!(difference(&sent, &heard(&second)).lost(), 1);
}

#[test]
fn identification_that_begins_anew_is_no_match() {
    let a = pcap(RAW, &[(0, ip(0)), (100_000, ip(5)), (9_000_000, ip(1)), (60_000_000, ip(5))]);
    let b = pcap(RAW, &[(0, ip(0)), (9_000_000, ip(1)), (60_000_000, ip(5))]);
    let d = difference(&sent(&a), &heard(&b));
    let lost: Vec<u64> = d.sent.iter().filter(|s| !s.received).map(|s| s.time_ns).collect();
    assert_eq!(lost, [100_000_000]);
}

#[test]
fn a_capture_that_does_not_tell_who_sent_needs_a_sender() {
    let a = every_100_ms(3, 0, &[]);
    let e = Sightings::sent(&a[..], Sender::Marked, CLASSIFIER).expect_err("no marks in pcap");
    assert!(e.to_string().contains("--sender"), "{e}");
}

#[test]
fn bursts_are_windows_over_their_share_and_neighbours_are_one() {
    // 100 packets in 10 s. Losses: 10 in the third and 4 in the fourth second, 1 in the eighth.
    let missing: Vec<u16> = (20..30).chain(30..34).chain([70]).collect();
    let d = difference(&sent(&every_100_ms(100, 0, &[])), &heard(&every_100_ms(100, 0, &missing)));
    let w = windows(&d, 1_000_000_000);
    assert_eq!(w.iter().map(|w| w.lost).collect::<Vec<_>>(), [0, 0, 10, 4, 0, 0, 0, 1, 0, 0]);
    assert!(w.iter().all(|w| w.sent == 10));
    // Ten per cent of 15 losses is 1.5.
    let found = bursts(&d, 1_000_000_000, 0.1);
    assert_eq!(found.len(), 1);
    let b = found[0];
    assert_eq!((b.from_ns, b.to_ns, b.sent, b.lost), (2_000_000_000, 4_000_000_000, 20, 14));
    // The mean of 2.0, 2.1, ... 3.3 s.
    assert_eq!(b.centre_ns, 2_650_000_000);
    assert_eq!(bursts(&d, 1_000_000_000, 0.05).len(), 2);
}

#[test]
fn places_are_those_of_the_runs_legs() {
    let tmp = tempfile::tempdir().expect("a directory");
    let dir = RunDir::create(tmp.path().join("run"), &crate::common::manifest(), CLASSIFIER).expect("a run");
    let mut r =
        Recorder::start(dir.clone(), &Outputs::default(), crate::common::nodes(2)).expect("a recorder");
    let leg = |node, from, until, x, vx| PositionEvent {
        time: Time::from_nanos(from),
        until,
        node: NodeId(node),
        at: Position::new(x, 50.0, 0.0),
        velocity: Position::new(vx, 0.0, 0.0),
    };
    r.position(&leg(0, 0, Time::from_nanos(10_000_000_000), 100.0, 5.0));
    r.position(&leg(0, 10_000_000_000, Time::NEVER, 150.0, 0.0));
    r.position(&leg(1, 0, Time::NEVER, 7.0, 0.0));
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("written");
    let places = Places::of_run(&dir).expect("readable");
    let (a, b) = (places.find("n0").expect("a node"), places.find("n1").expect("a node"));
    assert_eq!(places.at(a, 4_000_000_000), Some(Position::new(120.0, 50.0, 0.0)));
    assert_eq!(places.at(a, 60_000_000_000), Some(Position::new(150.0, 50.0, 0.0)));
    assert_eq!(places.at(b, 1), Some(Position::new(7.0, 50.0, 0.0)));
    assert_eq!((places.at(NodeId(9), 0), places.find("n9")), (None, None));
}

#[test]
fn a_damaged_table_is_an_error() {
    let tmp = tempfile::tempdir().expect("a directory");
    let dir = RunDir::create(tmp.path().join("run"), &crate::common::manifest(), CLASSIFIER).expect("a run");
    std::fs::write(dir.path().join("nodes.parquet"), b"PAR1 no table PAR1").expect("written");
    assert!(Places::of_run(&dir).is_err());
}

proptest! {
    #[test]
    fn no_captures_break_it(a in proptest::collection::vec((any::<u64>(), any::<u8>(), any::<[u8; 8]>()), 0..30)) {
        // Times up to the ends of what 32 bits of seconds hold, few identifications, octets anywhere.
        let frames: Vec<_> = a.iter().map(|(us, id, noise)| {
            let mut p = ip(u16::from(*id % 4));
            let at = noise[0] as usize % p.len();
            p[at] ^= noise[1];
            (us % 4_294_967_296_000_000, p)
        }).collect();
        let capture = pcap(RAW, &frames);
        let (s, h) = (sent(&capture), heard(&capture));
        let d = difference(&s, &h);
        prop_assert_eq!(d.sent.len(), s.len());
        let lost: usize = windows(&d, 1).iter().map(|w| w.lost).sum();
        prop_assert_eq!(lost, d.lost());
        bursts(&d, 1_000_000_000, 0.0);
    }

    #[test]
    fn what_is_dropped_at_random_is_what_is_lost(missing in proptest::collection::btree_set(0_u16..200, 0..200), offset in 0_u64..1_000_000_000) {
        let missing: Vec<u16> = missing.into_iter().collect();
        let d = difference(&sent(&every_100_ms(200, 0, &[])), &heard(&every_100_ms(200, offset, &missing)));
        let lost: Vec<u64> = d.sent.iter().filter(|s| !s.received).map(|s| s.frame - 1).collect();
        let expected: Vec<u64> = missing.iter().map(|i| u64::from(*i)).collect();
        prop_assert_eq!(lost, expected);
    }
}
