//! The tables `packets` and `outcomes`, read in parts, so that large ones need little memory.

use std::path::Path;

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader};
use wayhop_core::DropReason;

use super::read;
use crate::{Error, RunDir, killed};

/// Rows that are in memory at a time.
const ROWS: usize = 1 << 13;

/// A row of `packets` that is about a packet of a flow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PacketRow<'a> {
    /// When, nanoseconds since the start.
    pub time_ns: u64,
    /// Where.
    pub node: u32,
    /// What happened: a name of [`crate::HopKind`].
    pub event: &'a str,
    /// The packet's flow and its number in the flow.
    pub packet: (u32, u32),
    /// What it is.
    pub class: &'a str,
    /// Length of the IP packet in octets.
    pub bytes: u32,
    /// Its time to live.
    pub ttl: u8,
    /// Why it ended, with a drop.
    pub reason: Option<&'a str>,
}

/// A row of `outcomes`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRow<'a> {
    /// The packet's flow and its number in the flow.
    pub packet: (u32, u32),
    /// What became of it: a name of [`crate::Outcome`].
    pub outcome: &'a str,
    /// Why, if it was dropped.
    pub reason: Option<&'a str>,
    /// At how many nodes.
    pub nodes: u32,
}

/// Calls `take` with each row of `packets` that is about a packet of a flow, in order.
pub fn packet_rows(run: &RunDir, mut take: impl FnMut(&PacketRow<'_>)) -> Result<(), Error> {
    let names = ["time_ns", "node", "event", "flow", "seq", "class", "bytes", "ttl", "reason"];
    each_group(run, "packets", names, |group, [time, node, event, flow, seq, class, bytes, ttl, reason]| {
        let (mut time, mut seq) =
            (Cells::<Int64Type>::new(group, time)?, Cells::<Int64Type>::new(group, seq)?);
        let (mut node, mut flow) =
            (Cells::<Int32Type>::new(group, node)?, Cells::<Int32Type>::new(group, flow)?);
        let (mut bytes, mut ttl) =
            (Cells::<Int32Type>::new(group, bytes)?, Cells::<Int32Type>::new(group, ttl)?);
        let (mut event, mut class) =
            (Cells::<ByteArrayType>::new(group, event)?, Cells::<ByteArrayType>::new(group, class)?);
        let mut reason = Cells::<ByteArrayType>::new(group, reason)?;
        loop {
            let rows = time.fill()?;
            let others = [node.fill()?, flow.fill()?, seq.fill()?, bytes.fill()?, ttl.fill()?];
            let words = [event.fill()?, class.fill()?, reason.fill()?];
            if others.iter().chain(&words).any(|n| *n != rows) {
                return Err(ParquetError::General("columns of different lengths".to_owned()));
            }
            for _ in 0..rows {
                let (at, node, bytes, ttl) = (time.next(), node.next(), bytes.next(), ttl.next());
                let (event, class, reason) = (event.next(), class.next(), reason.next());
                let (Some(flow), Some(seq)) = (flow.next(), seq.next()) else { continue };
                take(&PacketRow {
                    time_ns: number(at)?,
                    node: number(node)?,
                    event: word(event)?.ok_or_else(foreign)?,
                    packet: (number(Some(flow))?, number(Some(seq))?),
                    class: word(class)?.ok_or_else(foreign)?,
                    bytes: number(bytes)?,
                    ttl: number(ttl)?,
                    reason: word(reason)?,
                });
            }
            if rows == 0 {
                return Ok(());
            }
        }
    })
}

/// Calls `take` with each row of `outcomes`, in order. Of a run that was killed they follow from `packets`.
pub fn outcome_rows(run: &RunDir, mut take: impl FnMut(&OutcomeRow<'_>)) -> Result<(), Error> {
    if let Some(outcomes) = killed::outcomes(run)? {
        for o in outcomes {
            take(&OutcomeRow {
                packet: (o.packet.flow, o.packet.seq),
                outcome: o.outcome.name(),
                reason: o.outcome.reason().map(DropReason::name),
                nodes: o.nodes,
            });
        }
        return Ok(());
    }
    let names = ["flow", "seq", "outcome", "reason", "nodes"];
    each_group(run, "outcomes", names, |group, [flow, seq, outcome, reason, nodes]| {
        let (mut flow, mut nodes) =
            (Cells::<Int32Type>::new(group, flow)?, Cells::<Int32Type>::new(group, nodes)?);
        let mut seq = Cells::<Int64Type>::new(group, seq)?;
        let (mut outcome, mut reason) =
            (Cells::<ByteArrayType>::new(group, outcome)?, Cells::<ByteArrayType>::new(group, reason)?);
        loop {
            let rows = flow.fill()?;
            let others = [seq.fill()?, nodes.fill()?, outcome.fill()?, reason.fill()?];
            if others.iter().any(|n| *n != rows) {
                return Err(ParquetError::General("columns of different lengths".to_owned()));
            }
            for _ in 0..rows {
                take(&OutcomeRow {
                    packet: (number(flow.next())?, number(seq.next())?),
                    outcome: word(outcome.next())?.ok_or_else(foreign)?,
                    reason: word(reason.next())?,
                    nodes: number(nodes.next())?,
                });
            }
            if rows == 0 {
                return Ok(());
            }
        }
    })
}

type ReadResult = Result<(), ParquetError>;

/// Calls `take` with each row group of a table and the places of these columns in it.
fn each_group<const N: usize>(
    run: &RunDir,
    table: &str,
    names: [&str; N],
    mut take: impl FnMut(&dyn RowGroupReader, [usize; N]) -> ReadResult,
) -> Result<(), Error> {
    let reader = read::open_table(run, table)?;
    let path = run.path().join(format!("{table}.parquet"));
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    let mut at = [0; N];
    for (place, name) in at.iter_mut().zip(names) {
        let found = columns.iter().position(|c| c.name() == name);
        *place = found.ok_or_else(|| missing(&path, name))?;
    }
    for i in 0..reader.num_row_groups() {
        let outcome = reader.get_row_group(i).and_then(|group| take(&*group, at));
        outcome.map_err(|e| Error::invalid(&path, e.to_string()))?;
    }
    Ok(())
}

fn missing(path: &Path, name: &str) -> Error {
    Error::invalid(
        path,
        format!("the table has no column `{name}`; it was not written by Wayhop, or by an older version"),
    )
}

fn foreign() -> ParquetError {
    ParquetError::General("invalid row: not written by Wayhop".to_owned())
}

/// A number within its type.
fn number<N: TryFrom<i64>>(v: Option<impl Into<i64>>) -> Result<N, ParquetError> {
    v.and_then(|v| N::try_from(v.into()).ok()).ok_or_else(foreign)
}

/// A text, if there is one.
fn word(v: Option<&ByteArray>) -> Result<Option<&str>, ParquetError> {
    v.map(|v| v.as_utf8().map_err(|_| foreign())).transpose()
}

/// The cells of one column of a row group, some at a time.
struct Cells<T: DataType> {
    reader: ColumnReaderImpl<T>,
    is_optional: bool,
    levels: Vec<i16>,
    values: Vec<T::T>,
    row: usize,
    value: usize,
}

impl<T: DataType> Cells<T> {
    fn new(group: &dyn RowGroupReader, at: usize) -> Result<Self, ParquetError> {
        let about = group.metadata().column(at).column_descr_ptr();
        let physical: Physical = T::get_physical_type();
        if about.physical_type() != physical || about.max_rep_level() > 0 || about.max_def_level() > 1 {
            return Err(foreign());
        }
        Ok(Self {
            reader: get_typed_column_reader(group.get_column_reader(at)?),
            is_optional: about.max_def_level() == 1,
            levels: Vec::new(),
            values: Vec::new(),
            row: 0,
            value: 0,
        })
    }

    /// Reads further rows; says how many.
    fn fill(&mut self) -> Result<usize, ParquetError> {
        (self.row, self.value) = (0, 0);
        self.levels.clear();
        self.values.clear();
        let levels = self.is_optional.then_some(&mut self.levels);
        Ok(self.reader.read_records(ROWS, levels, None, &mut self.values)?.0)
    }
}

impl Cells<Int32Type> {
    fn next(&mut self) -> Option<i32> {
        self.place().map(|i| self.values[i])
    }
}

impl Cells<Int64Type> {
    fn next(&mut self) -> Option<i64> {
        self.place().map(|i| self.values[i])
    }
}

impl Cells<ByteArrayType> {
    fn next(&mut self) -> Option<&ByteArray> {
        self.place().map(|i| &self.values[i])
    }
}

impl<T: DataType> Cells<T> {
    /// Where the next row's value is; nothing if it has none.
    fn place(&mut self) -> Option<usize> {
        let row = self.row;
        self.row += 1;
        if self.is_optional && self.levels.get(row) != Some(&1) {
            return None;
        }
        self.value += 1;
        Some(self.value - 1).filter(|i| *i < self.values.len())
    }
}
