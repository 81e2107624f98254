//! Rows of tables, found by whole numbers in their columns: row groups that cannot contain them are skipped, and of the others
//! only these columns are read before the rows are known.

use parquet::basic::Type;
use parquet::data_type::{ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader as _, RowGroupReader};
use parquet::file::statistics::Statistics;
use parquet::record::{Field, Row};

use crate::tables::{ColumnCells, open_table};
use crate::{Error, RunDir};

/// More rows of interest than this are not kept: no run makes them, a damaged or forged file might.
pub(super) const MOST_ROWS: usize = 1 << 22;

/// Rows of a column that are read at a time.
const BATCH: usize = 8192;

/// A column of whole numbers, and the least and the greatest of its values that matter. Rows without a value do not.
pub(super) type Within<'a> = (&'a str, i64, i64);

/// Calls something with each row that is within all of these, in order; `None` says that the row is not one of ours.
pub(super) fn rows(
    run: &RunDir,
    table: &str,
    within: &[Within<'_>],
    mut take: impl FnMut(&Row) -> Option<()>,
) -> Result<(), Error> {
    let reader = open_table(run, table)?;
    let path = run.path().join(format!("{table}.parquet"));
    let wrong = |e: &dyn std::fmt::Display| Error::invalid(&path, e.to_string());
    let mut take = |row: &Row| take(row).ok_or_else(|| wrong(&"a row that Wayhop did not write"));
    for group in 0..reader.num_row_groups() {
        if !within.iter().all(|w| may_have(reader.metadata().row_group(group), *w)) {
            continue;
        }
        let group = reader.get_row_group(group).map_err(|e| wrong(&e))?;
        if within.is_empty() {
            for row in group.get_row_iter(None).map_err(|e| wrong(&e))? {
                take(&row.map_err(|e| wrong(&e))?)?;
            }
            continue;
        }
        let found = matching(&*group, within).map_err(|e| wrong(&e))?;
        for found in found.chunks(BATCH) {
            for row in chosen(&*group, found).map_err(|e| wrong(&e))? {
                take(&row)?;
            }
        }
    }
    Ok(())
}

/// Whether a row group may have a row with such a value, by its statistics.
fn may_have(group: &RowGroupMetaData, (column, from, to): Within<'_>) -> bool {
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

/// The numbers of the rows of a group that are within all of these, in order.
fn matching(group: &dyn RowGroupReader, within: &[Within<'_>]) -> Result<Vec<usize>, ParquetError> {
    let mut found: Option<Vec<usize>> = None;
    for (column, least, most) in within {
        let schema = group.metadata().schema_descr_ptr();
        let at = schema.columns().iter().position(|c| c.name() == *column).ok_or_else(foreign)?;
        let is_ours = |v: i64| (*least..=*most).contains(&v);
        let own = if let Some(cells) = ColumnCells::<Int64Type>::of(group, at)? {
            places(cells, |v| is_ours(*v))
        } else {
            let cells = ColumnCells::<Int32Type>::of(group, at)?.ok_or_else(foreign)?;
            places(cells, |v| is_ours(i64::from(*v)))
        }?;
        found = Some(match found {
            None => own,
            Some(all) => all.into_iter().filter(|row| own.binary_search(row).is_ok()).collect(),
        });
    }
    Ok(found.unwrap_or_default())
}

fn places<T: DataType>(
    mut cells: ColumnCells<T>,
    is_ours: impl Fn(&T::T) -> bool,
) -> Result<Vec<usize>, ParquetError> {
    let (mut found, mut first) = (Vec::new(), 0);
    loop {
        let rows = cells.fill(BATCH)?;
        if rows == 0 {
            return Ok(found);
        }
        found.extend((first..first + rows).filter(|_| cells.next_value().is_some_and(&is_ours)));
        first += rows;
    }
}

/// These rows of a group with all of their columns.
fn chosen(group: &dyn RowGroupReader, rows: &[usize]) -> Result<Vec<Row>, ParquetError> {
    let schema = group.metadata().schema_descr_ptr();
    let mut all: Vec<Vec<(String, Field)>> = vec![Vec::new(); rows.len()];
    for (at, column) in schema.columns().iter().enumerate() {
        let cells = match column.physical_type() {
            Type::INT32 => fields::<Int32Type>(group, at, rows, |v| Ok(Field::Int(*v)))?,
            Type::INT64 => fields::<Int64Type>(group, at, rows, |v| Ok(Field::Long(*v)))?,
            Type::FLOAT => fields::<FloatType>(group, at, rows, |v| Ok(Field::Float(*v)))?,
            Type::DOUBLE => fields::<DoubleType>(group, at, rows, |v| Ok(Field::Double(*v)))?,
            Type::BYTE_ARRAY => {
                fields::<ByteArrayType>(group, at, rows, |v| Ok(Field::Str(v.as_utf8()?.to_owned())))?
            }
            // No table of ours has it, and nobody asks for it.
            _ => continue,
        };
        for (row, field) in all.iter_mut().zip(cells) {
            row.push((column.name().to_owned(), field));
        }
    }
    Ok(all.into_iter().map(Row::new).collect())
}

/// The cells of a column in these rows.
fn fields<T: DataType>(
    group: &dyn RowGroupReader,
    at: usize,
    rows: &[usize],
    field: impl Fn(&T::T) -> Result<Field, ParquetError>,
) -> Result<Vec<Field>, ParquetError> {
    let mut cells = ColumnCells::<T>::of(group, at)?.ok_or_else(foreign)?;
    let (mut next, mut found) = (0, Vec::with_capacity(rows.len()));
    for run in rows.chunk_by(|a, b| a + 1 == *b) {
        cells.skip(run[0] - next)?;
        if cells.fill(run.len())? != run.len() {
            return Err(ParquetError::General("columns of different lengths".to_owned()));
        }
        for _ in run {
            found.push(cells.next_value().map_or(Ok(Field::Null), &field)?);
        }
        next = run[0] + run.len();
    }
    Ok(found)
}

fn foreign() -> ParquetError {
    ParquetError::General("a column that Wayhop did not write".to_owned())
}
