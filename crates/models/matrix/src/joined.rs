//! The search for settings of two switches in a row.

use wayhop_core::NormalEquations;

use crate::decibels::gain;
use crate::junction::Junction;
use crate::links::pairs;
use crate::relax::{Model, cost, residual, weight};
use crate::state::{SearchState, cost_of};
use crate::switch::{Settings, Switch};
use crate::wanted::TargetLosses;
use crate::ways::{Ways, fill, through};

/// Settings under search.
#[derive(Clone)]
pub(crate) struct TwoSwitches<'a> {
    switch: &'a Switch,
    junction: Junction,
    wanted: &'a TargetLosses,
    steps: Vec<u16>,
    /// As in [`Ways`].
    to: Vec<f64>,
    costs: Vec<f64>,
}

impl<'a> TwoSwitches<'a> {
    pub(crate) fn new(switch: &'a Switch, wanted: &'a TargetLosses, settings: &Settings) -> Self {
        let junction = switch.junction().expect("two switches");
        let steps = settings.0.clone();
        let ways = Ways::new(&junction, &switch.port_gains, |at| switch.gain(steps[at]));
        let costs = pairs(switch.radios())
            .enumerate()
            .map(|(link, (i, j))| cost_of(wanted, link, switch.decibels_of(ways.gain(i, j))))
            .collect();
        Self { switch, junction, wanted, to: ways.to, steps, costs }
    }

    /// The radios that hear a change of an attenuator: one, or all of the first switch.
    fn touched(&self, at: usize) -> std::ops::Range<usize> {
        let j = &self.junction;
        if at < j.first_attenuators() {
            let radio = at / j.buses;
            return radio..radio + 1;
        }
        let input = (at - j.first_attenuators()) / j.second_buses;
        if input < j.joined {
            0..j.first
        } else {
            let radio = j.first + input - j.joined;
            radio..radio + 1
        }
    }

    /// The ways of the radios that a new setting touches, and the costs of their links.
    fn changed(&self, at: usize, steps: u16, mut each: impl FnMut(usize, f64)) -> Vec<f64> {
        let (open, touched) = (self.junction.open(), self.touched(at));
        let gain_at = |a: usize| self.switch.gain(if a == at { steps } else { self.steps[a] });
        let mut new = vec![0.0; touched.len() * open];
        for (radio, row) in touched.clone().zip(new.chunks_mut(open)) {
            fill(&self.junction, &self.switch.port_gains, &gain_at, radio, row);
        }
        let links = self.switch.links();
        let row = |radio: usize| {
            if touched.contains(&radio) {
                &new[(radio - touched.start) * open..][..open]
            } else {
                &self.to[radio * open..][..open]
            }
        };
        for i in touched.clone() {
            for j in (0..self.switch.radios()).filter(|&j| j != i && !(touched.contains(&j) && j < i)) {
                let gain = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                let link = links.of(i, j);
                each(link, cost_of(self.wanted, link, self.switch.decibels_of(gain)));
            }
        }
        new
    }
}

impl SearchState for TwoSwitches<'_> {
    fn steps(&self) -> &[u16] {
        &self.steps
    }

    fn cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    fn difference(&self, at: usize, steps: u16) -> f64 {
        let mut sum = 0.0;
        self.changed(at, steps, |link, cost| sum += cost - self.costs[link]);
        sum
    }

    fn set(&mut self, at: usize, steps: u16) {
        let mut costs = Vec::new();
        let new = self.changed(at, steps, |link, cost| costs.push((link, cost)));
        let begin = self.touched(at).start * self.junction.open();
        self.to[begin..begin + new.len()].copy_from_slice(&new);
        self.steps[at] = steps;
        for (link, cost) in costs {
            self.costs[link] = cost;
        }
    }
}

/// Attenuations without steps.
pub(crate) struct StepFreeSettings<'a> {
    switch: &'a Switch,
    junction: Junction,
    wanted: &'a TargetLosses,
}

impl<'a> StepFreeSettings<'a> {
    pub(crate) fn new(switch: &'a Switch, wanted: &'a TargetLosses) -> Self {
        Self { switch, junction: switch.junction().expect("two switches"), wanted }
    }

    /// Adds the share of a link's gain that passes each of one end's attenuators; `other` are the other end's ways.
    fn shares(&self, gains: &[f64], radio: usize, other: &[f64], all: f64, out: &mut Vec<(usize, f64)>) {
        let j = &self.junction;
        let input = j.input_of(radio);
        let (port, (begin, _)) = (self.switch.port_gains[input], j.row(input));
        let own = j.buses - j.joined;
        if radio >= j.first {
            out.extend(
                (0..j.second_buses).map(|m| (begin + m, port * gains[begin + m] * other[own + m] / all)),
            );
            return;
        }
        out.extend((0..own).map(|k| {
            let at = begin + j.joined + k;
            (at, port * gains[at] * other[k] / all)
        }));
        for k in 0..j.joined {
            let mut whole = 0.0;
            for m in 0..j.second_buses {
                let part =
                    port * gains[begin + k] * through(j, &self.switch.port_gains, &|at| gains[at], k, m);
                let share = part * other[own + m] / all;
                whole += share;
                out.push((j.row(j.first + k).0 + m, share));
            }
            out.push((begin + k, whole));
        }
    }
}

impl Model for StepFreeSettings<'_> {
    fn cost(&mut self, at: &[f64], robust: bool) -> f64 {
        let gains: Vec<f64> = at.iter().map(|&db| gain(db)).collect();
        let ways = Ways::new(&self.junction, &self.switch.port_gains, |at| gains[at]);
        let of = pairs(self.switch.radios()).enumerate();
        let one = |(link, (i, j)): (usize, (usize, usize))| {
            let have = self.switch.decibels_of(ways.gain(i, j));
            cost(residual(self.switch, self.wanted, link, have), robust)
        };
        of.map(one).sum()
    }

    /// The derivative of a path loss by an attenuator is the share of the gain that passes it; a path that passes it twice counts twice.
    fn linearise(&mut self, at: &[f64], robust: bool, equations: &mut NormalEquations) -> f64 {
        let gains: Vec<f64> = at.iter().map(|&db| gain(db)).collect();
        let ways = Ways::new(&self.junction, &self.switch.port_gains, |at| gains[at]);
        equations.clear();
        let (mut total, mut shares) = (0.0, Vec::new());
        for (link, (i, j)) in pairs(self.switch.radios()).enumerate() {
            let all = ways.gain(i, j);
            let r = residual(self.switch, self.wanted, link, self.switch.decibels_of(all));
            total += cost(r, robust);
            if r == 0.0 {
                continue;
            }
            let weight = weight(r, robust);
            shares.clear();
            self.shares(&gains, i, ways.of(j), all.max(1e-100), &mut shares);
            self.shares(&gains, j, ways.of(i), all.max(1e-100), &mut shares);
            for &(row, s) in &shares {
                equations.right[row] += weight * s * r;
                for &(column, t) in &shares {
                    *equations.element(column, row) += weight * s * t;
                }
            }
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::junction::Size;

    fn size(inputs: usize, buses: usize) -> Size {
        Size { inputs, buses }
    }

    /// Five radios: three at a switch of 3 x 3, two at one of 4 x 2, with two joined buses.
    fn five() -> (Switch, TargetLosses) {
        let switch = Switch::joined(5, [size(3, 3), size(4, 2)], 2, 60.0, 1.0, 46.0).unwrap();
        let wanted =
            TargetLosses { loss_db: (0..10).map(|l| 80.0 + 4.0 * f64::from(l)).collect(), beyond_db: 112.0 };
        (switch, wanted)
    }

    proptest! {
        #[test]
        fn costs_kept_up_to_date_are_those_made_anew(
            steps in prop::collection::vec(0_u16..60, 17),
            changes in prop::collection::vec((0_usize..17, 0_u16..60), 1..20),
        ) {
            let (switch, wanted) = five();
            prop_assert_eq!(switch.attenuators(), 17);
            let mut state = TwoSwitches::new(&switch, &wanted, &Settings(steps));
            for (at, to) in changes {
                let (before, by) = (state.cost(), state.difference(at, to));
                state.set(at, to);
                let fresh = TwoSwitches::new(&switch, &wanted, &state.settings());
                prop_assert!((state.cost() - fresh.cost()).abs() < 1e-6);
                prop_assert!((before + by - fresh.cost()).abs() < 1e-6);
                let losses = switch.path_losses_db(&state.settings());
                let by_definition: f64 = losses.iter().enumerate().map(|(l, &db)| cost_of(&wanted, l, db)).sum();
                prop_assert!((fresh.cost() - by_definition).abs() < 1e-6);
            }
        }

        #[test]
        fn the_gradient_is_that_of_differences(at in prop::collection::vec(1.0_f64..40.0, 17)) {
            let (switch, _) = five();
            let wanted = TargetLosses { loss_db: vec![90.0; 10], beyond_db: f64::INFINITY };
            let mut model = StepFreeSettings::new(&switch, &wanted);
            let mut equations = NormalEquations::new(17);
            model.linearise(&at, false, &mut equations);
            for k in 0..17 {
                let mut near = at.clone();
                near[k] += 1e-3;
                let above = model.cost(&near, false);
                near[k] -= 2e-3;
                // Of the sum of squares, half the slope.
                let slope = (above - model.cost(&near, false)) / 2e-3 / 2.0;
                prop_assert!((slope - equations.right[k]).abs() < 0.02 + 1e-3 * slope.abs(), "{}: {} {}", k, slope, equations.right[k]);
            }
        }
    }
}
