//! One Parquet file, written row group by row group.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;

use super::checkpoint::{Checkpoints, RecordKind};
use super::column::{Column, schema};
use super::killed::footer;
use super::rows::WaitingRows;
use crate::Error;

/// Rows in a row group: enough for good dictionaries, few enough for a reader to skip to a time.
const ROW_GROUP: usize = 1 << 17;
/// Rows of a source other than batches that are taken at a time.
const PART: usize = 1 << 12;

/// A table being written. If the disk fills up, whole row groups stay readable once [`TableWriter::close`] finds room for the footer.
pub(crate) struct TableWriter<R: 'static> {
    path: PathBuf,
    name: &'static str,
    columns: &'static [Column<R>],
    writer: SerializedFileWriter<GroupSink>,
    rows: WaitingRows<R>,
    /// Row groups that are wholly in the file.
    good_groups: usize,
    /// Their rows.
    good_rows: u64,
    /// Row groups in the footer that the checkpoint has; `None` before the first checkpoint.
    kept_groups: Option<usize>,
    /// Rows in the checkpoint that wait for their row group.
    kept_rows: usize,
    state: TableState,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum TableState {
    Open,
    /// An error; the footer is still to be written.
    Failed,
    Closed,
}

impl<R> TableWriter<R> {
    /// Starts the table `name` in the directory `dir`.
    pub(crate) fn create(
        dir: &Path,
        name: &'static str,
        columns: &'static [Column<R>],
    ) -> Result<Self, Error> {
        let path = dir.join(format!("{name}.parquet"));
        let file = File::create(&path).map_err(Error::io(&path, "create"))?;
        let writer = begin(name, columns, GroupSink::new(file)).map_err(|e| parquet_error(&path, e))?;
        Ok(Self {
            path,
            name,
            columns,
            writer,
            rows: WaitingRows::new(columns),
            good_groups: 0,
            good_rows: 0,
            kept_groups: None,
            kept_rows: 0,
            state: TableState::Open,
        })
    }

    pub(crate) fn write_all(
        dir: &Path,
        name: &'static str,
        columns: &'static [Column<R>],
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Self, Error> {
        let mut table = Self::create(dir, name, columns)?;
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let part: Vec<R> = rows.by_ref().take(PART).collect();
            table.extend(&part)?;
        }
        table.close()?;
        Ok(table)
    }

    pub(crate) fn extend(&mut self, mut rows: &[R]) -> Result<(), Error> {
        while self.state == TableState::Open && !rows.is_empty() {
            let (now, later) = rows.split_at(rows.len().min(ROW_GROUP - self.rows.len()));
            self.rows.extend(now);
            rows = later;
            if self.rows.len() >= ROW_GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Writes what is left and the footer. After an error the table ends with the row groups that are wholly in the file.
    pub(crate) fn close(&mut self) -> Result<(), Error> {
        let outcome = self.close_whole();
        if self.state == TableState::Failed {
            // Nothing more can be done for this file than this; the first error is the one to report.
            let _ = self.end_with_good_groups();
        }
        self.state = TableState::Closed;
        outcome
    }

    fn close_whole(&mut self) -> Result<(), Error> {
        if self.state != TableState::Open {
            return Ok(());
        }
        if self.rows.len() > 0 {
            self.write_group()?;
        }
        let finished = self.writer.finish();
        self.settle(finished.map(|_| ()))
    }

    fn write_group(&mut self) -> Result<(), Error> {
        let rows = self.rows.len();
        let outcome = self.rows.write(0..rows, &mut self.writer);
        self.rows.clear();
        self.settle(outcome)?;
        self.good_groups += 1;
        self.good_rows += rows as u64;
        Ok(())
    }

    /// Puts what was encoded into the file.
    fn settle(&mut self, outcome: Result<(), ParquetError>) -> Result<(), Error> {
        let outcome = outcome
            .map_err(|e| parquet_error(&self.path, e))
            .and_then(|()| self.writer.inner_mut().commit().map_err(Error::io(&self.path, "write")));
        if outcome.is_err() {
            self.state = TableState::Failed;
        }
        outcome
    }

    fn end_with_good_groups(&mut self) -> Result<(), ParquetError> {
        let footer = self.footer()?;
        let sink = self.writer.inner_mut();
        if sink.good_len == 0 {
            // Even the magic number at the beginning was part of what could not be written.
            sink.write_all(b"PAR1")?;
        }
        sink.write_all(&footer)?;
        sink.commit()?;
        Ok(())
    }

    fn footer(&self) -> Result<Vec<u8>, ParquetError> {
        let groups = self.writer.flushed_row_groups()[..self.good_groups].to_vec();
        footer(Arc::new(self.writer.schema_descr().clone()), groups)
    }

    /// The length of the file, bytes: whole row groups.
    pub(crate) fn written(&self) -> u64 {
        self.writer.inner().good_len
    }

    /// Rows in the file: those of whole row groups.
    pub(crate) fn rows(&self) -> u64 {
        self.good_rows
    }

    /// Whether there is something that the last checkpoint does not have.
    pub(crate) fn has_news(&self) -> bool {
        self.state == TableState::Open
            && (self.kept_groups != Some(self.good_groups) || self.kept_rows < self.rows.len())
    }

    /// Puts into a checkpoint what the file has no footer for, or, if that is not `all`, what is new of it.
    pub(crate) fn keep(&mut self, all: bool, to: &mut Checkpoints) -> Result<(), Error> {
        if self.state != TableState::Open {
            return Ok(());
        }
        if all || self.kept_groups != Some(self.good_groups) {
            if self.writer.inner().good_len == 0 {
                // The magic number.
                let flushed = self.writer.flush();
                self.settle(flushed.map_err(ParquetError::from))?;
            }
            if to.is_durable {
                self.writer.inner().sync().map_err(Error::io(&self.path, "write"))?;
            }
            let footer = self.footer().map_err(|e| parquet_error(&self.path, e))?;
            let good = self.writer.inner().good_len.to_le_bytes();
            to.put(RecordKind::Base, self.name, &[&good, &footer])?;
            (self.kept_groups, self.kept_rows) = (Some(self.good_groups), 0);
        }
        if self.kept_rows < self.rows.len() {
            let encoded = begin(self.name, self.columns, Vec::new()).and_then(|mut writer| {
                self.rows.write(self.kept_rows..self.rows.len(), &mut writer)?;
                writer.into_inner()
            });
            to.put(RecordKind::Rows, self.name, &[&encoded.map_err(|e| parquet_error(&self.path, e))?])?;
            self.kept_rows = self.rows.len();
        }
        Ok(())
    }

    /// Has the disk keep the file, which is closed.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.writer.inner().sync().map_err(Error::io(&self.path, "write"))
    }
}

/// A table that becomes no file of a run.
pub(crate) fn in_memory<R>(name: &str, columns: &[Column<R>], rows: &[R]) -> Result<Vec<u8>, ParquetError> {
    let mut writer = begin(name, columns, Vec::new())?;
    let mut waiting = WaitingRows::new(columns);
    for group in rows.chunks(ROW_GROUP) {
        waiting.extend(group);
        waiting.write(0..group.len(), &mut writer)?;
        waiting.clear();
    }
    writer.into_inner()
}

/// A Parquet file without rows.
fn begin<R, W: Write + Send>(
    name: &str,
    columns: &[Column<R>],
    to: W,
) -> Result<SerializedFileWriter<W>, ParquetError> {
    // What columns are encoded and compressed by is up to `WaitingRows`.
    let properties = WriterProperties::builder()
        .set_created_by(format!("wayhop {}", wayhop_core::version::full()))
        .set_offset_index_disabled(true)
        .build();
    SerializedFileWriter::new(to, Arc::new(schema(name, columns)?), Arc::new(properties))
}

#[cfg(test)]
impl<R> TableWriter<R> {
    /// For tests of a full disk: continues with another handle of the same file.
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

/// Keeps what is written until [`GroupSink::commit`] appends it to the file: all of it, or, when the disk is full, nothing.
struct GroupSink {
    file: File,
    /// Octets that are in the file.
    good_len: u64,
    pending: Vec<u8>,
}

impl GroupSink {
    /// Writes to this file, which is empty.
    fn new(file: File) -> Self {
        Self { file, good_len: 0, pending: Vec::new() }
    }

    /// Waits until the disk has what is in the file.
    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Appends what was collected. After an error the file has the length that it had before.
    fn commit(&mut self) -> io::Result<()> {
        let outcome = self.file.write_all(&self.pending);
        if outcome.is_ok() {
            self.good_len += self.pending.len() as u64;
        } else {
            // The error that matters is the first one; a file that cannot be cut (a device) stays as it is.
            let _ = self.file.set_len(self.good_len);
            let _ = self.file.seek(SeekFrom::Start(self.good_len));
        }
        self.pending.clear();
        outcome
    }
}

#[cfg(test)]
impl GroupSink {
    fn replace_file(&mut self, file: File) {
        self.file = file;
    }
}

impl Write for GroupSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
