//! The programs of a run: each starts when its time has come and its node is up, and some start again after they ended.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use wayhop_core::{Span, Time};
use wayhop_trace::ProgramExit;

use crate::namespace::Namespace;
use crate::program::{Launch, ProgramEnd, Restart, command_status, program_exit, start};
use crate::registry::Registry;

/// A program that ends at once is started again no more often.
const RESTART_DELAY: Span = Span::from_secs(1);

/// What starts the programs of a run, and hears of their ends.
pub struct ProgramRunner<'a> {
    plan: Vec<(Time, Launch)>,
    /// The programs by their times, and the next of them.
    order: Vec<usize>,
    next: usize,
    main: Option<usize>,
    registry: &'a Registry,
    /// Programs whose time came while their node was down.
    waiting: Vec<usize>,
    /// Programs that an outage ended.
    killed: BTreeSet<usize>,
    /// How often each was started: the end of an earlier start may be heard of after a later one began.
    starts: Vec<u32>,
    /// Programs that start again, with the times, in their order.
    restarts: VecDeque<(Time, usize)>,
    /// The rows of programs in `results.exits`.
    rows: BTreeMap<usize, usize>,
    ended: (Sender<ProgramEnd>, Receiver<ProgramEnd>),
    wake: Arc<dyn Fn() + Send + Sync>,
    /// What came of them.
    pub results: ProgramResults,
}

/// What came of the programs of a run.
#[derive(Debug, Default)]
pub struct ProgramResults {
    /// Whether the main program has ended, and the run with it.
    pub is_over: bool,
    /// The main program's exit status; 128 and the signal's number if a signal ended it.
    pub command_exit: Option<i32>,
    /// Programs that could not be started, or failed: what to tell the user.
    pub complaints: Vec<String>,
    /// The other programs that ended before the run did.
    pub exits: Vec<ProgramExit>,
}

impl<'a> ProgramRunner<'a> {
    /// None has started yet. `main` is the number of the one with which the run ends; `wake` is called whenever one has ended.
    pub fn new(
        plan: Vec<(Time, Launch)>,
        main: Option<usize>,
        registry: &'a Registry,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let mut order: Vec<usize> = (0..plan.len()).collect();
        order.sort_by_key(|&i| plan[i].0);
        Self {
            starts: vec![0; plan.len()],
            plan,
            order,
            next: 0,
            main,
            registry,
            waiting: Vec::new(),
            killed: BTreeSet::new(),
            restarts: VecDeque::new(),
            rows: BTreeMap::new(),
            ended: channel(),
            wake: Arc::new(wake),
            results: ProgramResults::default(),
        }
    }

    /// When the next one is due.
    pub fn next_due(&self) -> Option<Time> {
        let first = self.order.get(self.next).map(|&i| self.plan[i].0);
        first.into_iter().chain(self.restarts.front().map(|(at, _)| *at)).min()
    }

    /// Starts the first whose time has come, if there is one. A start takes milliseconds: the caller sees to its own events before the
    /// next.
    pub fn start_due<'n>(
        &mut self,
        now: Time,
        is_up: impl Fn(u32) -> bool,
        namespace: impl Fn(u32) -> &'n Namespace,
    ) {
        if let Some(&i) = self.order.get(self.next).filter(|&&i| self.plan[i].0 <= now) {
            self.next += 1;
            let node = self.plan[i].1.node;
            if is_up(node) {
                self.start(i, namespace(node), false);
            } else {
                self.waiting.push(i);
            }
        } else if let Some(&(_, i)) = self.restarts.front().filter(|(at, _)| *at <= now) {
            self.restarts.pop_front();
            let node = self.plan[i].1.node;
            if is_up(node) {
                self.start(i, namespace(node), true);
            } else {
                self.killed.insert(i);
            }
        }
    }

    /// A node went down, and its programs with it.
    pub fn node_down(&mut self, node: u32) {
        let (plan, exits) = (&self.plan, &self.results.exits);
        let has_succeeded =
            |i: &usize| self.rows.get(i).and_then(|row| exits.get(*row)).is_some_and(|e| e.exit == Some(0));
        let is_done = |i: &usize| plan[*i].1.restart == Restart::OnFailure && has_succeeded(i);
        let here = self.order[..self.next].iter().filter(|&&i| plan[i].1.node == node);
        self.killed.extend(here.filter(|i| !self.waiting.contains(i) && !is_done(i)));
        self.restarts.retain(|(_, i)| plan[*i].1.node != node);
    }

    /// A node is up again: those whose time came meanwhile start, and those that come back.
    pub fn node_up(&mut self, node: u32, namespace: &Namespace) {
        let plan = &self.plan;
        let due: Vec<usize> = self.waiting.extract_if(.., |i| plan[*i].1.node == node).collect();
        let returns = |i: &usize| plan[*i].1.node == node && plan[*i].1.restart != Restart::Never;
        let back: Vec<usize> = self.killed.iter().copied().filter(returns).collect();
        self.killed.retain(|i| !due.contains(i) && !back.contains(i));
        for i in due {
            self.start(i, namespace, false);
        }
        for i in back {
            self.start(i, namespace, self.plan[i].1.restart != Restart::AfterOutage);
        }
    }

    /// Takes note of those that have ended.
    pub fn hear_of_ends(&mut self, now: Time) {
        while let Ok(((i, start), status)) = self.ended.1.try_recv() {
            if start == self.starts[i] {
                self.program_ended(now, i, &status);
            }
        }
    }

    fn start(&mut self, i: usize, namespace: &Namespace, again: bool) {
        let wake = Arc::clone(&self.wake);
        let ended = self.ended.0.clone();
        self.starts[i] += 1;
        let (launch, number) = (&self.plan[i].1, (i, self.starts[i]));
        if let Err(e) = start((number, again), launch, namespace, self.registry, ended, move || wake()) {
            // One that cannot be started is not tried again.
            self.program_ended(Time::ZERO, i, &Err(e));
        }
    }

    fn program_ended(&mut self, now: Time, i: usize, status: &io::Result<ExitStatus>) {
        let launch = &self.plan[i].1;
        let ended = program_exit(launch, status);
        let again = status.as_ref().is_ok_and(|status| launch.restart.follows(*status));
        let results = &mut self.results;
        if self.main == Some(i) {
            results.is_over = true;
            results.command_exit = Some(command_status(status));
            results.complaints.extend(ended.failure().filter(|_| ended.exit.is_none()));
        } else if !self.killed.contains(&i) {
            // One that went down with its node did not fail. Of one that fails again and again, the first time is told.
            let row = *self.rows.entry(i).or_insert(results.exits.len());
            let before = results.exits.get(row).and_then(|e| e.restarts);
            if before.is_none() {
                results.complaints.extend(ended.failure());
            }
            let restarts = before.unwrap_or(0) + u32::from(again);
            let ended = ProgramExit { restarts: (restarts > 0).then_some(restarts), ..ended };
            match results.exits.get_mut(row) {
                Some(last) => *last = ended,
                None => results.exits.push(ended),
            }
            if again {
                self.restarts.push_back((now + RESTART_DELAY, i));
            }
        }
    }
}
