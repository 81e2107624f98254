//! A block that comes (RFC 5326, section 6).

use std::collections::BTreeMap;

use wayhop_core::{Span, Time};

use crate::agent::Refusal;
use crate::cl::ltp::segment::{DataSegment, ReportSegment, cancel};
use crate::fragment::Reassembly;

/// The most parts of a block that are kept: a sender of single octets gets no further.
const MAX_PARTS: usize = 65_536;

/// A block that comes.
#[derive(Debug, Default)]
pub(super) struct Import {
    parts: Reassembly,
    /// The block's length, once it is known.
    length: Option<u64>,
    /// Whether red data came.
    is_red: bool,
    pub(super) phase: Phase,
    /// Bundles of it that were handed up and neither accepted nor refused yet.
    undecided: usize,
    /// Whether a bundle of it was accepted, and the strongest reason why another one was not.
    is_taken: bool,
    refused: Option<u8>,
    /// The last checkpoint that waits until the whole block is safe.
    deferred: Option<(u64, u64)>,
    next_serial: u64,
    /// Whether a report of the whole block was acknowledged.
    is_reported: bool,
    /// Reports that wait for their acknowledgement.
    pub(super) reports: BTreeMap<u64, Sent>,
    /// When something last came.
    pub(super) last: Time,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Incomplete,
    /// It was handed up, and its acceptance is awaited.
    Whole,
    /// It is safe.
    Accepted,
}

/// What becomes of a block whose bundles are all decided on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockVerdict {
    /// It need not be sent again.
    Accept,
    /// It is cancelled, for this reason.
    Cancel(u8),
}

/// A report that went.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) report: ReportSegment,
    pub(super) at: Time,
    pub(super) tries: u8,
}

impl Import {
    /// Serial numbers of reports may begin anywhere but at 0 (section 3.2.2).
    pub(super) fn new(now: Time) -> Self {
        Self { last: now, next_serial: 1, ..Self::default() }
    }

    /// Data came: the report that is due.
    pub(super) fn data(&mut self, now: Time, segment: &DataSegment, largest: usize) -> Option<ReportSegment> {
        self.last = now;
        let end = segment.offset + segment.data.len() as u64;
        self.is_red |= segment.is_red;
        if segment.ends_block {
            self.length.get_or_insert(end);
        }
        let fits = self.length.is_none_or(|length| end <= length) && self.parts.parts() < MAX_PARTS;
        if self.phase == Phase::Incomplete && fits {
            self.parts.insert(segment.offset, &segment.data);
        }
        let checkpoint = segment.checkpoint?;
        let upper = if segment.ends_red { end } else { end.max(self.length.unwrap_or(0)) };
        if self.is_complete() && self.phase != Phase::Accepted {
            // What says that all is here goes when all is safe.
            self.deferred = Some((checkpoint.serial, upper));
            return None;
        }
        Some(self.make_report(now, checkpoint.serial, upper, largest))
    }

    fn is_complete(&self) -> bool {
        self.phase != Phase::Incomplete || self.length.is_some_and(|length| self.parts.octets() == length)
    }

    /// This many bundles of the block were handed up.
    pub(super) fn handed_up(&mut self, bundles: usize) {
        self.undecided = bundles;
    }

    /// A bundle of the block is safe, or refused: the verdict, if it is the last one.
    ///
    /// A session is reported or cancelled as a whole. If there was no room for a bundle, the block is cancelled: it fits when it
    /// comes again, and what is here by then is a duplicate. A bundle that is never taken does not keep the others from
    /// being reported.
    pub(super) fn decide(&mut self, refusal: Option<Refusal>) -> Option<BlockVerdict> {
        match refusal {
            None | Some(Refusal::Completed) => self.is_taken = true,
            Some(Refusal::NotAcceptable | Refusal::ExtensionFailure) => {
                self.refused.get_or_insert(cancel::BY_USER);
            }
            Some(_) => self.refused = Some(cancel::BY_SYSTEM),
        }
        self.undecided = self.undecided.saturating_sub(1);
        (self.undecided == 0).then_some(match self.refused {
            Some(reason) if reason == cancel::BY_SYSTEM || !self.is_taken => BlockVerdict::Cancel(reason),
            _ => BlockVerdict::Accept,
        })
    }

    /// The block, the first time that it is complete.
    pub(super) fn whole(&mut self) -> Option<Vec<u8>> {
        let length = self.length.filter(|_| self.phase == Phase::Incomplete && self.is_complete())?;
        self.phase = Phase::Whole;
        std::mem::take(&mut self.parts).whole(length)
    }

    /// The block is safe: the report that says so.
    pub(super) fn accept(&mut self, now: Time, largest: usize) -> Option<ReportSegment> {
        self.phase = Phase::Accepted;
        let (serial, upper) = self.deferred.take()?;
        Some(self.make_report(now, serial, upper, largest))
    }

    /// Section 6.11. Claims that do not fit into one segment are left to the next report: the bound says so.
    fn make_report(&mut self, now: Time, checkpoint: u64, upper: u64, largest: usize) -> ReportSegment {
        let mut claims: Vec<(u64, u64)> = if self.phase == Phase::Accepted {
            vec![(0, upper)]
        } else {
            self.parts
                .ranges()
                .into_iter()
                .map(|(from, to)| (from, to.min(upper).saturating_sub(from)))
                .collect()
        };
        claims.retain(|(_, length)| *length > 0);
        // Two numbers of at most 10 octets each beside a head of at most 80.
        let room = (largest.saturating_sub(80) / 20).max(1);
        let mut upper = upper;
        if claims.len() > room {
            upper = claims[room].0;
            claims.truncate(room);
        }
        let serial = self.next_serial;
        self.next_serial += 1;
        let report = ReportSegment { serial, checkpoint, upper, lower: 0, claims };
        self.reports.insert(serial, Sent { report: report.clone(), at: now, tries: 0 });
        report
    }

    /// A report went: when it goes again.
    pub(super) fn report_went(&mut self, now: Time, serial: u64, wait: Span) {
        if let Some(sent) = self.reports.get_mut(&serial) {
            sent.at = now + wait;
            sent.tries += 1;
        }
    }

    /// A report was acknowledged; whether the session is done with that. An older report, of a part of the block, does not end it: the sender
    /// has not heard yet that all is here, and asks again (section 6.7).
    pub(super) fn acknowledged(&mut self, serial: u64) -> bool {
        let claims = self.reports.remove(&serial).map(|sent| sent.report.claims).unwrap_or_default();
        self.is_reported |= self.length.is_some_and(|length| claims == [(0, length)]);
        self.is_reported && self.reports.is_empty()
    }

    /// Whether nothing more is to be said about it: a green block.
    pub(super) fn is_silent(&self) -> bool {
        !self.is_red
    }

    /// The first octets of a block that did not become whole.
    pub(super) fn prefix(&self) -> Option<Vec<u8>> {
        (self.phase == Phase::Incomplete).then(|| self.parts.prefix()).filter(|octets| !octets.is_empty())
    }
}
