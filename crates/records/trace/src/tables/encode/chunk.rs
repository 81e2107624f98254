//! How the values of each type become a column chunk.

use std::ops::Range;

use parquet::basic::Encoding;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::delta::{self, Delta};
use super::dictionary::Dictionary;
use super::hybrid;
use super::pages::{Chunk, DictionaryPage, EncodedChunk, Pages};
use super::values::Values;
use crate::tables::texts::{TextId, Texts};

/// Integers with more different values than this are delta encoded, ...
const MOST_ENTRIES: usize = 1 << 12;
/// ... and so are more than this many of which every other one is different.
const FEW_ENTRIES: usize = 64;
/// Longer texts are not told as the least or the greatest.
const LONGEST_BOUND: usize = 64;

/// Encodes column chunks. Keeps its buffers from one to the next.
#[derive(Default)]
pub(crate) struct Encoder {
    dictionary: Dictionary,
    pages: Pages,
}

/// The column, and the rows of it that become a chunk.
pub(crate) struct Part<'a> {
    pub(crate) about: &'a ColumnDescPtr,
    pub(crate) rows: Range<usize>,
}

impl Part<'_> {
    fn chunk<'a, T: Copy + Default>(
        &'a self,
        values: &'a Values<T>,
        encoding: Encoding,
        statistics: impl FnOnce(u64) -> Statistics,
    ) -> Chunk<'a> {
        let has = values.has(&self.rows);
        let nulls = has.map_or(0, |has| has.iter().filter(|has| !**has).count());
        let statistics = statistics(nulls as u64);
        Chunk { about: self.about, has, rows: self.rows.len(), encoding, dictionary: None, statistics }
    }
}

impl Encoder {
    /// Numbers that grow or vary from row to row: delta encoded.
    pub(crate) fn int64(&mut self, part: &Part<'_>, values: &Values<i64>) -> Result<EncodedChunk> {
        let dense = values.dense(&part.rows);
        let [least, greatest] = bounds(&dense);
        let statistics = |nulls| Statistics::int64(least, greatest, None, Some(nulls), false);
        self.deltas(part.chunk(values, Encoding::DELTA_BINARY_PACKED, statistics), &dense)
    }

    /// Numbers with few different values, by a dictionary of them; otherwise as [`Encoder::int64`].
    pub(crate) fn int32(&mut self, part: &Part<'_>, values: &Values<i32>) -> Result<EncodedChunk> {
        let dense = values.dense(&part.rows);
        let most = MOST_ENTRIES.min((dense.len() / 2).max(FEW_ENTRIES));
        let are_few = self.dictionary.take(dense.iter().map(|v| v.cast_unsigned()), most);
        let entries: Vec<i32> = self.dictionary.entries.iter().map(|key| key.cast_signed()).collect();
        let [least, greatest] = bounds(if are_few { &entries } else { &dense });
        let statistics = |nulls| Statistics::int32(least, greatest, None, Some(nulls), false);
        if !are_few {
            return self.deltas(part.chunk(values, Encoding::DELTA_BINARY_PACKED, statistics), &dense);
        }
        let chunk = part.chunk(values, Encoding::RLE_DICTIONARY, statistics);
        self.places(chunk, entries.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// Texts, by a dictionary of them.
    pub(crate) fn texts(
        &mut self,
        part: &Part<'_>,
        values: &Values<TextId>,
        texts: &Texts,
    ) -> Result<EncodedChunk> {
        let dense = values.dense(&part.rows);
        self.dictionary.take(dense.iter().map(|id| id.0), usize::MAX);
        let entries: Vec<&str> = self.dictionary.entries.iter().map(|id| texts.get(TextId(*id))).collect();
        let [least, greatest] =
            bounds(&entries).map(|s| s.filter(|s| s.len() <= LONGEST_BOUND).map(ByteArray::from));
        let statistics = |nulls| Statistics::byte_array(least, greatest, None, Some(nulls), false);
        let mut octets = Vec::new();
        for s in entries {
            octets.extend_from_slice(&(s.len() as u32).to_le_bytes());
            octets.extend_from_slice(s.as_bytes());
        }
        self.places(part.chunk(values, Encoding::RLE_DICTIONARY, statistics), octets)
    }

    pub(crate) fn float(&mut self, part: &Part<'_>, values: &Values<f32>) -> Result<EncodedChunk> {
        let dense = values.dense(&part.rows);
        let statistics = |nulls| Statistics::float(None, None, None, Some(nulls), false);
        let put = |range: Range<usize>, to: &mut Vec<u8>| {
            to.extend(dense[range].iter().flat_map(|v| v.to_le_bytes()));
        };
        self.pages.write(part.chunk(values, Encoding::PLAIN, statistics), put)
    }

    pub(crate) fn double(&mut self, part: &Part<'_>, values: &Values<f64>) -> Result<EncodedChunk> {
        let dense = values.dense(&part.rows);
        let statistics = |nulls| Statistics::double(None, None, None, Some(nulls), false);
        let put = |range: Range<usize>, to: &mut Vec<u8>| {
            to.extend(dense[range].iter().flat_map(|v| v.to_le_bytes()));
        };
        self.pages.write(part.chunk(values, Encoding::PLAIN, statistics), put)
    }

    fn deltas<T: Delta>(&mut self, chunk: Chunk<'_>, dense: &[T]) -> Result<EncodedChunk> {
        self.pages.write(chunk, |range, to| delta::put(&dense[range], to))
    }

    /// The places of values in the dictionary whose entries are these octets.
    fn places(&mut self, chunk: Chunk<'_>, octets: Vec<u8>) -> Result<EncodedChunk> {
        let Dictionary { entries, places, .. } = &self.dictionary;
        let Some(last) = entries.len().checked_sub(1) else {
            // No row has a value.
            return self.pages.write(Chunk { encoding: Encoding::PLAIN, ..chunk }, |_, _| ());
        };
        let width = hybrid::width(last as u32);
        let dictionary = Some(DictionaryPage { octets, entries: entries.len() });
        self.pages.write(Chunk { dictionary, ..chunk }, |range, to| {
            to.push(width);
            hybrid::put(&places[range], width, to);
        })
    }
}

/// The least and the greatest value; nothing of none.
fn bounds<T: Copy + Ord>(values: &[T]) -> [Option<T>; 2] {
    [values.iter().copied().min(), values.iter().copied().max()]
}
