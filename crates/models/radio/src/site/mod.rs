//! What a site does to signals besides distance: shadowing that belongs to places, zones, fades that move with the ends,
//! antennas, single bad links.
//!
//! The gain of a link is a pure function of (seed, both places, time): no state, the same in both directions, whatever
//! order events run in.

mod antenna;
pub(crate) mod config;
mod fades;
mod field;
mod zone;

use wayhop_core::{Position, Purpose, Time};

use crate::config::RadioConfig;
use crate::propagation::Propagation;
use crate::units::db_to_ratio;
use antenna::Antenna;
pub use config::{Beam, PairLoss, SiteConfig, StationAntenna, Zone, ZoneEnds};
use fades::Fades;
use field::{Decay, Field};
use zone::Area;

/// How far above its mean the fading is taken into account when far receivers are culled, dB: one place in 10,000 is
/// better, as [`Propagation::random_margin_db`] has it.
const FADE_MARGIN_DB: f64 = 9.65;

/// A site, ready to be asked.
#[derive(Clone, Debug)]
pub struct Site {
    loss_db: f64,
    shadowing: Option<(f64, Field)>,
    drift: Option<(f64, Field)>,
    fading: Option<Fades>,
    zones: Vec<Area>,
    antennas: Vec<Antenna>,
    pairs: Vec<([u32; 2], f64)>,
    margin_db: f64,
}

/// One end of a link.
#[derive(Copy, Clone, Debug)]
pub struct End {
    /// The station.
    pub station: u32,
    /// Where it is.
    pub at: Position,
}

impl Site {
    /// The site of `c` among `stations` stations with the radio `radio`. Stations that `c` names and that are not there
    /// are ignored.
    pub fn new(c: &SiteConfig, radio: &RadioConfig, stations: usize, seed: u64) -> Self {
        let shadow = |sigma: f64, number: u64, time_s: Option<f64>| {
            (sigma > 0.0).then(|| {
                let distance = c.shadowing_distance_m;
                (sigma, Field::new(seed, Purpose::Shadowing, number, Decay::Exponential, distance, time_s))
            })
        };
        let mut antennas = vec![Antenna::plain(radio); stations];
        for a in &c.antennas {
            if let Some(place) = antennas.get_mut(a.station as usize) {
                *place = Antenna::new(a, radio);
            }
        }
        Self {
            margin_db: margin_db(c, &antennas, radio),
            loss_db: c.loss_db,
            shadowing: shadow(c.shadowing_sigma_db, 0, None),
            drift: shadow(c.drift_sigma_db, 1, Some(c.drift_time_s)),
            fading: c.rician_k_db.map(|k| Fades::new(k, c.fade_distance_m, seed, 0)),
            zones: c.zones.iter().zip(1..).map(|(z, n)| Area::new(z, seed, n)).collect(),
            antennas,
            pairs: c.pairs.iter().map(|p| (p.stations, p.loss_db)).collect(),
        }
    }

    /// The power that arrives over a link of which `distance_squared_m2` is known already, W.
    pub fn watts(
        &self,
        propagation: &Propagation,
        now: Time,
        from: End,
        to: End,
        distance_squared_m2: f64,
    ) -> f64 {
        let (a, b) = ([from.at.x, from.at.y], [to.at.x, to.at.y]);
        let (at_a, at_b) = (&self.antennas[from.station as usize], &self.antennas[to.station as usize]);
        let mut gain = at_a.gain_towards(a, b) * at_b.gain_towards(b, a);
        let mut db = -self.loss_db;
        if let Some((sigma, field)) = &self.shadowing {
            db += sigma * field.normal(a, b, 0.0);
        }
        if let Some((sigma, field)) = &self.drift {
            db += sigma * field.normal(a, b, now.as_secs_f64());
        }
        let mut fading = self.fading.as_ref();
        for z in &self.zones {
            let inside = z.ends_inside(a, b);
            if inside > 0 {
                db -= z.loss_db * f64::from(inside);
                // The worst of the zones that a link crosses rules it.
                if let Some(f) = &z.fading
                    && fading.is_none_or(|worst| f.k < worst.k)
                {
                    fading = Some(f);
                }
            }
        }
        for &([one, other], loss_db) in &self.pairs {
            if (one, other) == (from.station, to.station) || (other, one) == (from.station, to.station) {
                db -= loss_db;
            }
        }
        if let Some(f) = fading {
            gain *= f.gain(a, b);
        }
        let mean = propagation.mean_watts_between(distance_squared_m2, at_a.height_m, at_b.height_m);
        mean * gain * db_to_ratio(db)
    }

    /// How far above the plain mean power a link can be, dB: what culling far receivers has to leave room for.
    pub fn margin_db(&self) -> f64 {
        self.margin_db
    }
}

fn margin_db(c: &SiteConfig, antennas: &[Antenna], radio: &RadioConfig) -> f64 {
    let gain_db = antennas.iter().map(|a| a.extra_gain_db).fold(0.0, f64::max);
    let height_m = antennas.iter().map(|a| a.height_m).fold(radio.antenna_height_m, f64::max);
    let sigma_db =
        libm::sqrt(c.shadowing_sigma_db * c.shadowing_sigma_db + c.drift_sigma_db * c.drift_sigma_db);
    let fades = c.rician_k_db.is_some() || c.zones.iter().any(|z| z.rician_k_db.is_some());
    // Losses below zero are gains; a zone's can count twice.
    let zones_db: f64 = c.zones.iter().map(|z| (-z.loss_db).max(0.0) * 2.0).sum();
    let pairs_db: f64 = c.pairs.iter().map(|p| (-p.loss_db).max(0.0)).sum();
    // Both heights count with their square in the two-ray law.
    2.0 * gain_db + 40.0 * libm::log10(height_m / radio.antenna_height_m) - c.loss_db
        + 3.0 * sigma_db
        + if fades { FADE_MARGIN_DB } else { 0.0 }
        + zones_db
        + pairs_db
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
