//! Settings and the path losses that they make, kept up to date as single attenuators change.

use crate::switch::{Settings, Switch};
use crate::wanted::Wanted;

/// A link that must not appear and does costs so much, however little is missing, dB.
const FALSE_LINK_DB: f64 = 10.0;
/// And one that is farther off than this, dB, costs so much more for each decibel more: a few wrong links are worse than many that are
/// nearly right.
const FAR_DB: f64 = 2.0;
const FAR_OFF: f64 = 0.25;
/// Sums of gains are made anew after so many changes: rounding errors add up.
const RENEW: u32 = 1 << 14;

/// Settings under search, whatever the wiring.
pub(crate) trait State: Clone {
    /// The settings, by number of the attenuator.
    fn steps(&self) -> &[u16];
    /// The sum of all links' costs, dB.
    fn cost(&self) -> f64;
    /// What an attenuator's new setting would add to the cost, dB.
    fn difference(&self, at: usize, steps: u16) -> f64;
    /// Sets an attenuator.
    fn set(&mut self, at: usize, steps: u16);

    fn settings(&self) -> Settings {
        Settings(self.steps().to_vec())
    }
}

/// What a link of this path loss costs, dB.
#[inline]
pub(crate) fn cost_of(wanted: &Wanted, link: usize, loss_db: f64) -> f64 {
    let error = wanted.error_db(link, loss_db);
    if wanted.is_beyond(link) {
        if error > 0.0 { FALSE_LINK_DB + error } else { 0.0 }
    } else {
        error + FAR_OFF * (error - FAR_DB).max(0.0)
    }
}

/// Settings of one switch.
#[derive(Clone)]
pub(crate) struct OneSwitch<'a> {
    switch: &'a Switch,
    wanted: &'a Wanted,
    steps: Vec<u16>,
    /// By link: the sum of the gains over all buses.
    sums: Vec<f64>,
    /// By link: what its error costs.
    costs: Vec<f64>,
    changes: u32,
}

impl<'a> OneSwitch<'a> {
    pub(crate) fn new(switch: &'a Switch, wanted: &'a Wanted, settings: &Settings) -> Self {
        let links = switch.links().len();
        let (sums, costs) = (vec![0.0; links], vec![0.0; links]);
        let mut state = Self { switch, wanted, steps: settings.0.clone(), sums, costs, changes: 0 };
        state.renew();
        state
    }

    fn renew(&mut self) {
        let (n, b) = (self.switch.radios(), self.switch.buses());
        for (link, (i, j)) in crate::links::pairs(n).enumerate() {
            let gains = (0..b).map(|k| self.gain(i, k) * self.gain(j, k));
            self.sums[link] = gains.sum();
            self.costs[link] = self.cost_of(link, i, j, self.sums[link]);
        }
        self.changes = 0;
    }

    #[inline]
    fn gain(&self, radio: usize, bus: usize) -> f64 {
        self.switch.gain(self.steps[radio * self.switch.buses() + bus])
    }

    #[inline]
    fn cost_of(&self, link: usize, i: usize, j: usize, sum: f64) -> f64 {
        cost_of(self.wanted, link, self.switch.loss_db(i, j, sum))
    }
}

impl State for OneSwitch<'_> {
    fn steps(&self) -> &[u16] {
        &self.steps
    }

    fn cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    fn difference(&self, at: usize, steps: u16) -> f64 {
        let (radio, bus) = (at / self.switch.buses(), at % self.switch.buses());
        let more = self.switch.gain(steps) - self.gain(radio, bus);
        let links = self.switch.links();
        let mut sum = 0.0;
        for other in (0..self.switch.radios()).filter(|&o| o != radio) {
            let link = links.of(radio, other);
            let gain = self.sums[link] + more * self.gain(other, bus);
            sum += self.cost_of(link, radio, other, gain) - self.costs[link];
        }
        sum
    }

    fn set(&mut self, at: usize, steps: u16) {
        let (radio, bus) = (at / self.switch.buses(), at % self.switch.buses());
        let more = self.switch.gain(steps) - self.gain(radio, bus);
        let links = self.switch.links();
        self.steps[at] = steps;
        for other in (0..self.switch.radios()).filter(|&o| o != radio) {
            let link = links.of(radio, other);
            self.sums[link] += more * self.gain(other, bus);
            self.costs[link] = self.cost_of(link, radio, other, self.sums[link]);
        }
        self.changes += 1;
        if self.changes == RENEW {
            self.renew();
        }
    }
}
