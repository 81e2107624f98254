//! Frames that several nodes know of.

use rustc_hash::FxHashMap;
use wayhop_core::BROADCAST;
use wayhop_trace::HopKind;

use crate::input::NodeRun;
use crate::observation::{Observation, ObservationKind};

/// Where a frame was seen: node and row.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowRef {
    pub(crate) node: u32,
    pub(crate) row: u32,
}

/// One frame, or several that are the same to the octet.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedFrame {
    /// Who handed it to an interface.
    pub(crate) sent: Vec<RowRef>,
    pub(crate) received: Vec<RowRef>,
}

pub(crate) fn frames(runs: &[NodeRun]) -> FxHashMap<u64, SharedFrame> {
    let mut all: FxHashMap<u64, SharedFrame> = FxHashMap::default();
    for (node, run) in (0..).zip(runs) {
        for (row, (hop, identity)) in (0..).zip(&run.hops) {
            let Some(identity) = identity else { continue };
            let seen = RowRef { node, row };
            match hop.kind {
                HopKind::Send | HopKind::Forward => all.entry(identity.frame).or_default().sent.push(seen),
                HopKind::Receive => all.entry(identity.frame).or_default().received.push(seen),
                _ => {}
            }
        }
    }
    all
}

/// What clocks say of frames that are the only ones of their kind: sent once at most, and received once by each node at most.
pub(crate) fn of_frames(runs: &[NodeRun], frames: &FxHashMap<u64, SharedFrame>) -> Vec<Observation> {
    let mut all = Vec::new();
    for (digest, frame) in frames {
        let mut receivers: Vec<u32> = frame.received.iter().map(|s| s.node).collect();
        receivers.sort_unstable();
        receivers.dedup();
        if frame.sent.len() > 1 || receivers.len() < frame.received.len() {
            continue;
        }
        let row = |s: &RowRef| &runs[s.node as usize].hops[s.row as usize].0;
        let observation = |kind, from: &RowRef, to: &RowRef| Observation {
            kind,
            from: from.node as usize,
            from_ns: row(from).time.as_nanos(),
            to: to.node as usize,
            to_ns: row(to).time.as_nanos(),
            bytes: row(from).bytes,
            hops: 1,
            forwarders: u8::from(kind == ObservationKind::Forwarded),
            frame: *digest,
        };
        if let [sent] = &frame.sent[..] {
            let kind = match row(sent).kind {
                _ if row(sent).peer == BROADCAST => ObservationKind::Broadcast,
                HopKind::Forward => ObservationKind::Forwarded,
                _ => ObservationKind::Unicast,
            };
            let others = frame.received.iter().filter(|r| r.node != sent.node);
            all.extend(others.map(|r| observation(kind, sent, r)));
        }
        all.extend(
            frame.received.windows(2).map(|pair| observation(ObservationKind::Heard, &pair[0], &pair[1])),
        );
    }
    all
}
