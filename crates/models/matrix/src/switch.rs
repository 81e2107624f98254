//! The box: how its settings attenuate signals.

use wayhop_core::Rng;

use crate::decibels::{Decibels, gain};
use crate::junction::{Junction, Size};
use crate::links::{Links, pairs};
use crate::switch_error::SwitchError;
use crate::ways::{Ways, paths};

/// A matrix switch: an attenuator between each radio's port and each bus.
///
/// A signal from radio i to radio j goes over every bus k, through the attenuators `a_ik` and `a_jk`, and loses the insertion loss of
/// both ports. In power the path loss is `L_ij = IL_i + IL_j - 10 log10(sum_k 10^(-(a_ik + a_jk) / 10))`. Two switches can be
/// [joined](Switch::joined).
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    radios: usize,
    buses: usize,
    step_db: f64,
    max_db: f64,
    /// Of each input, one way, to a bus.
    insertion_db: Vec<f64>,
    /// What each input's port leaves of a signal, as a ratio of powers.
    pub(crate) port_gains: Vec<f64>,
    /// The second switch, and how it is joined to the first.
    junction: Option<Junction>,
    /// The gain of each setting, as a ratio of powers.
    gains: Vec<f64>,
    decibels: Decibels,
}

/// The settings of all attenuators, in steps: those of radio 0 at each bus, then those of radio 1, ... With
/// two switches: those of the first's radios, then those of the second's inputs, the joined buses first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings(pub Vec<u16>);

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
        let switch = Self {
            radios,
            buses,
            step_db,
            max_db,
            port_gains: Vec::new(),
            insertion_db: Vec::new(),
            junction: None,
            gains,
            decibels: Decibels::new(),
        };
        Ok(switch.with_ports(insertion_db))
    }

    /// Two switches in a row with the same attenuators, for more radios than the first has inputs: `joined` of its buses lead to inputs
    /// of the second. Each input has half of `insertion_db`.
    ///
    /// # Errors
    /// As [`Switch::new`], or if the switches have fewer inputs or buses.
    pub fn joined(
        radios: usize,
        switches: [Size; 2],
        joined: usize,
        max_db: f64,
        step_db: f64,
        insertion_db: f64,
    ) -> Result<Self, SwitchError> {
        if switches.iter().any(|s| s.inputs > Self::MOST || s.buses > Self::MOST) {
            return Err(SwitchError(format!(
                "a switch of more than {0} inputs or buses: give 1 to {0}",
                Self::MOST
            )));
        }
        let junction = Junction::new(switches, joined, radios)?;
        let mut switch = Self::new(radios, switches[0].buses, max_db, step_db, insertion_db)?;
        switch.junction = Some(junction);
        Ok(switch.with_ports(vec![insertion_db / 2.0; junction.inputs()]))
    }

    fn with_ports(mut self, insertion_db: Vec<f64>) -> Self {
        self.port_gains = insertion_db.iter().map(|&db| gain(db)).collect();
        self.insertion_db = insertion_db;
        self
    }

    /// The same with measured ports: the insertion loss of each input, one way, dB.
    ///
    /// # Errors
    /// There is not one for each input that is used, or one is no loss.
    pub fn calibrated(self, insertion_db: &[f64]) -> Result<Self, SwitchError> {
        if insertion_db.len() != self.inputs() {
            return Err(SwitchError(format!(
                "{} insertion losses for {} inputs: give one for each",
                insertion_db.len(),
                self.inputs()
            )));
        }
        if let Some(wrong) = insertion_db.iter().find(|db| !(0.0..=200.0).contains(*db)) {
            return Err(SwitchError(format!("an insertion loss of {wrong} dB: give 0 to 200 dB")));
        }
        Ok(self.with_ports(insertion_db.to_vec()))
    }

    /// How many radios have a port.
    pub fn radios(&self) -> usize {
        self.radios
    }
    /// How a second switch is joined to it; `None` without one.
    pub fn junction(&self) -> Option<Junction> {
        self.junction
    }
    /// Inputs that are used: one for each radio, and of two switches one for each joined bus.
    pub fn inputs(&self) -> usize {
        self.junction.map_or(self.radios, |j| j.inputs())
    }
    /// How many attenuators there are.
    pub fn attenuators(&self) -> usize {
        self.junction.map_or(self.radios * self.buses, |j| j.attenuators())
    }
    /// Where the attenuators of an input begin in the settings, and how many it has.
    pub(crate) fn row(&self, input: usize) -> (usize, usize) {
        self.junction.map_or((input * self.buses, self.buses), |j| j.row(input))
    }
    /// How many buses there are, of the first switch.
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
    ///
    /// Of radios at different switches that are joined: of their own ports, without that of the joined bus.
    pub fn insertion_db(&self, i: usize, j: usize) -> f64 {
        let [i, j] = [i, j].map(|radio| self.junction.map_or(radio, |w| w.input_of(radio)));
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

    /// The path loss of a gain that has the insertion losses in it.
    #[inline]
    pub(crate) fn decibels_of(&self, gain: f64) -> f64 {
        self.decibels.loss(gain)
    }

    /// The path loss of each link with these settings, dB.
    pub fn path_losses_db(&self, settings: &Settings) -> Vec<f64> {
        if let Some(j) = &self.junction {
            let ways = Ways::new(j, &self.port_gains, |at| self.gain(settings.0[at]));
            return pairs(self.radios).map(|(a, b)| self.decibels_of(ways.gain(a, b))).collect();
        }
        self.losses(|i, j| {
            let [a, b] = [i, j].map(|r| &settings.0[r * self.buses..][..self.buses]);
            a.iter().zip(b).map(|(&a, &b)| self.gain(a) * self.gain(b)).sum()
        })
    }

    /// The same if the paths over the buses add coherently, each with a phase that is the same both ways and nobody knows.
    pub fn coherent_losses_db(&self, settings: &Settings, rng: &mut Rng) -> Vec<f64> {
        if let Some(junction) = &self.junction {
            let one = |(i, j)| {
                let powers = paths(junction, &self.port_gains, |at| self.gain(settings.0[at]), [i, j]);
                self.decibels_of(coherent(powers.into_iter(), rng))
            };
            return pairs(self.radios).map(one).collect();
        }
        self.losses(|i, j| {
            let [a, b] = [i, j].map(|r| &settings.0[r * self.buses..][..self.buses]);
            coherent(a.iter().zip(b).map(|(&a, &b)| self.gain(a) * self.gain(b)), rng)
        })
    }

    fn losses(&self, mut gain: impl FnMut(usize, usize) -> f64) -> Vec<f64> {
        pairs(self.radios).map(|(i, j)| self.loss_db(i, j, gain(i, j))).collect()
    }

    /// The settings in decibels, of each input at each bus.
    pub fn settings_db(&self, settings: &Settings) -> Vec<Vec<f64>> {
        let row = |input| {
            let (begin, buses) = self.row(input);
            settings.0[begin..][..buses].iter().map(|&s| f64::from(s) * self.step_db).collect()
        };
        (0..self.inputs()).map(row).collect()
    }

    /// What is cabled to each input: the number of a radio, or a bus of the first switch.
    pub fn input_names(&self) -> Vec<String> {
        let name = |input: usize| self.junction.map_or_else(|| input.to_string(), |j| j.name_of(input));
        (0..self.inputs()).map(name).collect()
    }

    /// All attenuators at one setting, dB; `None` if it is none that they have.
    pub fn all_at(&self, db: f64) -> Option<Settings> {
        let steps = db / self.step_db;
        let fits = (0.0..=self.max_db).contains(&db) && (steps - steps.round()).abs() < 1e-6;
        fits.then(|| Settings(vec![steps.round() as u16; self.attenuators()]))
    }

    /// The setting nearest to an attenuation, steps.
    pub(crate) fn nearest(&self, db: f64) -> u16 {
        (db / self.step_db).round().clamp(0.0, f64::from(self.most_steps())) as u16
    }
}

/// The power of paths that add as amplitudes, each with a phase of its own.
fn coherent(powers: impl Iterator<Item = f64>, rng: &mut Rng) -> f64 {
    let (mut real, mut imaginary) = (0.0, 0.0);
    for power in powers {
        let amplitude = power.sqrt();
        let phase = rng.range(0.0, std::f64::consts::TAU);
        real += amplitude * libm::cos(phase);
        imaginary += amplitude * libm::sin(phase);
    }
    real * real + imaginary * imaginary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bus_adds_up_attenuators_and_two_equal_ones_win_three_decibels() {
        let one = Switch::new(2, 1, 127.0, 1.0, 46.0).unwrap();
        assert!(near(one.path_losses_db(&Settings(vec![10, 20]))[0], 76.0));
        let two = Switch::new(2, 2, 127.0, 0.5, 46.0).unwrap();
        // Steps of half a decibel: 5 + 10 dB over each bus, and 10 log10(2) less for two.
        assert!(near(two.path_losses_db(&Settings(vec![10, 10, 20, 20]))[0], 61.0 - 3.010_299_957));
        let ports = one.calibrated(&[20.0, 30.0]).unwrap();
        assert!(near(ports.path_losses_db(&Settings(vec![0, 0]))[0], 50.0));
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-5
    }

    /// Radios 0 and 1 at a switch of 2 x 2, radio 2 at one of 3 x 1; bus 0 is joined, bus 1 open. Ports of 23 dB.
    #[test]
    fn two_switches_lose_what_each_port_and_attenuator_on_the_way_loses() {
        let sizes = ["2x2", "3 X 1"].map(|s| s.parse().unwrap());
        let switch = Switch::joined(3, sizes, 1, 127.0, 1.0, 46.0).unwrap();
        assert_eq!(switch.input_names(), ["0", "1", "bus 0", "2"]);
        let settings = Settings(vec![10, 20, 5, 30, 7, 3]);
        assert_eq!(switch.settings_db(&settings), [vec![10.0, 20.0], vec![5.0, 30.0], vec![7.0], vec![3.0]]);
        let losses = switch.path_losses_db(&settings);
        // Between the switches: three ports, three attenuators.
        assert!(near(losses[1], 3.0 * 23.0 + 10.0 + 7.0 + 3.0), "{losses:?}");
        assert!(near(losses[2], 3.0 * 23.0 + 5.0 + 7.0 + 3.0), "{losses:?}");
        // At the first switch: over the open bus, and by two passes of the second switch's port and back.
        let (once, twice): (f64, f64) = (46.0 + 20.0 + 30.0, 4.0 * 23.0 + 10.0 + 2.0 * 7.0 + 5.0);
        let sum = -10.0 * libm::log10(libm::pow(10.0, -once / 10.0) + libm::pow(10.0, -twice / 10.0));
        assert!(near(losses[0], sum), "{losses:?}");
        // Measured ports.
        let ports = switch.clone().calibrated(&[20.0, 21.0, 22.0, 24.0]).unwrap().path_losses_db(&settings);
        assert!(near(ports[1], 20.0 + 22.0 + 24.0 + 20.0), "{ports:?}");
        assert!(switch.clone().calibrated(&[20.0; 3]).is_err());
        // One path has no other to add to, whatever its phase.
        let mut rng = wayhop_core::stream(1, wayhop_core::Purpose::Attenuators, 9);
        assert!(near(switch.coherent_losses_db(&settings, &mut rng)[1], losses[1]));
    }

    #[test]
    fn over_joined_buses_alone_each_link_of_the_first_switch_passes_the_second_twice() {
        let sizes = ["4x1", "3x2"].map(|s| s.parse().unwrap());
        let switch = Switch::joined(3, sizes, 1, 127.0, 1.0, 46.0).unwrap();
        // Two buses behind the joined one, with 4 and 9 dB at its input.
        let losses = switch.path_losses_db(&Settings(vec![10, 20, 30, 4, 9]));
        let back = -10.0 * libm::log10(libm::pow(10.0, -0.8) + libm::pow(10.0, -1.8));
        for (loss, own) in losses.iter().zip([30.0, 40.0, 50.0]) {
            assert!(near(*loss, 4.0 * 23.0 + own + back), "{losses:?}");
        }
    }

    #[test]
    fn switches_that_cannot_be_joined_are_refused() {
        let refused = |radios, a: &str, b: &str, joined| {
            let sizes = [a, b].map(|s| s.parse().unwrap());
            Switch::joined(radios, sizes, joined, 127.0, 1.0, 46.0).unwrap_err().to_string()
        };
        assert!(refused(23, "16x4", "8x2", 2).contains("inputs for 22"));
        for (radios, a, b, joined) in [
            (4, "16x4", "8x2", 0),
            (4, "16x4", "8x2", 5),
            (4, "16x4", "1x2", 2),
            (4, "99x4", "8x2", 2),
            (4, "4x4", "8x0", 2),
            (1, "4x4", "8x2", 2),
        ] {
            assert!(!refused(radios, a, b, joined).is_empty());
        }
        for text in ["", "16", "16x", "ax4", "16x4x2", "-1x4"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
        let most = ["16x4", "8x2"].map(|s| s.parse().unwrap());
        assert_eq!(Switch::joined(22, most, 2, 127.0, 1.0, 46.0).unwrap().attenuators(), 64 + 16);
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
