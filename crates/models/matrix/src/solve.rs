//! Settings for wanted path losses.
//!
//! The errors of 1 dB steps are as large as the errors of the best real settings, so the search
//! continues in the attenuators' steps: a solution is perturbed (one or two radios get other
//! attenuations), relaxed and rounded again, and kept if it is better (iterated local search).

use wayhop_core::{Purpose, Rng, stream};

use crate::joined::{StepFreeSettings, TwoSwitches};
use crate::links::pairs;
use crate::polish::{descend, polish};
use crate::relax::{Direct, relax};
use crate::state::{OneSwitch, SearchState};
use crate::switch::{Settings, Switch};
use crate::wanted::TargetLosses;

/// How much work a solution is worth.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Random starts of the least squares.
    pub starts: u32,
    /// How many of the best of these are polished.
    pub kept: usize,
    /// Changes of single attenuators that are tried, to polish each of these.
    pub moves: u32,
    /// How often the best solution is shaken.
    pub hops: u32,
    /// Changes that are tried, to polish a shaken one.
    pub moves_a_hop: u32,
}

impl Effort {
    /// For a layout that stays: some seconds for 12 radios at 4 buses.
    pub const THOROUGH: Self = Self { starts: 50, kept: 4, moves: 100_000, hops: 3_000, moves_a_hop: 1_600 };
    /// For one that has moved for a second: some milliseconds.
    pub const QUICK: Self = Self { starts: 0, kept: 2, moves: 5_000, hops: 8, moves_a_hop: 500 };
}

/// How much work is done, counted in tries and not in time: the settings do not depend on the machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Quality {
    /// The least.
    Fast,
    /// An eighth of the most.
    Normal,
    /// The most.
    Best,
}

impl Quality {
    /// The effort for a layout.
    pub const fn layout(self) -> Effort {
        match self {
            Self::Fast => Effort { starts: 10, kept: 2, moves: 10_000, hops: 40, moves_a_hop: 800 },
            Self::Normal => Effort { starts: 30, kept: 3, moves: 30_000, hops: 300, moves_a_hop: 1_600 },
            Self::Best => Effort::THOROUGH,
        }
    }

    /// The effort for a layout that has moved for a second, in which it is done even for 64 radios at 4 buses.
    pub fn motion(self, switch: &Switch) -> Effort {
        match self {
            Self::Fast => Effort { starts: 0, kept: 2, moves: 2_000, hops: 0, moves_a_hop: 0 },
            Self::Normal => Effort::QUICK,
            Self::Best => {
                // A hop factorises a matrix that has a row for each attenuator.
                let size = (switch.attenuators() as f64 / 48.0).max(1.0);
                let hops = (60.0 / (size * size)) as u32;
                Effort { starts: 0, kept: 2, moves: 20_000, hops: hops.max(8), moves_a_hop: 1_000 }
            }
        }
    }
}

/// How far a start's attenuations lie from the middle, dB.
const SPREAD_DB: f64 = 20.0;
/// Rounds of least squares from a random start.
const ROUNDS: usize = 60;
/// And from a solution that was shaken, or of a second before.
const FEW_ROUNDS: usize = 15;
/// A shaken solution that is worse than the best by more is not worth polishing.
const HOPELESS: f64 = 1.15;

/// The best settings that are found for a layout. The same arguments give the same settings.
pub fn solve(switch: &Switch, wanted: &TargetLosses, effort: Effort, seed: u64) -> Settings {
    let mut rng = stream(seed, Purpose::Attenuators, 0);
    let start = |_| {
        let mut at = random_start(switch, wanted, &mut rng);
        relaxed(switch, wanted, &mut at, &[(false, ROUNDS), (true, ROUNDS)]);
        rounded(switch, &at)
    };
    let found: Vec<Settings> = (0..effort.starts.max(1)).map(start).collect();
    Search::new(switch, wanted, effort, &mut rng).from(&found)
}

/// The settings for a layout that was another one a second ago, from the settings for that.
pub fn follow(
    switch: &Switch,
    wanted: &TargetLosses,
    before: &Settings,
    effort: Effort,
    seed: u64,
) -> Settings {
    let mut rng = stream(seed, Purpose::Attenuators, 1);
    let mut at = in_db(switch, before);
    relaxed(switch, wanted, &mut at, &[(true, FEW_ROUNDS)]);
    let found = vec![rounded(switch, &at), before.clone()];
    Search::new(switch, wanted, effort, &mut rng).from(&found)
}

/// Attenuations, dB, around half of what the mean link needs: a signal passes two of them.
fn random_start(switch: &Switch, wanted: &TargetLosses, rng: &mut Rng) -> Vec<f64> {
    let links = pairs(switch.radios()).enumerate();
    let needs = links.map(|(l, (i, j))| wanted.loss_db[l] - switch.insertion_db(i, j));
    let middle = needs.sum::<f64>() / switch.links().len().max(1) as f64 / 2.0;
    let one = |_| (middle + rng.range(-SPREAD_DB, SPREAD_DB)).clamp(0.0, switch.max_db());
    (0..switch.attenuators()).map(one).collect()
}

/// Puts the attenuators of one or two inputs somewhere else.
fn shake(switch: &Switch, at: &mut [f64], rng: &mut Rng) {
    for _ in 0..=rng.below(2) {
        let input = rng.below(switch.inputs() as u64) as usize;
        let (begin, buses) = switch.row(input);
        for db in &mut at[begin..][..buses] {
            *db = (*db + rng.range(-SPREAD_DB, SPREAD_DB)).clamp(0.0, switch.max_db());
        }
    }
}

fn rounded(switch: &Switch, at: &[f64]) -> Settings {
    Settings(at.iter().map(|&db| switch.nearest(db)).collect())
}

fn in_db(switch: &Switch, settings: &Settings) -> Vec<f64> {
    settings.0.iter().map(|&s| f64::from(s) * switch.step_db()).collect()
}

/// Improves attenuations, dB; each pass makes squares of errors small, or (`true`) magnitudes, in at most this number of rounds.
fn relaxed(switch: &Switch, wanted: &TargetLosses, at: &mut Vec<f64>, passes: &[(bool, usize)]) {
    for &(robust, rounds) in passes {
        match switch.junction() {
            Some(_) => relax(switch, &mut StepFreeSettings::new(switch, wanted), at, rounds, robust),
            None => relax(switch, &mut Direct::new(switch, wanted), at, rounds, robust),
        }
    }
}

struct Search<'a> {
    switch: &'a Switch,
    wanted: &'a TargetLosses,
    effort: Effort,
    rng: &'a mut Rng,
    best: Settings,
    cost: f64,
}

impl<'a> Search<'a> {
    fn new(switch: &'a Switch, wanted: &'a TargetLosses, effort: Effort, rng: &'a mut Rng) -> Self {
        let none = Settings(vec![0; switch.attenuators()]);
        Self { switch, wanted, effort, rng, best: none, cost: f64::INFINITY }
    }

    fn from(self, found: &[Settings]) -> Settings {
        let (switch, wanted) = (self.switch, self.wanted);
        match switch.junction() {
            Some(_) => self.with(found, |s| TwoSwitches::new(switch, wanted, s)),
            None => self.with(found, |s| OneSwitch::new(switch, wanted, s)),
        }
    }

    fn with<S: SearchState>(mut self, found: &[Settings], state: impl Fn(&Settings) -> S) -> Settings {
        let mut states: Vec<S> = found.iter().map(&state).collect();
        states.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        states.truncate(self.effort.kept);
        for mut state in states {
            polish(self.switch, &mut state, self.effort.moves, self.rng);
            self.take(&state);
        }
        for _ in 0..self.effort.hops {
            self.hop(&state);
        }
        self.best
    }

    fn hop<S: SearchState>(&mut self, state: impl Fn(&Settings) -> S) {
        let mut at = in_db(self.switch, &self.best);
        shake(self.switch, &mut at, self.rng);
        relaxed(self.switch, self.wanted, &mut at, &[(true, FEW_ROUNDS)]);
        let mut state = state(&rounded(self.switch, &at));
        descend(self.switch, &mut state);
        if state.cost() <= self.cost * HOPELESS {
            polish(self.switch, &mut state, self.effort.moves_a_hop, self.rng);
            self.take(&state);
        }
    }

    fn take(&mut self, state: &impl SearchState) {
        if state.cost() < self.cost {
            (self.cost, self.best) = (state.cost(), state.settings());
        }
    }
}
