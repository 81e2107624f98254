//! The `parquet` crate's reader as the oracle: it finds the values that were encoded.

use std::sync::Arc;

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::statistics::Statistics;
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use proptest::prelude::*;

use crate::tables::column::{Column, column, schema};
use crate::tables::rows::WaitingRows;

/// A cell of each kind.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    time: i64,
    number: Option<i64>,
    node: i32,
    flow: Option<i32>,
    signal: Option<f32>,
    place: f64,
    altitude: Option<f64>,
    name: String,
    reason: Option<String>,
}

const COLUMNS: &[Column<Row>] = &[
    column!("time", Int64, |r| r.time),
    column!("number", OptInt64, |r| r.number),
    column!("node", Int32, |r| r.node),
    column!("flow", OptInt32, |r| r.flow),
    column!("signal", OptFloat, |r| r.signal),
    column!("place", Double, |r| r.place),
    column!("altitude", OptDouble, |r| r.altitude),
    column!("name", Text, |r, t| t.text(&r.name)),
    column!("reason", OptText, |r, t| r.reason.as_ref().map(|s| t.text(s))),
];

impl Row {
    fn fields(&self) -> Vec<Field> {
        let or_null = |f: Option<Field>| f.unwrap_or(Field::Null);
        vec![
            Field::Long(self.time),
            or_null(self.number.map(Field::Long)),
            Field::Int(self.node),
            or_null(self.flow.map(Field::Int)),
            or_null(self.signal.map(Field::Float)),
            Field::Double(self.place),
            or_null(self.altitude.map(Field::Double)),
            Field::Str(self.name.clone()),
            or_null(self.reason.clone().map(Field::Str)),
        ]
    }
}

/// Writes rows as one row group that begins with row `from`.
fn written(rows: &[Row], from: usize) -> Bytes {
    let mut waiting = WaitingRows::new(COLUMNS);
    // In two batches.
    let (early, late) = rows.split_at(rows.len() / 3);
    waiting.extend(early);
    waiting.extend(late);
    let schema = Arc::new(schema("rows", COLUMNS).expect("a schema"));
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::default()).expect("a file");
    waiting.write(from..waiting.len(), &mut file).expect("a row group");
    file.into_inner().expect("a file").into()
}

fn read(file: Bytes) -> Vec<Vec<Field>> {
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    rows.map(|r| r.expect("a row").get_column_iter().map(|(_, f)| f.clone()).collect()).collect()
}

/// Numbers of few values, of many, growing ones, and the extreme ones.
fn numbers() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 0..5_i64, 2 => 0..100_000_i64, 1 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX)]
}

fn row() -> impl Strategy<Value = Row> {
    let texts = || prop_oneof![4 => "[abc]{0,2}", 1 => ".{0,100}"];
    let optional = |s| prop::option::weighted(0.7, s);
    (
        (numbers(), optional(numbers().boxed()), numbers(), optional(numbers().boxed())),
        (prop::option::of(-90.0..0.0_f32), -1e6..1e6_f64, prop::option::of(Just(-0.0_f64))),
        (texts(), prop::option::of(texts())),
    )
        .prop_map(|((time, number, node, flow), (signal, place, altitude), (name, reason))| Row {
            time,
            number,
            node: node as i32,
            flow: flow.map(|f| f as i32),
            signal,
            place,
            altitude,
            name,
            reason,
        })
}

/// Rows that differ, and rows that are repeated for long.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let stretch = (row(), prop_oneof![6 => 1..3_usize, 2 => 7..40_usize, 1 => 5_000..20_000_usize]);
    prop::collection::vec(stretch, 1..60)
        .prop_map(|all| all.into_iter().flat_map(|(row, n)| std::iter::repeat_n(row, n)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_reader_finds_the_rows_that_were_written(rows in rows(), from in any::<prop::sample::Index>()) {
        let from = from.index(rows.len());
        let found = read(written(&rows, from));
        prop_assert_eq!(found.len(), rows.len() - from);
        for (found, row) in found.iter().zip(&rows[from..]) {
            prop_assert_eq!(found, &row.fields());
        }
    }
}

#[test]
fn each_way_of_encoding_is_read_over_many_pages() {
    let row = |i: i64| Row {
        time: i * i * 1_000,
        // Nothing for long, then something for long.
        number: (i / 30_000 % 2 == 1).then_some(i64::MAX - i),
        // Too many for a dictionary.
        node: (i as i32).wrapping_mul(-1_640_531_527),
        flow: (i % 7 != 0).then_some((i % 50) as i32),
        signal: (i % 2 == 0).then_some(-(i as f32)),
        place: i as f64 / 3.0,
        altitude: None,
        name: format!("n{}", i % 300),
        reason: (i > 90_000).then(|| format!("{i}")),
    };
    let rows: Vec<Row> = (0..100_000).map(row).collect();
    let found = read(written(&rows, 0));
    assert_eq!(found.len(), rows.len());
    assert!(found.iter().zip(&rows).all(|(found, row)| *found == row.fields()));
}

#[test]
fn the_least_and_the_greatest_value_are_told() {
    let row = |i: i64| Row {
        time: 5 - i,
        number: (i > 0).then_some(i),
        node: i as i32 - 2,
        flow: None,
        signal: None,
        place: 0.0,
        altitude: None,
        name: "b".repeat(i as usize + 1),
        reason: (i == 3).then(|| "x".repeat(65)),
    };
    let file = written(&(0..4).map(row).collect::<Vec<_>>(), 0);
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let columns = reader.metadata().row_group(0).columns();
    let told = |i: usize| columns[i].statistics().expect("statistics").clone();
    assert_eq!(told(0), Statistics::int64(Some(2), Some(5), None, Some(0), false));
    assert_eq!(told(1), Statistics::int64(Some(1), Some(3), None, Some(1), false));
    assert_eq!(told(2), Statistics::int32(Some(-2), Some(1), None, Some(0), false));
    assert_eq!(told(3).min_bytes_opt(), None);
    assert_eq!(told(3).null_count_opt(), Some(4));
    let names = Statistics::byte_array(Some("b".into()), Some("bbbb".into()), None, Some(0), false);
    assert_eq!(told(7), names);
    assert_eq!(told(8).min_bytes_opt(), None, "too long to be repeated");
}
