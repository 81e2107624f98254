//! Settings and their path losses, kept up to date as single attenuators change.

use crate::switch::{Settings, Switch};
use crate::wanted::TargetLosses;

/// A link that must not appear and does costs so much, however little is missing, dB.
const FALSE_LINK_DB: f64 = 10.0;
/// And one that is farther off than this, dB, costs so much more for each decibel more: a few wrong links are worse than many that are
/// nearly right.
const FAR_DB: f64 = 2.0;
const FAR_OFF: f64 = 0.25;
/// Sums of gains are recomputed after this many changes, since rounding errors add up.
const RENEW: u32 = 1 << 14;

/// Settings under search, whatever the wiring.
pub(crate) trait SearchState: Clone {
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
pub(crate) fn cost_of(wanted: &TargetLosses, link: usize, loss_db: f64) -> f64 {
    let error = wanted.error_db(link, loss_db);
    if wanted.is_beyond(link) {
        if error > 0.0 { FALSE_LINK_DB + error } else { 0.0 }
    } else {
        error + FAR_OFF * (error - FAR_DB).max(0.0)
    }
}

/// Settings of one switch. A search asks for millions of differences and takes few, so what one needs lies side by side: each link
/// twice, in the rows of both its radios.
#[derive(Clone)]
pub(crate) struct OneSwitch<'a> {
    switch: &'a Switch,
    wanted: &'a TargetLosses,
    steps: Vec<u16>,
    /// By bus and radio: the gain of its attenuator.
    gains: Vec<f64>,
    /// By radio and radio: the link.
    links: Vec<Link>,
    changes: u32,
}

/// A link from one of its ends.
#[derive(Copy, Clone, Default)]
struct Link {
    /// Its number.
    number: usize,
    /// Of both ports, dB.
    insertion_db: f64,
    /// The sum of the gains over all buses.
    sum: f64,
    /// What its error costs.
    cost: f64,
}

impl<'a> OneSwitch<'a> {
    pub(crate) fn new(switch: &'a Switch, wanted: &'a TargetLosses, settings: &Settings) -> Self {
        let (n, b) = (switch.radios(), switch.buses());
        let mut links = vec![Link::default(); n * n];
        for (number, (i, j)) in crate::links::pairs(n).enumerate() {
            let link = Link { number, insertion_db: switch.insertion_db(i, j), ..Link::default() };
            (links[i * n + j], links[j * n + i]) = (link, link);
        }
        let steps = settings.0.clone();
        let mut gains = vec![0.0; n * b];
        for (at, &steps) in steps.iter().enumerate() {
            gains[at % b * n + at / b] = switch.gain(steps);
        }
        let mut state = Self { switch, wanted, steps, gains, links, changes: 0 };
        state.renew();
        state
    }

    fn renew(&mut self) {
        let (n, b) = (self.switch.radios(), self.switch.buses());
        for (i, j) in crate::links::pairs(n) {
            let sum = (0..b).map(|k| self.gains[k * n + i] * self.gains[k * n + j]).sum();
            self.put(i, j, sum);
        }
        self.changes = 0;
    }

    #[inline]
    fn cost_at(&self, link: &Link, sum: f64) -> f64 {
        cost_of(self.wanted, link.number, link.insertion_db + self.switch.decibels_of(sum))
    }

    /// A link has this sum of gains.
    fn put(&mut self, i: usize, j: usize, sum: f64) {
        let n = self.switch.radios();
        let link = &self.links[i * n + j];
        let link = Link { sum, cost: self.cost_at(link, sum), ..*link };
        (self.links[i * n + j], self.links[j * n + i]) = (link, link);
    }
}

impl SearchState for OneSwitch<'_> {
    fn steps(&self) -> &[u16] {
        &self.steps
    }

    fn cost(&self) -> f64 {
        let n = self.switch.radios();
        crate::links::pairs(n).map(|(i, j)| self.links[i * n + j].cost).sum()
    }

    fn difference(&self, at: usize, steps: u16) -> f64 {
        let (n, b) = (self.switch.radios(), self.switch.buses());
        let (radio, bus) = (at / b, at % b);
        let gains = &self.gains[bus * n..][..n];
        let more = self.switch.gain(steps) - gains[radio];
        let mut sum = 0.0;
        for (other, (link, gain)) in self.links[radio * n..][..n].iter().zip(gains).enumerate() {
            if other != radio {
                sum += self.cost_at(link, link.sum + more * gain) - link.cost;
            }
        }
        sum
    }

    fn set(&mut self, at: usize, steps: u16) {
        let (n, b) = (self.switch.radios(), self.switch.buses());
        let (radio, bus) = (at / b, at % b);
        let more = self.switch.gain(steps) - self.gains[bus * n + radio];
        self.steps[at] = steps;
        for other in (0..n).filter(|&o| o != radio) {
            let sum = self.links[radio * n + other].sum + more * self.gains[bus * n + other];
            self.put(radio, other, sum);
        }
        self.gains[bus * n + radio] = self.switch.gain(steps);
        self.changes += 1;
        if self.changes == RENEW {
            self.renew();
        }
    }
}
