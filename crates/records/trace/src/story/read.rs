//! Rows of tables, skipping row groups that cannot contain them.

use std::ops::Range;

use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader as _, RowGroupReader};
use parquet::file::statistics::Statistics;
use parquet::record::Row;

use crate::tables::{Cell as _, ColumnCells, open_table};
use crate::{Error, RunDir};

/// More rows of interest than this are not kept: no run makes them, a damaged or forged file might.
pub(super) const MOST_ROWS: usize = 1 << 22;

/// Rows of a column that are read at a time.
const BATCH: usize = 8192;

/// A column of whole numbers, and the least and the greatest of its values that matter.
pub(super) type Only<'a> = Option<(&'a str, i64, i64)>;

/// Calls something with each row that may matter; `None` says that the row is not one of ours.
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

/// The first row of a group with such a value, and one past the last; all rows if the column has no integers.
fn places(
    group: &dyn RowGroupReader,
    (column, least, most): (&str, i64, i64),
) -> Result<Range<usize>, ParquetError> {
    let schema = group.metadata().schema_descr_ptr();
    let found = schema.columns().iter().position(|c| c.name() == column);
    let Some(at) = found else { return Ok(0..usize::MAX) };
    let is_ours = |v: i64| (least..=most).contains(&v);
    if let Some(cells) = ColumnCells::<Int64Type>::of(group, at)? {
        places_of(cells, |v| is_ours(*v))
    } else if let Some(cells) = ColumnCells::<Int32Type>::of(group, at)? {
        places_of(cells, |v| is_ours(i64::from(*v)))
    } else {
        Ok(0..usize::MAX)
    }
}

fn places_of<T: DataType>(
    mut cells: ColumnCells<T>,
    is_ours: impl Fn(&T::T) -> bool,
) -> Result<Range<usize>, ParquetError> {
    let (mut found, mut first) = (0..0, 0);
    loop {
        let rows = cells.fill(BATCH)?;
        if rows == 0 {
            return Ok(found);
        }
        for row in first..first + rows {
            if cells.next_value().is_some_and(&is_ours) {
                found = if found.is_empty() { row..row + 1 } else { found.start..row + 1 };
            }
        }
        first += rows;
    }
}
