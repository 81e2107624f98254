//! One search for each of several topologies.

use wayhop_testkit::explore::{Budget, Rule, Topology};

use super::bounds::{ROLLS_OVER, exploration, next_hop_knows_better};
use crate::engine::state::Engine;
use crate::params::Params;

/// What is searched.
pub(super) struct Sweep {
    pub(super) topologies: Vec<Topology>,
    pub(super) params: Params,
    pub(super) budget: Budget,
    /// As [`wayhop_testkit::explore::Exploration::prompt`].
    pub(super) prompt: bool,
    /// The nodes' first sequence number.
    pub(super) number: u32,
    pub(super) rules: Vec<Rule<Engine>>,
}

impl Sweep {
    pub(super) fn of(topologies: Vec<Topology>, params: Params) -> Self {
        Self {
            topologies,
            params,
            budget: Budget::default(),
            prompt: false,
            number: ROLLS_OVER,
            rules: Vec::new(),
        }
    }
    /// With the sufficient condition, which holds while nobody loses its memory.
    pub(super) fn knowing_better(mut self) -> Self {
        self.rules.push(next_hop_knows_better);
        self
    }
}

/// Searches everything within the budget. Fails on a state that breaks a rule, and where nothing ever arrived.
pub(super) fn sweep(s: Sweep) {
    let mut all = 0;
    for t in s.topologies {
        let mut x = exploration(t, s.budget, &s.params, s.number, |e| e);
        x.prompt = s.prompt;
        x.rules.extend(&s.rules);
        let tally = x.tally.clone();
        all += x.holds();
        let breaks = s.budget.breaks > 0 || s.budget.losses > 0;
        assert_eq!(tally.failures() > 0, breaks, "{}: links broke unnoticed", t.text());
    }
    eprintln!("{all} states in all");
}
