//! The file `packets.index`. docs/reference/run-directory.md describes its format.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crc::{CRC_32_ISO_HDLC, Crc};
use wayhop_core::HopKind;

use super::counts::{
    Column, CountOf, FIRST_INTERVAL_NS, IndexedLoss, LONGEST_NAME, MOST_COLUMNS, MOST_INTERVALS, MOST_LOSSES,
    PacketIndex,
};
use crate::Error;

/// The file in the run directory.
pub(crate) const PACKET_INDEX: &str = "packets.index";
const TABLE: &str = "packets.parquet";
/// The last digit is the version.
const MAGIC: &[u8; 8] = b"WHPIDX1\n";
static SUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// At the end of a Parquet file: the length of the footer, and `PAR1`.
const TRAILER: u64 = 8;
/// Longer files are not read: an index of all columns, intervals and losses is shorter.
const LONGEST: u64 = 16 << 20;

/// By what an index knows its table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TableStamp {
    /// Its length.
    pub bytes: u64,
    /// CRC-32 of its footer, which has the place and the first and last moment of each row group, and of what follows it.
    pub footer_crc: u32,
}

impl TableStamp {
    fn of(table: &Path) -> io::Result<Self> {
        let mut file = File::open(table)?;
        let bytes = file.metadata()?.len();
        let end = bytes.checked_sub(TRAILER).ok_or(ErrorKind::UnexpectedEof)?;
        let mut len = [0; 4];
        file.seek(SeekFrom::Start(end))?;
        file.read_exact(&mut len)?;
        file.seek(SeekFrom::Start(end.saturating_sub(u32::from_le_bytes(len).into())))?;
        let (mut sum, mut buffer) = (SUM.digest(), vec![0; 1 << 16]);
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                return Ok(Self { bytes, footer_crc: sum.finalize() });
            }
            sum.update(&buffer[..n]);
        }
    }
}

/// Writes the index of a table that is complete and has `rows` rows, which may be fewer than were counted. Without it a reader counts by itself, so a full disk is no error here.
pub(crate) fn write(dir: &Path, index: PacketIndex, rows: u64) {
    let index = PacketIndex { rows, ..index };
    let path = dir.join(PACKET_INDEX);
    let write = || fs::write(&path, index.encode(&TableStamp::of(&dir.join(TABLE))?));
    if write().is_err() {
        // Half an index would be reported as damaged.
        let _ = fs::remove_file(&path);
    }
}

impl PacketIndex {
    /// The index of the table `packets` in a run directory, which has `rows` rows; `None` if the run has no index.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or is of another table.
    pub fn read(run: &Path, rows: u64) -> Result<Option<Self>, Error> {
        let path = run.join(PACKET_INDEX);
        let mut bytes = Vec::new();
        match File::open(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.and_then(|f| f.take(LONGEST + 1).read_to_end(&mut bytes)),
        }
        .map_err(Error::io(&path, "read"))?;
        let (index, of) = Self::decode(&bytes).map_err(|what| Error::invalid(&path, what))?;
        let table = run.join(TABLE);
        let is = TableStamp::of(&table).map_err(Error::io(&table, "read"))?;
        if of != is || index.rows != rows {
            return Err(Error::invalid(&path, format!("it is the index of another {TABLE}")));
        }
        Ok(Some(index))
    }

    /// The bytes of the file.
    pub fn encode(&self, of: &TableStamp) -> Vec<u8> {
        let mut body = Vec::new();
        let len = self.columns.iter().map(|c| c.counts.len()).max().unwrap_or(0);
        let named = &self.columns[HopKind::ALL.len()..];
        for n in [of.bytes, of.footer_crc.into(), self.rows, self.interval_ns, len as u64, named.len() as u64]
        {
            put(&mut body, n);
        }
        for column in named {
            let name = column.of.to_string();
            put(&mut body, name.len() as u64);
            body.extend(name.as_bytes());
        }
        for column in &self.columns {
            let rest = std::iter::repeat_n(&0, len - column.counts.len());
            column.counts.iter().chain(rest).for_each(|n| put(&mut body, *n));
        }
        put(&mut body, self.losses.len() as u64 * 2 + u64::from(self.has_more_losses));
        let mut before = 0_u64;
        for loss in &self.losses {
            // Rows of real nodes may be out of order by a little.
            let step = loss.time_ns.wrapping_sub(before).cast_signed();
            put(&mut body, ((step << 1) ^ (step >> 63)).cast_unsigned());
            put(&mut body, loss.node.into());
            put(&mut body, loss.packet.map_or(0, |p| p.saturating_add(1)));
            put(&mut body, loss.column.into());
            before = loss.time_ns;
        }
        [&MAGIC[..], &SUM.checksum(&body).to_le_bytes(), &body].concat()
    }

    /// Reads what [`PacketIndex::encode`] writes, and of which table it is.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn decode(bytes: &[u8]) -> Result<(Self, TableStamp), &'static str> {
        if bytes.len() as u64 > LONGEST {
            return Err("it is longer than any index");
        }
        let Some((sum, body)) = bytes.strip_prefix(MAGIC).and_then(<[u8]>::split_first_chunk) else {
            return Err("it is not an index of this version of Wayhop");
        };
        if SUM.checksum(body) != u32::from_le_bytes(*sum) {
            return Err("it is damaged: its checksum is wrong");
        }
        Reader(body).index().ok_or("it is damaged: its content is invalid")
    }
}

/// Appends a number in groups of seven bits, the lowest first; the highest bit of a byte says that another one follows (LEB128).
fn put(to: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        to.push(n as u8 | 0x80);
        n >>= 7;
    }
    to.push(n as u8);
}

/// What is left to be read; `None` where that is invalid.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut n = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            n |= bits.checked_shl(shift).filter(|shifted| shifted >> shift == bits)?;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }

    /// A number of things, at most `most`.
    fn len(&mut self, most: usize) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|n| *n <= most)
    }

    fn name(&mut self) -> Option<CountOf> {
        let len = self.len(LONGEST_NAME + "routing/".len())?;
        let (name, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        match std::str::from_utf8(name).ok()?.split_once('/')? {
            ("drop", reason) if reason.len() <= LONGEST_NAME => Some(CountOf::Drop(reason.to_owned())),
            ("routing", class) if class.len() <= LONGEST_NAME => Some(CountOf::Routing(class.to_owned())),
            _ => None,
        }
    }

    fn index(mut self) -> Option<(PacketIndex, TableStamp)> {
        let of = TableStamp { bytes: self.number()?, footer_crc: self.number()?.try_into().ok()? };
        let mut index =
            PacketIndex { rows: self.number()?, interval_ns: self.number()?, ..PacketIndex::default() };
        let doublings = index.interval_ns / FIRST_INTERVAL_NS;
        if !doublings.is_power_of_two() || doublings * FIRST_INTERVAL_NS != index.interval_ns {
            return None;
        }
        let len = self.len(MOST_INTERVALS)?;
        for _ in 0..self.len(MOST_COLUMNS - HopKind::ALL.len())? {
            let of = self.name()?;
            if index.columns.iter().any(|c| c.of == of) {
                return None;
            }
            index.columns.push(Column { of, counts: Vec::new() });
        }
        for column in &mut index.columns {
            column.counts = (0..len).map(|_| self.number()).collect::<Option<_>>()?;
        }
        self.losses(&mut index)?;
        self.0.is_empty().then_some((index, of))
    }

    fn losses(&mut self, index: &mut PacketIndex) -> Option<()> {
        let head = self.number()?;
        index.has_more_losses = head & 1 == 1;
        let mut time_ns = 0_u64;
        for _ in 0..usize::try_from(head >> 1).ok().filter(|n| *n <= MOST_LOSSES)? {
            let step = self.number()?;
            time_ns = time_ns.wrapping_add((step >> 1) ^ (step & 1).wrapping_neg());
            let node = self.number()?.try_into().ok()?;
            let packet = self.number()?.checked_sub(1);
            let column = self.number()?.try_into().ok()?;
            let of = index.columns.get(usize::from(column)).map(|c| &c.of);
            if !matches!(of, Some(CountOf::Drop(_))) {
                return None;
            }
            index.losses.push(IndexedLoss { time_ns, node, packet, column });
        }
        Some(())
    }
}
