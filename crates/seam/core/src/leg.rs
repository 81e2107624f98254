//! Motion, one straight piece at a time.

use crate::{Position, Time};

/// Uniform motion over a stretch of time.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Leg {
    /// When the leg begins.
    pub from: Time,
    /// When the next leg begins: this one says nothing about that moment or later ones.
    pub until: Time,
    /// Where the node is at `from`, metres.
    pub start: Position,
    /// Metres per second along x, y and z; all zero while the node rests.
    pub velocity: [f64; 3],
}

impl Leg {
    /// A node that stays at `at` for ever.
    pub const fn at_rest(at: Position) -> Self {
        Self { from: Time::ZERO, until: Time::NEVER, start: at, velocity: [0.0; 3] }
    }
    /// Where the node is at `t`, which ought to be in `from..until`.
    #[inline]
    pub fn position(&self, t: Time) -> Position {
        // Through i64, which the processor converts in one step; no run lasts 292 years.
        let dt = t.since(self.from).as_nanos() as i64 as f64 * 1e-9;
        let [vx, vy, vz] = self.velocity;
        Position { x: self.start.x + vx * dt, y: self.start.y + vy * dt, z: self.start.z + vz * dt }
    }
    /// Metres per second.
    pub fn speed(&self) -> f64 {
        let [vx, vy, vz] = self.velocity;
        (vx * vx + vy * vy + vz * vz).sqrt()
    }
    /// Whether the node rests.
    pub fn is_rest(&self) -> bool {
        self.velocity == [0.0; 3]
    }
}
