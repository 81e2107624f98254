//! Bundles that come (RFC 9174, section 5.2).

use std::collections::BTreeMap;

use crate::agent::{Refusal, TransferId};
use crate::cl::tcpcl::message::{END, START, SegmentHead};

/// Bundles that come: at most one is on its way, others wait to be accepted.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// The transfer whose segments come: its number and octets; `None` for the octets of one that was refused.
    current: Option<(u64, Option<Vec<u8>>)>,
    /// The segment whose data come: its flags, and how many octets are missing.
    segment: Option<(u8, u64)>,
    /// Whole ones that wait to be accepted, with their lengths and the flags of their last segments.
    waiting: BTreeMap<u64, (u64, u8)>,
}

/// What became of data.
pub(super) enum SegmentProgress {
    /// The segment is not complete.
    None,
    /// A segment is complete: its flags, the transfer, and the octets so far.
    Segment(u8, u64, u64),
    /// A bundle is complete.
    Whole(TransferId, Vec<u8>),
}

impl Incoming {
    /// A segment begins. `Ok` with a refusal if the bundle is not taken; `Err` if no such segment can come now.
    pub(super) fn begin(
        &mut self,
        head: &SegmentHead,
        segment_mru: u64,
        transfer_mru: u64,
    ) -> Result<Option<Refusal>, ()> {
        let is_start = head.flags & START != 0;
        match (&self.current, is_start) {
            (None, true) if !self.waiting.contains_key(&head.id) => {
                self.current = Some((head.id, Some(Vec::new())));
            }
            // A transfer that was refused may be given up by its sender at any segment.
            (Some((_, None)), true) => self.current = Some((head.id, Some(Vec::new()))),
            (Some((id, _)), false) if *id == head.id => {}
            _ => return Err(()),
        }
        if head.length > segment_mru {
            return Err(());
        }
        self.segment = Some((head.flags, head.length));
        let Some((_, Some(octets))) = &mut self.current else { return Ok(None) };
        let so_far = octets.len() as u64 + head.length;
        let refusal = if head.unknown_critical {
            Some(Refusal::ExtensionFailure)
        } else if so_far.max(head.total.unwrap_or(0)) > transfer_mru {
            Some(Refusal::NoResources)
        } else {
            None
        };
        if refusal.is_some() {
            self.current = Some((head.id, None));
        }
        Ok(refusal)
    }

    /// Whether data of a segment come next.
    pub(super) fn is_in_segment(&self) -> bool {
        self.segment.is_some()
    }

    /// Whether a bundle is on its way or waits to be accepted.
    pub(super) fn is_idle(&self) -> bool {
        self.current.is_none() && self.waiting.is_empty()
    }

    /// Data come: how many of the octets were taken, and what became of them.
    pub(super) fn data(&mut self, octets: &[u8]) -> (usize, SegmentProgress) {
        let (Some((flags, missing)), Some((id, bundle))) = (&mut self.segment, &mut self.current) else {
            return (0, SegmentProgress::None);
        };
        let taken = octets.len().min(usize::try_from(*missing).unwrap_or(usize::MAX));
        *missing -= taken as u64;
        if let Some(bundle) = bundle {
            bundle.extend_from_slice(&octets[..taken]);
        }
        if *missing > 0 {
            return (taken, SegmentProgress::None);
        }
        let (flags, id) = (*flags, *id);
        let length = bundle.as_ref().map(|bundle| bundle.len() as u64);
        self.segment = None;
        if flags & END == 0 {
            return (
                taken,
                length.map_or(SegmentProgress::None, |length| SegmentProgress::Segment(flags, id, length)),
            );
        }
        let bundle = self.current.take().and_then(|(_, bundle)| bundle);
        let Some(bundle) = bundle else { return (taken, SegmentProgress::None) };
        self.waiting.insert(id, (bundle.len() as u64, flags));
        (taken, SegmentProgress::Whole(TransferId(id), bundle))
    }

    /// A whole bundle is accepted or refused: its length and the flags of its last segment.
    pub(super) fn answered(&mut self, transfer: TransferId) -> Option<(u64, u8)> {
        self.waiting.remove(&transfer.0)
    }

    /// The session is over: the first octets of the bundle that was on its way.
    pub(super) fn give_up(&mut self) -> Option<Vec<u8>> {
        self.waiting.clear();
        self.segment = None;
        self.current.take().and_then(|(_, bundle)| bundle).filter(|bundle| !bundle.is_empty())
    }
}
