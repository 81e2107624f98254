//! An outgoing block (RFC 5326, section 6).

use std::collections::{BTreeSet, VecDeque};

use wayhop_core::{Span, Time};

use crate::agent::TransferId;
use crate::cl::ltp::segment::{BUNDLES, Checkpoint, Content, ReportSegment};
use crate::fragment::Reassembly;

/// Octets of a segment's head: type, two numbers of the session, extensions, service, offset, length, two serials.
const HEAD: usize = 1 + 10 + 10 + 1 + 1 + 10 + 3 + 10 + 10;

/// A block that goes.
#[derive(Debug)]
pub(super) struct Export {
    pub(super) transfer: TransferId,
    block: Vec<u8>,
    is_red: bool,
    /// Octets that have to go, and which report asked for them; the last of one report is a checkpoint.
    ranges: VecDeque<Range>,
    /// What has arrived, as zeros.
    arrived: Reassembly,
    next_serial: u64,
    /// The checkpoint that waits for its report.
    awaited: Option<Awaited>,
    /// Reports that were answered with data.
    answered: BTreeSet<u64>,
}

#[derive(Copy, Clone, Debug)]
struct Range {
    from: u64,
    to: u64,
    /// The last range of what one report asked for.
    is_last: bool,
    report: u64,
}

#[derive(Copy, Clone, Debug)]
struct Awaited {
    serial: u64,
    /// Its octets, to send it again.
    from: u64,
    to: u64,
    report: u64,
    at: Time,
    tries: u8,
}

/// What a report has brought about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReportEffect {
    Whole,
    Missing,
}

impl Export {
    pub(super) fn new(transfer: TransferId, block: Vec<u8>, is_red: bool) -> Self {
        let whole = Range { from: 0, to: block.len() as u64, is_last: true, report: 0 };
        Self {
            transfer,
            block,
            is_red,
            ranges: VecDeque::from([whole]),
            arrived: Reassembly::default(),
            next_serial: 1,
            awaited: None,
            answered: BTreeSet::new(),
        }
    }

    /// The next segment.
    pub(super) fn segment(&mut self, now: Time, largest: usize, wait: Span) -> Option<Content> {
        let range = self.ranges.front_mut()?;
        let room = largest.saturating_sub(HEAD).max(1) as u64;
        let (from, to) = (range.from, range.to.min(range.from + room));
        range.from = to;
        let (is_done, is_last, report) = (to == range.to, range.is_last, range.report);
        if is_done {
            self.ranges.pop_front();
        }
        let checkpoint = (self.is_red && is_done && is_last).then(|| {
            let serial = self.next_serial;
            self.next_serial += 1;
            let tries = 1;
            self.awaited = Some(Awaited { serial, from, to, report, at: now + wait, tries });
            Checkpoint { serial, report }
        });
        Some(self.data(from, to, checkpoint))
    }

    fn data(&self, from: u64, to: u64, checkpoint: Option<Checkpoint>) -> Content {
        let ends = to == self.block.len() as u64;
        Content::Data {
            is_red: self.is_red,
            // Only checkpoints tell ends of red data (section 3.1).
            ends_red: self.is_red && ends && checkpoint.is_some(),
            ends_block: ends && (checkpoint.is_some() || !self.is_red),
            service: BUNDLES,
            offset: from,
            checkpoint,
            data: self.block[from as usize..to as usize].to_vec(),
        }
    }

    /// Whether all segments of a green block have gone.
    pub(super) fn is_gone(&self) -> bool {
        !self.is_red && self.ranges.is_empty()
    }

    /// What the receiver has (section 6.13).
    pub(super) fn report(&mut self, report: &ReportSegment) -> ReportEffect {
        let length = self.block.len() as u64;
        if self.awaited.is_some_and(|awaited| awaited.serial == report.checkpoint) {
            self.awaited = None;
        }
        for &(offset, claimed) in &report.claims {
            let end = (offset + claimed).min(length);
            if offset < end {
                self.arrived.insert(offset, &self.block[offset as usize..end as usize]);
            }
        }
        if self.arrived.octets() == length {
            return ReportEffect::Whole;
        }
        // A report that came again was answered before.
        if self.answered.insert(report.serial) && self.ranges.is_empty() {
            self.send_again(report, length);
        }
        ReportEffect::Missing
    }

    fn send_again(&mut self, report: &ReportSegment, length: u64) {
        let (mut at, upper) = (report.lower, report.upper.min(length));
        let mut missing = Vec::new();
        for (from, to) in self.arrived.ranges() {
            if from > at {
                missing.push((at, from.min(upper)));
            }
            at = at.max(to);
        }
        missing.push((at, upper));
        missing.retain(|(from, to)| from < to);
        if missing.is_empty() {
            // The report's bounds are full, the block is not: its last octet asks for a report of all.
            missing.push((length - 1, length));
        }
        let last = missing.len() - 1;
        self.ranges.extend(missing.into_iter().enumerate().map(|(position, (from, to))| Range {
            from,
            to,
            is_last: position == last,
            report: report.serial,
        }));
    }

    /// When the checkpoint is to be sent again.
    pub(super) fn next_timer(&self) -> Option<Time> {
        self.awaited.map(|awaited| awaited.at)
    }

    /// No report came in time: the checkpoint again, or `None` after the last try.
    pub(super) fn checkpoint_again(&mut self, now: Time, wait: Span, tries: u8) -> Option<Content> {
        let awaited = self.awaited.as_mut()?;
        if awaited.tries >= tries {
            return None;
        }
        awaited.tries += 1;
        awaited.at = now + wait;
        let Awaited { serial, from, to, report, .. } = *awaited;
        Some(self.data(from, to, Some(Checkpoint { serial, report })))
    }

    /// The first octets that have arrived, without a gap.
    pub(super) fn acknowledged(&self) -> u64 {
        self.arrived.ranges().first().filter(|(from, _)| *from == 0).map_or(0, |(_, to)| *to)
    }
}
