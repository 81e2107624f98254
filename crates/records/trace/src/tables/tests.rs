//! The tables' behaviour on a disk that fills up, and the page that explains them.

use std::fs::{File, OpenOptions};

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use tempfile::TempDir;

use super::{FLOWS, NODES, PACKETS, TABLES, TableWriter};
use crate::HopEvent;
use crate::batch::each_record;
use crate::fixture::hop;

fn rows_of(dir: &TempDir) -> i64 {
    let file = File::open(dir.path().join("packets.parquet")).expect("the table is there");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let rows =
        reader.get_row_iter(None).expect("rows").inspect(|r| assert!(r.is_ok(), "a readable row")).count();
    assert_eq!(rows as i64, reader.metadata().file_metadata().num_rows());
    rows as i64
}

fn hops(n: u64) -> Vec<HopEvent> {
    (0..n).map(hop).collect()
}

#[test]
fn a_table_ends_with_the_row_groups_that_fitted() {
    for good in [0usize, 1, 3] {
        let dir = TempDir::new().expect("a directory");
        let mut t = TableWriter::create(dir.path(), "packets", PACKETS).expect("a table");
        t.extend(&hops((good << 17) as u64)).expect("room");
        // The disk is full: nothing can be written any more.
        let path = dir.path().join("packets.parquet");
        t.replace_file(File::open(&path).expect("for reading only"));
        t.extend(&hops(1 << 17)).expect_err("no room");
        t.extend(&hops(1 << 18)).expect("rows after the error are passed over");
        // There is room again: the reserve has been given back.
        t.replace_file(OpenOptions::new().append(true).open(&path).expect("for writing"));
        t.close().expect("nothing more to say");
        assert_eq!(rows_of(&dir), (good << 17) as i64);
    }
}

fn names<R>(columns: &[super::column::Column<R>]) -> Vec<&'static str> {
    columns.iter().map(|c| c.name).collect()
}

#[test]
fn every_column_is_explained() {
    let page = include_str!("../../../../../docs/reference/run-directory.md");
    macro_rules! of_records {
        ($($field:ident: $record:ident, $name:literal, $columns:ident, $has:expr;)*) => {
            [("flows", names(FLOWS)), ("nodes", names(NODES)) $(, ($name, names(super::$columns)))*]
        };
    }
    let all = each_record!(of_records);
    assert_eq!(all.len(), TABLES.len());
    for (table, columns) in all {
        let section =
            page.split(&format!("### {table}")).nth(1).unwrap_or_else(|| panic!("no section {table}"));
        let section = section.split("\n### ").next().unwrap_or_default();
        for c in columns {
            assert!(section.contains(&format!("`{c}`")), "{table}.{c} is not explained");
        }
    }
}
