//! Attenuations without steps: least squares, and least magnitudes, in dB by the method of Levenberg and Marquardt.
//!
//! Each link depends on few attenuators only, so the normal equations are built link by link; a solver that takes the
//! whole Jacobian, as the crate `levenberg-marquardt` does, has six times the work at 12 radios.

use wayhop_core::NormalEquations;

use crate::decibels::gain;
use crate::links::pairs;
use crate::switch::Switch;
use crate::wanted::TargetLosses;

/// The damping at the start, and its bounds.
const DAMPING: f64 = 0.1;
const LEAST_DAMPING: f64 = 1e-6;
const MOST_DAMPING: f64 = 1e6;
/// Errors below this count as squares, larger ones as themselves: the mean error is to be small, not its square, dB.
const ROUND_DB: f64 = 0.25;
/// A step that gains less than this share of the cost ends the search.
const ENOUGH: f64 = 1e-5;

/// The path losses of attenuations, and how they change with them: of one wiring.
pub(crate) trait Model {
    /// The cost of attenuations, dB.
    fn cost(&mut self, at: &[f64], robust: bool) -> f64;
    /// Builds the normal equations around `at`, and returns the cost there.
    fn linearise(&mut self, at: &[f64], robust: bool, equations: &mut NormalEquations) -> f64;
}

/// Improves attenuations, dB, at most `rounds` times: squares of errors become small, or (`robust`) magnitudes.
pub(crate) fn relax(switch: &Switch, model: &mut impl Model, at: &mut Vec<f64>, rounds: usize, robust: bool) {
    let mut equations = NormalEquations::new(at.len());
    let mut damping = DAMPING;
    let mut cost = model.linearise(at, robust, &mut equations);
    for _ in 0..rounds {
        let Some(next) = step(&equations, at, damping, switch.max_db()) else {
            damping *= 10.0;
            continue;
        };
        let before = cost;
        let new = model.cost(&next, robust);
        if new < cost {
            *at = next;
            cost = model.linearise(at, robust, &mut equations);
            damping = (damping / 5.0).max(LEAST_DAMPING);
            if before - cost < ENOUGH * before {
                return;
            }
        } else {
            damping *= 4.0;
            if damping > MOST_DAMPING {
                return;
            }
        }
    }
}

/// The next attenuations, within what the box can.
fn step(equations: &NormalEquations, at: &[f64], damping: f64, max_db: f64) -> Option<Vec<f64>> {
    let mut damped = equations.clone();
    for i in 0..at.len() {
        let element = damped.element(i, i);
        // An attenuator that no link feels has nothing on the diagonal.
        *element += damping * (*element + 1e-3);
    }
    let by = damped.solve(0.0)?;
    Some(at.iter().zip(by).map(|(a, d)| (a - d).clamp(0.0, max_db)).collect())
}

/// How far a link's loss is off, dB.
pub(crate) fn residual(switch: &Switch, wanted: &TargetLosses, link: usize, have: f64) -> f64 {
    if wanted.is_beyond(link) {
        // Half a step more, so that rounding does not bring the link back.
        (have - wanted.beyond_db - switch.step_db() / 2.0).min(0.0)
    } else {
        have - wanted.loss_db[link]
    }
}

/// What a link counts in the sum of squares that stands for the cost.
pub(crate) fn weight(residual: f64, robust: bool) -> f64 {
    if robust { 1.0 / residual.abs().max(ROUND_DB) } else { 1.0 }
}

/// Huber's loss, or the square.
pub(crate) fn cost(r: f64, robust: bool) -> f64 {
    let r = r.abs();
    if !robust {
        r * r
    } else if r < ROUND_DB {
        r * r / (2.0 * ROUND_DB)
    } else {
        r - ROUND_DB / 2.0
    }
}

/// One switch.
pub(crate) struct Direct<'a> {
    switch: &'a Switch,
    wanted: &'a TargetLosses,
    gains: Vec<f64>,
}

impl<'a> Direct<'a> {
    pub(crate) fn new(switch: &'a Switch, wanted: &'a TargetLosses) -> Self {
        Self { switch, wanted, gains: vec![0.0; switch.attenuators()] }
    }

    fn residual(&self, link: usize, i: usize, j: usize, sum: f64) -> f64 {
        residual(self.switch, self.wanted, link, self.switch.loss_db(i, j, sum))
    }

    fn sums(&mut self, at: &[f64]) -> Vec<f64> {
        for (gain_of, &db) in self.gains.iter_mut().zip(at) {
            *gain_of = gain(db);
        }
        let b = self.switch.buses();
        let sum = |(i, j): (usize, usize)| {
            let (a, c) = (&self.gains[i * b..][..b], &self.gains[j * b..][..b]);
            a.iter().zip(c).map(|(a, c)| a * c).sum()
        };
        pairs(self.switch.radios()).map(sum).collect()
    }
}

impl Model for Direct<'_> {
    fn cost(&mut self, at: &[f64], robust: bool) -> f64 {
        let sums = self.sums(at);
        let of = pairs(self.switch.radios()).enumerate();
        of.map(|(l, (i, j))| cost(self.residual(l, i, j, sums[l]), robust)).sum()
    }

    /// With `L = IL - 10 log10(sum_k g_ik g_jk)`, the derivative of L by `a_ik` is bus k's share of the gain.
    fn linearise(&mut self, at: &[f64], robust: bool, equations: &mut NormalEquations) -> f64 {
        let sums = self.sums(at);
        let b = self.switch.buses();
        equations.clear();
        let mut total = 0.0;
        let mut shares = vec![0.0; b];
        for (l, (i, j)) in pairs(self.switch.radios()).enumerate() {
            let r = self.residual(l, i, j, sums[l]);
            total += cost(r, robust);
            let weight = weight(r, robust);
            if r == 0.0 {
                continue;
            }
            for (k, share) in shares.iter_mut().enumerate() {
                *share = self.gains[i * b + k] * self.gains[j * b + k] / sums[l].max(1e-100);
            }
            // Of the symmetric matrix the factorisation reads what is on the diagonal and below.
            for (k, &s) in shares.iter().enumerate() {
                equations.right[i * b + k] += weight * s * r;
                equations.right[j * b + k] += weight * s * r;
                for (m, &t) in shares.iter().enumerate() {
                    *equations.element(i * b + m, i * b + k) += weight * s * t;
                    *equations.element(j * b + m, i * b + k) += weight * s * t;
                    *equations.element(j * b + m, j * b + k) += weight * s * t;
                }
            }
        }
        total
    }
}
