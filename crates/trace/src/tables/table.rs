//! One Parquet file, written row group by row group.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataWriter};
use parquet::file::writer::SerializedFileWriter;

use super::column::{Column, Texts, properties, schema};
use super::sink::GroupSink;
use crate::Error;

/// Rows in a row group: enough for good dictionaries, few enough for a reader to skip to a time.
const ROW_GROUP: usize = 1 << 17;

/// A table being written. If the disk fills up, what was written in whole row groups stays readable; the footer is written
/// by [`Table::close`], before which the caller makes some room.
pub(crate) struct Table<R: 'static> {
    path: PathBuf,
    columns: &'static [Column<R>],
    writer: SerializedFileWriter<GroupSink>,
    rows: Vec<R>,
    texts: Texts,
    /// Row groups that are wholly in the file.
    good_groups: usize,
    state: State,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum State {
    Open,
    /// An error; the footer is still to be written.
    Failed,
    Closed,
}

impl<R> Table<R> {
    /// Starts the table `name` in the directory `dir`.
    pub(crate) fn create(dir: &Path, name: &str, columns: &'static [Column<R>]) -> Result<Self, Error> {
        let path = dir.join(format!("{name}.parquet"));
        let file = File::create(&path).map_err(Error::io(&path, "create"))?;
        let writer = schema(name, columns)
            .and_then(|s| {
                let properties = Arc::new(properties(columns));
                SerializedFileWriter::new(GroupSink::new(file), Arc::new(s), properties)
            })
            .map_err(|e| parquet_error(&path, e))?;
        Ok(Self {
            path,
            columns,
            writer,
            rows: Vec::new(),
            texts: Texts::default(),
            good_groups: 0,
            state: State::Open,
        })
    }

    /// Adds rows.
    pub(crate) fn extend(&mut self, rows: impl IntoIterator<Item = R>) -> Result<(), Error> {
        for r in rows {
            self.rows.push(r);
            if self.rows.len() >= ROW_GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and the footer. After an error, here or before, the table ends with the row groups that are
    /// wholly in the file.
    pub(crate) fn close(&mut self) -> Result<(), Error> {
        let outcome = self.close_whole();
        if self.state == State::Failed {
            // Nothing more can be done for this file than this; the first error is the one to report.
            let _ = self.end_with_good_groups();
        }
        self.state = State::Closed;
        outcome
    }

    fn close_whole(&mut self) -> Result<(), Error> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        if self.state != State::Open {
            return Ok(());
        }
        let finished = self.writer.finish();
        self.settle(finished.map(|_| ()))
    }

    fn write_group(&mut self) -> Result<(), Error> {
        if self.state != State::Open {
            self.rows.clear();
            return Ok(());
        }
        let outcome = self.encode_group();
        self.rows.clear();
        self.settle(outcome)?;
        self.good_groups += 1;
        Ok(())
    }

    fn encode_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        let mut columns = self.columns.iter();
        while let Some(mut to) = group.next_column()? {
            if let Some(c) = columns.next() {
                c.write(&self.rows, &mut self.texts, &mut to)?;
            }
            to.close()?;
        }
        group.close()?;
        self.writer.flush()?;
        Ok(())
    }

    /// Puts what was encoded into the file.
    fn settle(&mut self, outcome: Result<(), ParquetError>) -> Result<(), Error> {
        let outcome = outcome
            .map_err(|e| parquet_error(&self.path, e))
            .and_then(|()| self.writer.inner_mut().commit().map_err(Error::io(&self.path, "write")));
        if outcome.is_err() {
            self.state = State::Failed;
        }
        outcome
    }

    fn end_with_good_groups(&mut self) -> Result<(), ParquetError> {
        let groups = self.writer.flushed_row_groups()[..self.good_groups].to_vec();
        let rows = groups.iter().map(parquet::file::metadata::RowGroupMetaData::num_rows).sum();
        let created_by = Some(concat!("wayhop ", env!("CARGO_PKG_VERSION")).to_owned());
        let schema = Arc::new(self.writer.schema_descr().clone());
        let file = FileMetaData::new(1, rows, created_by, None, schema, None);
        let metadata = ParquetMetaData::new(file, groups);
        let sink = self.writer.inner_mut();
        if self.good_groups == 0 {
            // Even the magic number at the beginning was part of what could not be written.
            io::Write::write_all(sink, b"PAR1")?;
        }
        ParquetMetaDataWriter::new(&mut *sink, &metadata).finish()?;
        sink.commit()?;
        Ok(())
    }
}

#[cfg(test)]
impl<R> Table<R> {
    /// For tests of a disk that fills up: goes on with another handle of the same file.
    pub(super) fn replace_file(&mut self, file: File) {
        self.writer.inner_mut().replace_file(file);
    }
}

fn parquet_error(path: &Path, e: ParquetError) -> Error {
    match e {
        ParquetError::External(e) => match e.downcast::<io::Error>() {
            Ok(e) => Error::io(path, "write")(*e),
            Err(e) => Error::invalid(path, e.to_string()),
        },
        e => Error::invalid(path, e.to_string()),
    }
}
