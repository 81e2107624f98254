//! Where a run's nodes were, and when they were down.

use wayhop_core::{NodeId, Position, Time};

use super::cell::Cell as _;
use super::read::collect;
use super::whole::position;
use crate::{Error, PositionEvent, RunDir};

/// Nothing is farther away, metres, or faster, metres a second: what is computed of it stays finite.
const FARTHEST: f64 = 1e9;

/// The legs of the motion of a run's nodes, as the table `positions` has them.
pub fn motion(run: &RunDir) -> Result<Vec<PositionEvent>, Error> {
    let is_near = |p: Position| [p.x, p.y, p.z].iter().all(|v| v.abs() <= FARTHEST);
    collect(run, "positions", |row| {
        position(row).filter(|leg| is_near(leg.at) && is_near(leg.velocity)).map(Some)
    })
}

/// A node went down, or came back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PowerChange {
    /// When.
    pub time: Time,
    /// Who.
    pub node: NodeId,
    /// Whether it came back.
    pub on: bool,
}

/// When nodes went down, whyever they did, and came back: the remarks `node_down` and `node_up` of the table `events`, in its order.
pub fn power(run: &RunDir) -> Result<Vec<PowerChange>, Error> {
    collect(run, "events", |row| {
        let on = match row.text("what")? {
            "node_up" => true,
            "node_down" => false,
            _ => return Some(None),
        };
        Some(Some(PowerChange { time: row.time("time_ns")?, node: row.node("node")?, on }))
    })
}
