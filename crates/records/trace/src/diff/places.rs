//! Where the nodes of a run were.

use wayhop_core::{NodeId, Position};

use crate::tables::{motion, node_names};
use crate::{Error, PositionEvent, RunDir};

/// The motion of the nodes of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    names: Vec<(String, u32)>,
    /// By node, then by time.
    legs: Vec<Leg>,
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct Leg {
    node: u32,
    from_ns: u64,
    until_ns: u64,
    at: [f64; 2],
    velocity: [f64; 2],
}

impl Places {
    /// Those of the tables `nodes` and `positions` of a run directory.
    pub fn of_run(dir: &RunDir) -> Result<Self, Error> {
        let names = node_names(dir)?.into_iter().zip(0..).collect();
        Ok(Self { names, ..Self::of_legs(motion(dir)?) })
    }

    /// Of legs as a run records them.
    pub fn of_legs(legs: impl IntoIterator<Item = PositionEvent>) -> Self {
        let leg = |e: PositionEvent| Leg {
            node: e.node.0,
            from_ns: e.time.as_nanos(),
            until_ns: e.until.as_nanos(),
            at: [e.at.x, e.at.y],
            velocity: [e.velocity.x, e.velocity.y],
        };
        let mut legs: Vec<Leg> = legs.into_iter().map(leg).collect();
        legs.sort_by_key(|l| (l.node, l.from_ns));
        Self { names: Vec::new(), legs }
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.names.iter().find(|(n, _)| n == name).map(|(_, id)| NodeId(*id))
    }

    /// Where a node is at `time_ns` of the run, in the plane; `None` if the run does not say.
    pub fn at(&self, node: NodeId, time_ns: u64) -> Option<Position> {
        let after = self.legs.partition_point(|l| (l.node, l.from_ns) <= (node.0, time_ns));
        let leg = self.legs[..after].last().filter(|l| l.node == node.0)?;
        let seconds = (time_ns.min(leg.until_ns).saturating_sub(leg.from_ns)) as f64 * 1e-9;
        let [x, y] = std::array::from_fn(|i| leg.at[i] + leg.velocity[i] * seconds);
        Some(Position::new(x, y, 0.0))
    }
}
