//! Rows of tables, skipping row groups that cannot contain them.

use std::ops::Range;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader as _, RowGroupReader};
use parquet::file::statistics::Statistics;
use parquet::record::{Field, Row};

use crate::tables::open_table;
use crate::{Error, RunDir};

/// More rows of interest than this are not kept: no run makes them, a damaged or forged file might.
pub(super) const MOST_ROWS: usize = 1 << 22;

/// Rows of a column that are read at a time.
const BATCH: usize = 8192;

/// A column of whole numbers, and the least and the greatest of its values that matter.
pub(super) type Only<'a> = Option<(&'a str, i64, i64)>;

/// Calls something with each row of the row groups that may have what matters; `None` says that the
/// row is not one of ours.
pub(super) fn rows(
    run: &RunDir,
    table: &str,
    only: Only<'_>,
    mut take: impl FnMut(&Row) -> Option<()>,
) -> Result<(), Error> {
    let reader = open_table(run, table)?;
    let path = run.path().join(format!("{table}.parquet"));
    let wrong = |e: &dyn std::fmt::Display| Error::invalid(&path, e.to_string());
    for group in 0..reader.num_row_groups() {
        if only.is_some_and(|only| !may_have(reader.metadata().row_group(group), only)) {
            continue;
        }
        let group = reader.get_row_group(group).map_err(|e| wrong(&e))?;
        // One column is read a hundred times faster than whole rows.
        let among = match only {
            Some(only) => places(&*group, only).map_err(|e| wrong(&e))?,
            None => 0..usize::MAX,
        };
        let rows = group.get_row_iter(None).map_err(|e| wrong(&e))?;
        for row in rows.skip(among.start).take(among.len()) {
            let row = row.map_err(|e| wrong(&e))?;
            if let Some((column, least, most)) = only
                && !row.number(column).is_some_and(|v| (least..=most).contains(&v))
            {
                continue;
            }
            take(&row).ok_or_else(|| wrong(&"a row that Wayhop did not write"))?;
        }
    }
    Ok(())
}

/// Whether a row group may have a row with such a value, by its statistics.
fn may_have(group: &RowGroupMetaData, (column, from, to): (&str, i64, i64)) -> bool {
    let statistics = group.columns().iter().find(|c| c.column_descr().name() == column);
    let bounds = match statistics.and_then(|c| c.statistics()) {
        Some(Statistics::Int64(s)) => s.min_opt().copied().zip(s.max_opt().copied()),
        Some(Statistics::Int32(s)) => {
            s.min_opt().zip(s.max_opt()).map(|(a, b)| (i64::from(*a), i64::from(*b)))
        }
        _ => None,
    };
    bounds.is_none_or(|(least, most)| least <= to && most >= from)
}

/// The first row of a group with such a value, and one past the last; all rows if the column does
/// not have integers.
fn places(
    group: &dyn RowGroupReader,
    (column, least, most): (&str, i64, i64),
) -> Result<Range<usize>, ParquetError> {
    let schema = group.metadata().schema_descr_ptr();
    let found = schema.columns().iter().position(|c| c.name() == column && c.max_rep_level() == 0);
    let Some(at) = found else { return Ok(0..usize::MAX) };
    let present = schema.column(at).max_def_level();
    let is_ours = |v: i64| (least..=most).contains(&v);
    match group.get_column_reader(at)? {
        ColumnReader::Int64ColumnReader(cells) => places_of(cells, present, |v| is_ours(*v)),
        ColumnReader::Int32ColumnReader(cells) => places_of(cells, present, |v| is_ours(i64::from(*v))),
        _ => Ok(0..usize::MAX),
    }
}

fn places_of<T: DataType>(
    mut cells: ColumnReaderImpl<T>,
    present: i16,
    is_ours: impl Fn(&T::T) -> bool,
) -> Result<Range<usize>, ParquetError> {
    let (mut found, mut row) = (0..0, 0);
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (rows, ..) = cells.read_records(BATCH, Some(&mut levels), None, &mut values)?;
        if rows == 0 {
            return Ok(found);
        }
        let mut next = values.iter();
        for i in 0..rows {
            // A column that may have nulls has a level for each row.
            let value = if present == 0 || levels.get(i) == Some(&present) { next.next() } else { None };
            if value.is_some_and(&is_ours) {
                found = if found.is_empty() { row + i..row + i + 1 } else { found.start..row + i + 1 };
            }
        }
        row += rows;
    }
}

/// What a row has in a column; `None` for null, or if it has no such column.
pub(super) trait Cell {
    fn field(&self, column: &str) -> Option<&Field>;

    fn text(&self, column: &str) -> Option<&str> {
        match self.field(column)? {
            Field::Str(s) => Some(s),
            _ => None,
        }
    }
    fn number(&self, column: &str) -> Option<i64> {
        match *self.field(column)? {
            Field::Int(v) => Some(v.into()),
            Field::Long(v) => Some(v),
            _ => None,
        }
    }
    fn count(&self, column: &str) -> Option<u64> {
        u64::try_from(self.number(column)?).ok()
    }
    fn node(&self, column: &str) -> Option<u32> {
        u32::try_from(self.number(column)?).ok()
    }
    fn decibels(&self, column: &str) -> Option<f64> {
        match *self.field(column)? {
            // Shown as it is written: a float has seven digits.
            Field::Float(v) => v.to_string().parse().ok(),
            Field::Double(v) => Some(v),
            _ => None,
        }
    }
}

impl Cell for Row {
    fn field(&self, column: &str) -> Option<&Field> {
        self.get_column_iter().find(|(name, _)| name.as_str() == column).map(|(_, f)| f)
    }
}
