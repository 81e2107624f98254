//! What each node did over the whole run, in equal stretches of time: the timeline and the strip charts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::frame::{FrameBuilder, Words};
use crate::motion::Motion;
use crate::table::OpenTable;

/// What is counted, by the names of the table `packets`.
const EVENTS: [&str; 8] =
    ["originate", "send", "forward", "transmit", "receive", "deliver", "drop", "recall"];
/// Stretches of time, unless there are too many nodes.
const BINS: usize = 600;
const FEWEST_BINS: usize = 60;
/// Counts that are kept, of 4 octets each.
const MOST_COUNTS: usize = 1 << 24;

/// Kinds of losses and of routing packets are counted apart, of each node while there are no more strips than these.
const MOST_STRIPS: usize = 1 << 13;
/// In place of a node: all of them.
const ALL: usize = usize::MAX;

/// Counts that grow while the table is read.
pub(crate) struct Overview {
    nodes: usize,
    bins: usize,
    end_ns: i64,
    stop: AtomicBool,
    counts: Mutex<Counts>,
}

/// What a strip counts, by the number of the word.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum StripKind {
    Drop(u8),
    Routing(u8),
}

#[derive(Default)]
struct Counts {
    /// By node, then bin, then event.
    by_node: Vec<u32>,
    /// What was lost for which reason, and routing packets by type: by node, then bin.
    strips: FxHashMap<(StripKind, usize), Vec<u32>>,
    reasons: Words,
    types: Words,
    /// Whether there were too many strips.
    cut: bool,
    losses: Losses,
    /// Row groups that were read, and all of them.
    done: (usize, usize),
    problem: Option<Error>,
}

impl Counts {
    fn count(&mut self, kind: StripKind, node: usize, bin: usize, bins: usize) {
        for of in [ALL, node] {
            if of != ALL && self.strips.len() >= MOST_STRIPS && !self.strips.contains_key(&(kind, of)) {
                self.cut = true;
                continue;
            }
            let strip = self.strips.entry((kind, of)).or_insert_with(|| vec![0; bins]);
            strip[bin] = strip[bin].saturating_add(1);
        }
    }

    /// The strips of a node, or of all, by the names of their columns.
    fn strips_of(&self, node: usize) -> BTreeMap<String, Vec<f64>> {
        let of = self.strips.iter().filter(|((_, n), _)| *n == node);
        of.map(|((kind, _), counts)| {
            let (what, words, number) = match kind {
                StripKind::Drop(number) => ("drop", &self.reasons, number),
                StripKind::Routing(number) => ("routing", &self.types, number),
            };
            let word = words.list().get(usize::from(*number).wrapping_sub(1));
            let counts = counts.iter().map(|n| f64::from(*n)).collect();
            (format!("{what}/{}", word.map_or("other", String::as_str)), counts)
        })
        .collect()
    }
}

impl Overview {
    /// An overview of `nodes` nodes until `end_ns`, still empty.
    pub(crate) fn new(nodes: usize, end_ns: i64) -> Self {
        let fits = MOST_COUNTS / (nodes.max(1) * EVENTS.len());
        let bins = fits.clamp(FEWEST_BINS, BINS);
        let nodes = nodes.min(MOST_COUNTS / (bins * EVENTS.len()));
        let by_node = vec![0; nodes * bins * EVENTS.len()];
        let counts = Counts { by_node, done: (0, 1), ..Counts::default() };
        Self { nodes, bins, end_ns: end_ns.max(1), stop: AtomicBool::new(false), counts: Mutex::new(counts) }
    }

    /// Has a reading that goes on end soon.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

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
            self.locked().done.0 = index + 1;
        }
    }

    /// Counts of one node, or of all, as a frame.
    pub(crate) fn frame(&self, node: Option<usize>) -> Result<Vec<u8>, Error> {
        let (all, mut frame) = self.begin()?;
        let mut sums = vec![0.0; self.bins * EVENTS.len()];
        let size = sums.len();
        let chosen = node.map_or(0..self.nodes, |n| n..n.saturating_add(1));
        for n in chosen.filter(|n| *n < self.nodes) {
            for (sum, count) in sums.iter_mut().zip(&all.by_node[n * size..]) {
                *sum += f64::from(*count);
            }
        }
        frame.set("bin_ns", self.end_ns as f64 / self.bins as f64);
        for (i, event) in EVENTS.iter().enumerate() {
            frame.f64s(event, sums.iter().skip(i).step_by(EVENTS.len()).copied());
        }
        let strips = all.strips_of(node.unwrap_or(ALL));
        frame.set("kinds", strips.keys().cloned().collect::<Vec<_>>());
        frame.set("cut", all.cut && node.is_some());
        for (kind, counts) in strips {
            frame.f64s(&kind, counts);
        }
        Ok(frame.finish(self.bins))
    }

    pub(crate) fn losses(&self, motion: &Motion, node: Option<usize>) -> Result<Vec<u8>, Error> {
        let (all, mut frame) = self.begin()?;
        let rows = all.losses.put(&mut frame, motion, node);
        Ok(frame.finish(rows))
    }

    /// The counts so far, and a frame that says how far that is.
    fn begin(&self) -> Result<(MutexGuard<'_, Counts>, FrameBuilder), Error> {
        let all = self.locked();
        if let Some(problem) = &all.problem {
            return Err(problem.clone());
        }
        let mut frame = FrameBuilder::default();
        frame.set("done", all.done.0);
        frame.set("groups", all.done.1);
        Ok((all, frame))
    }

    fn add(&self, table: &OpenTable, index: usize) -> Result<(), Error> {
        let group = table.group(index)?;
        let (rows, times) = group.between(i64::MIN, i64::MAX, group.rows())?;
        let nodes = group.stretch::<Int32Type>("node", &rows)?;
        let packets = group.stretch::<Int64Type>("packet", &rows)?;
        let texts = |name: &str| group.stretch::<ByteArrayType>(name, &rows);
        let (events, protocols) = (texts("event")?, texts("protocol")?);
        let (classes, reasons) = (texts("class")?, texts("reason")?);
        let mut all = self.locked();
        for (i, time) in times.iter().enumerate() {
            let event =
                events[i].as_ref().and_then(|e| EVENTS.iter().position(|name| name.as_bytes() == e.data()));
            let node = nodes[i].and_then(|n| usize::try_from(n).ok()).filter(|n| *n < self.nodes);
            let (Some(event), Some(node)) = (event, node) else { continue };
            let bin = i128::from(*time) * self.bins as i128 / i128::from(self.end_ns);
            let bin = bin.clamp(0, self.bins as i128 - 1) as usize;
            let at = (node * self.bins + bin) * EVENTS.len() + event;
            all.by_node[at] = all.by_node[at].saturating_add(1);
            let kind = match EVENTS[event] {
                "drop" => {
                    let reason = reasons[i].as_ref().map(ByteArray::data);
                    all.losses.add(*time, node as i32, packets[i], reason);
                    StripKind::Drop(all.reasons.number(reason))
                }
                // Each hop of a routing packet, as the summary counts them.
                "send" | "forward" if protocols[i].is_some() => {
                    StripKind::Routing(all.types.number(classes[i].as_ref().map(ByteArray::data)))
                }
                _ => continue,
            };
            all.count(kind, node, bin, self.bins);
        }
        Ok(())
    }

    fn locked(&self) -> MutexGuard<'_, Counts> {
        // A reader that panicked leaves counts that are no worse than incomplete.
        self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

const MOST_LOSSES: usize = 1 << 16;

#[derive(Copy, Clone, Debug)]
struct Loss {
    time_ns: i64,
    node: i32,
    packet: i64,
    reason: u8,
}

/// The losses of a run, the first of them if there are many.
#[derive(Debug, Default)]
struct Losses {
    list: Vec<Loss>,
    reasons: Words,
    more: bool,
}

impl Losses {
    fn add(&mut self, time_ns: i64, node: i32, packet: Option<i64>, reason: Option<&[u8]>) {
        if self.list.len() >= MOST_LOSSES {
            self.more = true;
            return;
        }
        let reason = self.reasons.number(reason);
        self.list.push(Loss { time_ns, node, packet: packet.unwrap_or(-1), reason });
    }

    /// Puts the losses of one node, or of all, with the places of the nodes then, where the run says them. Returns how many there are.
    fn put(&self, frame: &mut FrameBuilder, motion: &Motion, node: Option<usize>) -> usize {
        let of = |l: &&Loss| node.is_none_or(|n| i32::try_from(n) == Ok(l.node));
        let list: Vec<&Loss> = self.list.iter().filter(of).collect();
        frame.set("more", self.more);
        frame.set("reasons", self.reasons.list());
        let places: Vec<_> = list.iter().map(|l| motion.place(l.node, l.time_ns)).collect();
        frame.f64s("time_ns", list.iter().map(|l| l.time_ns as f64));
        frame.f64s("packet", list.iter().map(|l| l.packet as f64));
        for (axis, name) in ["x", "y"].into_iter().enumerate() {
            frame.f64s(name, places.iter().map(|p| p.map_or(f64::NAN, |p| p[axis])));
        }
        frame.i32s("node", list.iter().map(|l| l.node));
        frame.u8s("reason", list.iter().map(|l| l.reason));
        list.len()
    }
}
