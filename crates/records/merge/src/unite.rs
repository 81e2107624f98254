//! Finds the same packet at several nodes, which number packets independently.
//!
//! Rows are of one packet if one node sent the frame that the other received, or if they carry the same data:
//! then source, destination, identification, transport header and the first octets behind it are the same.
//! Equal packets come again - a program repeats itself, identifications are reused - so both count only near
//! each other in time, and each time that an application sends begins a new packet.

use rustc_hash::{FxHashMap, FxHashSet};
use wayhop_core::PacketId;
use wayhop_trace::{HopKind, PacketClass};

use crate::frames::{RowRef, SharedFrame};
use crate::input::NodeRun;

/// How much earlier than its sending a reception may seem to be: the clocks' error, and what hosts take between event and record.
const EARLY_NS: i128 = 20_000_000;
/// How long a frame may be on its way: it waits for address resolution, and for the medium.
const FRAME_NS: i128 = 10_000_000_000;
/// How long a packet may be on its way: it waits in buffers for a route.
const PACKET_NS: i128 = 120_000_000_000;

pub(crate) struct Packets {
    /// By node, then by row: the packet's number in the merged run.
    pub(crate) of_row: Vec<Vec<PacketId>>,
    /// The numbers that a node gave to packets, and those in the merged run.
    pub(crate) of_number: Vec<FxHashMap<PacketId, PacketId>>,
    /// Receptions without a sender among the runs.
    pub(crate) strange: u64,
}

/// A row by the reference's clock.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TimedRow {
    pub(crate) at_ns: i128,
    pub(crate) seen: RowRef,
}

/// Finds out which rows are of the same packet. `order` has all rows in order of time, and `at` the time of a row.
pub(crate) fn unite(
    runs: &[NodeRun],
    frames: &FxHashMap<u64, SharedFrame>,
    order: &[TimedRow],
    at: &dyn Fn(&RowRef) -> i128,
) -> Packets {
    let mut all = Sightings::of(runs);
    let mut strange = 0;
    for frame in frames.values() {
        strange += unite_frame(&mut all, frame, at);
    }
    unite_data(&mut all, runs, order);
    // Numbers in the order in which packets appear.
    let mut numbers: FxHashMap<usize, PacketId> = FxHashMap::default();
    for t in order {
        let root = all.root_of(t.seen);
        let next = PacketId(numbers.len() as u64 + 1);
        numbers.entry(root).or_insert(next);
    }
    let mut of_row = Vec::new();
    let mut of_number = Vec::new();
    for (node, run) in (0..).zip(runs) {
        let number = |row| numbers[&all.root_of(RowRef { node, row })];
        let rows: Vec<PacketId> = (0..run.hops.len() as u32).map(number).collect();
        of_number.push(run.hops.iter().zip(&rows).map(|((h, _), n)| (h.packet, *n)).collect());
        of_row.push(rows);
    }
    Packets { of_row, of_number, strange }
}

/// Each node's packets, as far as they are known to be the same.
struct Sightings {
    /// By node, then by row: the packet's place in `parent`.
    of_row: Vec<Vec<u32>>,
    parent: Vec<std::cell::Cell<u32>>,
}

impl Sightings {
    fn of(runs: &[NodeRun]) -> Self {
        let mut count = 0;
        let of_row = runs
            .iter()
            .map(|run| {
                let mut places: FxHashMap<PacketId, u32> = FxHashMap::default();
                let mut place = |packet| {
                    *places.entry(packet).or_insert_with(|| {
                        count += 1;
                        count - 1
                    })
                };
                run.hops.iter().map(|(h, _)| place(h.packet)).collect()
            })
            .collect();
        Self { of_row, parent: (0..count).map(std::cell::Cell::new).collect() }
    }

    fn root_of(&self, s: RowRef) -> usize {
        let mut at = self.of_row[s.node as usize][s.row as usize];
        loop {
            let up = &self.parent[at as usize];
            if up.get() == at {
                return at as usize;
            }
            up.set(self.parent[up.get() as usize].get());
            at = up.get();
        }
    }

    fn join(&mut self, a: RowRef, b: RowRef) {
        let (a, b) = (self.root_of(a), self.root_of(b));
        self.parent[a.max(b)].set(a.min(b) as u32);
    }
}

/// Joins receptions with their transmissions, or else with each other. Returns the number without a recorded transmission.
fn unite_frame(all: &mut Sightings, frame: &SharedFrame, at: &dyn Fn(&RowRef) -> i128) -> u64 {
    let mut sent: Vec<(i128, &RowRef)> = frame.sent.iter().map(|s| (at(s), s)).collect();
    sent.sort_unstable();
    let mut orphans: Vec<(i128, &RowRef)> = Vec::new();
    for r in &frame.received {
        let at = at(r);
        let latest = sent.iter().rev().find(|(sent_at, s)| s.node != r.node && *sent_at <= at + EARLY_NS);
        match latest.filter(|(sent_at, _)| at - sent_at <= FRAME_NS) {
            Some((_, s)) => all.join(**s, *r),
            None => orphans.push((at, r)),
        }
    }
    orphans.sort_unstable();
    for pair in orphans.windows(2) {
        if pair[1].0 - pair[0].0 <= EARLY_NS && pair[0].1.node != pair[1].1.node {
            all.join(*pair[0].1, *pair[1].1);
        }
    }
    orphans.len() as u64
}

/// Joins sightings of the same data with the packet that an application sent, where frames have not shown yet which that is.
fn unite_data(all: &mut Sightings, runs: &[NodeRun], order: &[TimedRow]) {
    let row = |t: &TimedRow| {
        let (hop, identity) = &runs[t.seen.node as usize].hops[t.seen.row as usize];
        Some((hop.kind, identity.filter(|_| is_data(hop.class))?.end_to_end))
    };
    // Where packets with this content began; and where their sources sent them, since DSR gives a packet another identification then
    // (RFC 4728, section 8.3.2).
    let mut begun: FxHashMap<u64, Vec<TimedRow>> = FxHashMap::default();
    let mut have_begun: FxHashSet<usize> = FxHashSet::default();
    for t in order {
        match row(t) {
            Some((HopKind::Originate, content)) => {
                begun.entry(content).or_default().push(*t);
                have_begun.insert(all.root_of(t.seen));
            }
            Some((HopKind::Send, content)) if have_begun.contains(&all.root_of(t.seen)) => {
                begun.entry(content).or_default().push(*t);
            }
            _ => {}
        }
    }
    // Where others with this content were seen last.
    let mut last: FxHashMap<u64, TimedRow> = FxHashMap::default();
    for t in order {
        let Some((_, content)) = row(t) else { continue };
        if have_begun.contains(&all.root_of(t.seen)) {
            continue;
        }
        let births = begun.get(&content).map_or(&[][..], Vec::as_slice);
        let born = births[..births.partition_point(|b| b.at_ns <= t.at_ns + EARLY_NS)].last();
        let near = born.or_else(|| last.get(&content).filter(|_| births.is_empty()));
        if let Some(near) = near.filter(|n| t.at_ns - n.at_ns <= PACKET_NS) {
            all.join(near.seen, t.seen);
            if born.is_some() {
                have_begun.insert(all.root_of(t.seen));
            }
        }
        last.insert(content, *t);
    }
}

pub(crate) fn is_data(class: PacketClass) -> bool {
    !class.is_control() && class != PacketClass::Arp
}
