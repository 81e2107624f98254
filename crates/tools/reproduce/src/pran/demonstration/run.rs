//! One lap, as it was seen.

use wayhop_core::NodeId;
use wayhop_trace::{HopEvent, Lateness, Observer, PositionEvent};

use super::lap::Lap;
use super::programs::ProgramOutputs;
use super::traffic::Traffic;

/// The nodes of the scenario that have a part of their own: the control station, S1, and the robot, M1.
pub(super) const STATION: NodeId = NodeId(0);
pub(super) const ROBOT: NodeId = NodeId(5);

pub(super) struct LapRun {
    pub(super) traffic: Traffic,
    pub(super) lap: Lap,
    pub(super) seen: ProgramOutputs,
    pub(super) lateness: Lateness,
    pub(super) duration_s: f64,
}

impl LapRun {
    /// When the robot was the farthest from the control station, seconds.
    pub(super) fn farthest_s(&self) -> Option<f64> {
        self.lap.farthest_s(ROBOT, STATION, self.duration_s)
    }
}

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
