//! Reports of nodes: logs, datagrams, collectors.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::Path;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use serde_json::Value;
use wayhop_control::Place;
use wayhop_control::monitor::{Collector, LONGEST_DATAGRAM, LogFile, Report, Reporter};
use wayhop_core::Fix;

const FROM: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 3));
/// The most that a collector's folder has, octets.
const LIMIT: u64 = 1 << 30;

fn at(s: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + s)
}

fn counters(n: usize) -> BTreeMap<String, u64> {
    (0..n).map(|i| (format!("counter_{i:04}"), u64::MAX - i as u64)).collect()
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("a file");
    text.lines().map(|l| serde_json::from_str(l).unwrap_or(Value::Null)).collect()
}

#[test]
fn a_report_is_in_the_log_and_comes_to_the_collector_over_udp() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("logs").join("node.jsonl");
    let mut reporter = Reporter::new("mesh-2", Some(LogFile::new(&log, 1 << 20, 1)));
    let fix = Fix { latitude_deg: 40.0, longitude_deg: -79.0, heading_deg: 180.0, speed_m_per_s: 9.0 };
    let datagram = reporter.report(at(0), &counters(2), Some(&fix), None);

    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let sender = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    sender.send_to(&datagram, socket.local_addr().expect("an address")).expect("sent");
    let mut buffer = [0; 2048];
    let (n, from) = socket.recv_from(&mut buffer).expect("received");
    let mut collector = Collector::new(&folder.path().join("collected"), LIMIT);
    let got = collector.receive(from.ip(), at(1), &buffer[..n]).expect("a report");

    assert_eq!((got.report.node.as_str(), got.report.number, got.lost), ("mesh-2", 0, 0));
    assert_eq!(got.report.counters, counters(2));
    assert!(matches!(got.report.position, Some(Place::Earth { latitude_deg: 40.0, .. })));
    let local = &lines(&log)[0];
    let collected = &lines(&folder.path().join("collected").join("mesh-2_127.0.0.1.jsonl"))[0];
    assert_eq!(collected["from"], "127.0.0.1");
    assert_eq!(collected["received_unix_s"], 1_700_000_001.0);
    for (key, value) in local.as_object().expect("an object") {
        assert_eq!(&collected[key], value, "{key}");
    }
}

#[test]
fn losing_the_mesh_loses_nothing_of_the_log_and_the_gap_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("node.jsonl");
    let mut reporter = Reporter::new("n", Some(LogFile::new(&log, 1 << 20, 1)));
    let mut collector = Collector::new(folder.path(), LIMIT);
    let datagrams: Vec<_> = (0..10).map(|s| reporter.report(at(s), &counters(1), None, None)).collect();
    let mut lost = Vec::new();
    for n in [0, 1, 5, 4, 9] {
        lost.push(collector.receive(FROM, at(20), &datagrams[n]).expect("a report").lost);
    }
    // 2, 3, 4 are missing; then 4 comes late; then 6, 7, 8 are missing, too.
    assert_eq!(lost, [0, 0, 3, 2, 5]);
    assert_eq!(lines(&log).len(), 10);
    // The node starts again: its numbers restart, and nothing more is lost.
    let mut again = Reporter::new("n", None);
    let datagram = again.report(at(100), &counters(1), None, None);
    assert_eq!(collector.receive(FROM, at(100), &datagram).expect("a report").lost, 5);
}

#[test]
fn a_datagram_stays_within_its_bound_and_says_what_is_left_out() {
    let mut reporter = Reporter::new("n", None);
    for n in [0, 1, 20, 500] {
        let datagram = reporter.report(at(0), &counters(n), None, None);
        assert!(datagram.len() <= LONGEST_DATAGRAM, "{}", datagram.len());
        let report = Report::parse(&datagram).expect("a report");
        assert_eq!(report.counters.len() as u64 + report.counters_left_out, n as u64);
        assert!(n < 500 || report.counters.len() > 20, "what fits is there");
    }
}

#[test]
fn a_log_is_rotated_by_size_and_keeps_so_many_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    let mut log = LogFile::new(&path, 100, 2);
    for n in 0..40 {
        log.append(&format!("{{\"n\":{},\"text\":\"twenty octets of it\"}}", 100 + n)).expect("a line");
    }
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(names, ["a.jsonl", "a.jsonl.1", "a.jsonl.2"]);
    let mut numbers = Vec::new();
    for name in ["a.jsonl.2", "a.jsonl.1", "a.jsonl"] {
        let path = folder.path().join(name);
        assert!(std::fs::metadata(&path).expect("a file").len() <= 100);
        numbers.extend(lines(&path).iter().map(|l| l["n"].as_u64().unwrap_or(999)));
    }
    let newest: Vec<u64> = (140 - numbers.len() as u64..140).collect();
    assert_eq!(numbers, newest, "the newest, in order, none twice");
}

#[test]
fn a_full_disk_costs_the_log_its_lines_and_the_node_nothing() {
    let full = Path::new("/dev/full");
    let mut reporter = Reporter::new("n", Some(LogFile::new(full, 1 << 20, 1)));
    let datagram = reporter.report(at(0), &counters(1), None, None);
    assert_eq!(Report::parse(&datagram).expect("it is sent").not_logged, 1);
    assert!(reporter.trouble().is_some_and(|t| t.contains("space")), "{:?}", reporter.trouble());
    let datagram = reporter.report(at(1), &counters(1), None, None);
    assert_eq!(Report::parse(&datagram).expect("it is sent").not_logged, 2);
}

#[test]
fn a_line_after_a_torn_one_begins_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "{\"whole\":1}\n{\"to").expect("what a killed node left");
    LogFile::new(&path, 1 << 20, 1).append("{\"whole\":2}").expect("a line");
    let text = std::fs::read_to_string(&path).expect("a file");
    assert_eq!(text, "{\"whole\":1}\n{\"to\n{\"whole\":2}\n");
}

fn report(node: &str, number: u64) -> Vec<u8> {
    Report { wayhop_report: 1, node: node.to_owned(), number, ..Report::default() }.to_datagram()
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).expect("a folder").count()
}

#[test]
fn hostile_names_stay_in_the_folder_and_files_per_address_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("in");
    let mut collector = Collector::new(&inside, LIMIT);
    let honest = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 9));
    collector.receive(honest, at(0), &report("honest", 0)).expect("a report");
    for n in 0..3000 {
        collector.receive(FROM, at(0), &report(&format!("../../{n}/etc\\\"x"), 7)).expect("a report");
    }
    // 16 nodes with 4 files each.
    assert_eq!(files(&inside), 1 + 64);
    assert_eq!(files(folder.path()), 1);
    let got = collector.receive(honest, at(1), &report("honest", 3)).expect("a report");
    assert_eq!((got.lost, got.gone.len()), (2, 0), "another address's forgeries make nobody forget it");
}

#[test]
fn forged_addresses_lock_nobody_out_and_fill_no_more_than_the_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    // Of 4096 octets each, as file systems count: room for 2000 files.
    let limit = 2000 * 4096;
    let mut collector = Collector::new(folder.path(), limit);
    let mut gone = 0;
    for n in 0..6000 {
        let forged = IpAddr::V4(Ipv4Addr::from_bits(0x0a01_0000 + n));
        gone += collector.receive(forged, at(0), &report("forged", 0)).expect("a report").gone.len();
        if n % 100 == 0 {
            let honest = report("honest", u64::from(n) / 100);
            assert_eq!(collector.receive(FROM, at(0), &honest).expect("a report").lost, 0, "after {n}");
        }
    }
    assert!(gone >= 3900, "{gone} files made room");
    assert!(files(folder.path()) <= 2000, "{} files", files(folder.path()));
    let log = lines(&folder.path().join("honest_10.0.0.3.jsonl"));
    assert_eq!(log.len(), 60, "one that goes on reporting keeps its file");
    // What an earlier collector left counts, too.
    let mut again = Collector::new(folder.path(), 100 * 4096);
    again.receive(FROM, at(1), &report("honest", 60)).expect("a report");
    assert!(files(folder.path()) <= 100, "{} files", files(folder.path()));
    assert_eq!(lines(&folder.path().join("honest_10.0.0.3.jsonl")).len(), 61);
}

#[test]
fn files_that_are_no_reports_are_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["notes.txt", "a_b.json", "mesh.jsonl", "mesh_10.0.0.3.jsonl.old"] {
        std::fs::write(folder.path().join(name), vec![b'x'; 9000]).expect("a file");
    }
    let mut collector = Collector::new(folder.path(), 2 * 4096);
    for n in 0..20 {
        collector.receive(FROM, at(n), &report(&format!("node-{n}"), 0)).expect("a report");
    }
    assert_eq!(files(folder.path()), 4 + 2);
}

proptest! {
    #[test]
    fn any_datagram_is_taken_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..1300), noise in ".{0,200}") {
        let _ = Report::parse(&bytes);
        let _ = Report::parse(noise.as_bytes());
        let _ = Report::parse(format!("{{\"wayhop_report\":1,\"node\":\"n\",{noise}}}").as_bytes());
    }

    #[test]
    fn any_report_fits_and_comes_back(
        node in ".{1,100}", number in any::<u64>(),
        counters in proptest::collection::btree_map(".{0,40}", any::<u64>(), 0..60),
    ) {
        let report = Report { wayhop_report: 1, node, number, counters, ..Report::default() };
        let datagram = report.to_datagram();
        prop_assert!(datagram.len() <= LONGEST_DATAGRAM);
        let back: Report = serde_json::from_slice(&datagram).expect("JSON");
        prop_assert_eq!(back.number, report.number);
        prop_assert!(back.counters.iter().all(|(k, v)| report.counters.get(k) == Some(v)));
    }
}
