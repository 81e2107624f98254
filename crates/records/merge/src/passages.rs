//! Packets that crossed nodes whose runs are missing.
//!
//! Nodes on both sides of a missing one may share no frame, but they share the packets that it forwarded. A packet takes a hop's
//! least delay once for each hop, and time to live tells the hops.

use rustc_hash::FxHashMap;
use wayhop_core::BROADCAST;
use wayhop_trace::HopKind;

use crate::frames::{RowRef, SharedFrame};
use crate::input::NodeRun;
use crate::observation::{Observation, ObservationKind};
use crate::unite::is_data;

/// Rows of programs' packets with the same content.
#[derive(Default)]
struct Content {
    sent: Vec<RowRef>,
    /// Receptions of frames that none of the nodes sent.
    came: Vec<RowRef>,
}

/// What clocks say of packets that one node sent and another received from a node without a run.
///
/// Only contents count that passed once: sent once with each time to live, and received once by a node.
pub(crate) fn of_packets(runs: &[NodeRun], frames: &FxHashMap<u64, SharedFrame>) -> Vec<Observation> {
    let content = |s: &RowRef| {
        let (hop, identity) = &runs[s.node as usize].hops[s.row as usize];
        Some(identity.filter(|_| is_data(hop.class) && hop.peer != BROADCAST)?.end_to_end)
    };
    let mut contents: FxHashMap<u64, Content> = FxHashMap::default();
    for came in frames.values().filter(|f| f.sent.is_empty()).flat_map(|f| &f.received) {
        if let Some(content) = content(came) {
            contents.entry(content).or_default().came.push(*came);
        }
    }
    for sent in frames.values().flat_map(|f| &f.sent) {
        if let Some(content) = content(sent).and_then(|c| contents.get_mut(&c)) {
            content.sent.push(*sent);
        }
    }
    contents.into_values().flat_map(|content| content.passages(runs)).collect()
}

impl Content {
    fn passages(mut self, runs: &[NodeRun]) -> Vec<Observation> {
        let of = |s: &RowRef| &runs[s.node as usize].hops[s.row as usize];
        let ttl = |s: &RowRef| of(s).0.ttl;
        self.sent.sort_unstable_by_key(ttl);
        if self.sent.windows(2).any(|pair| ttl(&pair[0]) == ttl(&pair[1])) {
            return Vec::new();
        }
        let passage = |came: &RowRef| {
            // The last one that had it before. A neighbour receives the time to live with which it was sent.
            let last = self.sent.iter().find(|s| ttl(s) > ttl(came)).filter(|s| s.node != came.node)?;
            let ((left, _), (arrived, identity)) = (of(last), of(came));
            let hops = (left.ttl - arrived.ttl).saturating_add(1);
            Some(Observation {
                kind: ObservationKind::Passage,
                from: last.node as usize,
                from_ns: left.time.as_nanos(),
                to: came.node as usize,
                to_ns: arrived.time.as_nanos(),
                bytes: left.bytes,
                hops,
                forwarders: hops - u8::from(left.kind == HopKind::Send),
                frame: identity.as_ref()?.frame,
            })
        };
        self.came.sort_unstable();
        let once = self.came.chunk_by(|a, b| a.node == b.node).filter(|of_node| of_node.len() == 1);
        once.flatten().filter_map(passage).collect()
    }
}
