//! The box: what its settings do to signals.

use std::fmt;

use wayhop_core::Rng;

use crate::decibels::{Decibels, gain};
use crate::links::{Links, pairs};

/// A matrix switch: an attenuator between each radio's port and each bus.
///
/// A signal from radio i to radio j goes over every bus k, through the attenuators `a_ik` and `a_jk`, and loses the insertion loss of
/// both ports. In power the path loss is `L_ij = IL_i + IL_j - 10 log10(sum_k 10^(-(a_ik + a_jk) / 10))`.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    radios: usize,
    buses: usize,
    step_db: f64,
    max_db: f64,
    /// Of each port, one way, from the radio to a bus.
    insertion_db: Vec<f64>,
    /// The gain of each setting, as a ratio of powers.
    gains: Vec<f64>,
    decibels: Decibels,
}

/// The settings of all attenuators, in steps: those of radio 0 at each bus, then those of radio 1, ...
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings(pub Vec<u16>);

/// A switch that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchError(String);

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SwitchError {}

impl SwitchError {
    pub(crate) fn new(what: String) -> Self {
        Self(what)
    }
}

impl Switch {
    /// Radios and buses at most.
    pub const MOST: usize = 64;
    /// The insertion loss of the paper's box between two ports: about free space over 2 m, dB.
    pub const INSERTION_DB: f64 = 46.0;

    /// A switch whose attenuators go from 0 to `max_db` in steps of `step_db`, with an insertion loss of `insertion_db` between any two
    /// ports.
    ///
    /// # Errors
    /// There are fewer than two radios or no bus, more than 64 of one, or steps that no attenuator has.
    pub fn new(
        radios: usize,
        buses: usize,
        max_db: f64,
        step_db: f64,
        insertion_db: f64,
    ) -> Result<Self, SwitchError> {
        let wrong = |what: String| Err(SwitchError(what));
        if !(2..=Self::MOST).contains(&radios) {
            return wrong(format!("{radios} radios: give 2 to {}", Self::MOST));
        }
        if !(1..=Self::MOST).contains(&buses) {
            return wrong(format!("{buses} buses: give 1 to {}", Self::MOST));
        }
        if !(0.05..=10.0).contains(&step_db) || !(step_db..=200.0).contains(&max_db) {
            return wrong(format!(
                "attenuators of 0 to {max_db} dB in steps of {step_db} dB: give steps of 0.05 to 10 dB, and at least one and at most 200 dB"
            ));
        }
        if !(0.0..=200.0).contains(&insertion_db) {
            return wrong(format!("an insertion loss of {insertion_db} dB: give 0 to 200 dB"));
        }
        let steps = (max_db / step_db + 1e-9) as u16;
        let gains = (0..=steps).map(|s| gain(f64::from(s) * step_db)).collect();
        let insertion_db = vec![insertion_db / 2.0; radios];
        Ok(Self { radios, buses, step_db, max_db, insertion_db, gains, decibels: Decibels::new() })
    }

    /// The same with measured ports: the insertion loss of each, one way, dB.
    ///
    /// # Errors
    /// There is not one for each radio, or one is no loss.
    pub fn calibrated(mut self, insertion_db: &[f64]) -> Result<Self, SwitchError> {
        if insertion_db.len() != self.radios {
            return Err(SwitchError(format!(
                "{} insertion losses for {} radios: give one for each",
                insertion_db.len(),
                self.radios
            )));
        }
        if let Some(wrong) = insertion_db.iter().find(|db| !(0.0..=200.0).contains(*db)) {
            return Err(SwitchError(format!("an insertion loss of {wrong} dB: give 0 to 200 dB")));
        }
        insertion_db.clone_into(&mut self.insertion_db);
        Ok(self)
    }

    /// How many radios have a port.
    pub fn radios(&self) -> usize {
        self.radios
    }
    /// How many buses there are.
    pub fn buses(&self) -> usize {
        self.buses
    }
    /// The links among its radios.
    pub fn links(&self) -> Links {
        Links::new(self.radios)
    }
    /// From setting to setting, dB.
    pub fn step_db(&self) -> f64 {
        self.step_db
    }
    /// The strongest attenuation, dB.
    pub fn max_db(&self) -> f64 {
        self.max_db
    }
    /// The setting of the strongest attenuation, steps.
    pub fn most_steps(&self) -> u16 {
        (self.gains.len() - 1) as u16
    }
    /// The insertion loss between two ports, dB: no path loss is less, but for the gain of `b` buses in parallel.
    pub fn insertion_db(&self, i: usize, j: usize) -> f64 {
        self.insertion_db[i] + self.insertion_db[j]
    }
    /// The gain of a setting, as a ratio of powers.
    #[inline]
    pub(crate) fn gain(&self, steps: u16) -> f64 {
        self.gains[usize::from(steps)]
    }

    /// The path loss of a link over which this share of the power comes, beside the insertion losses.
    #[inline]
    pub(crate) fn loss_db(&self, i: usize, j: usize, gain: f64) -> f64 {
        self.insertion_db(i, j) + self.decibels.loss(gain)
    }

    /// The path loss of each link with these settings, dB.
    pub fn path_losses_db(&self, settings: &Settings) -> Vec<f64> {
        self.losses(|i, j| {
            let [a, b] = [i, j].map(|r| &settings.0[r * self.buses..][..self.buses]);
            a.iter().zip(b).map(|(&a, &b)| self.gain(a) * self.gain(b)).sum()
        })
    }

    /// The same if the paths over the buses add coherently, each with a phase that is the same both ways and nobody knows.
    pub fn coherent_losses_db(&self, settings: &Settings, rng: &mut Rng) -> Vec<f64> {
        self.losses(|i, j| {
            let [a, b] = [i, j].map(|r| &settings.0[r * self.buses..][..self.buses]);
            let (mut real, mut imaginary) = (0.0, 0.0);
            for (&a, &b) in a.iter().zip(b) {
                let amplitude = (self.gain(a) * self.gain(b)).sqrt();
                let phase = rng.range(0.0, std::f64::consts::TAU);
                real += amplitude * libm::cos(phase);
                imaginary += amplitude * libm::sin(phase);
            }
            real * real + imaginary * imaginary
        })
    }

    fn losses(&self, mut gain: impl FnMut(usize, usize) -> f64) -> Vec<f64> {
        pairs(self.radios).map(|(i, j)| self.loss_db(i, j, gain(i, j))).collect()
    }

    /// The settings in decibels, of each radio at each bus.
    pub fn settings_db(&self, settings: &Settings) -> Vec<Vec<f64>> {
        let row = |row: &[u16]| row.iter().map(|&s| f64::from(s) * self.step_db).collect();
        settings.0.chunks(self.buses).map(row).collect()
    }

    /// All attenuators at one setting, dB; `None` if it is none that they have.
    pub fn all_at(&self, db: f64) -> Option<Settings> {
        let steps = db / self.step_db;
        let fits = (0.0..=self.max_db).contains(&db) && (steps - steps.round()).abs() < 1e-6;
        fits.then(|| Settings(vec![steps.round() as u16; self.radios * self.buses]))
    }

    /// The setting nearest to an attenuation, steps.
    pub(crate) fn nearest(&self, db: f64) -> u16 {
        (db / self.step_db).round().clamp(0.0, f64::from(self.most_steps())) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bus_adds_up_attenuators_and_two_equal_ones_win_three_decibels() {
        let one = Switch::new(2, 1, 127.0, 1.0, 46.0).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(near(one.path_losses_db(&Settings(vec![10, 20]))[0], 76.0));
        let two = Switch::new(2, 2, 127.0, 0.5, 46.0).unwrap();
        // Steps of half a decibel: 5 + 10 dB over each bus, and 10 log10(2) less for two.
        assert!(near(two.path_losses_db(&Settings(vec![10, 10, 20, 20]))[0], 61.0 - 3.010_299_957));
        let ports = one.calibrated(&[20.0, 30.0]).unwrap();
        assert!(near(ports.path_losses_db(&Settings(vec![0, 0]))[0], 50.0));
    }

    #[test]
    fn boxes_that_cannot_be_are_refused() {
        for (radios, buses, max, step) in [
            (1, 4, 127.0, 1.0),
            (12, 0, 127.0, 1.0),
            (65, 4, 127.0, 1.0),
            (12, 4, 127.0, 0.0),
            (12, 4, f64::NAN, 1.0),
            (12, 4, 0.5, 1.0),
        ] {
            assert!(Switch::new(radios, buses, max, step, 46.0).is_err(), "{radios} {buses} {max} {step}");
        }
        assert!(Switch::new(3, 1, 127.0, 1.0, 46.0).unwrap().calibrated(&[1.0, 2.0]).is_err());
    }
}
