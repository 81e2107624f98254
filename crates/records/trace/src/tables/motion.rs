//! Where a run's nodes were, and when they were down.

use wayhop_core::{NodeId, Position, Time};

use super::read::{double, each_row, long, text};
use crate::{Error, PositionEvent, RunDir};

/// More rows of interest than this are not kept: no run makes them, a damaged or forged file might.
const MOST_ROWS: usize = 1 << 22;
/// Nothing is farther away, metres, or faster, metres a second: what is computed of it stays finite.
const FARTHEST: f64 = 1e9;

/// The legs of the motion of a run's nodes, as the table `positions` has them.
pub fn motion(run: &RunDir) -> Result<Vec<PositionEvent>, Error> {
    let mut legs = Vec::new();
    each_row(run, "positions", |row| {
        let number = |name| double(row, name).filter(|v| v.abs() <= FARTHEST);
        let until = match long(row, "until_ns") {
            Some(ns) => Time::from_nanos(u64::try_from(ns).ok()?),
            None => Time::NEVER,
        };
        legs.push(PositionEvent {
            time: Time::from_nanos(u64::try_from(long(row, "time_ns")?).ok()?),
            until,
            node: NodeId(u32::try_from(long(row, "node")?).ok()?),
            at: Position::new(number("x_m")?, number("y_m")?, number("z_m")?),
            velocity: Position::new(number("vx_mps")?, number("vy_mps")?, number("vz_mps")?),
        });
        (legs.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(legs)
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
    let mut found = Vec::new();
    each_row(run, "events", |row| {
        let on = match text(row, "what")? {
            "node_up" => true,
            "node_down" => false,
            _ => return Some(()),
        };
        found.push(PowerChange {
            time: Time::from_nanos(u64::try_from(long(row, "time_ns")?).ok()?),
            node: NodeId(u32::try_from(long(row, "node")?).ok()?),
            on,
        });
        (found.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(found)
}
