//! The world as a model for `stateright`, and its results.

use std::sync::Arc;
use std::time::Duration;

use stateright::{Checker as _, HasDiscoveries, Model, Property};

use super::checked::Explorable;
use super::exploration::Exploration;
use super::story::{Counterexample, tell};
use super::world::{Action, World};

/// Hears how far a search is: states generated, states visited, depth.
pub type Progress = fn(usize, usize, usize);

/// How often [`Progress`] is made.
const EVERY_MS: u64 = 10_000;
/// Threads of a search.
const THREADS: usize = 2;
/// How long to sleep between two looks at a search, ms.
const NAP_MS: u64 = 5;

/// How a search ended.
#[derive(Debug)]
pub struct SearchOutcome {
    /// States visited, each once.
    pub unique: usize,
    /// States generated, again and again.
    pub generated: usize,
    /// The longest sequence of actions that was needed.
    pub depth: usize,
    /// Whether everything within the budget was visited.
    pub complete: bool,
    /// A state that breaks a rule, and how it comes about.
    pub counterexample: Option<Counterexample>,
}

struct ExplorationModel<P> {
    x: Arc<Exploration<P>>,
    /// The flows that may send the first packet.
    first: Vec<usize>,
}

impl<P: Explorable> Exploration<P> {
    /// Searches.
    pub fn run(self) -> SearchOutcome {
        self.run_and_tell(None)
    }

    /// Searches for what must be found: a test of the search itself, which shows `what` was searched and the story.
    ///
    /// # Panics
    /// If nothing goes wrong.
    pub fn counterexample(self, what: &str) -> Counterexample {
        let outcome = self.run();
        eprintln!("{what}: {} states, depth {}", outcome.unique, outcome.depth);
        let found = outcome.counterexample.expect("a mistake");
        eprintln!("{found}");
        found
    }

    /// Searches, and says every ten seconds or so how far it is.
    pub fn run_and_tell(self, progress: Option<Progress>) -> SearchOutcome {
        let x = Arc::new(self);
        let all = (0..x.flows.len()).collect();
        let first = if x.symmetric { x.topology.different(&x.flows) } else { all };
        let mut builder = ExplorationModel { x: Arc::clone(&x), first }
            .checker()
            .threads(THREADS)
            .finish_when(HasDiscoveries::AnyFailures);
        if x.most_states > 0 {
            builder = builder.target_state_count(x.most_states);
        }
        let checker = builder.spawn_bfs();
        let checker = match progress {
            None => checker.join(),
            Some(say) => {
                for naps in 1.. {
                    std::thread::sleep(Duration::from_millis(NAP_MS));
                    if checker.is_done() {
                        break;
                    }
                    if naps % (EVERY_MS / NAP_MS) == 0 {
                        say(checker.state_count(), checker.unique_state_count(), checker.max_depth());
                    }
                }
                checker.join()
            }
        };
        let generated = checker.state_count();
        let counterexample = checker.discovery(RULES).map(|path| tell(&x, path.into_actions()));
        SearchOutcome {
            unique: checker.unique_state_count(),
            generated,
            depth: checker.max_depth(),
            complete: counterexample.is_none() && (x.most_states == 0 || generated < x.most_states),
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
