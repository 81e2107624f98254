//! Radios that move at random, to solve layouts without a scenario.

use wayhop_core::{Position, Purpose, Rng, stream};

/// Radios that move in a square, each straight ahead, and turn at its edges.
#[derive(Clone, Debug)]
pub struct MovingRadios {
    side_m: f64,
    positions: Vec<Position>,
    /// Metres per second.
    velocities: Vec<[f64; 2]>,
}

impl MovingRadios {
    /// At random places in a square of this side.
    pub fn random(radios: usize, side_m: f64, speed_mps: f64, seed: u64) -> Self {
        let mut rng: Rng = stream(seed, Purpose::Mobility, 0);
        let mut place = |_| Position { x: rng.range(0.0, side_m), y: rng.range(0.0, side_m), z: 0.0 };
        let positions = (0..radios).map(&mut place).collect();
        let mut velocity = |_| {
            let angle = rng.range(0.0, std::f64::consts::TAU);
            [angle.cos() * speed_mps, angle.sin() * speed_mps]
        };
        let velocities = (0..radios).map(&mut velocity).collect();
        Self { side_m, positions, velocities }
    }

    /// Where they are.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Moves them for a second.
    pub fn step(&mut self) {
        for (p, v) in self.positions.iter_mut().zip(&mut self.velocities) {
            for (at, speed) in [&mut p.x, &mut p.y].into_iter().zip(v) {
                *at += *speed;
                if !(0.0..=self.side_m).contains(at) {
                    *speed = -*speed;
                    *at = at.clamp(0.0, self.side_m);
                }
            }
        }
    }
}
