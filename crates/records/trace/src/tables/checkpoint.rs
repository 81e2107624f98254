//! What a run has recorded and its tables do not hold yet: the file `tables.checkpoint`, for a run that is killed.
//!
//! Rows go into a table's file by large row groups, and a footer comes at its end. So that a run that is killed loses a few
//! seconds and not everything, the writer now and then appends to this file what is new: rows, as small Parquet files, and of
//! each table that got row groups the footer up to there, with the length up to which it holds. Records have their length
//! and a checksum, and count with the mark behind them: what a kill tears off at the end is ignored.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crc::{CRC_32_ISO_HDLC, Crc};

use super::schema::TABLES;
use crate::conversations::MOST_CONVERSATIONS;
use crate::{Error, FlowSummary, Summary};

/// The file in the run directory.
pub(crate) const CHECKPOINT: &str = "tables.checkpoint";
/// The same while it is rewritten.
pub(crate) const CHECKPOINT_PART: &str = "tables.checkpoint.part";
const MAGIC: &[u8; 8] = b"WHCKPT1\n";
static SUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
const FOREIGN: &str = "invalid records: not written by Wayhop";
/// A record's length and checksum.
const HEAD: usize = 8;
/// Marks after which the file is rewritten, so that rows come in few pieces.
const MOST_MARKS: u32 = 64;
/// It is also rewritten once it has grown by this and four times its first size.
const GROWTH: u64 = 16 << 20;
/// More pieces than this has no table that Wayhop wrote.
const MOST_PIECES: usize = 1 << 12;
/// A summary, two of each table and the flows are written at a time.
const MOST_AT_A_TIME: usize = 2 + 2 * TABLES.len();
/// Summaries and footers of more octets are not read.
const LONGEST: u64 = 64 << 20;

#[derive(Copy, Clone, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum RecordKind {
    /// The summary as it was then, as JSON.
    Summary = 1,
    /// Of a table: the length of its file up to which the footer behind it holds. Rows of earlier records are in there.
    Base = 2,
    /// Further rows of a table, as a Parquet file.
    Rows = 3,
    /// What was written up to here counts.
    Mark = 4,
    /// Flows that have begun since the summary, as lines of JSON.
    Flows = 5,
}

impl RecordKind {
    fn of(code: u8) -> Option<Self> {
        [Self::Summary, Self::Base, Self::Rows, Self::Mark, Self::Flows]
            .into_iter()
            .find(|k| *k as u8 == code)
    }
}

/// The file, as its run writes it.
pub(crate) struct Checkpoints {
    dir: PathBuf,
    /// Whether the disk has to have it, so that a power cut spares it.
    pub(crate) is_durable: bool,
    open: Option<Open>,
}

struct Open {
    file: BufWriter<File>,
    is_new: bool,
    marks: u32,
    written: u64,
    /// Octets at its first mark.
    first: u64,
}

impl Checkpoints {
    /// Of this run directory; nothing is written yet.
    pub(crate) fn new(dir: &Path, is_durable: bool) -> Self {
        Self { dir: dir.to_owned(), is_durable, open: None }
    }

    /// Begins a checkpoint. Says whether it has to hold all that the tables do not, or only what is new.
    pub(crate) fn begin(&mut self) -> Result<bool, Error> {
        if self.open.as_ref().is_some_and(|o| o.marks < MOST_MARKS && o.written < GROWTH + 4 * o.first) {
            return Ok(false);
        }
        let path = self.dir.join(CHECKPOINT_PART);
        let file = File::create(&path).map_err(Error::io(&path, "create"))?;
        let mut file = BufWriter::new(file);
        file.write_all(MAGIC).map_err(Error::io(&path, "write"))?;
        self.open = Some(Open { file, is_new: true, marks: 0, written: 0, first: 0 });
        Ok(true)
    }

    pub(crate) fn put_summary(&mut self, summary: &Summary) -> Result<(), Error> {
        let json = serde_json::to_vec(summary).map_err(|e| self.cannot_encode(&e))?;
        self.put(RecordKind::Summary, "", &[&json])
    }

    /// Flows that have begun, as lines of JSON; nothing if there are none.
    pub(crate) fn put_flows(&mut self, lines: &[u8]) -> Result<(), Error> {
        if lines.is_empty() { Ok(()) } else { self.put(RecordKind::Flows, "", &[lines]) }
    }

    pub(crate) fn cannot_encode(&self, e: &serde_json::Error) -> Error {
        Error::invalid(&self.dir, e.to_string())
    }

    pub(super) fn put(&mut self, kind: RecordKind, table: &str, payload: &[&[u8]]) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let head = [kind as u8, table.len() as u8];
        let parts = || [&head[..], table.as_bytes()].into_iter().chain(payload.iter().copied());
        let mut sum = SUM.digest();
        parts().for_each(|p| sum.update(p));
        let sum = sum.finalize();
        let len = parts().map(<[u8]>::len).sum::<usize>();
        let mut write = || {
            let short = u32::try_from(len).map_err(io::Error::other)?;
            open.file.write_all(&short.to_le_bytes())?;
            open.file.write_all(&sum.to_le_bytes())?;
            parts().try_for_each(|p| open.file.write_all(p))
        };
        write().map_err(Error::io(&self.dir.join(CHECKPOINT), "write"))?;
        open.written += (HEAD + len) as u64;
        Ok(())
    }

    /// Has what was put since [`Checkpoints::begin`] count.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        self.put(RecordKind::Mark, "", &[])?;
        let Some(open) = &mut self.open else { return Ok(()) };
        let (path, part) = (self.dir.join(CHECKPOINT), self.dir.join(CHECKPOINT_PART));
        let mut write = || {
            open.file.flush()?;
            if self.is_durable {
                open.file.get_ref().sync_data()?;
            }
            if open.is_new {
                fs::rename(&part, &path)?;
                if self.is_durable {
                    File::open(&self.dir)?.sync_all()?;
                }
            }
            Ok(())
        };
        write().map_err(Error::io(&path, "write"))?;
        if std::mem::take(&mut open.is_new) {
            open.first = open.written;
        }
        open.marks += 1;
        Ok(())
    }

    /// Makes room on a full disk.
    pub(crate) fn give_up(&mut self) {
        self.open = None;
        remove(&self.dir);
    }
}

/// Removes the file of a run that has ended.
pub(crate) fn remove(dir: &Path) {
    for name in [CHECKPOINT, CHECKPOINT_PART] {
        // Most runs end without one of them, short ones without either.
        let _ = fs::remove_file(dir.join(name));
    }
}

/// Where a record's payload is.
#[derive(Copy, Clone)]
pub(super) struct PayloadPlace {
    pub(super) at: u64,
    pub(super) len: u64,
}

#[derive(Clone)]
pub(super) struct TableCheckpoint {
    pub(super) base: PayloadPlace,
    pub(super) rows: Vec<PayloadPlace>,
}

/// The file, read back up to its last mark.
pub(crate) struct Checkpoint {
    path: PathBuf,
    pub(super) file: File,
    summary: Option<PayloadPlace>,
    flows: Vec<PayloadPlace>,
    pub(super) tables: BTreeMap<&'static str, TableCheckpoint>,
}

impl Checkpoint {
    /// That of a run; `None` if the run has none.
    pub(crate) fn read(dir: &Path) -> Result<Option<Self>, Error> {
        let path = dir.join(CHECKPOINT);
        let file = match File::open(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(Error::io(&path, "read"))?,
        };
        let copy = file.try_clone().map_err(Error::io(&path, "read"))?;
        let mut found = Self { path, file, summary: None, flows: Vec::new(), tables: BTreeMap::new() };
        let mut records = Records { file: BufReader::new(copy), at: 0 };
        if !records.begins_well() {
            return Err(Error::invalid(&found.path, "not a checkpoint written by this version of Wayhop"));
        }
        let mut waiting = Vec::new();
        while let Some(record) = records.next_one() {
            let is_mark = record.kind == RecordKind::Mark;
            if !is_mark {
                waiting.push(record);
            }
            let is_ours = waiting.len() <= MOST_AT_A_TIME
                && (!is_mark || waiting.drain(..).all(|record| found.take(&record)));
            if !is_ours {
                return Err(Error::invalid(&found.path, FOREIGN));
            }
        }
        Ok(Some(found))
    }

    /// Whether the record is one of a run's.
    fn take(&mut self, record: &Record) -> bool {
        match (record.kind, record.table) {
            (RecordKind::Summary, None) => self.summary = Some(record.place),
            (RecordKind::Flows, None) if self.flows.len() < MOST_PIECES => self.flows.push(record.place),
            (RecordKind::Base, Some(table)) => {
                self.tables.insert(table, TableCheckpoint { base: record.place, rows: Vec::new() });
            }
            (RecordKind::Rows, Some(table)) => match self.tables.get_mut(table) {
                Some(kept) if kept.rows.len() < MOST_PIECES => kept.rows.push(record.place),
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    /// The last summary, with the flows that have begun since the first; `None` if there is none.
    pub(crate) fn summary(&self) -> Result<Option<Summary>, Error> {
        let Some(place) = self.summary else { return Ok(None) };
        let foreign = |e: serde_json::Error| Error::invalid(&self.path, format!("{FOREIGN}: {e}"));
        let mut summary: Summary = serde_json::from_slice(&self.octets(place)?).map_err(foreign)?;
        let own = summary.flows.len();
        for place in &self.flows {
            let lines = self.octets(*place)?;
            for flow in serde_json::Deserializer::from_slice(&lines).into_iter::<FlowSummary>() {
                let (flow, next) = (flow.map_err(foreign)?, summary.flows.len());
                if (flow.id as usize) < next {
                    // The summary is newer, and has it.
                    continue;
                }
                if flow.id as usize > next || next - own >= MOST_CONVERSATIONS {
                    return Err(Error::invalid(&self.path, FOREIGN));
                }
                summary.flows.push(flow);
            }
        }
        Ok(Some(summary))
    }

    pub(super) fn octets(&self, place: PayloadPlace) -> Result<Vec<u8>, Error> {
        if place.len > LONGEST {
            return Err(Error::invalid(&self.path, "a record is too long"));
        }
        let mut octets = vec![0; place.len as usize];
        let mut file = &self.file;
        let read = file.seek(SeekFrom::Start(place.at)).and_then(|_| file.read_exact(&mut octets));
        read.map_err(Error::io(&self.path, "read"))?;
        Ok(octets)
    }
}

struct Record {
    kind: RecordKind,
    table: Option<&'static str>,
    place: PayloadPlace,
}

struct Records {
    file: BufReader<File>,
    at: u64,
}

impl Records {
    fn begins_well(&mut self) -> bool {
        let mut magic = [0; MAGIC.len()];
        self.at = magic.len() as u64;
        self.file.read_exact(&mut magic).is_ok() && magic == *MAGIC
    }

    /// The next complete record. An incomplete one is the end of what was written.
    fn next_one(&mut self) -> Option<Record> {
        let mut word = [0; 4];
        self.file.read_exact(&mut word).ok()?;
        let len = u32::from_le_bytes(word);
        self.file.read_exact(&mut word).ok()?;
        let sum = u32::from_le_bytes(word);
        let mut head = [0; 2];
        self.file.read_exact(&mut head).ok()?;
        let mut name = vec![0; usize::from(head[1])];
        self.file.read_exact(&mut name).ok()?;
        let before = head.len() + name.len();
        let left = (len as usize).checked_sub(before)?;
        let mut seen = SUM.digest();
        seen.update(&head);
        seen.update(&name);
        let mut rest = left;
        let mut buffer = [0; 1 << 13];
        while rest > 0 {
            let n = rest.min(buffer.len());
            self.file.read_exact(&mut buffer[..n]).ok()?;
            seen.update(&buffer[..n]);
            rest -= n;
        }
        if seen.finalize() != sum {
            return None;
        }
        let at = self.at + (HEAD + before) as u64;
        self.at = at + left as u64;
        let table = match &name[..] {
            [] => None,
            name => Some(*TABLES.iter().find(|t| t.as_bytes() == name)?),
        };
        Some(Record { kind: RecordKind::of(head[0])?, table, place: PayloadPlace { at, len: left as u64 } })
    }
}
