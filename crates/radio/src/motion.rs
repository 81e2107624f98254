//! Where stations are, as the radio needs it: one straight leg at a time.

use wayhop_core::{Position, Time};

/// A straight move at constant velocity, or a rest: exact between `from` and `until`.
#[derive(Copy, Clone, Debug)]
pub struct Motion {
    /// When it begins.
    pub from: Time,
    /// When something else begins.
    pub until: Time,
    /// Where it begins.
    pub start: Position,
    /// Metres per second along x, y and z.
    pub velocity: [f64; 3],
}

impl Motion {
    /// At rest for ever.
    pub const fn rest(at: Position) -> Self {
        Self { from: Time::ZERO, until: Time::NEVER, start: at, velocity: [0.0; 3] }
    }

    /// Where it is at `t`.
    #[inline]
    pub fn at(&self, t: Time) -> Position {
        let s = t.since(self.from).as_secs_f64();
        let [vx, vy, vz] = self.velocity;
        Position::new(self.start.x + vx * s, self.start.y + vy * s, self.start.z + vz * s)
    }
}

/// The stations' motion, as the radio asks for it.
pub trait Motions {
    /// The leg that `station` is on at `t`. Asked again once `t` reaches the leg's `until`.
    fn leg(&mut self, station: u32, t: Time) -> Motion;
    /// A time until which no station will be more than `distance_m` from where it is at `now`.
    fn settled_until(&mut self, now: Time, distance_m: f64) -> Time;
}
