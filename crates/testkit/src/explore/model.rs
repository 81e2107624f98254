//! The world as a model for `stateright`, and what comes out.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use stateright::{Checker as _, HasDiscoveries, Model, Property};
use wayhop_core::Span;

use super::story::tell;
use super::world::{Action, Budget, World};
use super::{Checked, Names, Topology};

/// What must hold in every state: the complaint if it does not.
pub type Rule<P> = fn(&World<P>, Names) -> Option<String>;

/// Makes a node's protocol.
pub type Make<P> = Arc<dyn Fn(usize) -> P + Send + Sync>;
/// Makes a node's protocol out of the one that it had.
pub type Remake<P> = Arc<dyn Fn(usize, &P) -> P + Send + Sync>;
/// Hears how far a search is: states generated, states visited, depth.
pub type Progress = fn(usize, usize, usize);

/// How often [`Progress`] is made.
const EVERY_MS: u64 = 10_000;
/// How long to sleep between two looks at a search, ms.
const NAP_MS: u64 = 5;

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
    /// How long a frame may be in flight, at most, where time passes meanwhile.
    pub max_flight: Span,
    /// Takes each copy of a broadcast off the air as soon as its receiver would not care (a request heard before), instead of letting
    /// it arrive at any time. That leaves far fewer states, and leaves out what such a copy would do after a wait, a reboot or a
    /// broken link.
    pub prompt: bool,
    /// Whether nodes differ in nothing but their names (the protocol prefers no address to another): then, of first packets that only
    /// a renaming tells apart, one is tried.
    pub symmetric: bool,
    /// What must hold, besides what [`Checked::wrong_step`] says.
    pub rules: Vec<Rule<P>>,
    /// States to generate, at most, then the search stops and [`Outcome::complete`] is false; 0 for no end.
    pub most_states: usize,
    /// Threads of the search.
    pub threads: usize,
    /// Counts what happened on the way.
    pub tally: Arc<Tally>,
}

/// How often something happened in the transitions of a search: shows that it came to pass at all.
#[derive(Debug, Default)]
pub struct Tally {
    arrivals: AtomicU64,
    failures: AtomicU64,
    reboots: AtomicU64,
}

impl Tally {
    /// Data packets that arrived.
    pub fn arrivals(&self) -> u64 {
        self.arrivals.load(Ordering::Relaxed)
    }
    /// Unicasts that failed in flight.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
    /// Reboots.
    pub fn reboots(&self) -> u64 {
        self.reboots.load(Ordering::Relaxed)
    }
    pub(crate) fn arrived(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn rebooted(&self) {
        self.reboots.fetch_add(1, Ordering::Relaxed);
    }
}

/// How a search ended.
#[derive(Debug)]
pub struct Outcome {
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

/// How a rule is broken.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// One line a step.
    pub steps: Vec<String>,
    /// What is wrong in the end.
    pub complaint: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, s) in self.steps.iter().enumerate() {
            writeln!(f, "{:>3}: {s}", i + 1)?;
        }
        writeln!(f, "   => {}", self.complaint)
    }
}

struct Explored<P> {
    x: Arc<Exploration<P>>,
    /// The flows that may send the first packet.
    first: Vec<usize>,
}

impl<P: Checked> Exploration<P> {
    fn complaint(&self, w: &World<P>) -> Option<String> {
        let names = Names(self.topology.nodes());
        let step = w.wrong_step.map(|(i, what)| format!("{}: {what}", names.node(i)));
        step.or_else(|| self.rules.iter().find_map(|rule| rule(w, names)))
    }

    /// Searches.
    pub fn run(self) -> Outcome {
        self.run_and_tell(None)
    }

    /// Searches, and says every ten seconds or so how far it is.
    pub fn run_and_tell(self, progress: Option<Progress>) -> Outcome {
        let x = Arc::new(self);
        let all = (0..x.flows.len()).collect();
        let first = if x.symmetric { x.topology.different(&x.flows) } else { all };
        let mut builder = Explored { x: Arc::clone(&x), first }
            .checker()
            .threads(x.threads.max(1))
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
        Outcome {
            unique: checker.unique_state_count(),
            generated,
            depth: checker.max_depth(),
            complete: counterexample.is_none() && (x.most_states == 0 || generated < x.most_states),
            counterexample,
        }
    }

    pub(crate) fn complaint_at_end(&self, w: &World<P>) -> String {
        self.complaint(w).unwrap_or_default()
    }
}

const RULES: &str = "the rules hold";

impl<P: Checked> Model for Explored<P> {
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

/// The budget in words, for reports.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.packets, "packets"),
            (self.losses, "losses"),
            (self.overtakings, "overtakings"),
            (self.unheard, "unheard"),
            (self.breaks, "breaks"),
            (self.restores, "restores"),
            (self.reboots, "reboots"),
            (self.waits, "waits"),
        ];
        let words: Vec<String> =
            all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        f.write_str(&words.join(", "))
    }
}
