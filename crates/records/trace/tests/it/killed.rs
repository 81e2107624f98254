//! Killed runs: the contents of their tables, and their recovery.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crc::{CRC_32_ISO_HDLC, Crc};
use parquet::file::reader::FileReader as _;
use parquet::record::Row;
use proptest::prelude::*;
use tempfile::TempDir;
use wayhop_core::{FlowTag, NodeId, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    Error, FlowSummary, HopEvent, HopKind, Outputs, PacketClass, Recorder, RunDir, RunStatus, SizeEvent,
    Summary, export_csv, open_table, outcome_rows, recover,
};

use crate::common::{hop, manifest, nodes, rows};

const CHECKPOINT: &str = "tables.checkpoint";

fn known() -> Summary {
    let flow = |id| FlowSummary {
        id,
        kind: "cbr".to_owned(),
        src: id,
        dst: (id + 1) % 3,
        sent: Some(0),
        dropped: Some(0),
        held: Some(0),
        ..FlowSummary::default()
    };
    Summary {
        world: "sim".into(),
        protocol: "dsr".into(),
        flows: (0..3).map(flow).collect(),
        ..Summary::default()
    }
}

fn size(i: u64) -> SizeEvent {
    SizeEvent {
        time: Time::from_nanos(i * 1_000),
        node: NodeId(0),
        what: "queue",
        iface: wayhop_core::IfaceId::ANY,
        count: i,
    }
}

/// A run that goes on.
fn start(dir: &Path) -> Recorder {
    let run = RunDir::create(dir, &manifest(), CLASSIFIER).expect("an empty directory");
    Recorder::start(run, &Outputs { sizes: true, ..Outputs::default() }, nodes(3)).expect("a recorder")
}

/// What a kill at this moment would leave. Files only grow, and the checkpoint is older than the tables then.
fn killed(dir: &Path) -> TempDir {
    let copy = TempDir::new().expect("a directory");
    let of = |name: &str| (dir.join(name), copy.path().join(name));
    let (from, to) = of(CHECKPOINT);
    let _ = fs::copy(from, to);
    for entry in fs::read_dir(dir).expect("a directory").flatten() {
        let (from, to) = of(entry.file_name().to_str().expect("a name"));
        if !to.exists() && from.is_file() {
            // The part of a checkpoint may be renamed meanwhile.
            let _ = fs::copy(from, to);
        }
    }
    copy
}

/// The rows that a reader finds.
fn found(dir: &Path, table: &str) -> Result<Vec<Row>, Error> {
    let run = RunDir::open(dir, CLASSIFIER)?;
    let reader = open_table(&run, table)?;
    let rows = reader.get_row_iter(None).expect("rows");
    Ok(rows.map(|r| r.expect("a readable row")).collect())
}

/// How many a reader finds.
fn count(dir: &Path, table: &str) -> Result<i64, Error> {
    let run = RunDir::open(dir, CLASSIFIER)?;
    Ok(open_table(&run, table)?.metadata().file_metadata().num_rows())
}

/// Makes a checkpoint, and waits until a kill would leave `packets` rows of `packets`.
fn settled(dir: &Path, r: &mut Recorder, packets: usize) -> TempDir {
    settled_with(dir, r, packets, &known())
}

fn settled_with(dir: &Path, r: &mut Recorder, packets: usize, known: &Summary) -> TempDir {
    r.begin(known.clone());
    loop {
        let copy = killed(dir);
        if copy.path().join(CHECKPOINT).exists()
            && count(copy.path(), "packets").is_ok_and(|rows| rows == packets as i64)
        {
            return copy;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// All rows of a run with these events that came to its end.
fn whole(hops: u64, sizes: u64) -> (Vec<Row>, Vec<Row>) {
    let dir = TempDir::new().expect("a directory");
    let mut r = start(dir.path());
    (0..hops).for_each(|i| r.hop(&hop(i)));
    (0..sizes).for_each(|i| r.size(&size(i)));
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    (rows(dir.path(), "packets"), rows(dir.path(), "sizes"))
}

/// Counts of rows between checkpoints: some complete row groups, most do not.
fn steps() -> impl Strategy<Value = Vec<(u32, u32)>> {
    // 131,072 rows are a group.
    let rows = prop_oneof![6 => 1..2_000_u32, 1 => 120_000..140_000_u32];
    prop::collection::vec((rows, 0..500_u32), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_killed_run_keeps_every_row_up_to_its_last_checkpoint(steps in steps()) {
        let dir = TempDir::new().expect("a directory");
        let mut r = start(dir.path());
        let (mut hops, mut sizes) = (0, 0);
        let mut copy = killed(dir.path());
        for (more, looks) in steps {
            for i in hops..hops + u64::from(more) {
                r.hop(&hop(i));
            }
            for i in sizes..sizes + u64::from(looks) {
                r.size(&size(i));
            }
            (hops, sizes) = (hops + u64::from(more), sizes + u64::from(looks));
            copy = settled(dir.path(), &mut r, hops as usize);
        }
        r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
        let expected = (rows(dir.path(), "packets"), rows(dir.path(), "sizes"));
        prop_assert!(!dir.path().join(CHECKPOINT).exists(), "a run that ends well leaves no checkpoint");
        prop_assert_eq!(&found(copy.path(), "packets").expect("rows"), &expected.0);
        prop_assert_eq!(&found(copy.path(), "sizes").expect("rows"), &expected.1);
        recover(copy.path(), CLASSIFIER).expect("it can be recovered").expect("it was killed");
        // By a reader that knows nothing of checkpoints.
        prop_assert_eq!(&rows(copy.path(), "packets"), &expected.0);
        prop_assert_eq!(&rows(copy.path(), "sizes"), &expected.1);
    }

    #[test]
    fn a_checkpoint_that_is_torn_or_damaged_gives_a_beginning_of_the_rows_or_an_error(
        cut in any::<prop::sample::Index>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 0..3),
    ) {
        let dir = TempDir::new().expect("a directory");
        let mut r = start(dir.path());
        let mut copy = killed(dir.path());
        for step in 1..4 {
            (300 * (step - 1)..300 * step).for_each(|i| r.hop(&hop(i)));
            copy = settled(dir.path(), &mut r, 300 * step as usize);
        }
        let path = copy.path().join(CHECKPOINT);
        let mut octets = fs::read(&path).expect("a checkpoint");
        let is_cut = flips.is_empty();
        if is_cut {
            octets.truncate(cut.index(octets.len() + 1));
        }
        for (at, by) in flips {
            let at = at.index(octets.len());
            octets[at] ^= by;
        }
        fs::write(&path, octets).expect("a checkpoint");
        let run = RunDir::open(copy.path(), CLASSIFIER).expect("a run");
        let _ = (run.summary(), outcome_rows(&run, |_| ()));
        if let Ok(some) = found(copy.path(), "packets") {
            prop_assert_eq!(some.len() % 300, 0, "what a checkpoint has is there as a whole");
            let (expected, _) = whole(some.len() as u64, 0);
            prop_assert_eq!(some, expected);
        }
        let _ = recover(copy.path(), CLASSIFIER);
    }

    #[test]
    fn a_forged_checkpoint_harms_nobody(
        records in prop::collection::vec((0..6_u8, 0..4_usize, any::<prop::sample::Index>(), 0..=255_u8), 1..8),
        junk in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let dir = TempDir::new().expect("a directory");
        let mut r = start(dir.path());
        (0..300).for_each(|i| r.hop(&hop(i)));
        let copy = settled(dir.path(), &mut r, 300);
        let path = copy.path().join(CHECKPOINT);
        let mut octets = fs::read(&path).expect("a checkpoint");
        // Records with right checksums: those that are there, each with an octet changed, or anything.
        let mut forged = octets[..8].to_vec();
        let mut at = 8;
        let mut changes = records.iter();
        while let Some(len) = octets.get(at..at + 4).map(|l| u32::from_le_bytes(l.try_into().expect("four"))) {
            let body = &mut octets[at + 8..at + 8 + len as usize];
            if let Some((_, _, place, by)) = changes.next() {
                let place = place.index(body.len());
                body[place] ^= by;
            }
            put(&mut forged, body);
            at += 8 + len as usize;
        }
        for (kind, table, ..) in &records {
            let table = ["", "packets", "sizes", "nonsense"][*table];
            let mut body = vec![*kind, table.len() as u8];
            body.extend(table.as_bytes());
            body.extend(&junk);
            put(&mut forged, &body);
        }
        put(&mut forged, &[4, 0]);
        fs::write(&path, forged).expect("a checkpoint");
        let run = RunDir::open(copy.path(), CLASSIFIER).expect("a run");
        let _ = (run.summary(), outcome_rows(&run, |_| ()));
        for table in ["packets", "sizes", "events"] {
            let _ = export_csv(&run, table, &mut Vec::new());
        }
        let _ = recover(copy.path(), CLASSIFIER);
    }
}

/// Adds a record.
fn put(to: &mut Vec<u8>, body: &[u8]) {
    to.extend((body.len() as u32).to_le_bytes());
    to.extend(Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(body).to_le_bytes());
    to.extend(body);
}

#[test]
fn checkpoints_change_no_octet_of_a_run_that_ends_well() {
    let tables = |checkpoints: bool| {
        let dir = TempDir::new().expect("a directory");
        let mut r = start(dir.path());
        for i in 0..300_000 {
            r.hop(&hop(i));
            if checkpoints && i % 40_000 == 0 {
                settled(dir.path(), &mut r, i as usize + 1);
            }
        }
        r.finish(&mut known(), RunStatus::Complete).expect("room on the disk");
        ["packets", "sizes", "nodes"]
            .map(|t| fs::read(dir.path().join(format!("{t}.parquet"))).expect("a table"))
    };
    assert!(tables(true) == tables(false));
}

#[test]
fn a_run_that_is_killed_is_recovered_once_and_says_so() {
    let dir = TempDir::new().expect("a directory");
    let mut r = start(dir.path());
    (0..1_000).for_each(|i| r.hop(&hop(i)));
    let copy = settled(dir.path(), &mut r, 1_000);
    let e = recover(dir.path(), CLASSIFIER).expect_err("it goes on").to_string();
    assert!(e.contains("the run is still running"), "{e}");
    let run = RunDir::open(copy.path(), CLASSIFIER).expect("a run");
    assert!(run.is_killed() && !RunDir::open(dir.path(), CLASSIFIER).expect("a run").is_killed());
    let before = run.summary().expect("a summary of what there is");
    assert_eq!(before.cut_off_s, Some(0.000_999));
    // A summary that takes no counting, and the whole one where that is quick.
    let (outline, is_counted) = run.outline(999).expect("an outline");
    assert!(!is_counted && outline.flows.iter().all(|f| (f.sent, f.received) == (None, None)));
    assert_eq!((outline.cut_off_s, outline.flows.len()), (before.cut_off_s, 3));
    assert_eq!(run.outline(1_000).expect("an outline"), (before.clone(), true));
    let recovered = recover(copy.path(), CLASSIFIER).expect("it can be").expect("it was killed");
    assert!(recovered.tables.contains(&("packets", 1_000)), "{recovered:?}");
    assert!(recovered.tables.contains(&("flows", 3)), "{recovered:?}");
    let m = run.manifest().expect("a manifest");
    assert_eq!(m.status, RunStatus::Killed);
    assert!(m.error.expect("why").contains("0.001 s"));
    assert_eq!(run.summary().expect("a summary"), before, "it says what readers said before");
    let outcomes = rows(copy.path(), "outcomes").len();
    let mut told = 0;
    outcome_rows(&run, |_| told += 1).expect("outcomes");
    assert!(outcomes > 0 && told == outcomes);
    assert_eq!(recover(copy.path(), CLASSIFIER).expect("nothing to do"), None);
    let left: Vec<_> =
        fs::read_dir(copy.path()).expect("a directory").flatten().map(|e| e.file_name()).collect();
    assert!(left.iter().all(|n| !n.to_string_lossy().contains("heckpoint")), "{left:?}");
}

/// A row of a packet of the flow behind those that are known.
fn of_program(i: u64, kind: HopKind, seq: u32) -> HopEvent {
    let node = NodeId(u32::from(kind == HopKind::Deliver));
    HopEvent { kind, node, class: PacketClass::Data, flow: Some(FlowTag { flow: 3, seq }), ..hop(i) }
}

fn began(id: u32, sent: Option<u64>, received: Option<u64>) -> FlowSummary {
    let (kind, protocol) = ("udp".to_owned(), Some(17));
    FlowSummary {
        id,
        kind,
        protocol,
        src: 0,
        dst: 1,
        sent,
        received,
        dropped: sent,
        held: sent,
        ..known().flows[0].clone()
    }
}

#[test]
fn flows_of_a_killed_run_are_counted_however_often_the_checkpoint_was_written() {
    let dir = TempDir::new().expect("a directory");
    let mut r = start(dir.path());
    r.begin(known());
    r.flow_began(began(3, Some(0), Some(0)));
    let mut copy = killed(dir.path());
    for seq in 0..70 {
        r.hop(&of_program(2 * u64::from(seq), HopKind::Originate, seq));
        if seq != 7 {
            r.hop(&of_program(2 * u64::from(seq) + 1, HopKind::Deliver, seq));
        }
        copy = settled(dir.path(), &mut r, 2 * seq as usize + 1 + usize::from(seq < 7));
    }
    let flows = RunDir::open(copy.path(), CLASSIFIER).and_then(|run| run.summary()).expect("a summary").flows;
    assert_eq!((flows.len(), flows[3].kind.as_str()), (4, "udp"));
    assert_eq!((flows[3].sent, flows[3].received, flows[3].held), (Some(70), Some(69), Some(1)));
    assert_eq!(flows[0].sent, Some(0));
}

#[test]
fn a_killed_node_tells_of_its_flows_what_it_knew_of_them() {
    let dir = TempDir::new().expect("a directory");
    let mut r = start(dir.path());
    let of_node = Summary { world: "field".into(), protocol: "dsr".into(), ..Summary::default() };
    let ends = [(Some(1), None), (None, Some(1)), (None, None), (Some(1), None)];
    for (id, (sent, received)) in (0..).zip(ends) {
        r.flow_began(began(id, sent, received));
    }
    for seq in 0..5 {
        r.hop(&of_program(seq.into(), HopKind::Originate, seq));
    }
    let copy = settled_with(dir.path(), &mut r, 5, &of_node);
    let flows = RunDir::open(copy.path(), CLASSIFIER).and_then(|run| run.summary()).expect("a summary").flows;
    let counts: Vec<_> = flows.iter().map(|f| (f.sent, f.received)).collect();
    assert_eq!(counts, [(Some(0), None), (None, Some(0)), (None, None), (Some(5), None)]);
}

#[test]
fn a_recovery_that_was_killed_itself_is_done_again() {
    let dir = TempDir::new().expect("a directory");
    let mut r = start(dir.path());
    (0..200_000).for_each(|i| r.hop(&hop(i)));
    let copy = settled(dir.path(), &mut r, 200_000);
    let done = killed(copy.path());
    recover(done.path(), CLASSIFIER).expect("it can be").expect("it was killed");
    // A table that has its footer, one that got half of its rows, and rewritten outcomes; the
    // manifest is the old one.
    for table in ["events", "outcomes"] {
        let name = format!("{table}.parquet");
        fs::copy(done.path().join(&name), copy.path().join(&name)).expect("a file");
    }
    let packets = fs::read(done.path().join("packets.parquet")).expect("a table");
    fs::write(copy.path().join("packets.parquet"), &packets[..packets.len() - 1_000]).expect("a table");
    recover(copy.path(), CLASSIFIER).expect("it can be").expect("it was killed");
    assert_eq!(rows(copy.path(), "packets"), rows(done.path(), "packets"));
    assert_eq!(rows(copy.path(), "outcomes"), rows(done.path(), "outcomes"));
}

#[test]
fn what_an_older_version_left_is_told_as_it_is() {
    let dir = TempDir::new().expect("a directory");
    drop(RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory"));
    fs::write(dir.path().join("packets.parquet"), b"").expect("a file");
    fs::create_dir(dir.path().join("captures")).expect("a folder");
    fs::write(dir.path().join("captures/n0.pcapng"), b"").expect("a file");
    let e = recover(dir.path(), CLASSIFIER).expect_err("nothing is there").to_string();
    assert!(e.contains("the rows of packets cannot be recovered") && e.contains("1 captures"), "{e}");
    assert_eq!(
        RunDir::open(dir.path(), CLASSIFIER).expect("a run").manifest().expect("a manifest").status,
        RunStatus::Running
    );
}
