//! What became of packets in a stretch of time.

use std::ops::Range;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frame::{FrameBuilder, Words};
use crate::table::{Group, OpenTable};

/// Rows in an answer. A page asks again for what follows.
pub(crate) const MOST_ROWS: usize = 1 << 16;
/// In the column `peer`: nobody, or a host that is not a node of the run.
pub(crate) const NOBODY: i32 = -1;
/// In the column `peer`: all in range.
pub(crate) const EVERYBODY: i32 = -2;
/// An event of a packet; -1 stands for a number that is not known.
pub(crate) struct PacketEvent {
    pub(crate) time_ns: f64,
    pub(crate) packet: f64,
    pub(crate) seq: f64,
    pub(crate) node: i32,
    pub(crate) peer: i32,
    pub(crate) flow: i32,
    /// Length of the IP packet.
    pub(crate) bytes: i32,
    /// As numbered by the words of [`PacketEvents`].
    pub(crate) event: u8,
    pub(crate) class: u8,
    pub(crate) reason: u8,
}

#[derive(Default)]
pub(crate) struct PacketEvents {
    pub(crate) rows: Vec<PacketEvent>,
    pub(crate) events: Words,
    pub(crate) classes: Words,
    pub(crate) reasons: Words,
}

impl PacketEvents {
    /// A frame that holds all events of `from..until`, nanoseconds; with the number of a live run's message.
    pub(crate) fn into_frame(self, from: i64, until: i64, number: Option<u64>) -> Vec<u8> {
        let mut frame = FrameBuilder::default();
        if let Some(number) = number {
            frame.set("n", number);
        }
        frame.set("from_ns", from);
        frame.set("until_ns", until);
        frame.set("events", self.events.list());
        frame.set("classes", self.classes.list());
        frame.set("reasons", self.reasons.list());
        let rows = &self.rows;
        frame.f64s("time_ns", rows.iter().map(|r| r.time_ns));
        frame.f64s("packet", rows.iter().map(|r| r.packet));
        frame.f64s("seq", rows.iter().map(|r| r.seq));
        frame.i32s("node", rows.iter().map(|r| r.node));
        frame.i32s("peer", rows.iter().map(|r| r.peer));
        frame.i32s("flow", rows.iter().map(|r| r.flow));
        frame.i32s("bytes", rows.iter().map(|r| r.bytes));
        frame.u8s("event", rows.iter().map(|r| r.event));
        frame.u8s("class", rows.iter().map(|r| r.class));
        frame.u8s("reason", rows.iter().map(|r| r.reason));
        frame.finish(rows.len())
    }
}

/// The rows of the table `packets` in `from..to`, or the first of them; the head's `until_ns` says how far they reach.
pub(crate) fn window(
    table: &OpenTable,
    nodes: &FxHashMap<String, i32>,
    from: i64,
    to: i64,
) -> Result<Vec<u8>, Error> {
    let mut all = PacketEvents::default();
    for index in table.groups_between(from, to) {
        let group = table.group(index)?;
        // One more than fits shows where to go on.
        let (range, times) = group.between(from, to, MOST_ROWS + 1 - all.rows.len())?;
        if !range.is_empty() {
            add(&mut all, nodes, &group, &range, &times)?;
        }
        if all.rows.len() > MOST_ROWS {
            break;
        }
    }
    let until = cut(&mut all.rows, to);
    Ok(all.into_frame(from, until, None))
}

/// Leaves out what does not fit, with all of the same moment. Returns up to where the rows are complete.
fn cut(rows: &mut Vec<PacketEvent>, to: i64) -> i64 {
    let Some(last) = rows.get(MOST_ROWS).map(|r| r.time_ns) else { return to };
    let before = rows.partition_point(|r| r.time_ns < last);
    if before == 0 {
        // All at one moment: nobody can tell them apart on a map.
        rows.truncate(MOST_ROWS);
        return last as i64 + 1;
    }
    rows.truncate(before);
    last as i64
}

fn add(
    all: &mut PacketEvents,
    nodes: &FxHashMap<String, i32>,
    group: &Group<'_>,
    range: &Range<usize>,
    times: &[i64],
) -> Result<(), Error> {
    let longs = |name: &str| group.stretch::<Int64Type>(name, range);
    let (packets, seqs) = (longs("packet")?, longs("seq")?);
    let at = |name: &str| group.stretch::<Int32Type>(name, range);
    let (node, flow, bytes) = (at("node")?, at("flow")?, at("bytes")?);
    let texts = |name: &str| group.stretch::<ByteArrayType>(name, range);
    let (peers, events, classes, reasons) =
        (texts("peer")?, texts("event")?, texts("class")?, texts("reason")?);
    let long = |n: Option<i64>| n.map_or(-1.0, |n| n as f64);
    let word = |cell: Option<&ByteArray>, words: &mut Words| words.number(cell.map(ByteArray::data));
    for (i, time) in times.iter().enumerate() {
        all.rows.push(PacketEvent {
            time_ns: *time as f64,
            packet: long(packets[i]),
            seq: long(seqs[i]),
            node: node[i].unwrap_or(-1),
            peer: peer(nodes, peers[i].as_ref()),
            flow: flow[i].unwrap_or(-1),
            bytes: bytes[i].unwrap_or(-1),
            event: word(events[i].as_ref(), &mut all.events),
            class: word(classes[i].as_ref(), &mut all.classes),
            reason: word(reasons[i].as_ref(), &mut all.reasons),
        });
    }
    Ok(())
}

pub(crate) fn peer(nodes: &FxHashMap<String, i32>, address: Option<&ByteArray>) -> i32 {
    let Some(address) = address.and_then(|a| std::str::from_utf8(a.data()).ok()) else { return NOBODY };
    match nodes.get(address) {
        Some(node) => *node,
        None if address == "255.255.255.255" || address.starts_with("ff") => EVERYBODY,
        None => NOBODY,
    }
}
