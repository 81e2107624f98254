//! How long the study took.

use wayhop_report::{Row, Section};

use super::plan::Mechanism;
use super::transfer::Transfers;

#[derive(Clone, Debug, Default)]
pub(crate) struct Speed {
    runs: usize,
    /// One after the other, seconds.
    total_s: f64,
    /// From the first to the last, if all were made at once, seconds.
    elapsed_s: Option<f64>,
    threads: usize,
}

impl Speed {
    /// Of these transfers, made within `elapsed_s` if that is known.
    pub(crate) fn new(transfers: &Transfers, elapsed_s: Option<f64>, threads: usize) -> Self {
        let (runs, total_s) = transfers.time(Mechanism::Reno);
        Self { runs, total_s, elapsed_s, threads }
    }

    pub(crate) fn section(&self) -> Section {
        let who = format!("{} runs over Reno", self.runs);
        let row = |quantity| Row::new("Time", &who, quantity, None);
        let elapsed = row("elapsed_s")
            .with([self.elapsed_s])
            .note(format!("On this machine, {} at a time.", self.threads));
        let total = row("one_after_the_other_s").with([Some(self.total_s).filter(|_| self.runs > 0)]);
        Section::new("Time", "The study without mechanisms: every pattern at four speeds.")
            .rows(vec![elapsed, total.note("The sum of the runs' own times.")])
    }
}
