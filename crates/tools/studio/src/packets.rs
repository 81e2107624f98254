//! What became of packets in a stretch of time.

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frame::FrameBuilder;
use crate::table::OpenTable;
use crate::words::Words;

/// Rows in an answer. A page asks again for what follows.
pub(crate) const MOST_ROWS: usize = 1 << 16;
/// In the column `peer`: nobody, or a host that is not a node of the run.
pub(crate) const NOBODY: i32 = -1;
/// In the column `peer`: all in range.
pub(crate) const EVERYBODY: i32 = -2;
/// Events of packets, in the columns of a frame.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) time_ns: Vec<f64>,
    pub(crate) packet: Vec<f64>,
    pub(crate) seq: Vec<f64>,
    pub(crate) node: Vec<i32>,
    pub(crate) peer: Vec<i32>,
    pub(crate) flow: Vec<i32>,
    /// Length of the IP packet; -1 where it is not known.
    pub(crate) bytes: Vec<i32>,
    pub(crate) event: Vec<u8>,
    pub(crate) class: Vec<u8>,
    pub(crate) reason: Vec<u8>,
    pub(crate) events: Words,
    pub(crate) classes: Words,
    pub(crate) reasons: Words,
}

impl Columns {
    fn truncate(&mut self, rows: usize) {
        for column in [&mut self.time_ns, &mut self.packet, &mut self.seq] {
            column.truncate(rows);
        }
        for column in [&mut self.node, &mut self.peer, &mut self.flow, &mut self.bytes] {
            column.truncate(rows);
        }
        for column in [&mut self.event, &mut self.class, &mut self.reason] {
            column.truncate(rows);
        }
    }

    /// The rows in the order of their times; those of one moment as they came.
    #[cfg(feature = "live")]
    pub(crate) fn sort_by_time(&mut self) {
        let mut order: Vec<usize> = (0..self.time_ns.len()).collect();
        order.sort_by(|&a, &b| self.time_ns[a].total_cmp(&self.time_ns[b]));
        for column in [&mut self.time_ns, &mut self.packet, &mut self.seq] {
            *column = order.iter().map(|&i| column[i]).collect();
        }
        for column in [&mut self.node, &mut self.peer, &mut self.flow, &mut self.bytes] {
            *column = order.iter().map(|&i| column[i]).collect();
        }
        for column in [&mut self.event, &mut self.class, &mut self.reason] {
            *column = order.iter().map(|&i| column[i]).collect();
        }
    }

    /// A frame that holds all events of `from..until`, nanoseconds; with the number of a live run's message.
    pub(crate) fn into_frame(self, from: i64, until: i64, number: Option<u64>) -> Vec<u8> {
        let mut frame = FrameBuilder::default();
        if let Some(number) = number {
            frame.set("n", number);
        }
        frame.set("from_ns", from);
        frame.set("until_ns", until);
        frame.set("events", self.events.list().to_vec());
        frame.set("classes", self.classes.list().to_vec());
        frame.set("reasons", self.reasons.list().to_vec());
        frame.f64s("time_ns", &self.time_ns);
        frame.f64s("packet", &self.packet);
        frame.f64s("seq", &self.seq);
        frame.i32s("node", &self.node);
        frame.i32s("peer", &self.peer);
        frame.i32s("flow", &self.flow);
        frame.i32s("bytes", &self.bytes);
        frame.u8s("event", &self.event);
        frame.u8s("class", &self.class);
        frame.u8s("reason", &self.reason);
        frame.finish(self.time_ns.len())
    }
}

/// The rows of the table `packets` in `from..to`, or the first of them; the head's `until_ns` says how far they reach.
pub(crate) fn window(
    table: &OpenTable,
    nodes: &FxHashMap<String, i32>,
    from: i64,
    to: i64,
) -> Result<Vec<u8>, Error> {
    let mut columns = Columns::default();
    for index in table.groups_between(from, to) {
        // One more than fits shows where to go on.
        let most = MOST_ROWS + 1 - columns.time_ns.len();
        add(&mut columns, table, nodes, index, from, to, most)?;
        if columns.time_ns.len() > MOST_ROWS {
            break;
        }
    }
    let until = cut(&mut columns, to);
    Ok(columns.into_frame(from, until, None))
}

/// Leaves out what does not fit, with all of the same moment. Returns up to where the rows are complete.
fn cut(columns: &mut Columns, to: i64) -> i64 {
    if columns.time_ns.len() <= MOST_ROWS {
        return to;
    }
    let last = columns.time_ns[MOST_ROWS];
    let before = columns.time_ns.partition_point(|t| *t < last);
    if before == 0 {
        // All at one moment: nobody can tell them apart on a map.
        columns.truncate(MOST_ROWS);
        return last as i64 + 1;
    }
    columns.truncate(before);
    last as i64
}

fn add(
    columns: &mut Columns,
    table: &OpenTable,
    nodes: &FxHashMap<String, i32>,
    index: usize,
    from: i64,
    to: i64,
    most: usize,
) -> Result<(), Error> {
    let group = table.group(index)?;
    let (rows, times) = group.between(from, to, most)?;
    if rows.is_empty() {
        return Ok(());
    }
    columns.time_ns.extend(times.iter().map(|t| *t as f64));
    let number = |n: Option<i64>| n.map_or(-1.0, |n| n as f64);
    columns.packet.extend(group.stretch::<Int64Type>("packet", &rows)?.into_iter().map(number));
    columns.seq.extend(group.stretch::<Int64Type>("seq", &rows)?.into_iter().map(number));
    let index = |n: Option<i32>| n.unwrap_or(-1);
    columns.node.extend(group.stretch::<Int32Type>("node", &rows)?.into_iter().map(index));
    columns.flow.extend(group.stretch::<Int32Type>("flow", &rows)?.into_iter().map(index));
    columns.bytes.extend(group.stretch::<Int32Type>("bytes", &rows)?.into_iter().map(index));
    let peers = group.stretch::<ByteArrayType>("peer", &rows)?;
    columns.peer.extend(peers.iter().map(|p| peer(nodes, p.as_ref())));
    let Columns { event, events, class, classes, reason, reasons, .. } = columns;
    for (name, to, words) in
        [("event", event, events), ("class", class, classes), ("reason", reason, reasons)]
    {
        let cells = group.stretch::<ByteArrayType>(name, &rows)?;
        to.extend(cells.iter().map(|c| words.number(c.as_ref().map(ByteArray::data))));
    }
    Ok(())
}

/// The node that has an address.
pub(crate) fn peer(nodes: &FxHashMap<String, i32>, address: Option<&ByteArray>) -> i32 {
    let Some(address) = address.and_then(|a| std::str::from_utf8(a.data()).ok()) else { return NOBODY };
    match nodes.get(address) {
        Some(node) => *node,
        None if address == "255.255.255.255" || address.starts_with("ff") => EVERYBODY,
        None => NOBODY,
    }
}
