//! The pages of a column chunk.

use std::ops::Range;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter as _};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::hybrid;

/// Rows in a page: what a reader decodes at a time.
const PAGE: usize = 1 << 14;
/// A column is compressed if its first page becomes shorter by at least this part of it: a sixteenth.
const LEAST_SAVING: usize = 16;

/// A column chunk, as `SerializedRowGroupWriter::append_column` takes it.
pub(in crate::tables) type EncodedChunk = (Bytes, ColumnCloseResult);

/// What the pages of a chunk are made of.
pub(super) struct Chunk<'a> {
    pub(super) about: &'a ColumnDescPtr,
    /// Which rows have a value, of a column in which not all do.
    pub(super) has: Option<&'a [bool]>,
    pub(super) rows: usize,
    /// The encoding of the values, and the dictionary that it refers to.
    pub(super) encoding: Encoding,
    pub(super) dictionary: Option<DictionaryPage>,
    pub(super) statistics: Statistics,
}

/// The entries of a dictionary, encoded, and how many there are.
pub(super) struct DictionaryPage {
    pub(super) octets: Vec<u8>,
    pub(super) entries: usize,
}

/// Writes pages, and keeps its buffers.
pub(super) struct Pages {
    levels: Vec<u32>,
    /// Data pages before they are compressed, one after the other.
    bodies: Vec<u8>,
    /// Where each ends in there.
    ends: Vec<usize>,
    snappy: snap::raw::Encoder,
}

impl Default for Pages {
    fn default() -> Self {
        let snappy = snap::raw::Encoder::new();
        Self { levels: Vec::new(), bodies: Vec::new(), ends: Vec::new(), snappy }
    }
}

impl Pages {
    /// Writes a chunk. `put` appends a range of its values, counted without the rows that have none.
    pub(super) fn write(
        &mut self,
        chunk: Chunk<'_>,
        put: impl Fn(Range<usize>, &mut Vec<u8>),
    ) -> Result<EncodedChunk> {
        self.fill(chunk.has, chunk.rows, put);
        let Self { bodies, ends, snappy, .. } = self;
        let first = &bodies[..ends.first().copied().unwrap_or_default()];
        let is_worthwhile = compress(snappy, first)?.len() + first.len() / LEAST_SAVING < first.len();
        let mut pack = |octets: &[u8]| {
            let packed = if is_worthwhile { compress(snappy, octets)? } else { octets.to_vec() };
            Ok::<_, ParquetError>(Bytes::from(packed))
        };
        let mut to = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut to);
        let mut uncompressed = 0;
        let mut dictionary_len = None;
        if let Some(DictionaryPage { octets, entries }) = &chunk.dictionary {
            let page = Page::DictionaryPage {
                buf: pack(octets)?,
                num_values: *entries as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            let written = writer.write_page(CompressedPage::new(page, octets.len()))?;
            uncompressed += written.uncompressed_size;
            dictionary_len = Some(written.bytes_written as i64);
        }
        let (mut begin, mut rows) = (0, chunk.rows);
        for &end in &*ends {
            let page = Page::DataPage {
                buf: pack(&bodies[begin..end])?,
                num_values: rows.min(PAGE) as u32,
                encoding: chunk.encoding,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let written = writer.write_page(CompressedPage::new(page, end - begin))?;
            uncompressed += written.uncompressed_size;
            rows -= rows.min(PAGE);
            begin = end;
        }
        let octets = to.into_inner()?;
        let mut encodings = vec![Encoding::RLE, chunk.encoding];
        encodings.extend(dictionary_len.map(|_| Encoding::PLAIN));
        let metadata = ColumnChunkMetaData::builder(chunk.about.clone())
            .set_encodings(encodings)
            .set_compression(if is_worthwhile { Compression::SNAPPY } else { Compression::UNCOMPRESSED })
            .set_num_values(chunk.rows as i64)
            .set_total_compressed_size(octets.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_dictionary_page_offset(dictionary_len.map(|_| 0))
            .set_data_page_offset(dictionary_len.unwrap_or_default())
            .set_statistics(chunk.statistics)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: octets.len() as u64,
            rows_written: chunk.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((octets.into(), close))
    }

    /// The data pages: which rows have a value, and the values.
    fn fill(&mut self, has: Option<&[bool]>, rows: usize, put: impl Fn(Range<usize>, &mut Vec<u8>)) {
        let Self { levels, bodies, ends, .. } = self;
        bodies.clear();
        ends.clear();
        let mut value = 0;
        for begin in (0..rows).step_by(PAGE) {
            let page = begin..rows.min(begin + PAGE);
            let mut values = page.len();
            if let Some(has) = has {
                levels.clear();
                levels.extend(has[page].iter().map(|has| u32::from(*has)));
                values = levels.iter().map(|level| *level as usize).sum();
                let len = bodies.len();
                bodies.extend([0; 4]);
                hybrid::put(levels, 1, bodies);
                let written = (bodies.len() - len - 4) as u32;
                bodies[len..len + 4].copy_from_slice(&written.to_le_bytes());
            }
            put(value..value + values, bodies);
            value += values;
            ends.push(bodies.len());
        }
    }
}

fn compress(snappy: &mut snap::raw::Encoder, octets: &[u8]) -> Result<Vec<u8>> {
    snappy.compress_vec(octets).map_err(|e| ParquetError::External(Box::new(e)))
}
