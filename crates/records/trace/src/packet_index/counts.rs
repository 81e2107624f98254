//! Counts of packet events over the time of a run, and its first losses.

use std::fmt;
use std::ops::Range;

use wayhop_core::HopKind;

use crate::HopEvent;

/// How long an interval is at first, nanoseconds: a 64th of a second. It doubles when there are too many intervals.
pub(super) const FIRST_INTERVAL_NS: u64 = 1_000_000_000 / 64;
/// Up to 4,096 s of a run are counted by the second or finer.
pub(super) const MOST_INTERVALS: usize = 4_096;
pub(super) const MOST_LOSSES: usize = 1 << 16;
/// Different reasons and types; a run has some twenty.
pub(super) const MOST_COLUMNS: usize = 250;
/// Bytes of a name.
pub(super) const LONGEST_NAME: usize = 64;
/// The reason of a loss that has none, and what comes after too many names.
const OTHER: &str = "other";

/// What a column counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountOf {
    /// All events of this kind.
    Event(HopKind),
    /// Losses for this reason.
    Drop(String),
    /// Routing packets of this type at each hop, as the summary counts them.
    Routing(String),
}

impl CountOf {
    fn is_drop_for(&self, reason: &str) -> bool {
        matches!(self, Self::Drop(name) if name == reason)
    }
    fn is_routing_of(&self, class: &str) -> bool {
        matches!(self, Self::Routing(name) if name == class)
    }
}

impl fmt::Display for CountOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(kind) => f.write_str(kind.name()),
            Self::Drop(reason) => write!(f, "drop/{reason}"),
            Self::Routing(class) => write!(f, "routing/{class}"),
        }
    }
}

/// What the index takes of a row of `packets`.
#[derive(Copy, Clone, Debug)]
pub struct IndexedRow<'a> {
    /// Nanoseconds since the start of the run.
    pub time_ns: u64,
    /// Where.
    pub node: u32,
    /// Its number in the run, if it is known.
    pub packet: Option<u64>,
    /// What happened.
    pub kind: HopKind,
    /// Why it ended.
    pub reason: Option<&'a str>,
    /// The type of a routing packet; `None` for other packets.
    pub routing: Option<&'a str>,
}

impl From<&HopEvent> for IndexedRow<'static> {
    fn from(e: &HopEvent) -> Self {
        Self {
            time_ns: e.time.as_nanos(),
            node: e.node.0,
            packet: Some(e.packet.0),
            kind: e.kind,
            reason: e.reason.map(wayhop_core::DropReason::name),
            routing: e.class.protocol().map(|_| e.class.name()),
        }
    }
}

/// A loss, of the first ones of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct IndexedLoss {
    /// Nanoseconds since the start of the run.
    pub time_ns: u64,
    /// Where.
    pub node: u32,
    /// Which packet, if it is known.
    pub packet: Option<u64>,
    /// The column of its reason, a [`CountOf::Drop`].
    pub column: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) of: CountOf,
    /// By interval; intervals that are missing at the end have none.
    pub(super) counts: Vec<u64>,
}

/// How many events of each kind a run had when, and its first 65,536 losses.
///
/// Counts are kept in equal intervals of time, a 64th of a second at first and twice as long whenever there would be more than
/// 4,096. With the losses an index takes less than 1 MB, however long a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketIndex {
    pub(super) rows: u64,
    pub(super) interval_ns: u64,
    /// Those of all kinds of events in their order, then what came.
    pub(super) columns: Vec<Column>,
    pub(super) losses: Vec<IndexedLoss>,
    pub(super) has_more_losses: bool,
    /// The interval of the last row, which is mostly that of the next one: its time and its number.
    pub(super) current: (Range<u64>, usize),
}

impl Default for PacketIndex {
    fn default() -> Self {
        let events = HopKind::ALL.map(|kind| Column { of: CountOf::Event(kind), counts: Vec::new() });
        Self {
            rows: 0,
            interval_ns: FIRST_INTERVAL_NS,
            columns: events.into(),
            losses: Vec::new(),
            has_more_losses: false,
            current: (0..0, 0),
        }
    }
}

impl PacketIndex {
    /// Rows that were added.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The losses, in the order of their rows.
    pub fn losses(&self) -> &[IndexedLoss] {
        &self.losses
    }

    /// Whether there are losses after the last one of [`PacketIndex::losses`].
    pub fn has_more_losses(&self) -> bool {
        self.has_more_losses
    }

    /// What the columns count, in their order: first each kind of event.
    pub fn columns(&self) -> impl Iterator<Item = &CountOf> {
        self.columns.iter().map(|c| &c.of)
    }

    /// The least interval, nanoseconds, that this index can count by and of which at most `most` reach to `end_ns`.
    pub fn interval_for(&self, end_ns: u64, most: usize) -> u64 {
        let mut interval = self.interval_ns;
        while end_ns.div_ceil(interval) > most.max(1) as u64 && interval < u64::MAX / 2 {
            interval *= 2;
        }
        interval
    }

    /// A column in `len` intervals of `interval_ns`, one of [`PacketIndex::interval_for`]. What comes later is in the last one.
    pub fn counts(&self, column: usize, interval_ns: u64, len: usize) -> Vec<u64> {
        let mut counts = vec![0_u64; len];
        let each = usize::try_from(interval_ns / self.interval_ns).unwrap_or(usize::MAX).max(1);
        let Some(last) = len.checked_sub(1) else { return counts };
        for (i, n) in self.columns[column].counts.iter().enumerate() {
            let to = &mut counts[(i / each).min(last)];
            *to = to.saturating_add(*n);
        }
        counts
    }

    /// Counts a row.
    pub fn add(&mut self, row: &IndexedRow<'_>) {
        self.rows += 1;
        let interval = self.interval_of(row.time_ns);
        count(&mut self.columns[row.kind as usize], interval);
        match row.kind {
            HopKind::Drop => {
                let reason = row.reason.unwrap_or(OTHER);
                let column =
                    self.column(reason, |c| c.is_drop_for(reason), || CountOf::Drop(reason.to_owned()));
                let Some(column) = column else { return };
                count(&mut self.columns[column], interval);
                if self.losses.len() >= MOST_LOSSES {
                    self.has_more_losses = true;
                    return;
                }
                let IndexedRow { time_ns, node, packet, .. } = *row;
                self.losses.push(IndexedLoss { time_ns, node, packet, column: column as u16 });
            }
            HopKind::Send | HopKind::Forward => {
                let Some(class) = row.routing else { return };
                let column =
                    self.column(class, |c| c.is_routing_of(class), || CountOf::Routing(class.to_owned()));
                if let Some(column) = column {
                    count(&mut self.columns[column], interval);
                }
            }
            _ => {}
        }
    }

    /// The column of a name, which may be new.
    fn column(
        &mut self,
        name: &str,
        is: impl Fn(&CountOf) -> bool,
        new: impl Fn() -> CountOf,
    ) -> Option<usize> {
        let named = &self.columns[HopKind::ALL.len()..];
        if let Some(at) = named.iter().position(|c| is(&c.of)) {
            return Some(HopKind::ALL.len() + at);
        }
        if self.columns.len() >= MOST_COLUMNS || name.len() > LONGEST_NAME {
            return None;
        }
        self.columns.push(Column { of: new(), counts: Vec::new() });
        Some(self.columns.len() - 1)
    }

    fn interval_of(&mut self, time_ns: u64) -> usize {
        if self.current.0.contains(&time_ns) {
            return self.current.1;
        }
        while time_ns / self.interval_ns >= MOST_INTERVALS as u64 {
            self.interval_ns *= 2;
            for c in &mut self.columns {
                c.counts = c.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
            }
        }
        let interval = time_ns / self.interval_ns;
        let begin = interval * self.interval_ns;
        self.current = (begin..begin.saturating_add(self.interval_ns), interval as usize);
        self.current.1
    }
}

fn count(column: &mut Column, interval: usize) {
    if interval >= column.counts.len() {
        column.counts.resize(interval + 1, 0);
    }
    column.counts[interval] += 1;
}
