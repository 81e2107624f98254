//! A table's file; for a killed run, reassembled from its parts.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// What a table is read from, also by several threads at a time: a `File` of Parquet's would have one position for all of them, and a
/// reader would get what another one asked for.
pub struct TableFile(Arc<Pieces>);

impl TableFile {
    /// A file with everything in it.
    pub(super) fn whole(file: File) -> Self {
        let mut pieces = Pieces::default();
        let len = Length::len(&file);
        pieces.add_file(&Arc::new(file), 0, len);
        Self::pieced(pieces)
    }

    pub(super) fn pieced(pieces: Pieces) -> Self {
        Self(Arc::new(pieces))
    }
}

/// Pieces of files that are read as if they were one.
#[derive(Default)]
pub(super) struct Pieces {
    parts: Vec<Part>,
    pub(super) len: u64,
}

struct Part {
    /// Where it begins in the whole.
    at: u64,
    len: u64,
    from: Source,
}

enum Source {
    /// From this place on.
    File(Arc<File>, u64),
    Memory(Bytes),
}

impl Pieces {
    pub(super) fn add_file(&mut self, file: &Arc<File>, at: u64, len: u64) {
        self.add(len, Source::File(Arc::clone(file), at));
    }

    pub(super) fn add_memory(&mut self, octets: Vec<u8>) {
        self.add(octets.len() as u64, Source::Memory(octets.into()));
    }

    fn add(&mut self, len: u64, from: Source) {
        self.parts.push(Part { at: self.len, len, from });
        self.len = self.len.saturating_add(len);
    }

    /// The length of the first piece: what the table's own file has.
    pub(super) fn first_len(&self) -> u64 {
        self.parts.first().map_or(0, |p| p.len)
    }

    /// Writes all from `at` on.
    pub(super) fn write_from(&self, mut at: u64, to: &mut dyn Write) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        while at < self.len {
            let n = self.read_at(at, &mut buffer)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            to.write_all(&buffer[..n])?;
            at += n as u64;
        }
        Ok(())
    }

    /// Reads some of what is there from `at` on; nothing at the end.
    fn read_at(&self, at: u64, to: &mut [u8]) -> io::Result<usize> {
        let after = self.parts.partition_point(|p| p.at <= at);
        // An empty piece begins where the next one does.
        let Some(part) = self.parts[..after].iter().rev().find(|p| at - p.at < p.len) else { return Ok(0) };
        let skip = at - part.at;
        let n = to.len().min(usize::try_from(part.len - skip).unwrap_or(usize::MAX));
        match &part.from {
            Source::Memory(octets) => {
                let from = skip as usize;
                to[..n].copy_from_slice(&octets[from..from + n]);
                Ok(n)
            }
            Source::File(file, from) => read_file_at(file, from.saturating_add(skip), &mut to[..n]),
        }
    }
}

/// Reads on from a place.
pub struct Cursor {
    pieces: Arc<Pieces>,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let n = self.pieces.read_at(self.at, to)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// Reads from a place of a file, whatever else reads from it.
#[cfg(unix)]
fn read_file_at(file: &File, at: u64, to: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, to, at)
}

/// Reads from a place of a file. It moves the file's position, which nothing here uses.
#[cfg(windows)]
fn read_file_at(file: &File, at: u64, to: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, to, at)
}

impl Length for TableFile {
    fn len(&self) -> u64 {
        self.0.len
    }
}

impl ChunkReader for TableFile {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(Cursor { pieces: Arc::clone(&self.0), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // As much as there is, and not as much as a footer claims.
        let there = usize::try_from(self.0.len.saturating_sub(start)).unwrap_or(usize::MAX);
        let mut octets = Vec::with_capacity(length.min(there));
        Cursor { pieces: Arc::clone(&self.0), at: start }.take(length as u64).read_to_end(&mut octets)?;
        if octets.len() != length {
            return Err(ParquetError::EOF("the table ends before what its footer says".to_owned()));
        }
        Ok(octets.into())
    }
}
