//! Several readers of one table.

use std::thread;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Row;
use tempfile::TempDir;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{Outputs, Recorder, RunDir, RunStatus, Summary, TableFile, open_table};

use crate::common::{hop, manifest, nodes, rows};

/// Threads at a time, and how often each of them reads the table.
const THREADS: usize = 4;
const TIMES: usize = 20;

fn all(reader: &SerializedFileReader<TableFile>) -> Vec<Row> {
    let rows = reader.get_row_iter(None).expect("rows");
    rows.collect::<Result<_, _>>().expect("every row is readable")
}

#[test]
fn threads_that_share_a_table_get_its_rows() {
    let dir = TempDir::new().expect("a directory");
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let mut r = Recorder::start(run.clone(), &Outputs::default(), nodes(3)).expect("a recorder");
    (0..512).for_each(|i| r.hop(&hop(i)));
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    // Read by Parquet's own reader of files, by nobody else at the same time.
    let expected = rows(dir.path(), "packets");
    let table = open_table(&run, "packets").expect("the table");
    thread::scope(|s| {
        for _ in 0..THREADS {
            s.spawn(|| (0..TIMES).for_each(|_| assert!(all(&table) == expected, "other rows")));
        }
    });
}
