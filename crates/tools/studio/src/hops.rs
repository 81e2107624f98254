//! The paths of one packet, for the map: each time that a node sent it, and to whom.

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::error::Error;
use crate::packets::peer;
use crate::table::OpenTable;

/// Hops of a packet.
const MOST_HOPS: usize = 2_000;

/// The hops of a packet in `from..to`, nanoseconds, in order of time; those for more than one receiver have no end and are left out.
pub(crate) fn hops(
    table: &OpenTable,
    nodes: &FxHashMap<String, i32>,
    packet: i64,
    from: i64,
    to: i64,
) -> Result<Vec<Value>, Error> {
    let mut hops = Vec::new();
    for index in table.groups_between(from, to) {
        let group = table.group(index)?;
        let (rows, times) = group.between(from, to, group.rows())?;
        let packets = group.stretch::<Int64Type>("packet", &rows)?;
        if !packets.contains(&Some(packet)) {
            continue;
        }
        let events = group.stretch::<ByteArrayType>("event", &rows)?;
        let senders = group.stretch::<Int32Type>("node", &rows)?;
        let peers = group.stretch::<ByteArrayType>("peer", &rows)?;
        for (i, time) in times.iter().enumerate().filter(|(i, _)| packets[*i] == Some(packet)) {
            let event = events[i].as_ref().map(ByteArray::data);
            let next = peer(nodes, peers[i].as_ref());
            if !matches!(event, Some(b"send" | b"forward")) || next < 0 || hops.len() >= MOST_HOPS {
                continue;
            }
            hops.push(json!({"time_ns": time, "node": senders[i], "peer": next}));
        }
    }
    Ok(hops)
}
