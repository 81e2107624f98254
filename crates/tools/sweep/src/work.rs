//! The shared state of a plan's runs, and running one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wayhop_document::Error;
use wayhop_runs::run_dir::{self, World, named_files};
use wayhop_runs::{Clock, memory, simulate};
use wayhop_scenario::{Resolved, Scenario};
use wayhop_topology::{ChainThroughput, Hearing, annotate, pathless_warnings};
use wayhop_trace::{Recorder, Summary};

use crate::error::SweepError;
use crate::figures::{is_known, meant, specimen};
use crate::files::{Contents, hash};
use crate::folders::Folders;
use crate::matrix::PlannedRun;
use crate::plan::Plan;

/// Runs that are checked for flows without a path.
const MOST_LOOKED_AT: u32 = 16;

pub(crate) struct Work {
    scenario: PathBuf,
    text: String,
    topology: bool,
    captures: bool,
    chains: Option<ChainThroughput>,
    contents: Contents,
}

impl Work {
    pub(crate) fn new(plan: &Plan) -> Result<Self, SweepError> {
        let scenario = plan.scenario();
        let text = fs::read_to_string(&scenario).map_err(|e| {
            let reason = format!("cannot read {}: {e}", scenario.display());
            plan.error("scenario", reason, "give a scenario file, relative to the plan's folder")
        })?;
        let chains = plan.sweep.chains.as_ref().map(|path| chains(plan, path)).transpose()?;
        let topology = plan.sweep.topology || chains.is_some();
        let captures = plan.sweep.captures;
        Ok(Self { scenario, text, topology, captures, chains, contents: Contents::default() })
    }

    pub(crate) fn load(&self, run: &PlannedRun) -> Result<Scenario, SweepError> {
        let mut scenario = Scenario::load(&self.scenario, &run.sets)?;
        scenario.captures.all |= self.captures;
        Ok(scenario)
    }

    /// Resolves a run with each value of each axis, so that a wrong one is told before hours of others; and a metric that
    /// none of them can have. Returns warnings of flows that never have a path, each once.
    pub(crate) fn try_each_value(&self, plan: &Plan, runs: &[PlannedRun]) -> Result<Vec<String>, SweepError> {
        let (mut warnings, mut looked) = (Vec::<String>::new(), 0);
        let mut seen = BTreeSet::new();
        let mut unknown: BTreeSet<usize> = (0..plan.sweep.metrics.len()).collect();
        let mut last = Value::Null;
        for run in runs {
            let mut is_new = false;
            for label in run.labels.iter().enumerate() {
                is_new |= seen.insert(label);
            }
            if is_new || run.labels.is_empty() && seen.is_empty() {
                let resolved = self.load(run).and_then(|s| resolve(&s)).map_err(|e| named(plan, run, e))?;
                if looked < MOST_LOOKED_AT {
                    looked += 1;
                    for found in pathless_warnings(&resolved, Hearing::Radios) {
                        if !warnings.iter().any(|w| w.starts_with(&found)) {
                            let values = values(plan, run);
                            let with = if values.is_empty() { values } else { format!(" (with {values})") };
                            warnings.push(found + &with);
                        }
                    }
                }
                if !unknown.is_empty() {
                    last = specimen(&resolved, self.topology, self.chains.as_ref());
                    unknown.retain(|&k| !is_known(&last, &plan.sweep.metrics[k]));
                }
                if run.labels.is_empty() {
                    break;
                }
            }
        }
        unknown.first().map_or(Ok(warnings), |&k| Err(unknown_metric(plan, k, &last).into()))
    }

    /// A hash of everything that a run's result depends on, for each run.
    pub(crate) fn ids(&self, runs: &[PlannedRun]) -> Result<Vec<String>, SweepError> {
        let mut first: BTreeMap<String, &PlannedRun> = BTreeMap::new();
        let mut ids = Vec::new();
        for run in runs {
            let inputs: Vec<String> = named_files(Some(&self.scenario), &self.load(run)?)
                .iter()
                .map(|p| self.contents.hash(p))
                .collect();
            let chains = self.chains.as_ref().map(ChainThroughput::to_csv);
            // The way to a file is not part of it: folders are moved.
            let sets: Vec<(&str, &str)> = run.sets.iter().map(|s| without_folder(s)).collect();
            let parts = json!([
                wayhop_core::version::RELEASE,
                self.text,
                sets,
                run.seed,
                inputs,
                self.topology,
                chains
            ]);
            let id = hash(parts.to_string().as_bytes())[..20].to_owned();
            if let Some(other) = first.insert(id.clone(), run) {
                let reason = format!("{:?} and {:?} are the same run", other.labels, run.labels);
                return Err(SweepError::Usage(format!(
                    "{reason}: a value of the plan is given twice, or changes nothing"
                )));
            }
            ids.push(id);
        }
        Ok(ids)
    }

    /// The files that runs read: the scenario, those that it names, and the plan's other ones.
    pub(crate) fn files<'a>(
        &self,
        plan: &Plan,
        runs: impl Iterator<Item = &'a PlannedRun>,
    ) -> Result<BTreeSet<PathBuf>, SweepError> {
        let chains = plan.sweep.chains.iter().map(|path| plan.folder().join(path));
        let mut files: BTreeSet<PathBuf> = chains.chain([self.scenario.clone()]).collect();
        for run in runs {
            files.extend(named_files(Some(&self.scenario), &self.load(run)?));
        }
        Ok(files)
    }

    /// The places of the runs that are not done: those that have no result, or no run directory where `folders` has one.
    pub(crate) fn due(
        &self,
        runs: &[PlannedRun],
        folders: Option<&Folders>,
        has_result: impl Fn(usize) -> bool,
    ) -> Result<Vec<usize>, SweepError> {
        let mut due = Vec::new();
        for (i, run) in runs.iter().enumerate() {
            let is_done = has_result(i)
                && match folders {
                    Some(folders) => folders.has(i, &self.scenario, self.load(run)?),
                    None => true,
                };
            if !is_done {
                due.push(i);
            }
        }
        Ok(due)
    }

    /// One run, recorded in `folder` if there is one; `None` if it was broken off.
    pub(crate) fn run(
        &self,
        run: &PlannedRun,
        folder: Option<&Path>,
        stop: impl Fn() -> bool,
    ) -> Result<Option<Summary>, SweepError> {
        let scenario = self.load(run)?;
        let resolved = resolve(&scenario)?;
        let make = || {
            let recorder = match folder {
                Some(path) => {
                    let file = Some(self.scenario.as_path());
                    let made = run_dir::create(Some(path), file, World::Simulation, &scenario, &resolved)?;
                    run_dir::recorder(&made.dir, World::Simulation, &resolved)?
                }
                None => Recorder::hash_only(),
            };
            let watch = |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            let mut outcome = simulate(&resolved, recorder, None, &mut Clock::Free { threads: 1 }, watch)?;
            if self.topology {
                annotate(&mut outcome.summary, &resolved, None, self.chains.as_ref());
            }
            outcome.save()?;
            // An interrupted run is not checked: only its run directory is used.
            if outcome.complete {
                outcome.check()?;
            }
            Ok(outcome.complete.then_some(outcome.summary))
        };
        make().map_err(|e| match e {
            wayhop_runs::Error::Defect(what) => {
                let sets = run.sets.join(" --set ");
                SweepError::Run(format!("bug in Wayhop, please report it with --set {sets}: {what}"))
            }
            e => e.into(),
        })
    }
}

/// A run's scenario, if the run fits into memory.
pub(crate) fn resolve(scenario: &Scenario) -> Result<Resolved, SweepError> {
    memory::check_count(scenario)?;
    let resolved = scenario.resolve()?;
    memory::check(scenario, &resolved)?;
    Ok(resolved)
}

fn unknown_metric(plan: &Plan, k: usize, specimen: &Value) -> Error {
    let metric = &plan.sweep.metrics[k];
    let remedy = match meant(specimen, metric) {
        _ if metric.contains(".topology.") && !plan.sweep.topology => {
            "set topology = true in the plan, and give a flow with a single destination".to_owned()
        }
        Some(way) => format!("did you mean {way:?}?"),
        None => "give the path of a number in the summary that `wayhop run --json` prints".to_owned(),
    };
    let unknown =
        plan.error(&format!("metrics[{k}]"), format!("no run of the plan has a figure {metric:?}"), remedy);
    // A metric that is not in the plan's file is from the command line.
    if unknown.place.is_some() { unknown } else { unknown.key("--metric") }
}

fn values(plan: &Plan, run: &PlannedRun) -> String {
    let axes = plan.sweep.axes.iter().zip(&run.labels);
    axes.map(|(a, l)| format!("{} = {l}", a.name)).collect::<Vec<_>>().join(", ")
}

/// What is wrong with a run, as the plan says it. Scenarios know of values from outside only from the command line.
fn named(plan: &Plan, run: &PlannedRun, e: SweepError) -> SweepError {
    let SweepError::Usage(told) = e else { return e };
    let place = values(plan, run);
    let with = if place.is_empty() { String::new() } else { format!("with {place}: ") };
    let own = told.strip_prefix("--set ").unwrap_or(&told);
    let Some(path) = plan.path() else { return SweepError::Usage(format!("{with}{own}")) };
    let own = own.replace(" (from the command line)", " (from the plan)");
    let file = if own == told { String::new() } else { format!("{}: ", path.display()) };
    SweepError::Usage(format!("{file}{with}{own}"))
}

fn chains(plan: &Plan, path: &Path) -> Result<ChainThroughput, SweepError> {
    let path = plan.folder().join(path);
    let text = fs::read_to_string(&path).map_err(|e| {
        plan.error("chains", format!("cannot read {}: {e}", path.display()), "give a CSV file with hops,kbps")
    })?;
    ChainThroughput::parse(&text).map_err(|e| SweepError::Usage(e.in_file(&path).to_string()))
}

/// A set's key, and its value without the folder if it is a way to a file.
fn without_folder(set: &str) -> (&str, &str) {
    let (key, value) = set.split_once('=').unwrap_or((set, ""));
    (key, value.rsplit_once('/').map_or(value, |(_, name)| name))
}
