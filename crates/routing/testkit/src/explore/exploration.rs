//! The extent of the exploration, and its invariants.

use std::sync::Arc;

use super::names::Names;
use super::outcomes::Outcomes;
use super::tally::Tally;
use super::topology::Topology;
use super::world::{Budget, World};

/// What must hold in every state: the complaint if it does not.
pub type Rule<P> = fn(&World<P>, Names) -> Option<String>;

/// Makes a node's protocol.
pub type Make<P> = Arc<dyn Fn(usize) -> P + Send + Sync>;

/// Makes a node's protocol out of the one that it had.
pub type Remake<P> = Arc<dyn Fn(usize, &P) -> P + Send + Sync>;

/// What is explored, and how far.
pub struct Exploration<P> {
    /// The nodes and the links that they can have; all are up at first.
    pub topology: Topology,
    /// Makes a node's protocol.
    pub engine: Make<P>,
    /// Makes a node's protocol after a reboot, given the one before.
    pub reboot: Remake<P>,
    /// Who may send packets to whom.
    pub flows: Vec<(usize, usize)>,
    /// How often what may happen.
    pub budget: Budget,
    /// Takes each copy of a broadcast off the air as soon as its receiver would not care (a request heard before), instead of letting
    /// it arrive at any time. That leaves far fewer states, and leaves out what such a copy would do after a wait, a reboot or a
    /// broken link.
    pub prompt: bool,
    /// Whether nodes differ in nothing but their names (the protocol prefers no address to another): then, of first packets that only
    /// a renaming tells apart, one is tried.
    pub symmetric: bool,
    /// What must hold, besides what [`super::Checked::wrong_step`] says.
    pub rules: Vec<Rule<P>>,
    /// Counts what happened on the way.
    pub tally: Arc<Tally>,
    /// What calls did.
    pub outcomes: Arc<Outcomes<P>>,
}

impl<P> Exploration<P> {
    /// An exploration within a budget in which everybody may send to the last node. Nodes differ in nothing but their names, every copy
    /// of a broadcast may arrive at any time, and the search goes on to its end.
    pub fn new(
        topology: Topology,
        budget: Budget,
        rules: Vec<Rule<P>>,
        engine: impl Fn() -> P + Send + Sync + 'static,
        reboot: impl Fn() -> P + Send + Sync + 'static,
    ) -> Self {
        let last = topology.nodes() - 1;
        Self {
            topology,
            engine: Arc::new(move |_| engine()),
            reboot: Arc::new(move |_, _| reboot()),
            flows: (0..last).map(|s| (s, last)).collect(),
            budget,
            prompt: false,
            symmetric: true,
            rules,
            tally: Arc::default(),
            outcomes: Arc::default(),
        }
    }

    /// What is wrong with this state, if anything.
    pub(crate) fn complaint(&self, w: &World<P>) -> Option<String> {
        let names = Names(self.topology.nodes());
        let step = w.wrong_step.map(|(i, what)| format!("{}: {what}", names.node(i)));
        step.or_else(|| self.rules.iter().find_map(|rule| rule(w, names)))
    }
}
