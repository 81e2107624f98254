//! A lap: where the robot was, and what a run of it shows.

use wayhop_core::{NodeId, Position, Time};
use wayhop_trace::{HopEvent, Lateness, Observer, PositionEvent};

use super::programs::ProgramOutputs;
use super::traffic::Traffic;

/// The motion of all nodes, leg by leg.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lap {
    legs: Vec<PositionEvent>,
}

/// From one look at the robot to the next, seconds.
const STEP_S: f64 = 0.5;
/// A metre less is as far, so that two equally distant corners are one place.
const SLACK_M: f64 = 1.0;

impl Lap {
    pub(crate) fn place(&self, node: NodeId, at_s: f64) -> Option<Position> {
        let at = Time::from_secs_f64(at_s);
        let leg = self.legs.iter().rfind(|l| l.node == node && l.time <= at)?;
        let s = at.min(leg.until).since(leg.time).as_secs_f64();
        let (p, v) = (leg.at, leg.velocity);
        Some(Position::new(p.x + v.x * s, p.y + v.y * s, p.z + v.z * s))
    }
    pub(crate) fn way(&self, node: NodeId, until_s: f64) -> Vec<(f64, Position)> {
        let steps = 0..=(until_s / STEP_S) as u32;
        steps
            .filter_map(|i| self.place(node, f64::from(i) * STEP_S).map(|p| (f64::from(i) * STEP_S, p)))
            .collect()
    }
    /// When a node is farthest from another one, seconds: the mean of the times at which it is within [`SLACK_M`] of that.
    pub(crate) fn farthest_s(&self, node: NodeId, from: NodeId, until_s: f64) -> Option<f64> {
        let distance = |(at_s, p): (f64, Position)| Some((at_s, p.distance(self.place(from, at_s)?)));
        let all: Vec<(f64, f64)> = self.way(node, until_s).into_iter().filter_map(distance).collect();
        let most = all.iter().map(|(_, m)| *m).fold(0.0, f64::max);
        let times: Vec<f64> =
            all.iter().filter(|(_, m)| *m >= most - SLACK_M).map(|(at_s, _)| *at_s).collect();
        wayhop_report::mean(&times)
    }
}

impl Observer for Lap {
    fn position(&mut self, e: &PositionEvent) {
        self.legs.push(*e);
    }
}

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
