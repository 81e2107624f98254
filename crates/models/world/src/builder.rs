//! Tracks from moves and jumps, by the rules of ns-2's mobile node.
//!
//! ns-2 (`common/mobilenode.cc`) keeps a direction, a speed and a destination. Each axis stops by itself when it has
//! reached its own destination coordinate, and the direction outlives the arrival. For an ordinary `setdest` this is
//! plain uniform motion. It shows when a coordinate is set under way or after an arrival: that axis then travels on to
//! the old destination, or snaps back to it when it was set beyond. ns-2 applies this when it next looks at the node,
//! with the time since it last looked; here the node is always looked at.

use wayhop_core::{Position, Span, Time};

use crate::{Leg, Track};

/// One of the coordinates.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// East.
    X,
    /// North.
    Y,
    /// Up.
    Z,
}

/// Collects a node's moves and jumps, in order of time, into a [`Track`].
#[derive(Clone, Debug)]
pub struct TrackBuilder {
    legs: Vec<Leg>,
    now: Time,
    at: [f64; 3],
    direction: [f64; 3],
    destination: [f64; 3],
    speed: f64,
}

impl TrackBuilder {
    /// A node that is at `start` from the beginning.
    pub fn new(start: Position) -> Self {
        let (at, legs) = ([start.x, start.y, start.z], vec![Leg::at_rest(start)]);
        Self { legs, now: Time::ZERO, at, direction: [0.0; 3], destination: at, speed: 0.0 }
    }

    /// At `t` the node sets off in a straight line to (`x`, `y`) at `speed` metres per second, keeping its height, and
    /// stops there. It replaces the move under way. Speed zero: it stays where it is.
    ///
    /// Times before an earlier call's count as that call's.
    pub fn set_destination(&mut self, t: Time, x: f64, y: f64, speed: f64) {
        let z = self.at[2];
        self.set_destination_3d(t, Position { x, y, z }, speed);
    }

    /// As [`TrackBuilder::set_destination`], in three dimensions.
    pub fn set_destination_3d(&mut self, t: Time, to: Position, speed: f64) {
        self.advance(t);
        self.destination = [to.x, to.y, to.z];
        self.speed = speed;
        let d: [f64; 3] = std::array::from_fn(|k| self.destination[k] - self.at[k]);
        let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        self.direction = if length > 0.0 { d.map(|c| c / length) } else { [0.0; 3] };
        self.emit();
    }

    /// At `t` one coordinate becomes `value` metres. A move that is not at rest on this axis goes on from there; see
    /// the module's comment.
    pub fn jump(&mut self, t: Time, axis: Axis, value: f64) {
        self.advance(t);
        self.at[axis as usize] = value;
        self.emit();
    }

    /// Whether a coordinate that is set now would not stay as set, because the axis has a direction and a speed.
    pub fn is_driven(&self, axis: Axis) -> bool {
        self.speed > 0.0 && self.direction[axis as usize] != 0.0
    }

    /// The track; the node rests once the last move is done.
    pub fn finish(mut self) -> Track {
        self.advance(Time::NEVER);
        Track::from_legs(self.legs)
    }

    /// Moves on to `t`, with a leg for every arrival on the way.
    fn advance(&mut self, t: Time) {
        if t <= self.now {
            return;
        }
        // ns-2 corrects an overshoot only once time has passed: a jump and a setdest at the same moment keep it.
        let before = self.at;
        self.clamp();
        if before != self.at {
            self.emit();
        }
        while let Some(arrival) = self.next_arrival() {
            if arrival > t {
                break;
            }
            self.step(arrival);
            // The axis that set the arrival time is there, whatever the rounding to nanoseconds says.
            for k in 0..3 {
                if self.is_moving(k) && self.remaining(k) * self.direction[k].signum() <= self.speed * 1e-9 {
                    self.at[k] = self.destination[k];
                }
            }
            self.emit();
        }
        if t != Time::NEVER {
            self.step(t);
        }
    }

    fn step(&mut self, t: Time) {
        let dt = t.since(self.now).as_secs_f64();
        for k in 0..3 {
            if self.is_moving(k) {
                self.at[k] += self.direction[k] * self.speed * dt;
            }
        }
        self.clamp();
        self.now = self.now.max(t);
    }

    fn clamp(&mut self) {
        for k in 0..3 {
            if self.direction[k] != 0.0 && self.remaining(k) * self.direction[k] <= 0.0 {
                self.at[k] = self.destination[k];
            }
        }
    }

    fn emit(&mut self) {
        let velocity =
            std::array::from_fn(|k| if self.is_moving(k) { self.direction[k] * self.speed } else { 0.0 });
        let [x, y, z] = self.at;
        self.legs.push(Leg { from: self.now, until: Time::NEVER, start: Position { x, y, z }, velocity });
    }

    fn next_arrival(&self) -> Option<Time> {
        (0..3)
            .filter(|&k| self.is_moving(k))
            .map(|k| self.now + Span::from_secs_f64(self.remaining(k) / (self.direction[k] * self.speed)))
            .min()
            .filter(|&t| t < Time::NEVER)
    }

    fn is_moving(&self, axis: usize) -> bool {
        self.speed > 0.0 && self.remaining(axis) * self.direction[axis] > 0.0
    }

    fn remaining(&self, axis: usize) -> f64 {
        self.destination[axis] - self.at[axis]
    }
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
