//! Where the nodes of a run were.

use wayhop_core::{NodeId, Position, Time};

use crate::tables::{motion, node_names};
use crate::{Error, PositionEvent, RunDir};

/// The motion of the nodes of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    names: Vec<String>,
    /// By node, then by time.
    legs: Vec<PositionEvent>,
}

impl Places {
    /// Those of the tables `nodes` and `positions` of a run directory.
    pub fn of_run(dir: &RunDir) -> Result<Self, Error> {
        Ok(Self { names: node_names(dir)?, ..Self::of_legs(motion(dir)?) })
    }

    /// Of legs as a run records them.
    pub fn of_legs(legs: impl IntoIterator<Item = PositionEvent>) -> Self {
        let mut legs: Vec<PositionEvent> = legs.into_iter().collect();
        legs.sort_by_key(|l| (l.node, l.time));
        Self { names: Vec::new(), legs }
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.names.iter().position(|n| n == name).map(|i| NodeId(i as u32))
    }

    /// Where a node is at `time_ns` of the run, in the plane; `None` if the run does not say.
    pub fn at(&self, node: NodeId, time_ns: u64) -> Option<Position> {
        let time = Time::from_nanos(time_ns);
        let after = self.legs.partition_point(|l| (l.node, l.time) <= (node, time));
        let leg = self.legs[..after].last().filter(|l| l.node == node)?;
        let seconds = time_ns.min(leg.until.as_nanos()).saturating_sub(leg.time.as_nanos()) as f64 * 1e-9;
        let (at, v) = (leg.at, leg.velocity);
        Some(Position::new(at.x + v.x * seconds, at.y + v.y * seconds, 0.0))
    }
}
