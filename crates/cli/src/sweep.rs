//! `wayhop sweep`.

use std::fs;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use wayhop_core::file_name;
use wayhop_runs::interruption::stop_on_signal;
use wayhop_sweep::{Outcome, Plan, SweepError, differences_csv, go, json, table_csv, text};
use wayhop_trace::Status;

use crate::failure::{Failure, output, say};
use crate::job_progress::JobProgress;
use crate::scenario_args::whole;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Writes DIR/runs.jsonl, one line a run, as runs end; called again, it makes only those that are missing. Tables are in \
DIR/table.csv and DIR/differences.csv (docs/reference/sweep.md).

Examples:
  wayhop sweep scenarios/sweeps/protocols.toml
  wayhop sweep scenarios/sweeps/chains.toml --out runs/chains --jobs 4 --json";

#[derive(Debug, clap::Args)]
pub(crate) struct SweepArgs {
    /// Plan (TOML; docs/reference/sweep.md lists its keys)
    pub(crate) plan: PathBuf,
    /// Folder for the results; without it runs/sweep-NAME
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Runs at a time; without it, as many as there are processors
    #[arg(long, value_name = "N", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// Print the tables as one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the table as CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// List the runs, and make none
    #[arg(long)]
    pub(crate) list: bool,
    /// No progress, no table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl From<SweepError> for Failure {
    fn from(e: SweepError) -> Self {
        match e {
            SweepError::Usage(m) => Self::Usage(m),
            SweepError::Run(m) => Self::Run(m),
        }
    }
}

pub(crate) fn sweep(a: &SweepArgs) -> Result<ExitCode, Failure> {
    let plan = Plan::load(&a.plan).map_err(Failure::usage)?;
    let runs = plan.runs().map_err(Failure::usage)?;
    if a.list {
        let mut out = stdout().lock();
        output(runs.iter().try_for_each(|r| writeln!(out, "--set {}", r.sets.join(" --set "))))?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = file_name(&plan.sweep.name);
    let dir = a.out.clone().unwrap_or_else(|| PathBuf::from(format!("runs/sweep-{name}")));
    let threads =
        a.jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), |n| n as usize);
    let stop = stop_on_signal()?;
    let progress = JobProgress::new(runs.len(), "runs", a.quiet);
    let outcome = go(&plan, &dir, threads, &stop, |done, _| progress.at(done));
    progress.done();
    let outcome = outcome?;
    let results = &outcome.results;
    let copy = fs::read(&a.plan).map_err(Failure::usage)?;
    for (file, bytes) in [
        ("plan.toml", copy),
        ("table.csv", table_csv(results).into_bytes()),
        ("differences.csv", differences_csv(results).into_bytes()),
    ] {
        let path = dir.join(file);
        fs::write(&path, bytes).map_err(Failure::write(&path))?;
    }
    show(a, &plan, &outcome)?;
    if outcome.done == outcome.runs {
        return Ok(ExitCode::SUCCESS);
    }
    say!(
        "wayhop: stopped after {} of {} runs; the same command goes on, results are in {}",
        outcome.done,
        outcome.runs,
        dir.display()
    );
    Ok(Status::Interrupted.into())
}

fn show(a: &SweepArgs, plan: &Plan, outcome: &Outcome) -> Result<(), Failure> {
    let shown = if a.json {
        format!("{}\n", json(&plan.sweep.name, outcome))
    } else if a.csv {
        table_csv(&outcome.results)
    } else if a.quiet {
        return Ok(());
    } else {
        text(outcome)
    };
    output(stdout().write_all(shown.as_bytes()))
}
