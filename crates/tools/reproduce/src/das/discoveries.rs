//! Durations of route discoveries, from AODV's notes.

use std::net::Ipv4Addr;

use wayhop_core::NodeId;
use wayhop_report::{mean, standard_deviation};
use wayhop_trace::{NoteEvent, Observer};

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
