//! `wayhop run --seeds`: a sweep over seeds only.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_core::file_name;
use wayhop_runs::{Clock, memory, why_one_thread};
use wayhop_scenario::Resolved;
use wayhop_sweep::{Changes, Plan, Seeds, continues, totals};

use super::args::{RunArgs, RunCommand};
#[cfg(feature = "linux")]
use crate::failure::say;
use crate::failure::{Failure, usage, warn};
use crate::run::{run, warnings};
use crate::scenario_args::is_standard_input;
use crate::sweep::{ShowArgs, make};

const MOST_FOLDERS: u32 = 10_000;

pub(crate) fn run_command(a: &RunCommand) -> Result<ExitCode, Failure> {
    match &a.seeds {
        #[cfg(feature = "linux")]
        None => run(&a.run, |resolved| a.clock(resolved)),
        #[cfg(not(feature = "linux"))]
        None => run(&a.run, |resolved| Ok(Clock::Free { threads: a.useful_threads(resolved) })),
        Some(seeds) => with_seeds(a, seeds),
    }
}

impl RunCommand {
    /// The threads that simulate: one, with a warning, where more are of no use.
    fn useful_threads(&self, resolved: &Resolved) -> usize {
        match why_one_thread(resolved) {
            Some(why) if self.threads > 1 => {
                if !self.run.quiet {
                    warn(&[format!("--threads: {why}")]);
                }
                1
            }
            _ => self.threads as usize,
        }
    }

    /// The requested clock; prints how to follow a paced run.
    #[cfg(feature = "linux")]
    fn clock(&self, resolved: &Resolved) -> Result<Clock, Failure> {
        let Some(speed) = self.pace else {
            return Ok(Clock::Free { threads: self.useful_threads(resolved) });
        };
        let clock = Clock::paced(resolved, speed)?;
        if let Clock::Paced { control, .. } = &clock
            && !self.run.quiet
        {
            let name = control.name();
            say!("watch:    wayhop studio --live {name}");
            say!("control:  wayhop ctl --run {name} tables, position, link, params, watch, ...");
        }
        Ok(clock)
    }
}

fn with_seeds(a: &RunCommand, seeds: &Seeds) -> Result<ExitCode, Failure> {
    let r = &a.run;
    let file = scenario_file(r)?;
    r.geometry()?;
    let scenario = r.source.load()?;
    memory::check_count(&scenario)?;
    let resolved = scenario.resolve()?;
    if !r.quiet {
        warn(&resolved.warnings);
        warn(&warnings(&resolved));
    }
    let mut sets = r.source.changes.all_sets();
    if r.ns2_trace {
        sets.push("output.ns2_trace=true".to_owned());
    }
    let mut plan = Plan::of_scenario(file);
    plan.sweep.name = format!("{}-{}-seeds", file_name(&resolved.name), resolved.protocol.name());
    plan.sweep.topology = r.topology;
    plan.sweep.chains.clone_from(&r.geometry.chains);
    let metrics = if a.metrics.is_empty() { totals(&resolved) } else { a.metrics.clone() };
    let seeds = Some(seeds.clone());
    let plan = plan.changed(&Changes {
        seeds,
        sets,
        metrics,
        tables: true,
        captures: r.captures,
        axes: Vec::new(),
    })?;
    let dir = r.out.clone().map_or_else(|| default_dir(&plan), Ok)?;
    make(&plan, &dir, a.jobs, &ShowArgs { json: r.json, csv: false, quiet: r.quiet })
}

/// The scenario's file, if all options apply to several runs.
fn scenario_file(r: &RunArgs) -> Result<&Path, Failure> {
    let not = |option: &str, remedy: &str| Err(usage!("{option} with --seeds: {remedy}"));
    if r.source.changes.seed.is_some() {
        return not("--seed", "the two exclude each other; use one of them");
    }
    if r.check {
        return not("--check", "--check covers a single run; remove --seeds");
    }
    if r.no_out {
        return not(
            "--no-out",
            "the results need a folder; remove --no-out, or use `wayhop sweep SCENARIO --seeds`, which writes no run \
             directories",
        );
    }
    if r.record.is_wanted() {
        return not(
            "--record-inputs",
            "inputs are recorded for a single run only; use --seed instead of --seeds",
        );
    }
    if r.receptions.is_wanted() {
        return not(
            "--receptions",
            "the scenario decides what the runs of a sweep record; use --set receptions.all=true",
        );
    }
    if r.geometry.range.is_some() {
        return not("--range", "a sweep always uses the range of the radios; remove --range");
    }
    match (&r.source.scenario, &r.source.movement) {
        (Some(path), _) if is_standard_input(path) => {
            not("standard input", "a sweep reads its scenario again when it resumes; give a file")
        }
        (None, Some(_)) => not(
            "--movement",
            "create a scenario file first: wayhop import ns2 --movement FILE --out SCENARIO.toml",
        ),
        (Some(path), _) => Ok(path),
        // Says what is missing.
        (None, None) => r.source.load().and(Err(usage!("no scenario: give a scenario file"))),
    }
}

/// The first folder that is free, or holds runs with the same settings.
fn default_dir(plan: &Plan) -> Result<PathBuf, Failure> {
    let numbered = |n: u32| {
        let number = if n > 1 { format!("-{n}") } else { String::new() };
        PathBuf::from(format!("runs/{}{number}", plan.sweep.name))
    };
    let is_ours = |dir: &PathBuf| !dir.exists() || continues(plan, dir);
    (1..=MOST_FOLDERS).map(numbered).find(is_ours).ok_or_else(|| {
        let first = numbered(1);
        usage!("{} to -{MOST_FOLDERS}: all are in use; choose a folder with --out", first.display())
    })
}
