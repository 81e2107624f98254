//! `wayhop sweep`.

mod chunk;
pub(crate) mod cost;
mod engine;
mod slurm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, thread};

use wayhop_core::file_name;
use wayhop_runs::interruption::stop_on_signal;
use wayhop_sweep::{
    Axis, Changes, Plan, Prepared, Seeds, SweepError, SweepOutcome, differences_csv, go, is_sweep, json,
    table_csv, text,
};
use wayhop_trace::Status;

use crate::failure::{Failure, put, say, usage, warn};
use crate::job_progress::JobProgress;
use crate::scenario_args::whole;
use crate::sweep_check;

pub(crate) const EXAMPLES: &str = "\
Writes DIR/runs.jsonl, one line per finished run; run the same command to resume with the missing runs. The tables are \
DIR/table.csv and DIR/differences.csv, and DIR/plan.toml is the plan with all changes from the command line \
(docs/reference/sweep.md). `wayhop plot DIR` draws figures.

Examples:
  wayhop sweep scenarios/sweeps/protocols.toml --check
  wayhop sweep scenarios/sweeps/protocols.toml
  wayhop sweep first.toml --vary protocol.name=dsr,aodv --vary nodes.count=20,50 --seeds 10
  wayhop sweep scenarios/sweeps/protocols.toml --seeds 3 --vary speed='up to 2 m/s' --out runs/slow
  wayhop sweep scenarios/sweeps/chains.toml --out runs/chains --jobs 4 --json

On many machines (docs/concepts/clusters.md):
  wayhop sweep scenarios/sweeps/protocols.toml --on dask:tcp://HOST:8786
  wayhop sweep scenarios/sweeps/protocols.toml --on slurm --jobs 40
  wayhop sweep scenarios/sweeps/protocols.toml --slurm-script > job.sh";

#[derive(Debug, clap::Args)]
pub(crate) struct SweepArgs {
    /// Plan in TOML (keys: docs/reference/sweep.md), or a scenario file with --vary or --seeds
    pub(crate) plan: PathBuf,
    /// Add an axis: a key of the scenario and its values, each as for --set (repeatable). Replaces the plan's axis with this
    /// key or name
    #[arg(long = "vary", value_name = "KEY=VALUE,...", value_parser = Axis::parse)]
    pub(crate) axes: Vec<Axis>,
    /// Seeds of each combination: a count (10 means seeds 1 to 10), a range (3..12) or a list (1,4,9)
    #[arg(long, value_name = "SEEDS", value_parser = Seeds::parse, allow_hyphen_values = true)]
    pub(crate) seeds: Option<Seeds>,
    /// Set a key of the scenario in all runs (repeatable)
    #[arg(long = "set", value_name = "PATH.KEY=VALUE")]
    pub(crate) sets: Vec<String>,
    /// Figure to summarise, named as in the summary of `wayhop run --json`: delivery_ratio, latency_ms.p95,
    /// flows.0.goodput_bps (repeatable). Replaces the plan's metrics
    #[arg(long = "metric", value_name = "FIGURE")]
    pub(crate) metrics: Vec<String>,
    /// Write a run directory with tables for each run, in DIR/runs; runs without one are repeated
    #[arg(long)]
    pub(crate) tables: bool,
    /// Write a capture of each node as well
    #[arg(long)]
    pub(crate) captures: bool,
    /// Folder for the results. Default: runs/sweep-NAME, or DIR for the DIR/plan.toml of an earlier sweep
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Number of runs at a time; with --on slurm, number of SLURM jobs. Default: the number of processors
    #[arg(long, value_name = "N", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    #[command(flatten)]
    pub(crate) instead: InsteadArgs,
    /// File for the results of --chunk; - is standard output. Default: a file in DIR/chunks
    #[arg(long, value_name = "FILE", requires = "chunk")]
    pub(crate) results: Option<PathBuf>,
}

/// What is done instead of running the plan here. At most one is given.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct InsteadArgs {
    /// List the runs without running them
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the number of runs left and the estimated time and disk space, without running
    #[arg(long, conflicts_with_all = ["json", "csv", "quiet"])]
    pub(crate) check: bool,
    /// Run the plan on other machines: dask:ADDRESS, a Dask scheduler such as dask:tcp://HOST:8786, or slurm. Needs Python
    #[arg(long, value_name = "ENGINE")]
    pub(crate) on: Option<String>,
    /// Print a script for sbatch that runs the plan as an array of jobs
    #[arg(long, conflicts_with_all = ["json", "csv", "quiet"])]
    pub(crate) slurm_script: bool,
    /// Run a part of the plan, as a worker: the K-th of N parts, or the runs listed in FILE (- is standard input) as NUMBER ID
    #[arg(long, value_name = "K/N|FILE", conflicts_with_all = ["json", "csv"])]
    pub(crate) chunk: Option<String>,
    /// Merge the results of workers and write the tables, without running
    #[arg(long)]
    pub(crate) merge: bool,
    /// Merge the results of workers, and print the runs left and the files that they read, as JSON for a coordinator
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    pub(crate) prepare: bool,
}

/// How results are shown.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Print the tables as one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the table as CSV
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print no progress or table
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
    let plan = Plan::load_either(&a.plan).map_err(Failure::usage)?;
    if plan.is_of_scenario() && a.axes.is_empty() && a.seeds.is_none() {
        return Err(usage!(
            "{}: this is a scenario, and nothing varies; add --vary KEY=VALUE,VALUE or --seeds N, or give a plan (a file \
             with the key `scenario`)",
            a.plan.display()
        ));
    }
    let changes = Changes {
        seeds: a.seeds.clone(),
        axes: a.axes.clone(),
        sets: a.sets.clone(),
        metrics: a.metrics.clone(),
        tables: a.tables,
        captures: a.captures,
    };
    let plan = plan.changed(&changes)?;
    if a.instead.list {
        let runs = plan.runs().map_err(Failure::usage)?;
        let lines: Vec<String> = runs.iter().map(|r| format!("--set {}\n", r.sets.join(" --set "))).collect();
        put(lines.concat())?;
        return Ok(ExitCode::SUCCESS);
    }
    let dir = a.out.clone().unwrap_or_else(|| default_dir(&a.plan, &plan));
    match &a.instead {
        InsteadArgs { check: true, .. } => sweep_check::check(&plan, &dir, threads(a.jobs)),
        InsteadArgs { slurm_script: true, .. } => slurm::script(&plan, &dir, warning(false)),
        InsteadArgs { prepare: true, .. } => chunk::prepare(&plan, &dir, warning(a.show.quiet)),
        InsteadArgs { merge: true, .. } => merge(&plan, &dir, &a.show),
        InsteadArgs { on: Some(engine), .. } => {
            let done = engine::run(&plan, &dir, engine, a.jobs, a.show.quiet, warning(a.show.quiet))?;
            if done { merge(&plan, &dir, &a.show) } else { Ok(Status::Interrupted.into()) }
        }
        InsteadArgs { chunk: Some(chunk), .. } => {
            chunk::run(&plan, chunk, (&dir, a.results.as_deref()), threads(a.jobs), a.show.quiet)
        }
        _ => make(&plan, &dir, a.jobs, &a.show),
    }
}

/// The plan of an earlier sweep resumes in its own folder.
fn default_dir(file: &Path, plan: &Plan) -> PathBuf {
    let folder = file.parent().filter(|f| file.ends_with("plan.toml") && is_sweep(f));
    folder.map_or_else(
        || PathBuf::from(format!("runs/sweep-{}", file_name(&plan.sweep.name))),
        Path::to_path_buf,
    )
}

/// Runs at a time.
pub(crate) fn threads(jobs: Option<u32>) -> usize {
    jobs.map_or_else(|| thread::available_parallelism().map_or(1, usize::from), |n| n as usize)
}

/// Runs a plan, writes its tables and shows them.
pub(crate) fn make(plan: &Plan, dir: &Path, jobs: Option<u32>, show: &ShowArgs) -> Result<ExitCode, Failure> {
    let runs = plan.runs().map_err(Failure::usage)?;
    let stop = stop_on_signal()?;
    let progress = JobProgress::new(runs.len(), "runs", show.quiet);
    let outcome = go(plan, dir, threads(jobs), &stop, |done, _| progress.at(done), warning(show.quiet));
    progress.done();
    let outcome = outcome?;
    save(show, plan, &outcome, dir)?;
    if outcome.done == outcome.runs {
        return Ok(ExitCode::SUCCESS);
    }
    say!(
        "wayhop: interrupted after {} of {} runs; run the same command to resume; results so far are in {}",
        outcome.done,
        outcome.runs,
        dir.display()
    );
    Ok(Status::Interrupted.into())
}

/// Prints a warning, unless it is not wanted.
fn warning(quiet: bool) -> impl FnMut(&str) {
    move |w: &str| {
        if !quiet {
            warn([&w.to_owned()]);
        }
    }
}

/// Merges the results of workers, and shows what is done.
fn merge(plan: &Plan, dir: &Path, show: &ShowArgs) -> Result<ExitCode, Failure> {
    let outcome = Prepared::new(plan, dir, warning(show.quiet))?.merged(plan);
    save(show, plan, &outcome, dir)?;
    let missing = outcome.runs - outcome.done;
    if missing > 0 {
        let (runs, dir) = (outcome.runs, dir.display());
        let remedy = format!("run the workers again, or here: wayhop sweep {dir}/plan.toml");
        return Err(Failure::Run(format!("{dir}: {missing} of {runs} runs are missing; {remedy}")));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the tables and prints them.
fn save(show: &ShowArgs, plan: &Plan, outcome: &SweepOutcome, dir: &Path) -> Result<(), Failure> {
    let results = &outcome.results;
    for (file, text) in [("table.csv", table_csv(results)), ("differences.csv", differences_csv(results))] {
        let path = dir.join(file);
        fs::write(&path, text).map_err(Failure::write(&path))?;
    }
    print(show, plan, outcome, dir)
}

fn print(show: &ShowArgs, plan: &Plan, outcome: &SweepOutcome, dir: &Path) -> Result<(), Failure> {
    let shown = if show.json {
        format!("{}\n", json(&plan.sweep.name, outcome))
    } else if show.csv {
        table_csv(&outcome.results)
    } else if show.quiet {
        return Ok(());
    } else {
        let recorded = outcome.recorded_bytes.map_or_else(String::new, |bytes| {
            format!("; the run directories in {} take {}", dir.join("runs").display(), size(bytes))
        });
        format!("{}\nsaved in {}{recorded}\n", text(outcome), dir.display())
    };
    put(&shown)
}

fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.0} kB", (b / 1e3).ceil()),
    }
}
