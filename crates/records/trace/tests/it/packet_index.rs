//! The index that a run writes says what its table says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tempfile::TempDir;
use wayhop_core::{DropReason, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    CountOf, HopEvent, HopKind, Outputs, PacketClass, PacketIndex, Recorder, RunDir, RunStatus, Summary,
    Tables,
};

use crate::common::{hop, manifest, nodes};

const INDEX: &str = "packets.index";
const MS: u64 = 1_000_000;

fn start(dir: &Path) -> (RunDir, Recorder) {
    let run = RunDir::create(dir, &manifest(), CLASSIFIER).expect("an empty directory");
    let recorder = Recorder::start(run.clone(), &Outputs::default(), nodes(3)).expect("a recorder");
    (run, recorder)
}

/// Events of all kinds, data and routing packets, one a millisecond.
fn event(i: u64) -> HopEvent {
    let kind = HopKind::ALL[(i % 8) as usize];
    let reasons = [DropReason::NoRoute, DropReason::QueueFull];
    let class = |name| PacketClass::Control(wayhop_protocols::class("dsr", name).expect("DSR has it"));
    HopEvent {
        time: Time::from_nanos(i * MS),
        kind,
        reason: (kind == HopKind::Drop).then(|| reasons[(i / 8 % 2) as usize]),
        class: [PacketClass::Cbr, class("rreq"), class("rrep")][(i % 3) as usize],
        ..hop(i)
    }
}

fn read(run: &RunDir) -> Option<PacketIndex> {
    let rows = wayhop_trace::open_table(run, "packets").expect("a table");
    let rows = parquet::file::reader::FileReader::metadata(&rows).file_metadata().num_rows();
    PacketIndex::read(run.path(), rows.unsigned_abs()).expect("no other index")
}

#[test]
fn a_run_leaves_an_index_with_the_counts_of_its_table() {
    let dir = TempDir::new().expect("a directory");
    let (run, mut r) = start(dir.path());
    // More than two row groups, and not a multiple of the batch.
    (0..300_001).for_each(|i| r.hop(&event(i)));
    assert!(!dir.path().join(INDEX).exists(), "while rows come there is none");
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    let index = read(&run).expect("an index");
    assert_eq!(index.rows(), 300_001);
    let interval = index.interval_for(301 * 1_000 * MS, 301);
    let mut by_row: BTreeMap<(String, u64), u64> = BTreeMap::new();
    let mut lost = Vec::new();
    let of = |what: &str, e: &HopEvent| (what.to_owned(), e.time.as_nanos() / interval);
    let count = &mut |e: HopEvent| {
        let routing = e.class.protocol().map(|_| format!("routing/{}", e.class.name()));
        let named = match e.kind {
            HopKind::Drop => e.reason.map(|r| format!("drop/{}", r.name())),
            HopKind::Send | HopKind::Forward => routing,
            _ => None,
        };
        for name in [Some(e.kind.name().to_owned()), named].into_iter().flatten() {
            *by_row.entry(of(&name, &e)).or_default() += 1;
        }
        if e.kind == HopKind::Drop {
            lost.push((e.time.as_nanos(), e.node.0, e.packet.0));
        }
        Ok(())
    };
    Tables::of(&run, "dsr").packets(count).expect("rows");
    let mut indexed = BTreeMap::new();
    for (i, of) in index.columns().enumerate() {
        for (at, n) in (0..).zip(index.counts(i, interval, 301)).filter(|(_, n)| *n > 0) {
            indexed.insert((of.to_string(), at), n);
        }
    }
    assert_eq!(indexed, by_row);
    assert!(index.columns().any(|c| *c == CountOf::Routing("rreq".to_owned())));
    let listed: Vec<_> =
        index.losses().iter().map(|l| (l.time_ns, l.node, l.packet.expect("a number"))).collect();
    assert_eq!(listed, lost);
}

#[test]
fn the_index_of_an_older_run_is_gone_once_a_new_one_begins() {
    let dir = TempDir::new().expect("a directory");
    let (run, mut r) = start(dir.path());
    r.hop(&event(1));
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    assert_eq!(read(&run).map(|index| index.rows()), Some(1));
    let (_, r) = start(dir.path());
    assert!(!dir.path().join(INDEX).exists());
    drop(r);
}

#[test]
fn an_index_is_of_one_table_only() {
    let [a, b] = [0, 1].map(|first| {
        let dir = TempDir::new().expect("a directory");
        let (run, mut r) = start(dir.path());
        // The same number of rows, of the same length in the file.
        (0..1_000).for_each(|i| r.hop(&HopEvent { time: Time::from_nanos(first + i * MS), ..event(i) }));
        r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
        (dir, run)
    });
    fs::copy(a.0.path().join(INDEX), b.0.path().join(INDEX)).expect("a copy");
    let e = PacketIndex::read(b.1.path(), 1_000).expect_err("not its own").to_string();
    assert!(e.contains(INDEX) && e.contains("another packets.parquet"), "{e}");
    let e = PacketIndex::read(a.1.path(), 999).expect_err("another number of rows").to_string();
    assert!(e.contains("another packets.parquet"), "{e}");
    fs::write(a.0.path().join(INDEX), b"{}").expect("a file");
    let e = PacketIndex::read(a.1.path(), 1_000).expect_err("no index").to_string();
    assert!(e.contains("not an index of this version"), "{e}");
}
