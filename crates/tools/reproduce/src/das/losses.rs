//! When a route was found, and where a flow's packets end along the chain.

use std::net::Ipv4Addr;

use wayhop_core::NodeId;
use wayhop_report::{mean, standard_deviation};
use wayhop_trace::{HopEvent, HopKind, NoteEvent, Observer};

/// After so long a request was repeated (profile `das`).
const REPEATED_AFTER_MS: f64 = 1_000.0;

#[derive(Clone, Debug)]
pub(crate) struct Discoveries {
    node: NodeId,
    destination: Ipv4Addr,
    /// From the first request to the route, milliseconds, in the order in which they succeeded.
    pub(crate) latencies_ms: Vec<f64>,
}

impl Discoveries {
    pub(crate) fn new(node: NodeId, destination: Ipv4Addr) -> Self {
        Self { node, destination, latencies_ms: Vec::new() }
    }
    /// All but the first, which belongs to the start of the run and not to a route lost under load.
    pub(crate) fn later(&self) -> Self {
        Self { latencies_ms: self.latencies_ms.iter().skip(1).copied().collect(), ..*self }
    }
    /// Those that the first request found.
    pub(crate) fn at_first_request(&self) -> Self {
        let quick = self.latencies_ms.iter().copied().filter(|ms| *ms < REPEATED_AFTER_MS);
        Self { latencies_ms: quick.collect(), ..*self }
    }
    pub(crate) fn mean_ms(&self) -> Option<f64> {
        mean(&self.latencies_ms)
    }
    pub(crate) fn count(&self) -> usize {
        self.latencies_ms.len()
    }
    /// Half of the 95 % interval of the mean, % of the mean, as Tables 2 and 3 print it.
    pub(crate) fn ci95_of_mean_pct(&self) -> Option<f64> {
        let half = 1.96 * standard_deviation(&self.latencies_ms)? / (self.count() as f64).sqrt();
        Some(100.0 * half / self.mean_ms()?)
    }
    /// How many needed more than one request, %.
    pub(crate) fn repeated_pct(&self) -> Option<f64> {
        let n = self.count();
        (n > 0).then(|| 100.0 * (n - self.at_first_request().count()) as f64 / n as f64)
    }
}

impl Observer for Discoveries {
    fn note(&mut self, e: &NoteEvent) {
        if e.node == self.node && e.note.what == "discovery_done" && e.note.about == self.destination {
            self.latencies_ms.push(e.note.value as f64 / 1e3);
        }
    }
}

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
