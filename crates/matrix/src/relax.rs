//! Attenuations without steps: least squares, and least magnitudes, in dB by the method of Levenberg and Marquardt.
//!
//! Each link depends on the attenuators of two radios only, so the normal equations are built link by link; a solver that takes the
//! whole Jacobian, as the crate `levenberg-marquardt` does, has six times the work at 12 radios.

use nalgebra::{Cholesky, DMatrix, DVector};

use crate::decibels::gain;
use crate::links::pairs;
use crate::switch::Switch;
use crate::wanted::Wanted;

/// The damping at the start, and its bounds.
const DAMPING: f64 = 0.1;
const LEAST_DAMPING: f64 = 1e-6;
const MOST_DAMPING: f64 = 1e6;
/// Errors below this count as squares, larger ones as themselves: the mean error is to be small, not its square, dB.
const ROUND_DB: f64 = 0.25;
/// A step that gains less than this share of the cost ends the search.
const ENOUGH: f64 = 1e-5;

/// Improves attenuations (dB, of each radio at each bus), at most `rounds` times each: first squares are made small, then magnitudes.
pub(crate) fn relax(switch: &Switch, wanted: &Wanted, at: &mut Vec<f64>, rounds: usize) {
    Problem::new(switch, wanted).descend(at, rounds, false);
    relax_again(switch, wanted, at, rounds);
}

/// Improves attenuations that were good before something changed: magnitudes only.
pub(crate) fn relax_again(switch: &Switch, wanted: &Wanted, at: &mut Vec<f64>, rounds: usize) {
    Problem::new(switch, wanted).descend(at, rounds, true);
}

struct Problem<'a> {
    switch: &'a Switch,
    wanted: &'a Wanted,
    normal: DMatrix<f64>,
    gradient: DVector<f64>,
    gains: Vec<f64>,
}

impl<'a> Problem<'a> {
    fn new(switch: &'a Switch, wanted: &'a Wanted) -> Self {
        let n = switch.radios() * switch.buses();
        Self {
            switch,
            wanted,
            normal: DMatrix::zeros(n, n),
            gradient: DVector::zeros(n),
            gains: vec![0.0; n],
        }
    }

    fn descend(&mut self, at: &mut Vec<f64>, rounds: usize, robust: bool) {
        let mut damping = DAMPING;
        let mut cost = self.linearise(at, robust);
        for _ in 0..rounds {
            let Some(next) = self.step(at, damping) else {
                damping *= 10.0;
                continue;
            };
            let before = cost;
            let new = self.cost(&next, robust);
            if new < cost {
                *at = next;
                cost = self.linearise(at, robust);
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
    fn step(&self, at: &[f64], damping: f64) -> Option<Vec<f64>> {
        let mut normal = self.normal.clone();
        for i in 0..at.len() {
            // An attenuator that no link feels has nothing on the diagonal.
            normal[(i, i)] += damping * (normal[(i, i)] + 1e-3);
        }
        let by = Cholesky::new(normal)?.solve(&self.gradient);
        let max = self.switch.max_db();
        Some(at.iter().zip(by.iter()).map(|(a, d)| (a - d).clamp(0.0, max)).collect())
    }

    fn residual(&self, link: usize, i: usize, j: usize, sum: f64) -> f64 {
        let have = self.switch.loss_db(i, j, sum);
        if self.wanted.is_beyond(link) {
            // Half a step more, so that rounding does not bring the link back.
            (have - self.wanted.beyond_db - self.switch.step_db() / 2.0).min(0.0)
        } else {
            have - self.wanted.loss_db[link]
        }
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

    fn cost(&mut self, at: &[f64], robust: bool) -> f64 {
        let sums = self.sums(at);
        let of = pairs(self.switch.radios()).enumerate();
        of.map(|(l, (i, j))| cost(self.residual(l, i, j, sums[l]), robust)).sum()
    }

    /// Builds the normal equations around `at`, and returns the cost there.
    ///
    /// With `L = IL - 10 log10(sum_k g_ik g_jk)`, the derivative of L by `a_ik` is bus k's share of the gain.
    fn linearise(&mut self, at: &[f64], robust: bool) -> f64 {
        let sums = self.sums(at);
        let b = self.switch.buses();
        self.normal.fill(0.0);
        self.gradient.fill(0.0);
        let mut total = 0.0;
        let mut shares = vec![0.0; b];
        for (l, (i, j)) in pairs(self.switch.radios()).enumerate() {
            let r = self.residual(l, i, j, sums[l]);
            total += cost(r, robust);
            let weight = if robust { 1.0 / r.abs().max(ROUND_DB) } else { 1.0 };
            if r == 0.0 {
                continue;
            }
            for (k, share) in shares.iter_mut().enumerate() {
                *share = self.gains[i * b + k] * self.gains[j * b + k] / sums[l].max(1e-100);
            }
            for (k, &s) in shares.iter().enumerate() {
                for row in [i * b + k, j * b + k] {
                    self.gradient[row] += weight * s * r;
                    for (m, &t) in shares.iter().enumerate() {
                        self.normal[(i * b + m, row)] += weight * s * t;
                        self.normal[(j * b + m, row)] += weight * s * t;
                    }
                }
            }
        }
        total
    }
}

/// Huber's loss, or the square.
fn cost(r: f64, robust: bool) -> f64 {
    let r = r.abs();
    if !robust {
        r * r
    } else if r < ROUND_DB {
        r * r / (2.0 * ROUND_DB)
    } else {
        r - ROUND_DB / 2.0
    }
}
