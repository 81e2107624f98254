//! A packet's frames that receivers could not use: with `captures.damaged` they are in the receivers' captures, with a wrong FCS.

use std::collections::BTreeMap;
use std::ops::Range;

use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{CapturedFrame, Story, dissect};

use crate::moments::{PREAMBLE_NS, Sighting};

/// The time in which the slowest radios send a byte, ns.
const OCTET_NS: u64 = 8_000;
/// Preamble, the way through the air, and the end of a reception that another frame began.
const BESIDES_NS: u64 = 300_000;

/// A frame that a receiver has lost: when its end is in a capture, and what it is.
pub(crate) struct LostFrame {
    pub(crate) when: Range<u64>,
    frame: CapturedFrame,
}

impl LostFrame {
    /// Whether a frame in the receiver's capture is this one. Its sender sends nothing else during that time.
    pub(crate) fn is(&self, frame: &CapturedFrame) -> bool {
        frame.time_ns.is_some_and(|at| self.when.contains(&at))
            && frame.comment.is_some()
            && above_radiotap(frame) == above_radiotap(&self.frame)
            && dissect(frame, CLASSIFIER)["radio"]["bad_fcs"] == true
    }
}

/// The frames that each receiver has lost, by the story, of those that are in the captures of their senders.
pub(crate) fn lost_frames(story: &Story, sent: &[Sighting]) -> BTreeMap<u32, Vec<LostFrame>> {
    let mut all: BTreeMap<u32, Vec<LostFrame>> = BTreeMap::new();
    for step in story.steps.iter().filter(|s| !s.at.is_empty()) {
        let begin = (step.time_s * 1e9).round().max(0.0) as u64;
        let is_its = |s: &&Sighting| {
            s.node == step.node
                && s.frame.sent == Some(true)
                && s.frame.time_ns.is_some_and(|at| (begin..=begin + PREAMBLE_NS).contains(&at))
        };
        let Some(Sighting { frame, .. }) = sent.iter().find(is_its) else { continue };
        let octets = u64::from(frame.original_len).max(frame.bytes.len() as u64);
        let when = begin..begin + octets * OCTET_NS + BESIDES_NS;
        for receiver in step.at.iter().filter(|a| a.outcome != "received").filter_map(|a| a.node) {
            all.entry(receiver).or_default().push(LostFrame { when: when.clone(), frame: frame.clone() });
        }
    }
    all
}

/// The frame without what its card said of it. LINKTYPE 127 is radiotap, whose header has its own length behind two octets.
fn above_radiotap(frame: &CapturedFrame) -> &[u8] {
    match (frame.link_type, &frame.bytes[..]) {
        (127, [_, _, low, high, ..]) => {
            frame.bytes.get(usize::from(u16::from_le_bytes([*low, *high]))..).unwrap_or_default()
        }
        (_, bytes) => bytes,
    }
}
