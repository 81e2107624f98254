//! Counting all rows of the table `packets`, in the background.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use wayhop_core::HopKind;

use crate::error::Error;
use crate::frame::FrameBuilder;
use crate::table::OpenTable;

/// What is counted of a row.
pub(crate) struct CountedRow<'a> {
    pub(crate) time_ns: i64,
    /// -1 for none.
    pub(crate) node: i32,
    pub(crate) packet: Option<i64>,
    /// `None` for an event of another version.
    pub(crate) kind: Option<HopKind>,
    pub(crate) reason: Option<&'a [u8]>,
    /// The type of a routing packet.
    pub(crate) routing: Option<&'a [u8]>,
}

/// What rows are added to.
pub(crate) trait Counts {
    fn count(&mut self, row: &CountedRow<'_>);
}

/// Counts that grow while the table is read, row group by row group.
pub(crate) struct Counting<C> {
    stop: AtomicBool,
    progress: Mutex<Progress<C>>,
}

pub(crate) struct Progress<C> {
    pub(crate) counts: C,
    /// Row groups that were read, and all of them.
    done: (usize, usize),
    /// Rows before this moment are counted, nanoseconds.
    until_ns: i64,
    problem: Option<Error>,
}

impl<C> Progress<C> {
    /// How many of `bins` parts of `width_ns` cannot change any more: of the others nothing is known yet.
    pub(crate) fn counted_bins(&self, width_ns: u64, bins: usize) -> usize {
        if self.done.0 >= self.done.1 {
            return bins;
        }
        usize::try_from(self.until_ns.max(0).unsigned_abs() / width_ns).map_or(bins, |n| n.min(bins))
    }

    /// A frame that says how much is counted.
    pub(crate) fn frame(&self) -> FrameBuilder {
        let mut frame = FrameBuilder::default();
        frame.set("done", self.done.0);
        frame.set("groups", self.done.1);
        frame
    }
}

impl<C: Counts> Counting<C> {
    /// Nothing is counted yet.
    pub(crate) fn new(counts: C) -> Self {
        let progress = Progress { counts, done: (0, 1), until_ns: 0, problem: None };
        Self { stop: AtomicBool::new(false), progress: Mutex::new(progress) }
    }

    /// All is counted.
    pub(crate) fn done(counts: C) -> Self {
        let counting = Self::new(counts);
        counting.locked().done = (1, 1);
        counting
    }

    /// Has a reading that goes on end soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Reads the whole table.
    pub(crate) fn read(&self, table: &OpenTable) {
        let groups = table.groups();
        self.locked().done = (0, groups);
        for index in 0..groups {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            if let Err(e) = self.add(table, index) {
                self.locked().problem = Some(e);
                return;
            }
        }
    }

    /// The counts so far.
    pub(crate) fn progress(&self) -> Result<MutexGuard<'_, Progress<C>>, Error> {
        let progress = self.locked();
        match &progress.problem {
            Some(problem) => Err(problem.clone()),
            None => Ok(progress),
        }
    }

    fn add(&self, table: &OpenTable, index: usize) -> Result<(), Error> {
        let group = table.group(index)?;
        let (rows, times) = group.between(i64::MIN, i64::MAX, group.rows())?;
        let nodes = group.stretch::<Int32Type>("node", &rows)?;
        let packets = group.stretch::<Int64Type>("packet", &rows)?;
        let texts = |name: &str| group.stretch::<ByteArrayType>(name, &rows);
        let (events, protocols) = (texts("event")?, texts("protocol")?);
        let (classes, reasons) = (texts("class")?, texts("reason")?);
        let mut progress = self.locked();
        for (i, time) in times.iter().enumerate() {
            let event = events[i].as_ref().map(ByteArray::data);
            progress.counts.count(&CountedRow {
                time_ns: *time,
                node: nodes[i].unwrap_or(-1),
                packet: packets[i],
                kind: HopKind::ALL.into_iter().find(|k| Some(k.name().as_bytes()) == event),
                reason: reasons[i].as_ref().map(ByteArray::data),
                routing: protocols[i].as_ref().and(classes[i].as_ref()).map(ByteArray::data),
            });
        }
        progress.done.0 = index + 1;
        progress.until_ns = times.last().copied().unwrap_or(progress.until_ns);
        Ok(())
    }

    fn locked(&self) -> MutexGuard<'_, Progress<C>> {
        // A reader that panicked leaves counts that are no worse than incomplete.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
