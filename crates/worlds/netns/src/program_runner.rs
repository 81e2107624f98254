//! The programs of a run: each starts when its time has come and its node is up, and some start again after an outage.

use std::collections::BTreeSet;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use wayhop_core::Time;
use wayhop_trace::ProgramExit;

use crate::namespace::Namespace;
use crate::program::{Launch, ProgramEnd, command_status, program_exit, start};
use crate::registry::Registry;

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
            plan,
            order,
            next: 0,
            main,
            registry,
            waiting: Vec::new(),
            killed: BTreeSet::new(),
            ended: channel(),
            wake: Arc::new(wake),
            results: ProgramResults::default(),
        }
    }

    /// When the next one is due.
    pub fn next_due(&self) -> Option<Time> {
        self.order.get(self.next).map(|&i| self.plan[i].0)
    }

    /// Starts those whose time has come.
    pub fn start_due<'n>(
        &mut self,
        now: Time,
        is_up: impl Fn(u32) -> bool,
        namespace: impl Fn(u32) -> &'n Namespace,
    ) {
        while let Some(&i) = self.order.get(self.next).filter(|&&i| self.plan[i].0 <= now) {
            self.next += 1;
            let node = self.plan[i].1.node;
            if is_up(node) {
                self.start(i, namespace(node));
            } else {
                self.waiting.push(i);
            }
        }
    }

    /// A node went down, and its programs with it.
    pub fn node_down(&mut self, node: u32) {
        let here = self.order[..self.next].iter().filter(|&&i| self.plan[i].1.node == node);
        self.killed.extend(here.filter(|i| !self.waiting.contains(i)));
    }

    /// A node is up again: those whose time came meanwhile start, and those that come back.
    pub fn node_up(&mut self, node: u32, namespace: &Namespace) {
        let plan = &self.plan;
        let mut due: Vec<usize> = self.waiting.extract_if(.., |i| plan[*i].1.node == node).collect();
        let returns = |i: &usize| plan[*i].1.node == node && plan[*i].1.comes_back;
        due.extend(self.killed.iter().copied().filter(returns));
        self.killed.retain(|i| !due.contains(i));
        for i in due {
            self.start(i, namespace);
        }
    }

    /// Takes note of those that have ended.
    pub fn hear_of_ends(&mut self) {
        while let Ok((i, status)) = self.ended.1.try_recv() {
            self.program_ended(i, &status);
        }
    }

    fn start(&mut self, i: usize, namespace: &Namespace) {
        let wake = Arc::clone(&self.wake);
        let ended = self.ended.0.clone();
        if let Err(e) = start(i, &self.plan[i].1, namespace, self.registry, ended, move || wake()) {
            self.program_ended(i, &Err(e));
        }
    }

    fn program_ended(&mut self, i: usize, status: &io::Result<ExitStatus>) {
        let ended = program_exit(&self.plan[i].1, status);
        let results = &mut self.results;
        if self.main == Some(i) {
            results.is_over = true;
            results.command_exit = Some(command_status(status));
            results.complaints.extend(ended.failure().filter(|_| ended.exit.is_none()));
        } else if !self.killed.contains(&i) {
            // One that went down with its node did not fail.
            results.complaints.extend(ended.failure());
            results.exits.push(ended);
        }
    }
}
