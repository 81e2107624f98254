//! The rows of a table that wait for being written, column by column.

use std::io::Write;
use std::ops::Range;

use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;

use super::column::{Column, WaitingCells};
use super::encode::Encoder;
use super::texts::Texts;

/// More texts than this are forgotten with the rows that refer to them: strangers may send any number of addresses.
const MOST_TEXTS: usize = 1 << 16;

/// Rows that wait for being written.
pub(super) struct WaitingRows<R> {
    columns: Vec<WaitingCells<R>>,
    texts: Texts,
    encoder: Encoder,
    len: usize,
}

impl<R> WaitingRows<R> {
    pub(super) fn new(columns: &[Column<R>]) -> Self {
        Self {
            columns: columns.iter().map(Column::waiting).collect(),
            texts: Texts::default(),
            encoder: Encoder::default(),
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn extend(&mut self, rows: &[R]) {
        for column in &mut self.columns {
            column.extend(rows, &mut self.texts);
        }
        self.len += rows.len();
    }

    pub(super) fn clear(&mut self) {
        self.columns.iter_mut().for_each(WaitingCells::clear);
        self.len = 0;
        if self.texts.len() > MOST_TEXTS {
            self.texts = Texts::default();
        }
    }

    /// Writes some of the rows as a row group.
    pub(super) fn write<W: Write + Send>(
        &mut self,
        rows: Range<usize>,
        to: &mut SerializedFileWriter<W>,
    ) -> Result<()> {
        let schema = to.schema_descr().columns().to_vec();
        let mut group = to.next_row_group()?;
        for (column, about) in self.columns.iter().zip(&schema) {
            let (octets, close) = column.encode(about, rows.clone(), &self.texts, &mut self.encoder)?;
            group.append_column(&octets, close)?;
        }
        group.close()?;
        to.flush()?;
        Ok(())
    }
}
