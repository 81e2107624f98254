//! What happened over the time of the whole run, and its losses: by the index that the run has written, or else by counting.

use wayhop_trace::{CountOf, IndexedRow, PacketIndex};

use crate::counting::{CountedRow, Counting, Counts};
use crate::error::Error;
use crate::frame::FrameBuilder;
use crate::motion::Motion;
use crate::table::OpenTable;

/// Equal stretches of the run, at most.
const MOST_BINS: usize = 1_024;

impl Counts for PacketIndex {
    fn count(&mut self, row: &CountedRow<'_>) {
        fn text(of: Option<&[u8]>) -> Option<&str> {
            of.map(|octets| std::str::from_utf8(octets).unwrap_or("other"))
        }
        let Some(kind) = row.kind else { return };
        self.add(&IndexedRow {
            time_ns: row.time_ns.max(0).unsigned_abs(),
            node: row.node.cast_unsigned(),
            packet: row.packet.and_then(|p| u64::try_from(p).ok()),
            kind,
            reason: text(row.reason),
            routing: text(row.routing),
        });
    }
}

/// The counts of a run.
pub(crate) struct Overview {
    end_ns: u64,
    counting: Counting<PacketIndex>,
}

impl Overview {
    /// Of a run until `end_ns`; what its index does not have is to be counted.
    pub(crate) fn new(end_ns: u64, index: Option<PacketIndex>) -> Self {
        let counting = index.map_or_else(|| Counting::new(PacketIndex::default()), Counting::done);
        Self { end_ns, counting }
    }

    pub(crate) fn stop(&self) {
        self.counting.stop();
    }

    pub(crate) fn read(&self, table: &OpenTable) {
        self.counting.read(table);
    }

    /// The counts as a frame; not a number where they are not complete yet.
    pub(crate) fn frame(&self) -> Result<Vec<u8>, Error> {
        let progress = self.counting.progress()?;
        let index = &progress.counts;
        let width = index.interval_for(self.end_ns, MOST_BINS);
        let bins = usize::try_from(self.end_ns.div_ceil(width)).map_or(MOST_BINS, |n| n.clamp(1, MOST_BINS));
        let counted = progress.counted_bins(width, bins);
        let mut frame = progress.frame();
        frame.set("bin_ns", width);
        frame.set("end_ns", self.end_ns);
        let mut kinds = Vec::new();
        for (i, of) in index.columns().enumerate() {
            let name = of.to_string();
            let counts = index.counts(i, width, bins).into_iter().enumerate();
            frame.f64s(&name, counts.map(|(bin, n)| if bin < counted { n as f64 } else { f64::NAN }));
            if !matches!(of, CountOf::Event(_)) {
                kinds.push(name);
            }
        }
        kinds.sort_unstable();
        frame.set("kinds", kinds);
        Ok(frame.finish(bins))
    }

    /// The losses of one node, or of all, with the places of the nodes then, where the run says them.
    pub(crate) fn losses(&self, motion: &Motion, node: Option<usize>) -> Result<Vec<u8>, Error> {
        let progress = self.counting.progress()?;
        let index = &progress.counts;
        let is_asked = |n: u32| node.is_none_or(|wanted| u32::try_from(wanted) == Ok(n));
        let list: Vec<_> = index.losses().iter().filter(|l| is_asked(l.node)).collect();
        // Columns and their reasons, numbered from 1 on.
        let reasons: Vec<(usize, &str)> = index
            .columns()
            .enumerate()
            .filter_map(|(i, of)| if let CountOf::Drop(reason) = of { Some((i, &**reason)) } else { None })
            .collect();
        let number = |column: u16| {
            let at = reasons.iter().position(|(i, _)| *i == usize::from(column));
            at.and_then(|at| u8::try_from(at + 1).ok()).unwrap_or(0)
        };
        let mut frame: FrameBuilder = progress.frame();
        frame.set("more", index.has_more_losses());
        frame.set("reasons", reasons.iter().map(|(_, reason)| *reason).collect::<Vec<_>>());
        let places: Vec<_> = list.iter().map(|l| place(motion, l.node, l.time_ns)).collect();
        frame.f64s("time_ns", list.iter().map(|l| l.time_ns as f64));
        frame.f64s("packet", list.iter().map(|l| l.packet.map_or(-1.0, |p| p as f64)));
        for (axis, name) in ["x", "y"].into_iter().enumerate() {
            frame.f64s(name, places.iter().map(|p| p.map_or(f64::NAN, |p| p[axis])));
        }
        frame.i32s("node", list.iter().map(|l| l.node.cast_signed()));
        frame.u8s("reason", list.iter().map(|l| number(l.column)));
        Ok(frame.finish(list.len()))
    }
}

fn place(motion: &Motion, node: u32, time_ns: u64) -> Option<[f64; 3]> {
    motion.place(i32::try_from(node).ok()?, i64::try_from(time_ns).ok()?)
}
