//! Positions of the radios, and the path losses between them.

use wayhop_core::{Position, Purpose, Rng, Time, stream};
use wayhop_matrix::{TargetLosses, pairs};
use wayhop_radio::{PathLoss, RadioConfig};
use wayhop_scenario::Resolved;

use crate::failure::Failure;

/// Distance between two radios.
fn distance_m(a: Position, b: Position) -> f64 {
    let [x, y, z] = [a.x - b.x, a.y - b.y, a.z - b.z];
    (x * x + y * y + z * z).sqrt()
}

/// Path losses between radios at these positions; beyond `range_m` links must not exist.
pub(super) fn wanted(radio: &RadioConfig, places: &[Position], range_m: Option<f64>) -> TargetLosses {
    let loss = |(i, j): (usize, usize)| radio.mean_path_loss_db(distance_m(places[i], places[j]));
    TargetLosses {
        loss_db: pairs(places.len()).map(loss).collect(),
        beyond_db: range_m.map_or_else(|| radio.silent_path_loss_db(), |m| radio.mean_path_loss_db(m)),
    }
}

/// Positions of a scenario's nodes.
pub(super) fn places(resolved: &Resolved, at: Time) -> Vec<Position> {
    resolved.tracks.iter().map(|t| t.position(at)).collect()
}

/// The radio of all nodes; a matrix supports only one.
pub(super) fn radio(resolved: &Resolved) -> Result<&RadioConfig, Failure> {
    if resolved.interfaces.radios.len() == 1 {
        return Ok(resolved.radio());
    }
    Err(Failure::Usage(format!(
        "the scenario has {} radios, and a matrix of attenuators supports only one; remove the others",
        resolved.interfaces.radios.len()
    )))
}

/// The paper's radios: 802.11g on channel 6, free space, antennas without gain. No link is out of range.
pub(super) fn meshtest() -> Result<RadioConfig, Failure> {
    let mut radio = RadioConfig::preset("80211g")
        .ok_or_else(|| Failure::Run("the preset 80211g is missing; please report this bug".into()))?;
    radio.path_loss = PathLoss::FreeSpace;
    (radio.frequency_mhz, radio.antenna_gain_dbi) = (2437.0, 0.0);
    radio.carrier_sense_threshold_dbm = f64::NEG_INFINITY;
    Ok(radio)
}

/// Radios that move in a square, each straight ahead, and turn at its edges.
pub(super) struct Crowd {
    side_m: f64,
    pub(super) places: Vec<Position>,
    /// Metres per second.
    velocities: Vec<[f64; 2]>,
}

impl Crowd {
    /// At random places in a square of this side.
    pub(super) fn random(radios: usize, side_m: f64, speed_mps: f64, seed: u64) -> Self {
        let mut rng: Rng = stream(seed, Purpose::Mobility, 0);
        let mut place = |_| Position { x: rng.range(0.0, side_m), y: rng.range(0.0, side_m), z: 0.0 };
        let places = (0..radios).map(&mut place).collect();
        let mut velocity = |_| {
            let angle = rng.range(0.0, std::f64::consts::TAU);
            [angle.cos() * speed_mps, angle.sin() * speed_mps]
        };
        let velocities = (0..radios).map(&mut velocity).collect();
        Self { side_m, places, velocities }
    }

    /// A second later.
    pub(super) fn go_on(&mut self) {
        for (p, v) in self.places.iter_mut().zip(&mut self.velocities) {
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
