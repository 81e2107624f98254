//! What each node did over the run, in equal stretches of time. It is counted once somebody asks for a node.

use std::collections::BTreeMap;
use std::sync::{Arc, Once};

use rustc_hash::FxHashMap;
use wayhop_core::HopKind;

use crate::counting::{CountedRow, Counting, Counts};
use crate::error::Error;
use crate::frame::Words;
use crate::table::OpenTable;

/// Stretches of time, unless there are too many nodes.
const BINS: usize = 600;
const FEWEST_BINS: usize = 60;
/// Counts that are kept, of 4 octets each.
const MOST_COUNTS: usize = 1 << 24;
/// Kinds of losses and of routing packets are counted apart while there are no more strips than these.
const MOST_STRIPS: usize = 1 << 13;
const KINDS: usize = HopKind::ALL.len();

/// What a strip counts, by the number of the word.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum StripKind {
    Drop(u8),
    Routing(u8),
}

/// The counts of all nodes.
pub(crate) struct NodeCounts {
    end_ns: i64,
    bins: usize,
    begin: Once,
    counting: Counting<ByNode>,
}

struct ByNode {
    nodes: usize,
    bins: usize,
    end_ns: i64,
    /// By node, then bin, then kind of event; empty until counting begins.
    counts: Vec<u32>,
    /// What was lost for which reason, and routing packets by type: by node, then bin.
    strips: FxHashMap<(StripKind, usize), Vec<u32>>,
    reasons: Words,
    types: Words,
    /// Whether there were too many strips.
    cut: bool,
}

impl Counts for ByNode {
    fn count(&mut self, row: &CountedRow<'_>) {
        let node = usize::try_from(row.node).ok().filter(|n| *n < self.nodes);
        let (Some(kind), Some(node)) = (row.kind, node) else { return };
        let bin = i128::from(row.time_ns) * self.bins as i128 / i128::from(self.end_ns);
        let bin = bin.clamp(0, self.bins as i128 - 1) as usize;
        if self.counts.is_empty() {
            self.counts = vec![0; self.nodes * self.bins * KINDS];
        }
        let count = &mut self.counts[(node * self.bins + bin) * KINDS + kind as usize];
        *count = count.saturating_add(1);
        let strip = match kind {
            HopKind::Drop => StripKind::Drop(self.reasons.number(row.reason)),
            // Each hop of a routing packet, as the summary counts them.
            HopKind::Send | HopKind::Forward if row.routing.is_some() => {
                StripKind::Routing(self.types.number(row.routing))
            }
            _ => return,
        };
        let key = (strip, node);
        if self.strips.len() >= MOST_STRIPS && !self.strips.contains_key(&key) {
            self.cut = true;
            return;
        }
        let strip = self.strips.entry(key).or_insert_with(|| vec![0; self.bins]);
        strip[bin] = strip[bin].saturating_add(1);
    }
}

impl ByNode {
    /// The strips of a node, by the names of their columns.
    fn strips_of(&self, node: usize) -> BTreeMap<String, &[u32]> {
        let of = self.strips.iter().filter(|((_, n), _)| *n == node);
        of.map(|((kind, _), counts)| {
            let (what, words, number) = match kind {
                StripKind::Drop(number) => ("drop", &self.reasons, number),
                StripKind::Routing(number) => ("routing", &self.types, number),
            };
            let word = words.list().get(usize::from(*number).wrapping_sub(1));
            (format!("{what}/{}", word.map_or("other", String::as_str)), &counts[..])
        })
        .collect()
    }
}

impl NodeCounts {
    /// Of `nodes` nodes until `end_ns`; nothing is counted yet.
    pub(crate) fn new(nodes: usize, end_ns: i64) -> Self {
        let fits = MOST_COUNTS / (nodes.max(1) * KINDS);
        let bins = fits.clamp(FEWEST_BINS, BINS);
        let (nodes, end_ns) = (nodes.min(MOST_COUNTS / (bins * KINDS)), end_ns.max(1));
        let counts = ByNode {
            nodes,
            bins,
            end_ns,
            counts: Vec::new(),
            strips: FxHashMap::default(),
            reasons: Words::default(),
            types: Words::default(),
            cut: false,
        };
        Self { end_ns, bins, begin: Once::new(), counting: Counting::new(counts) }
    }

    pub(crate) fn stop(&self) {
        self.counting.stop();
    }

    /// Has a thread count, if none has yet.
    pub(crate) fn begin(self: &Arc<Self>, table: &Arc<OpenTable>) {
        self.begin.call_once(|| {
            let (counts, table) = (Arc::clone(self), Arc::clone(table));
            std::thread::spawn(move || counts.counting.read(&table));
        });
    }

    /// The counts of a node as a frame; not a number where they are not complete yet.
    pub(crate) fn frame(&self, node: usize) -> Result<Vec<u8>, Error> {
        let progress = self.counting.progress()?;
        let all = &progress.counts;
        let width_ns = self.end_ns as f64 / self.bins as f64;
        let counted = progress.counted_bins(width_ns.ceil() as u64, self.bins);
        let known = |(bin, n): (usize, u32)| if bin < counted { f64::from(n) } else { f64::NAN };
        let mut frame = progress.frame();
        frame.set("bin_ns", width_ns);
        frame.set("end_ns", self.end_ns);
        let size = self.bins * KINDS;
        let own = node.checked_mul(size).and_then(|at| all.counts.get(at..at.saturating_add(size)));
        for (i, kind) in HopKind::ALL.into_iter().enumerate() {
            let column = (0..self.bins).map(|bin| own.map_or(0, |own| own[bin * KINDS + i]));
            frame.f64s(kind.name(), column.enumerate().map(known));
        }
        let strips = all.strips_of(node);
        frame.set("kinds", strips.keys().cloned().collect::<Vec<_>>());
        frame.set("cut", all.cut);
        for (kind, counts) in strips {
            frame.f64s(&kind, counts.iter().copied().enumerate().map(known));
        }
        Ok(frame.finish(self.bins))
    }
}
