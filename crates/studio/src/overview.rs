//! What each node did over the whole run, in equal stretches of time: the timeline and the strip charts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use parquet::data_type::{ByteArrayType, Int32Type};

use crate::error::Error;
use crate::frame::Frame;
use crate::table::Table;

/// What is counted, by the names of the table `packets`.
const EVENTS: [&str; 8] =
    ["originate", "send", "forward", "transmit", "receive", "deliver", "drop", "recall"];
/// Stretches of time, unless there are too many nodes.
const BINS: usize = 600;
/// The fewest.
const FEWEST_BINS: usize = 60;
/// Counts that are kept, of 4 octets each.
const MOST_COUNTS: usize = 1 << 24;

/// Counts that grow while the table is read.
pub(crate) struct Overview {
    nodes: usize,
    bins: usize,
    end_ns: i64,
    stop: AtomicBool,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// By node, then bin, then event.
    by_node: Vec<u32>,
    /// Row groups that were read, and all of them.
    done: (usize, usize),
    problem: Option<Error>,
}

impl Overview {
    /// Nothing yet, of so many nodes until `end_ns`.
    pub(crate) fn new(nodes: usize, end_ns: i64) -> Self {
        let fits = MOST_COUNTS / (nodes.max(1) * EVENTS.len());
        let bins = fits.clamp(FEWEST_BINS, BINS);
        let nodes = nodes.min(MOST_COUNTS / (bins * EVENTS.len()));
        let counts = Counts { by_node: vec![0; nodes * bins * EVENTS.len()], done: (0, 1), problem: None };
        Self { nodes, bins, end_ns: end_ns.max(1), stop: AtomicBool::new(false), counts: Mutex::new(counts) }
    }

    /// Has a reading that goes on end soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Reads the table, row group by row group.
    pub(crate) fn read(&self, table: &Table) {
        let groups = table.groups();
        self.locked().done = (0, groups);
        for index in 0..groups {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            match self.add(table, index) {
                Ok(()) => self.locked().done.0 = index + 1,
                Err(e) => {
                    self.locked().problem = Some(e);
                    return;
                }
            }
        }
    }

    /// Counts of one node, or of all, as a frame.
    pub(crate) fn frame(&self, node: Option<usize>) -> Result<Vec<u8>, Error> {
        let all = self.locked();
        if let Some(problem) = &all.problem {
            return Err(problem.clone());
        }
        let mut sums = vec![0.0; self.bins * EVENTS.len()];
        let size = sums.len();
        let chosen = node.map_or(0..self.nodes, |n| n..n.saturating_add(1));
        for n in chosen.filter(|n| *n < self.nodes) {
            for (sum, count) in sums.iter_mut().zip(&all.by_node[n * size..]) {
                *sum += f64::from(*count);
            }
        }
        let mut frame = Frame::default();
        frame.set("bin_ns", self.end_ns as f64 / self.bins as f64);
        frame.set("done", all.done.0);
        frame.set("groups", all.done.1);
        for (i, event) in EVENTS.iter().enumerate() {
            let column: Vec<f64> = sums.iter().skip(i).step_by(EVENTS.len()).copied().collect();
            frame.f64s(event, &column);
        }
        Ok(frame.finish(self.bins))
    }

    fn add(&self, table: &Table, index: usize) -> Result<(), Error> {
        let group = table.group(index)?;
        let (rows, times) = group.between(i64::MIN, i64::MAX, group.rows())?;
        let nodes = group.stretch::<Int32Type>("node", &rows)?;
        let events = group.stretch::<ByteArrayType>("event", &rows)?;
        let mut all = self.locked();
        for ((time, node), event) in times.iter().zip(nodes).zip(events) {
            let event = event.and_then(|e| EVENTS.iter().position(|name| name.as_bytes() == e.data()));
            let node = node.and_then(|n| usize::try_from(n).ok()).filter(|n| *n < self.nodes);
            if let (Some(event), Some(node)) = (event, node) {
                let bin = i128::from(*time) * self.bins as i128 / i128::from(self.end_ns);
                let bin = bin.clamp(0, self.bins as i128 - 1) as usize;
                let at = (node * self.bins + bin) * EVENTS.len() + event;
                all.by_node[at] = all.by_node[at].saturating_add(1);
            }
        }
        Ok(())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, Counts> {
        // A reader that panicked leaves counts that are no worse than incomplete.
        self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
