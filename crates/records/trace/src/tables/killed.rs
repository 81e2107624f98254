//! Tables of killed runs, completed from the checkpoint.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::schema::types::SchemaDescPtr;

use super::checkpoint::{Checkpoint, PayloadPlace};
use super::pieces::Pieces;
use crate::Error;

/// At the end of a Parquet file: the length of the footer, and `PAR1`.
const TRAILER: u64 = 8;
/// Footers of more octets are not read.
const LONGEST_FOOTER: u64 = 64 << 20;

pub(super) fn footer(schema: SchemaDescPtr, groups: Vec<RowGroupMetaData>) -> Result<Vec<u8>, ParquetError> {
    let rows = groups.iter().fold(0_i64, |all, g| all.saturating_add(g.num_rows()));
    let created_by = Some(format!("wayhop {}", wayhop_core::version::full()));
    let file = FileMetaData::new(1, rows, created_by, None, schema, None);
    let mut octets = Vec::new();
    ParquetMetaDataWriter::new(&mut octets, &ParquetMetaData::new(file, groups)).finish()?;
    Ok(octets)
}

/// The pieces of a table whose own file has no footer; `None` if the run has no checkpoint of it.
pub(super) fn table(dir: &Path, name: &str, file: File) -> Result<Option<Pieces>, Error> {
    let Some(checkpoint) = Checkpoint::read(dir)? else { return Ok(None) };
    let Some(kept) = checkpoint.tables.get(name).cloned() else { return Ok(None) };
    let path = dir.join(format!("{name}.parquet"));
    let base = checkpoint.octets(kept.base)?;
    let pieces = put_together(&base, &kept.rows, file, checkpoint.file);
    pieces.map(Some).map_err(|e| {
        Error::invalid(&path, format!("it does not match tables.checkpoint; one of them is damaged ({e})"))
    })
}

fn put_together(
    base: &[u8],
    rows: &[PayloadPlace],
    file: File,
    mut checkpoint: File,
) -> Result<Pieces, ParquetError> {
    let damaged = |what: &str| ParquetError::General(what.to_owned());
    let (good, footer_of_base) =
        base.split_first_chunk().ok_or_else(|| damaged("a record of the checkpoint is too short"))?;
    let good = u64::from_le_bytes(*good);
    if file.metadata()?.len() < good {
        return Err(damaged("the table is shorter than its checkpoint says"));
    }
    let metadata = footer_of_base.len().checked_sub(TRAILER as usize).map(|n| &footer_of_base[..n]);
    let metadata = metadata.ok_or_else(|| damaged("a footer of the checkpoint is too short"))?;
    let whole = ParquetMetaDataReader::decode_metadata(metadata)?;
    let schema = whole.file_metadata().schema_descr_ptr();
    let mut groups = whole.row_groups().to_vec();
    let mut pieces = Pieces::default();
    pieces.add_file(&Arc::new(file), 0, good);
    let found = rows.iter().map(|place| Ok((*place, metadata_at(&mut checkpoint, *place)?)));
    let found = found.collect::<Result<Vec<_>, ParquetError>>()?;
    let checkpoint = Arc::new(checkpoint);
    for (place, metadata) in found {
        if metadata.file_metadata().schema_descr() != &*schema {
            return Err(damaged("the checkpoint has rows with different columns"));
        }
        for group in metadata.row_groups() {
            groups.push(moved(group.clone(), pieces.len)?);
        }
        pieces.add_file(&checkpoint, place.at, place.len);
    }
    pieces.add_memory(footer(schema, groups)?);
    Ok(pieces)
}

/// The footer of a Parquet file that lies in another file.
fn metadata_at(file: &mut File, place: PayloadPlace) -> Result<ParquetMetaData, ParquetError> {
    let short = || ParquetError::General("the checkpoint has rows without a footer".to_owned());
    let end = place.len.checked_sub(TRAILER).ok_or_else(short)?;
    let mut len = [0; 4];
    file.seek(SeekFrom::Start(place.at + end))?;
    file.read_exact(&mut len)?;
    let len = u64::from(u32::from_le_bytes(len));
    let begin = end.checked_sub(len).filter(|_| len <= LONGEST_FOOTER).ok_or_else(short)?;
    let mut footer = vec![0; len as usize];
    file.seek(SeekFrom::Start(place.at + begin))?;
    file.read_exact(&mut footer)?;
    ParquetMetaDataReader::decode_metadata(&footer)
}

/// A row group that lies further behind than its footer says.
fn moved(group: RowGroupMetaData, by: u64) -> Result<RowGroupMetaData, ParquetError> {
    let far = || ParquetError::General("a row group lies beyond any file".to_owned());
    let by = i64::try_from(by).map_err(|_| far())?;
    let place = |at: i64| at.checked_add(by).ok_or_else(far);
    let mut columns = Vec::with_capacity(group.columns().len());
    for column in group.columns() {
        let dictionary = column.dictionary_page_offset().map(place).transpose()?;
        let data = place(column.data_page_offset())?;
        let moved = column.clone().into_builder().set_data_page_offset(data);
        // Wayhop writes none of the others.
        let moved = moved.set_index_page_offset(None).set_bloom_filter_offset(None);
        let moved = moved.set_offset_index_offset(None).set_column_index_offset(None);
        columns.push(moved.set_dictionary_page_offset(dictionary).build()?);
    }
    let begin = group.file_offset().map(place).transpose()?;
    let moved = group.into_builder().set_column_metadata(columns);
    match begin {
        Some(at) => moved.set_file_offset(at),
        None => moved,
    }
    .build()
}

/// Puts a table together in its file, which has no footer. Whatever interrupts it, it can be done again.
pub(super) fn mend(dir: &Path, name: &str, pieces: &Pieces) -> Result<(), Error> {
    let path = dir.join(format!("{name}.parquet"));
    let write = || -> io::Result<()> {
        let mut file = File::options().write(true).open(&path)?;
        let good = pieces.first_len();
        file.set_len(good)?;
        file.seek(SeekFrom::Start(good))?;
        pieces.write_from(good, &mut file)?;
        file.sync_all()
    };
    write().map_err(Error::io(&path, "write"))
}
