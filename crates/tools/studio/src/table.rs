//! A table of a run, read by columns and by time, one stretch of rows after the other.

use std::ops::Range;
use std::path::PathBuf;

use parquet::basic::Type;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use serde_json::Value;
use wayhop_trace::{ColumnCells, RunDir, TableFile, open_table};

use crate::error::Error;

/// Rows that are decoded at a time.
const BATCH: usize = 8192;
/// Rows that are read for one chart.
const MOST_CHARTED: u64 = 1 << 24;
/// Rows of a row group that are looked at.
const MOST_GROUP_ROWS: usize = 1 << 20;

pub(crate) struct OpenTable {
    path: PathBuf,
    reader: SerializedFileReader<TableFile>,
    /// The first and the last moment in each row group, where its statistics say so.
    times: Vec<Option<(i64, i64)>>,
}

/// The next rows of a column, at most `most`; fewer only where the row group ends.
fn read<T: DataType>(cells: &mut ColumnCells<T>, most: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
    let mut read = Vec::with_capacity(most.min(BATCH));
    while read.len() < most {
        let rows = cells.fill((most - read.len()).min(BATCH))?;
        if rows == 0 {
            break;
        }
        read.extend((0..rows).map(|_| cells.next_value().cloned()));
    }
    Ok(read)
}

pub(crate) struct Group<'a> {
    table: &'a OpenTable,
    reader: Box<dyn RowGroupReader + 'a>,
}

impl OpenTable {
    pub(crate) fn open(run: &RunDir, name: &str) -> Result<Self, Error> {
        let reader = open_table(run, name)?;
        let metadata = reader.metadata();
        let columns = metadata.file_metadata().schema_descr().columns();
        let at = columns.iter().position(|c| c.name() == "time_ns");
        let times =
            metadata.row_groups().iter().map(|group| match group.columns().get(at?)?.statistics()? {
                Statistics::Int64(s) => Some((*s.min_opt()?, *s.max_opt()?)),
                _ => None,
            });
        let times = times.collect();
        Ok(Self { path: run.path().join(format!("{name}.parquet")), reader, times })
    }

    pub(crate) fn damaged(&self, why: impl std::fmt::Display) -> Error {
        let path = self.path.display();
        Error::unreadable(format!("{path}: the file is damaged ({why}); run the scenario again"))
    }

    pub(crate) fn groups(&self) -> usize {
        self.reader.num_row_groups()
    }

    pub(crate) fn rows(&self) -> u64 {
        self.reader.metadata().row_groups().iter().map(|g| g.num_rows().unsigned_abs()).sum()
    }

    pub(crate) fn group(&self, index: usize) -> Result<Group<'_>, Error> {
        let reader = self.reader.get_row_group(index).map_err(|e| self.damaged(e))?;
        Ok(Group { table: self, reader })
    }

    pub(crate) fn columns(&self) -> Vec<String> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema.columns().iter().map(|c| c.name().to_owned()).collect()
    }

    /// Calls something with the rows of each row group and their moments, in order.
    ///
    /// # Errors
    /// If there are more rows than one chart is made of, or if the table is damaged.
    pub(crate) fn each_group(
        &self,
        mut take: impl FnMut(&Group<'_>, Range<usize>, &[i64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.rows() > MOST_CHARTED {
            let name = self.path.file_stem().unwrap_or_default().display();
            return Err(Error::unreadable(format!(
                "the table {name} has more than {MOST_CHARTED} rows; use wayhop export csv RUN {name}"
            )));
        }
        for index in 0..self.groups() {
            let group = self.group(index)?;
            let (rows, times) = group.between(i64::MIN, i64::MAX, group.rows())?;
            take(&group, rows, &times)?;
        }
        Ok(())
    }

    /// The row groups that may have rows of `from..to`.
    pub(crate) fn groups_between(&self, from: i64, to: i64) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.groups())
            .filter(move |g| self.times[*g].is_none_or(|(first, last)| last >= from && first < to))
    }

    /// The last moment of the table.
    pub(crate) fn end(&self) -> Option<i64> {
        self.times.iter().flatten().map(|(_, last)| *last).max()
    }
}

impl Group<'_> {
    /// A column of numbers or texts of the given type.
    fn cells<T: DataType>(&self, name: &str) -> Result<ColumnCells<T>, Error> {
        let columns = self.reader.metadata().schema_descr_ptr();
        let found = columns.columns().iter().position(|c| c.name() == name);
        let cells = found.map(|at| ColumnCells::of(&*self.reader, at)).transpose();
        cells.map_err(|e| self.table.damaged(e))?.flatten().ok_or_else(|| {
            let path = self.table.path.display();
            Error::unreadable(format!(
                "{path}: the column {name} is missing; the run was recorded by another version, so run the scenario again"
            ))
        })
    }

    /// The rows whose moment is in `from..to`, at most `most`: their range, and the moments.
    pub(crate) fn between(&self, from: i64, to: i64, most: usize) -> Result<(Range<usize>, Vec<i64>), Error> {
        let mut cells = self.cells::<Int64Type>("time_ns")?;
        let (mut begin, mut times) = (0, Vec::new());
        loop {
            let batch = read(&mut cells, BATCH).map_err(|e| self.table.damaged(e))?;
            let is_last = batch.len() < BATCH;
            for time in batch.into_iter().flatten() {
                if time < from && times.is_empty() {
                    begin += 1;
                } else if time < to && times.len() < most {
                    times.push(time);
                } else {
                    return Ok((begin..begin + times.len(), times));
                }
            }
            if is_last {
                return Ok((begin..begin + times.len(), times));
            }
        }
    }

    pub(crate) fn stretch<T: DataType>(
        &self,
        name: &str,
        rows: &Range<usize>,
    ) -> Result<Vec<Option<T::T>>, Error> {
        let mut cells = self.cells::<T>(name)?;
        let read = cells.skip(rows.start).and_then(|()| read(&mut cells, rows.len()));
        let read = read.map_err(|e| self.table.damaged(e))?;
        if read.len() == rows.len() {
            Ok(read)
        } else {
            Err(self.table.damaged(format!("its column {name} is too short")))
        }
    }

    /// How many rows there are, as far as they are read: Wayhop's row groups are far smaller, a forged one might not be.
    pub(crate) fn rows(&self) -> usize {
        usize::try_from(self.reader.metadata().num_rows()).unwrap_or(0).min(MOST_GROUP_ROWS)
    }

    /// A stretch of a column of any type, for people.
    pub(crate) fn values(&self, name: &str, rows: &Range<usize>) -> Result<Vec<Value>, Error> {
        fn list<T>(cells: Vec<Option<T>>, value: impl Fn(T) -> Value) -> Vec<Value> {
            cells.into_iter().map(|c| c.map_or(Value::Null, &value)).collect()
        }
        let columns = self.reader.metadata().schema_descr_ptr();
        let kind = columns.columns().iter().find(|c| c.name() == name).map(|c| c.physical_type());
        Ok(match kind {
            Some(Type::INT32) => list(self.stretch::<Int32Type>(name, rows)?, Value::from),
            Some(Type::INT64) => list(self.stretch::<Int64Type>(name, rows)?, Value::from),
            Some(Type::DOUBLE) => list(self.stretch::<DoubleType>(name, rows)?, Value::from),
            Some(Type::FLOAT) => list(self.stretch::<FloatType>(name, rows)?, Value::from),
            _ => list(self.stretch::<ByteArrayType>(name, rows)?, |t| text(&t).into()),
        })
    }
}

/// A cell as text; what is not UTF-8 becomes `\u{fffd}`.
pub(crate) fn text(cell: &ByteArray) -> String {
    String::from_utf8_lossy(cell.data()).into_owned()
}
