//! The world as a model for `stateright`, and its results.

use std::sync::Arc;
use std::time::Duration;

use stateright::{Checker as _, HasDiscoveries, Model, Property};

use super::checked::Explorable;
use super::exploration::Exploration;
use super::story::{Counterexample, tell};
use super::world::{Action, World};

/// How often a search says how far it is.
const EVERY_MS: u64 = 10_000;
/// Threads of a search.
const THREADS: usize = 2;
/// How long to sleep between two looks at a search, ms.
const NAP_MS: u64 = 5;

/// How a search ended.
struct SearchOutcome {
    /// States visited, each once.
    unique: usize,
    /// States generated, again and again.
    generated: usize,
    /// The longest sequence of actions that was needed.
    depth: usize,
    /// A state that breaks a rule, and how it comes about.
    counterexample: Option<Counterexample>,
}

struct ExplorationModel<P> {
    x: Arc<Exploration<P>>,
    /// The flows that may send the first packet.
    first: Vec<usize>,
}

impl<P: Explorable> Exploration<P> {
    /// Searches for what must be found: a test of the search itself, which shows `what` was searched and the story.
    ///
    /// # Panics
    /// If nothing goes wrong, or something without this complaint.
    pub fn finds(self, complaint: &str, what: &str) {
        let outcome = self.run();
        eprintln!("{what}: {} states, depth {}", outcome.unique, outcome.depth);
        let found = outcome.counterexample.expect("a mistake");
        eprintln!("{found}");
        assert!(found.complaint.contains(complaint), "{found}");
    }

    /// Searches everything within the budget. Returns the number of states.
    ///
    /// # Panics
    /// On a state that breaks a rule, and where no packet ever arrived or no node rebooted although the budget has some.
    pub fn holds(self) -> usize {
        let (links, budget, tally) = (self.topology.text(), self.budget, Arc::clone(&self.tally));
        let o = self.run();
        eprintln!("{links:<20} {budget}: {} states ({} generated), depth {}", o.unique, o.generated, o.depth);
        if let Some(found) = o.counterexample {
            panic!("{links} within {budget}:\n{found}");
        }
        assert!(tally.arrivals() > 0 || budget.packets == 0, "{links}: no packet ever arrived");
        assert_eq!(tally.reboots() > 0, budget.reboots > 0, "{links}: reboots");
        o.unique
    }

    /// Searches, and says every ten seconds or so how far it is.
    fn run(self) -> SearchOutcome {
        let x = Arc::new(self);
        let all = (0..x.flows.len()).collect();
        let first = if x.symmetric { x.topology.different(&x.flows) } else { all };
        let model = ExplorationModel { x: Arc::clone(&x), first };
        let builder = model.checker().threads(THREADS).finish_when(HasDiscoveries::AnyFailures);
        let checker = builder.spawn_bfs();
        for naps in 1.. {
            std::thread::sleep(Duration::from_millis(NAP_MS));
            if checker.is_done() {
                break;
            }
            if naps % (EVERY_MS / NAP_MS) == 0 {
                let (unique, generated) = (checker.unique_state_count(), checker.state_count());
                eprintln!("    ... {unique} states ({generated} generated), depth {}", checker.max_depth());
            }
        }
        let checker = checker.join();
        let counterexample = checker.discovery(RULES).map(|path| tell(&x, path.into_actions()));
        SearchOutcome {
            unique: checker.unique_state_count(),
            generated: checker.state_count(),
            depth: checker.max_depth(),
            counterexample,
        }
    }
}

const RULES: &str = "the rules hold";

impl<P: Explorable> Model for ExplorationModel<P> {
    type State = World<P>;
    type Action = Action;

    fn init_states(&self) -> Vec<World<P>> {
        vec![World::new(&self.x)]
    }
    fn actions(&self, state: &World<P>, actions: &mut Vec<Action>) {
        state.actions(&self.x, actions);
        if state.left == self.x.budget {
            actions.retain(|a| !matches!(a, Action::Send(flow) if !self.first.contains(flow)));
        }
    }
    fn next_state(&self, state: &World<P>, action: Action) -> Option<World<P>> {
        Some(state.after(&self.x, action))
    }
    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always(RULES, |model: &Self, w: &World<P>| model.x.complaint(w).is_none())]
    }
}
