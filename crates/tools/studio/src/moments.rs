//! When a packet was where.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use wayhop_trace::{CapturedFrame, Story};

/// Moments that lie closer together are read in one go, nanoseconds.
const GAP_NS: u64 = 100_000_000;

/// A capture has a frame that is sent at the end of its preamble, which is no longer than this, nanoseconds.
pub(crate) const PREAMBLE_NS: u64 = 200_000;

/// A frame as one node had it.
pub(crate) struct Sighting {
    pub(crate) node: u32,
    pub(crate) frame: CapturedFrame,
}

/// When a node had frames of the packet.
#[derive(Default)]
pub(crate) struct Moments {
    pub(crate) sent: BTreeSet<u64>,
    pub(crate) received: BTreeSet<u64>,
}

/// When which node had the packet on its interface. Real nodes only say when they gave it to the interface: `has_no_air`.
pub(crate) fn moments(story: &Story, has_no_air: bool) -> BTreeMap<u32, Moments> {
    let mut all: BTreeMap<u32, Moments> = BTreeMap::new();
    for step in &story.steps {
        // Moments are integer nanoseconds; a float has them exactly for a hundred days.
        let ns = (step.time_s * 1e9).round().max(0.0) as u64;
        match step.what.as_str() {
            "transmit" | "rts" | "cts" | "data" | "ack" | "broadcast" => {
                all.entry(step.node).or_default().sent.insert(ns);
            }
            "send" | "forward" if has_no_air => {
                all.entry(step.node).or_default().sent.insert(ns);
            }
            "receive" => {
                all.entry(step.node).or_default().received.insert(ns);
            }
            _ => {}
        }
    }
    all
}

/// Stretches of time, in order; those that lie close together as one.
pub(crate) fn joined(mut all: Vec<Range<u64>>) -> Vec<Range<u64>> {
    all.sort_by_key(|r| r.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.end.saturating_add(GAP_NS) => {
                last.end = last.end.max(range.end);
            }
            _ => joined.push(range),
        }
    }
    joined
}
