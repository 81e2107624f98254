//! Runs that record a part of their rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use parquet::record::RowAccessor as _;
use tempfile::TempDir;
use wayhop_core::{NodeId, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    HopEvent, Outcome, Outputs, PacketIndex, PacketOutcome, PacketQuery, PartialRecord, Recorder, RunDir,
    RunStatus, Selection, SizeEvent, SizeLimit, Summary, open_table, stories, what_is_left_out,
};

use crate::common::{hop, manifest, nodes, rows};

/// Hops of the run that is too long for its limit: four row groups, of more than 500 kB each.
const HOPS: u64 = 524_288 + 100;
const LIMIT: u64 = 600_000;

/// A hop with a cell that does not compress.
fn noisy(i: u64) -> HopEvent {
    HopEvent { signal_dbm: (i * 2_654_435_761 % 1_000_003) as f32 / -9_999.0, ..hop(i) }
}

fn start(dir: &TempDir, selection: Selection) -> (RunDir, Recorder) {
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let outputs = Outputs { selection, sizes: true, ..Outputs::default() };
    let recorder = Recorder::start(run.clone(), &outputs, nodes(3)).expect("a recorder");
    (run, recorder)
}

fn limited(bytes: u64) -> Selection {
    Selection { limit: Some(SizeLimit { bytes, end: hop(HOPS).time }), ..Selection::default() }
}

fn size(i: u64) -> SizeEvent {
    SizeEvent {
        time: Time::from_nanos(i),
        node: NodeId(0),
        what: "queue",
        iface: wayhop_core::IfaceId::ANY,
        count: i,
    }
}

/// Records all hops, with checkpoints at moments that depend on `pace`, and returns the summary.
fn record(dir: &TempDir, selection: Selection, pace: u64) -> Summary {
    let (_, mut r) = start(dir, selection);
    for i in 0..HOPS {
        r.hop(&noisy(i));
        if i % pace == 0 {
            r.begin(Summary::default());
        }
    }
    r.outcome(&PacketOutcome { packet: hop(1).flow.expect("a flow"), outcome: Outcome::Delivered, nodes: 1 });
    let mut summary = Summary::default();
    r.finish(&mut summary, RunStatus::Complete).expect("room on the disk");
    summary
}

fn packets(dir: &TempDir) -> u64 {
    fs::metadata(dir.path().join("packets.parquet")).expect("the table").len()
}

#[test]
fn a_run_over_its_limit_keeps_whole_packets_and_says_from_when_on() {
    let [whole, dir, again] = [0; 3].map(|_| TempDir::new().expect("a directory"));
    assert_eq!(record(&whole, Selection::default(), 99_991).record, None);
    let summary = record(&dir, limited(LIMIT), 99_991);
    let record_said = summary.record.expect("a part");
    let [first, ..] = &record_said.thinned[..] else { panic!("{record_said:?}") };
    assert!(packets(&whole) > 3 * LIMIT && packets(&dir) < packets(&whole) * 2 / 3, "{}", packets(&dir));
    // All rows up to that moment, and all or none of a packet that began later.
    let (mut before, mut after) = (0, BTreeMap::new());
    for row in rows(dir.path(), "packets") {
        let (at, packet) = (row.get_long(0).expect("time_ns"), row.get_long(3).expect("packet"));
        if at as f64 / 1e9 <= first.from_s {
            before += 1;
        } else {
            *after.entry(packet).or_insert(0) += 1;
        }
    }
    assert_eq!(before, (first.from_s * 1e6).round() as u64 + 1, "an event each microsecond");
    let whole_packets = after.values().filter(|n| **n == 4).count();
    assert!(!after.is_empty() && after.len() - whole_packets <= 2, "{after:?}");
    let share = after.len() as f64 / ((HOPS - before) as f64 / 4.0);
    assert!(share <= 2.0 * first.share, "{share} of {}", first.share);
    // The counts over time are those of the run, and outcomes stay.
    let run = RunDir::open(dir.path(), CLASSIFIER).expect("a run");
    let in_table = rows(dir.path(), "packets").len() as u64;
    let index = PacketIndex::read(dir.path(), in_table).expect("its index").expect("an index");
    let interval = index.interval_for(hop(HOPS).time.as_nanos(), 64);
    let counted: u64 = (0..8).flat_map(|i| index.counts(i, interval, 64)).sum();
    assert_eq!(counted, HOPS);
    assert_eq!(rows(dir.path(), "outcomes").len(), 1);
    let said = what_is_left_out(&run).expect("a manifest").expect("a part");
    assert!(said.contains("then 1 in ") && said.contains("output.limit_mb"), "{said}");
    // How far the writer has come when it is asked makes no difference.
    record(&again, limited(LIMIT), 7_919);
    let bytes = |d: &TempDir| fs::read(d.path().join("packets.parquet")).expect("the table");
    assert!(bytes(&dir) == bytes(&again), "the same rows");
}

#[test]
fn a_run_that_fits_is_the_same_as_without_a_limit() {
    let [whole, dir] = [0; 2].map(|_| TempDir::new().expect("a directory"));
    record(&whole, Selection::default(), 99_991);
    let summary = record(&dir, limited(packets(&whole) + 10_000), 7_919);
    assert_eq!(summary.record, None);
    let bytes = |d: &TempDir| fs::read(d.path().join("packets.parquet")).expect("the table");
    assert!(bytes(&dir) == bytes(&whole));
}

#[test]
fn a_run_without_packets_has_a_clock_for_its_limit() {
    let dir = TempDir::new().expect("a directory");
    let tables = Some(vec!["sizes".to_owned()]);
    let (_, mut r) = start(&dir, Selection { tables, ..limited(50_000) });
    for i in 0..HOPS {
        let noise = i * 2_654_435_761 % 1_000_003;
        r.size(&SizeEvent { time: hop(i).time, node: NodeId((i % 512) as u32), count: noise, ..size(i) });
    }
    let mut summary = Summary::default();
    r.finish(&mut summary, RunStatus::Complete).expect("room on the disk");
    let record = summary.record.expect("a part");
    // A record that does not know how far the run is keeps 1 in 64.
    let [first, ..] = &record.thinned[..] else { panic!("{record:?}") };
    assert!(first.from_s > 0.1 * hop(HOPS).time.as_secs_f64() && first.share < 1.0 / 64.0, "{first:?}");
}

#[test]
fn tables_that_are_not_listed_are_missing_and_readers_name_the_key() {
    let dir = TempDir::new().expect("a directory");
    let tables = Some(vec!["packets".to_owned()]);
    let (run, mut r) = start(&dir, Selection { tables, ..Selection::default() });
    (0..8).for_each(|i| r.hop(&hop(i)));
    r.size(&size(1));
    let mut summary = Summary::default();
    r.finish(&mut summary, RunStatus::Complete).expect("room on the disk");
    let entries = fs::read_dir(dir.path()).expect("a directory").flatten();
    let found: BTreeSet<String> = entries
        .filter_map(|e| e.file_name().into_string().ok()?.strip_suffix(".parquet").map(str::to_owned))
        .collect();
    assert_eq!(found, ["nodes", "packets"].map(str::to_owned).into());
    let left_out = summary.record.clone().expect("a part").tables;
    assert!(left_out.contains(&"sizes".to_owned()) && left_out.contains(&"flows".to_owned()), "{left_out:?}");
    assert!(!left_out.contains(&"receptions".to_owned()), "the run would not have had it: {left_out:?}");
    assert_eq!(run.manifest().expect("a manifest").record, summary.record);
    let e = open_table(&run, "sizes").err().expect("no table").to_string();
    assert!(e.contains("sizes.parquet") && e.contains("output.tables"), "{e}");
    let told = stories(&run, PacketQuery::Packet(1)).expect("a story without decisions and remarks");
    assert_eq!(told[0].steps.len(), 4);
}

#[test]
fn no_tables_leave_a_manifest_and_a_summary() {
    let dir = TempDir::new().expect("a directory");
    let outputs = Outputs {
        tables: false,
        selection: Selection { tables: Some(Vec::new()), ..Selection::default() },
        ..Outputs::default()
    };
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let mut r = Recorder::start(run.clone(), &outputs, nodes(3)).expect("a recorder");
    r.hop(&hop(1));
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    let mut names: Vec<_> =
        fs::read_dir(dir.path()).expect("a directory").flatten().map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(names, ["manifest.json", "summary.json"]);
    let e = open_table(&run, "packets").err().expect("no table").to_string();
    assert!(e.contains("output.tables"), "{e}");
}

#[test]
fn only_chosen_nodes_have_rows() {
    let dir = TempDir::new().expect("a directory");
    let (_, mut r) = start(&dir, Selection { nodes: Some(vec![NodeId(2)]), ..Selection::default() });
    for i in 0..30 {
        r.hop(&hop(i));
        r.size(&size(i));
    }
    let mut summary = Summary::default();
    let hash = r.hash();
    r.finish(&mut summary, RunStatus::Complete).expect("room on the disk");
    let all = rows(dir.path(), "packets");
    assert_eq!(all.len(), 10);
    assert!(all.iter().all(|row| row.get_int(1).expect("node") == 2));
    assert!(rows(dir.path(), "sizes").is_empty());
    assert_eq!(summary.record, Some(PartialRecord { nodes: Some(vec![2]), ..PartialRecord::default() }));
    let mut whole = Recorder::hash_only();
    (0..30).for_each(|i| whole.hop(&hop(i)));
    assert_eq!(hash, whole.hash());
}

#[test]
fn long_lists_of_the_summary_are_left_out_with_their_length() {
    let dir = TempDir::new().expect("a directory");
    let (run, r) = start(&dir, Selection::default());
    let one = |node| wayhop_trace::ApplicationSummary::new(node, "beacon");
    let mut summary = Summary { applications: (0..10_001).map(one).collect(), ..Summary::default() };
    r.finish(&mut summary, RunStatus::Complete).expect("room on the disk");
    let read = run.summary().expect("a summary");
    assert!(read.applications.is_empty());
    let lists = read.record.expect("a part").summary_lists;
    assert_eq!(lists, [("applications".to_owned(), 10_001)].into());
}
