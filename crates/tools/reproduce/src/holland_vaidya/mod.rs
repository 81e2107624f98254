//! G. Holland, N. Vaidya: *Analysis of TCP Performance over Mobile Ad Hoc Networks, Part II*, Texas A&M TR 99-005, 1999.
//!
//! Thirty nodes that never pause, one endless TCP connection over DSR, 50 patterns of movement,
//! each at 2, 10, 20 and 30 m/s. Conditions are computed from the movement by the topology oracle
//! (Figure 3); the throughput is compared with the expectation from fixed chains (equation 1); and
//! each mechanism against lost routes runs the same patterns again.

mod arp;
mod chains;
mod conditions;
mod every_pattern;
mod mechanisms;
mod options;
mod paper;
mod plan;
mod sources;
mod store;
#[cfg(test)]
mod tests;
mod throughput;
mod transfer;

pub use options::Options;
pub use plan::Mechanism;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use wayhop_report::{Page, Row, Section};

use crate::outcome::{cannot_write, facts, missing_runs, write};
use crate::simulate::each;
use crate::{Outcome, RunError, Runs};
use chains::Chains;
use conditions::Conditions;
use every_pattern::PatternTable;
use plan::Job;
use store::Store;
use transfer::{Seconds, Transfer, Transfers};

const FILES: &[(&str, &str)] = &[
    ("pattern.toml", include_str!("../../../../../scenarios/holland-vaidya/pattern.toml")),
    ("chain.toml", include_str!("../../../../../scenarios/holland-vaidya/chain.toml")),
];

/// The number of runs that [`reproduce`] makes.
pub fn runs(options: &Options) -> usize {
    let variants = 1 + options.others().len() + options.without_arp().len();
    let transfers = options.runs.seeds as usize * plan::SPEEDS_MPS.len() * variants;
    plan::chains().len() + transfers
}

/// Makes all runs and sets what they show beside the paper's numbers. The scenarios are written to `dir/scenarios`, each
/// run's result to `dir/runs.jsonl`, where the next call finds it. `clock` tells the time in seconds. `done` is told after
/// each run how many are made; a raised `stop` ends with what there is.
pub fn reproduce(
    options: &Options,
    dir: &Path,
    stop: &AtomicBool,
    clock: impl Fn() -> f64 + Sync,
    done: impl Fn(usize) + Sync,
) -> Result<Outcome, String> {
    let runs = Runs::new(dir, FILES, options.runs.keep_runs, stop)?;
    let store = Store::open(dir, store::program(FILES));
    let store = store.map_err(|e| cannot_write(&dir.join(store::NAME), e))?;
    let study = Study { options, dir, runs: &runs, store: &store, stop, clock: &clock };
    let mut found = Results::default();
    let patterns: Vec<u64> = options.runs.each_seed().collect();
    for &pattern in &patterns {
        let job = Job::Pattern { pattern, speed_mps: plan::BASE_MPS, mechanism: Mechanism::Reno };
        let scenario = job.resolve(&runs)?;
        found.conditions.extend(Conditions::new(pattern, &scenario));
    }
    let mut made = 0;
    let mut make = |found: &mut Results, jobs: &[Job]| {
        let fresh = study.run(found, jobs, |n| done(made + n));
        made += jobs.len();
        fresh
    };
    make(&mut found, &plan::chains())?;
    // The study as the paper has it, and the time that it takes.
    let began = clock();
    let fresh = make(&mut found, &plan::transfers(&patterns, &[Mechanism::Reno]))?;
    found.speed = Speed::new(&found.transfers, fresh.then(|| clock() - began), options.runs.threads);
    make(&mut found, &plan::without_arp(&patterns, &options.without_arp()))?;
    make(&mut found, &plan::transfers(&patterns, &options.others()))?;
    let chains = chains::throughput(&found.chains);
    let mechanisms = [vec![Mechanism::Reno], options.others()].concat();
    let table = PatternTable::new(&found.conditions, &found.transfers, &mechanisms, chains.as_ref());
    write(&dir.join("patterns.csv"), &table.csv())?;
    write(&dir.join("patterns.html"), &table.sheet(&options.command()).html()?)?;
    Ok(found.outcome(options, dir))
}

fn patterns(count: usize) -> String {
    if count == 1 { "1 pattern".to_owned() } else { format!("{count} patterns") }
}

/// What all runs have in common.
struct Study<'a> {
    options: &'a Options,
    dir: &'a Path,
    runs: &'a Runs<'a>,
    store: &'a Store,
    stop: &'a AtomicBool,
    clock: &'a (dyn Fn() -> f64 + Sync),
}

impl Study<'_> {
    /// Makes these runs, or finds them made, and returns whether all of them were made just now.
    fn run(&self, found: &mut Results, jobs: &[Job], done: impl Fn(usize) + Sync) -> Result<bool, String> {
        let mut fresh = true;
        let add = |job: &Job, (transfer, made)| {
            fresh &= made;
            found.add(*job, transfer);
        };
        let missing = each(jobs, (self.options.runs.threads, self.stop), done, |job| self.one(*job), add)?;
        found.missing += missing;
        Ok(fresh && missing == 0)
    }

    /// One run, and whether it was made just now.
    fn one(&self, job: Job) -> Result<(Transfer, bool), RunError> {
        if let Some(known) = self.store.known(job).filter(|_| !self.options.runs.keep_runs) {
            return Ok((known, false));
        }
        let scenario = job.resolve(self.runs)?;
        // Profiles are drawn of Reno.
        let drawn = matches!(job, Job::Pattern { mechanism: Mechanism::Reno, .. });
        let length_s = if drawn { scenario.duration.as_secs_f64() } else { 0.0 };
        let began = (self.clock)();
        let (seen, summary) = self.runs.summarise(&scenario, Seconds::new(length_s))?;
        let transfer = Transfer::new(&summary, seen, (self.clock)() - began);
        let kept = self.store.add(job, &transfer);
        kept.map_err(|e| {
            // Stop, since further results could not be saved.
            self.stop.store(true, Ordering::Relaxed);
            let path = self.dir.join(store::NAME);
            RunError::Scenario(format!("cannot write {}: {e}; earlier results are kept", path.display()))
        })?;
        Ok((transfer, true))
    }
}

#[derive(Default)]
struct Results {
    conditions: Vec<Conditions>,
    chains: Chains,
    transfers: Transfers,
    without_arp: Transfers,
    speed: Speed,
    missing: usize,
}

impl Results {
    fn add(&mut self, job: Job, transfer: Transfer) {
        match job {
            Job::Chain { hops, .. } => self.chains[hops - 1].push(transfer.kbps),
            Job::Pattern { pattern, speed_mps, mechanism } => {
                self.transfers.add(pattern, speed_mps, mechanism, transfer);
            }
            Job::WithoutArp { pattern, speed_mps, mechanism } => {
                self.without_arp.add(pattern, speed_mps, mechanism, transfer);
            }
        }
    }

    fn sections(&self, options: &Options) -> Vec<Section> {
        let chains = chains::throughput(&self.chains);
        let profiles = self.conditions.iter().filter(|c| options.profiles.contains(&c.pattern));
        let first = vec![
            arp::section(&self.conditions, &self.transfers, &self.without_arp, chains.as_ref()),
            conditions::section(&self.conditions),
            chains::section(&self.chains),
            throughput::section(&self.conditions, &self.transfers, chains.as_ref()),
        ];
        let last = [
            Section::new("Figures 4 to 53: profiles", "Draw other patterns with --pattern N.")
                .figures(profiles.map(|c| conditions::figure(c, &self.transfers))),
            self.speed.section(),
        ];
        let mechanisms = mechanisms::section(&self.conditions, &self.transfers, &options.others());
        first.into_iter().chain(mechanisms).chain(last).collect()
    }

    fn outcome(&self, options: &Options, dir: &Path) -> Outcome {
        let (first, last) = (options.runs.first_seed, options.runs.first_seed + options.runs.seeds - 1);
        let patterns_in_words =
            format!("our own, the seeds {first} to {last}; intervals are Student's t over patterns, 95 %");
        let own: [(&str, &str); 4] = [
            (
                "Paper",
                "Holland, Vaidya: Analysis of TCP Performance over Mobile Ad Hoc Networks, Part II, Texas A&M University TR 99-005, 1999",
            ),
            ("Scenarios", "pattern.toml and chain.toml in the folder scenarios beside this page"),
            ("Patterns", &patterns_in_words),
            ("Every pattern", "patterns.html and patterns.csv beside this page; every run: runs.jsonl"),
        ];
        let missing = missing_runs(self.missing, runs(options));
        let page = Page {
            title: "TCP over mobile ad hoc networks, reproduced".to_owned(),
            lead: format!(
                "An endless TCP connection between two of thirty constantly moving nodes, on {} of movement at four \
                 speeds: what the movement allowed, what TCP achieved, and what mechanisms against lost routes gain.",
                patterns(self.conditions.len())
            ),
            facts: facts(&own, missing.map(|what| what + ". Run the same command to resume")),
            command: options.command(),
            sections: self.sections(options),
        };
        let complete = self.missing == 0;
        Outcome::new("holland-vaidya", page, complete, |row| sources::behind(row, dir, options))
    }
}

#[derive(Clone, Debug, Default)]
struct Speed {
    runs: usize,
    /// One after the other, seconds.
    total_s: f64,
    /// From the first to the last, if all were made at once, seconds.
    elapsed_s: Option<f64>,
    threads: usize,
}

impl Speed {
    /// Of these transfers, made within `elapsed_s` if that is known.
    fn new(transfers: &Transfers, elapsed_s: Option<f64>, threads: usize) -> Self {
        let (runs, total_s) = transfers.time(Mechanism::Reno);
        Self { runs, total_s, elapsed_s, threads }
    }

    fn section(&self) -> Section {
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
