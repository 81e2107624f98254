//! Where radios are, and the path losses that this asks for.

use wayhop_core::{Position, Purpose, Rng, Time, stream};
use wayhop_matrix::{TargetLosses, pairs};
use wayhop_radio::{PathLoss, RadioConfig};
use wayhop_scenario::Resolved;

use crate::failure::Failure;

/// How far apart two radios are.
fn distance_m(a: Position, b: Position) -> f64 {
    let [x, y, z] = [a.x - b.x, a.y - b.y, a.z - b.z];
    (x * x + y * y + z * z).sqrt()
}

/// What radios at these places ask for; from `range_m` on, a link must not appear.
pub(super) fn wanted(radio: &RadioConfig, places: &[Position], range_m: Option<f64>) -> TargetLosses {
    let loss = |(i, j): (usize, usize)| radio.mean_path_loss_db(distance_m(places[i], places[j]));
    TargetLosses {
        loss_db: pairs(places.len()).map(loss).collect(),
        beyond_db: range_m.map_or_else(|| radio.silent_path_loss_db(), |m| radio.mean_path_loss_db(m)),
    }
}

/// Where a scenario's nodes are.
pub(super) fn places(resolved: &Resolved, at: Time) -> Vec<Position> {
    resolved.tracks.iter().map(|t| t.position(at)).collect()
}

/// The radio of all nodes, which a matrix can have only one of.
pub(super) fn radio(resolved: &Resolved) -> Result<&RadioConfig, Failure> {
    if resolved.interfaces.radios.len() == 1 {
        return Ok(resolved.radio());
    }
    Err(Failure::Usage(format!(
        "the scenario has {} radios: a matrix of attenuators joins the nodes of one; write a scenario with that one only",
        resolved.interfaces.radios.len()
    )))
}

/// The paper's radios: 802.11g on channel 6, free space, antennas without gain. No link is out of range.
pub(super) fn meshtest() -> Result<RadioConfig, Failure> {
    let mut radio = RadioConfig::preset("80211g")
        .ok_or_else(|| Failure::Run("the preset 80211g is missing; report this as a defect".into()))?;
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
