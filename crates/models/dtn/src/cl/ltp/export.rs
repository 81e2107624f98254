//! An outgoing block (RFC 5326, section 6).

use std::collections::{BTreeSet, VecDeque};

use wayhop_core::{Span, Time};

use crate::agent::{TransferEvent, TransferId};
use crate::cl::ltp::segment::{BUNDLES, Checkpoint, Content, DataSegment, ReportSegment};
use crate::fragment::Reassembly;

/// Octets of a segment's head: type, two numbers of the session, extensions, service, offset, length, two serials.
const HEAD: usize = 1 + 10 + 10 + 1 + 1 + 10 + 3 + 10 + 10;

/// A block that goes, all of it red: reported, and sent again where it was lost.
#[derive(Debug)]
pub(super) struct Export {
    pub(super) transfer: TransferId,
    block: Vec<u8>,
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

impl Export {
    pub(super) fn new(transfer: TransferId, block: Vec<u8>) -> Self {
        let whole = Range { from: 0, to: block.len() as u64, is_last: true, report: 0 };
        Self {
            transfer,
            block,
            ranges: VecDeque::from([whole]),
            arrived: Reassembly::default(),
            next_serial: 1,
            awaited: None,
            answered: BTreeSet::new(),
        }
    }

    pub(super) fn segment(&mut self, now: Time, largest: usize, wait: Span) -> Option<Content> {
        let range = self.ranges.front_mut()?;
        let room = largest.saturating_sub(HEAD).max(1) as u64;
        let (from, to) = (range.from, range.to.min(range.from + room));
        range.from = to;
        let (is_done, is_last, report) = (to == range.to, range.is_last, range.report);
        if is_done {
            self.ranges.pop_front();
        }
        let checkpoint = (is_done && is_last).then(|| {
            let serial = self.next_serial;
            self.next_serial += 1;
            let tries = 1;
            self.awaited = Some(Awaited { serial, from, to, report, at: now + wait, tries });
            Checkpoint { serial, report }
        });
        Some(self.data(from, to, checkpoint))
    }

    fn data(&self, from: u64, to: u64, checkpoint: Option<Checkpoint>) -> Content {
        // Only checkpoints tell ends of red data (section 3.1).
        let ends = to == self.block.len() as u64 && checkpoint.is_some();
        Content::Data(DataSegment {
            is_red: true,
            ends_red: ends,
            ends_block: ends,
            service: BUNDLES,
            offset: from,
            checkpoint,
            data: self.block[from as usize..to as usize].to_vec(),
        })
    }

    /// What the receiver has (section 6.13). Whether that is the whole block.
    pub(super) fn report(&mut self, report: &ReportSegment) -> bool {
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
            return true;
        }
        // A report that came again was answered before.
        if self.answered.insert(report.serial) && self.ranges.is_empty() {
            self.send_again(report, length);
        }
        false
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

    /// It ends with what has arrived: its first octets, without a gap.
    pub(super) fn interrupted(&self) -> TransferEvent {
        let first = self.arrived.ranges().first().copied().filter(|(from, _)| *from == 0);
        TransferEvent::Interrupted { transfer: self.transfer, acknowledged: first.map_or(0, |(_, to)| to) }
    }
}
