//! What is seen of a run.

use wayhop_trace::{HopEvent, Observer, PositionEvent};

use super::lap::Lap;
use super::traffic::Traffic;

/// Sees a run.
#[derive(Debug, Default)]
pub(super) struct LapWatch {
    pub(super) traffic: Traffic,
    pub(super) lap: Lap,
}

impl Observer for LapWatch {
    fn hop(&mut self, e: &HopEvent) {
        self.traffic.hop(e);
    }
    fn position(&mut self, e: &PositionEvent) {
        self.lap.position(e);
    }
}
