//! An index counts what a table has, and a file that is not its own is refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use wayhop_core::HopKind;

use super::counts::{FIRST_INTERVAL_NS, MOST_INTERVALS, MOST_LOSSES};
use super::{CountOf, IndexedRow, PacketIndex, TableStamp};

const STAMP: TableStamp = TableStamp { bytes: 123_456, footer_crc: 0xfeed_beef };

/// A row of these: kind, time, node, packet, and the number of its reason or type.
type Drawn = (usize, u64, u32, Option<u64>, usize);

const REASONS: [&str; 3] = ["NO_ROUTE", "QUEUE_FULL", "LINK_BROKEN"];
const TYPES: [&str; 3] = ["rreq", "rrep", "hello"];

fn row(&(kind, time_ns, node, packet, name): &Drawn) -> IndexedRow<'static> {
    let kind = HopKind::ALL[kind];
    let reason = REASONS.get(name).copied().filter(|_| kind == HopKind::Drop);
    IndexedRow { time_ns, node, packet, kind, reason, routing: TYPES.get(name).copied() }
}

fn indexed(rows: &[Drawn]) -> PacketIndex {
    let mut index = PacketIndex::default();
    for r in rows {
        index.add(&row(r));
    }
    index
}

/// What a row counts for.
fn names(row: &IndexedRow<'_>) -> Vec<String> {
    let named = match row.kind {
        HopKind::Drop => Some(format!("drop/{}", row.reason.unwrap_or("other"))),
        HopKind::Send | HopKind::Forward => row.routing.map(|class| format!("routing/{class}")),
        _ => None,
    };
    [Some(row.kind.name().to_owned()), named].into_iter().flatten().collect()
}

/// Up to a minute, or up to a month.
fn rows() -> impl Strategy<Value = Vec<Drawn>> {
    let time = prop_oneof![0..60_000_000_000_u64, 0..2_600_000_000_000_000_u64];
    let row = (0..HopKind::ALL.len(), time, 0..1_000_u32, proptest::option::of(0..u64::MAX), 0..4_usize);
    proptest::collection::vec(row, 0..200)
}

proptest! {
    #[test]
    fn counts_are_those_of_counting_by_hand(rows in rows(), most in 1..2_000_usize) {
        let index = indexed(&rows);
        let end_ns = rows.iter().map(|r| r.1 + 1).max().unwrap_or(1);
        let interval = index.interval_for(end_ns, most);
        let len = end_ns.div_ceil(interval) as usize;
        prop_assert!(len <= most);
        let mut by_hand: BTreeMap<(String, usize), u64> = BTreeMap::new();
        for row in rows.iter().map(row) {
            for name in names(&row) {
                *by_hand.entry((name, (row.time_ns / interval) as usize)).or_default() += 1;
            }
        }
        let mut counted = BTreeMap::new();
        for (i, of) in index.columns().enumerate() {
            for (at, n) in index.counts(i, interval, len).into_iter().enumerate().filter(|(_, n)| *n > 0) {
                counted.insert((of.to_string(), at), n);
            }
        }
        prop_assert_eq!(counted, by_hand);
        prop_assert_eq!(index.rows(), rows.len() as u64);
        let lost: Vec<_> = rows.iter().map(row).filter(|r| r.kind == HopKind::Drop).collect();
        prop_assert_eq!(index.losses().len(), lost.len());
        for (loss, row) in index.losses().iter().zip(lost) {
            prop_assert_eq!((loss.time_ns, loss.node, loss.packet), (row.time_ns, row.node, row.packet));
            let of = index.columns().nth(loss.column.into());
            prop_assert_eq!(of, Some(&CountOf::Drop(row.reason.unwrap_or("other").to_owned())));
        }
    }

    #[test]
    fn a_file_has_what_was_counted(rows in rows()) {
        let index = indexed(&rows);
        let bytes = index.encode(&STAMP);
        let (read, of) = PacketIndex::decode(&bytes).expect("its own file");
        prop_assert_eq!(of, STAMP);
        prop_assert_eq!(read.encode(&STAMP), bytes);
        prop_assert_eq!(read.losses(), index.losses());
        let interval = index.interval_for(1_000_000_000_000, 100);
        for (i, of) in index.columns().enumerate() {
            prop_assert_eq!(read.columns().nth(i), Some(of));
            prop_assert_eq!(read.counts(i, interval, 100), index.counts(i, interval, 100));
        }
    }

    #[test]
    fn a_file_with_a_wrong_bit_or_cut_short_is_refused(rows in rows(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
        let bytes = indexed(&rows).encode(&STAMP);
        let mut wrong = bytes.clone();
        wrong[at.index(bytes.len())] ^= 1 << bit;
        prop_assert!(PacketIndex::decode(&wrong).is_err());
        prop_assert!(PacketIndex::decode(&bytes[..at.index(bytes.len())]).is_err());
    }

    #[test]
    fn any_body_is_refused_or_is_an_index(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let sum = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&body);
        let bytes = [&b"WHPIDX1\n"[..], &sum.to_le_bytes(), &body].concat();
        if let Ok((index, of)) = PacketIndex::decode(&bytes) {
            prop_assert_eq!(PacketIndex::decode(&index.encode(&of)), Ok((index, of)));
        }
    }
}

#[test]
fn an_index_of_any_run_is_small() {
    let mut index = PacketIndex::default();
    // A month, with an event of every kind and name each second, and more losses than are kept.
    for s in 0..2_600_000 {
        index.add(&row(&(
            (s % 8) as usize,
            s * 1_000_000_000,
            s as u32 % 10_000,
            Some(s),
            s as usize / 8 % 4,
        )));
    }
    let bytes = index.encode(&STAMP);
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    assert_eq!(index.losses().len(), MOST_LOSSES);
    assert!(index.has_more_losses());
    let (read, _) = PacketIndex::decode(&bytes).expect("its own file");
    assert!(read.has_more_losses());
    assert_eq!(read.interval_for(1, 1), index.interval_for(1, 1));
    assert!(2_600_000_000_000_000_u64.div_ceil(index.interval_for(1, 1)) <= MOST_INTERVALS as u64);
}

#[test]
fn rows_of_any_time_are_counted() {
    let mut index = PacketIndex::default();
    for time_ns in [0, FIRST_INTERVAL_NS, u64::MAX, 1] {
        index.add(&row(&(0, time_ns, 0, None, 3)));
    }
    let interval = index.interval_for(u64::MAX, 1);
    assert_eq!(index.counts(0, interval, 1), [4]);
    assert_eq!(PacketIndex::decode(&index.encode(&STAMP)).map(|(read, _)| read.rows()), Ok(4));
}
