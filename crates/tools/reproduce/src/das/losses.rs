//! Where a flow's packets end along the chain.

use std::net::Ipv4Addr;

use wayhop_core::NodeId;
use wayhop_trace::{HopEvent, HopKind, NoteEvent, Observer};

use super::discoveries::Discoveries;

/// A flow from node 0 of a chain to its last node.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// For each node: dropped by it.
    dropped: Vec<u64>,
    /// For each node: put on the air by it.
    transmitted: Vec<u64>,
    /// For each node: received by it from the air.
    heard: Vec<u64>,
    /// The source's, for the destination.
    pub(crate) discoveries: Discoveries,
}

impl Losses {
    /// For a chain of this number of hops to `destination`.
    pub(crate) fn new(hops: usize, destination: Ipv4Addr) -> Self {
        let zeros = vec![0; hops + 1];
        Self {
            sent: 0,
            received: 0,
            dropped: zeros.clone(),
            transmitted: zeros.clone(),
            heard: zeros,
            discoveries: Discoveries::new(NodeId(0), destination),
        }
    }

    fn share(&self, packets: f64) -> Option<f64> {
        (self.sent > 0).then(|| 100.0 * packets / self.sent as f64)
    }
    /// Dropped by a node, counted from 1 as in the paper; % of all.
    pub(crate) fn node_pct(&self, node: usize) -> Option<f64> {
        self.share(self.dropped[node - 1] as f64)
    }
    /// Lost between a node, counted from 1, and the next; % of all.
    pub(crate) fn link_pct(&self, node: usize) -> Option<f64> {
        self.share(self.transmitted[node - 1] as f64 - self.heard[node] as f64)
    }
    pub(crate) fn received_pct(&self) -> Option<f64> {
        self.share(self.received as f64)
    }
}

impl Observer for Losses {
    fn hop(&mut self, e: &HopEvent) {
        if e.flow.is_none() {
            return;
        }
        let node = e.node.index();
        let count = match e.kind {
            HopKind::Originate => &mut self.sent,
            HopKind::Deliver => &mut self.received,
            HopKind::Transmit => &mut self.transmitted[node],
            HopKind::Receive => &mut self.heard[node],
            HopKind::Drop => &mut self.dropped[node],
            _ => return,
        };
        *count += 1;
    }
    fn note(&mut self, e: &NoteEvent) {
        self.discoveries.note(e);
    }
}
