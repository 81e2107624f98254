//! The tables `packets` and `outcomes`, read in parts, so that large ones need little memory.

use std::path::Path;

use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader};
use wayhop_core::DropReason;

use super::read;
use crate::{Error, RunDir, killed};

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
        let (mut time, mut seq) = (cells::<Int64Type>(group, time)?, cells::<Int64Type>(group, seq)?);
        let (mut node, mut flow) = (cells::<Int32Type>(group, node)?, cells::<Int32Type>(group, flow)?);
        let (mut bytes, mut ttl) = (cells::<Int32Type>(group, bytes)?, cells::<Int32Type>(group, ttl)?);
        let (mut event, mut class, mut reason) = (
            cells::<ByteArrayType>(group, event)?,
            cells::<ByteArrayType>(group, class)?,
            cells::<ByteArrayType>(group, reason)?,
        );
        loop {
            let rows = time.fill(ROWS)?;
            check_lengths(
                rows,
                &[node.fill(ROWS)?, flow.fill(ROWS)?, seq.fill(ROWS)?, bytes.fill(ROWS)?, ttl.fill(ROWS)?],
            )?;
            check_lengths(rows, &[event.fill(ROWS)?, class.fill(ROWS)?, reason.fill(ROWS)?])?;
            for _ in 0..rows {
                let (at, node, bytes, ttl) =
                    (time.next_value(), node.next_value(), bytes.next_value(), ttl.next_value());
                let (event, class, reason) = (event.next_value(), class.next_value(), reason.next_value());
                let (Some(flow), Some(seq)) = (flow.next_value(), seq.next_value()) else { continue };
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
        let (mut flow, mut seq, mut nodes) = (
            cells::<Int32Type>(group, flow)?,
            cells::<Int64Type>(group, seq)?,
            cells::<Int32Type>(group, nodes)?,
        );
        let (mut outcome, mut reason) =
            (cells::<ByteArrayType>(group, outcome)?, cells::<ByteArrayType>(group, reason)?);
        loop {
            let rows = flow.fill(ROWS)?;
            check_lengths(
                rows,
                &[seq.fill(ROWS)?, nodes.fill(ROWS)?, outcome.fill(ROWS)?, reason.fill(ROWS)?],
            )?;
            for _ in 0..rows {
                take(&OutcomeRow {
                    packet: (number(flow.next_value())?, number(seq.next_value())?),
                    outcome: word(outcome.next_value())?.ok_or_else(foreign)?,
                    reason: word(reason.next_value())?,
                    nodes: number(nodes.next_value())?,
                });
            }
            if rows == 0 {
                return Ok(());
            }
        }
    })
}

type ReadResult = Result<(), ParquetError>;

fn cells<T: DataType>(group: &dyn RowGroupReader, at: usize) -> Result<ColumnCells<T>, ParquetError> {
    ColumnCells::of(group, at)?.ok_or_else(foreign)
}

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

/// All columns have as many rows.
fn check_lengths(rows: usize, others: &[usize]) -> ReadResult {
    if others.iter().any(|n| *n != rows) {
        return Err(ParquetError::General("columns of different lengths".to_owned()));
    }
    Ok(())
}

fn number<N: TryFrom<i64>>(v: Option<&(impl Copy + Into<i64>)>) -> Result<N, ParquetError> {
    v.and_then(|v| N::try_from((*v).into()).ok()).ok_or_else(foreign)
}

fn word(v: Option<&ByteArray>) -> Result<Option<&str>, ParquetError> {
    v.map(|v| v.as_utf8().map_err(|_| foreign())).transpose()
}

/// The cells of a column, in the order of the rows.
pub struct ColumnCells<T: DataType> {
    reader: ColumnReaderImpl<T>,
    is_optional: bool,
    levels: Vec<i16>,
    values: Vec<T::T>,
    row: usize,
    value: usize,
}

impl<T: DataType> ColumnCells<T> {
    /// Column number `at` of a row group; `None` if it is not a plain column of this type.
    pub fn of(group: &dyn RowGroupReader, at: usize) -> Result<Option<Self>> {
        let about = group.metadata().column(at).column_descr_ptr();
        let is_plain = about.max_rep_level() == 0 && about.max_def_level() <= 1;
        if about.physical_type() != T::get_physical_type() || !is_plain {
            return Ok(None);
        }
        let (levels, values) = (Vec::new(), Vec::new());
        let (reader, is_optional) = (group.get_column_reader(at)?, about.max_def_level() == 1);
        let reader = get_typed_column_reader(reader);
        Ok(Some(Self { reader, is_optional, levels, values, row: 0, value: 0 }))
    }

    /// Passes over rows.
    pub fn skip(&mut self, rows: usize) -> Result<()> {
        self.reader.skip_records(rows).map(drop)
    }

    /// Reads further rows, at most `most`. Returns how many; 0 at the end.
    pub fn fill(&mut self, most: usize) -> Result<usize> {
        (self.row, self.value) = (0, 0);
        self.levels.clear();
        self.values.clear();
        let levels = self.is_optional.then_some(&mut self.levels);
        Ok(self.reader.read_records(most, levels, None, &mut self.values)?.0)
    }

    /// The value of the next row that was read; nothing if it has none.
    pub fn next_value(&mut self) -> Option<&T::T> {
        let row = self.row;
        self.row += 1;
        if self.is_optional && self.levels.get(row) != Some(&1) {
            return None;
        }
        self.value += 1;
        self.values.get(self.value - 1)
    }
}
