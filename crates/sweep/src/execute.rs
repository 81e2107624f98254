//! A plan, run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use wayhop_runs::run_dir::named_files;
use wayhop_runs::{jobs, to_end};
use wayhop_scenario::{Error, Resolved, Scenario};
use wayhop_topology::{ChainThroughput, annotate};
use wayhop_trace::{Recorder, Summary};

use crate::error::SweepError;
use crate::figures::{is_known, meant, specimen};
use crate::files::{Contents, hash};
use crate::matrix::PlannedRun;
use crate::owner::claim;
use crate::plan::Plan;
use crate::results::Results;
use crate::store::Store;

/// What a sweep has come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The figures of the runs that are done.
    pub results: Results,
    /// How many runs the plan has.
    pub runs: usize,
    /// How many of them are done.
    pub done: usize,
    /// How many of those were done before.
    pub found: usize,
}

/// Makes the runs of `plan` that `dir/runs.jsonl` has not - a folder with another plan's results is refused -, on `threads` threads, until `stop` is raised. `progress` is called
/// with the number of runs that are done and that of all, before the first and after each.
pub fn go(
    plan: &Plan,
    dir: &Path,
    threads: usize,
    stop: &AtomicBool,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<Outcome, SweepError> {
    let work = Work::new(plan)?;
    let runs = plan.runs()?;
    work.try_each_value(plan, &runs)?;
    let ids = work.ids(&runs)?;
    fs::create_dir_all(dir).map_err(|e| {
        let dir = dir.display();
        SweepError::Run(format!(
            "cannot make the folder {dir}: {e}; name one that you may write to with --out"
        ))
    })?;
    let store = Store::open(&dir.join("runs.jsonl"), &plan.sweep.metrics)?;
    claim(dir, plan)?;
    let due: Vec<usize> = (0..runs.len()).filter(|&i| !store.has(&ids[i])).collect();
    let found = runs.len() - due.len();
    progress(found, runs.len());

    let store = Mutex::new((store, found));
    let failed: Mutex<Option<SweepError>> = Mutex::new(None);
    let end = AtomicBool::new(stop.load(Ordering::Relaxed));
    let fail = |e: SweepError| {
        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        end.store(true, Ordering::Relaxed);
    };
    jobs::run(
        &due,
        threads,
        &end,
        |_| (),
        |&i| {
            let raised = || stop.load(Ordering::Relaxed) || end.load(Ordering::Relaxed);
            // A short run ends before it asks.
            if raised() {
                end.store(true, Ordering::Relaxed);
                return;
            }
            match work.run(&runs[i], raised) {
                Ok(Some(summary)) => {
                    let record = record(plan, &runs[i], &ids[i], &summary);
                    let (store, done) = &mut *store.lock().unwrap_or_else(PoisonError::into_inner);
                    *done += 1;
                    match store.add(&ids[i], &record) {
                        Ok(()) => progress(*done, runs.len()),
                        Err(e) => fail(e.into()),
                    }
                }
                Ok(None) => end.store(true, Ordering::Relaxed),
                Err(e) => fail(e),
            }
        },
    );
    if let Some(e) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(e);
    }
    let (store, done) = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    let figures = ids.iter().map(|id| store.values(id));
    let results = Results::new(&plan.sweep, runs.iter().zip(figures));
    Ok(Outcome { results, runs: runs.len(), done, found })
}

/// What all runs share.
struct Work {
    scenario: PathBuf,
    text: String,
    topology: bool,
    chains: Option<ChainThroughput>,
    contents: Contents,
}

impl Work {
    fn new(plan: &Plan) -> Result<Self, SweepError> {
        let scenario = plan.scenario();
        let text = fs::read_to_string(&scenario).map_err(|e| {
            let reason = format!("cannot read {}: {e}", scenario.display());
            plan.error("scenario", reason, "name a scenario file; its way counts from the plan's folder")
        })?;
        let chains = plan.sweep.chains.as_ref().map(|path| chains(plan, path)).transpose()?;
        let topology = plan.sweep.topology || chains.is_some();
        Ok(Self { scenario, text, topology, chains, contents: Contents::default() })
    }

    fn load(&self, run: &PlannedRun) -> Result<Scenario, SweepError> {
        Ok(Scenario::load(&self.scenario, &run.sets)?)
    }

    /// Resolves a run with each value of each axis, so that a wrong one is told before hours of others; and a metric that
    /// none of them can have.
    fn try_each_value(&self, plan: &Plan, runs: &[PlannedRun]) -> Result<(), SweepError> {
        let mut seen = BTreeSet::new();
        let mut unknown: BTreeSet<usize> = (0..plan.sweep.metrics.len()).collect();
        let mut last = Value::Null;
        for run in runs {
            let mut is_new = false;
            for label in run.labels.iter().enumerate() {
                is_new |= seen.insert(label);
            }
            if is_new || run.labels.is_empty() && seen.is_empty() {
                let resolved =
                    self.load(run).and_then(|s| Ok(s.resolve()?)).map_err(|e| named(plan, run, e))?;
                if !unknown.is_empty() {
                    last = specimen(&resolved, self.topology, self.chains.as_ref());
                    unknown.retain(|&k| !is_known(&last, &plan.sweep.metrics[k]));
                }
                if run.labels.is_empty() {
                    break;
                }
            }
        }
        unknown.first().map_or(Ok(()), |&k| Err(unknown_metric(plan, k, &last).into()))
    }

    /// What stands for all that each run's result depends on.
    fn ids(&self, runs: &[PlannedRun]) -> Result<Vec<String>, SweepError> {
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
            let parts =
                json!([env!("CARGO_PKG_VERSION"), self.text, sets, run.seed, inputs, self.topology, chains]);
            let id = hash(parts.to_string().as_bytes())[..20].to_owned();
            if let Some(other) = first.insert(id.clone(), run) {
                let reason = format!("{:?} and {:?} are the same run", other.labels, run.labels);
                return Err(SweepError::Usage(format!(
                    "{reason}: a value of the plan stands in it twice, or changes nothing"
                )));
            }
            ids.push(id);
        }
        Ok(ids)
    }

    /// One run; `None` if it was broken off.
    fn run(&self, run: &PlannedRun, stop: impl Fn() -> bool) -> Result<Option<Summary>, SweepError> {
        let resolved: Resolved = self.load(run)?.resolve()?;
        let ended = to_end(&resolved, Recorder::hash_only(), stop).map_err(|e| match e {
            wayhop_runs::Error::Usage(m) => SweepError::Usage(m),
            wayhop_runs::Error::Run(m) | wayhop_runs::Error::Stopped(m) => SweepError::Run(m),
            wayhop_runs::Error::Defect(what) => {
                let sets = run.sets.join(" --set ");
                SweepError::Run(format!("defect in Wayhop, please report it with --set {sets}: {what}"))
            }
        })?;
        let Some(mut summary) = ended.map(|outcome| outcome.summary) else { return Ok(None) };
        if self.topology {
            annotate(&mut summary, &resolved, None, self.chains.as_ref());
        }
        Ok(Some(summary))
    }
}

/// A run's line.
fn record(plan: &Plan, run: &PlannedRun, id: &str, summary: &Summary) -> Value {
    let mut place = serde_json::Map::new();
    for (axis, label) in plan.sweep.axes.iter().zip(&run.labels) {
        place.insert(axis.name.clone(), label.as_str().into());
    }
    place.insert("seed".to_owned(), run.seed.into());
    json!({ "id": id, "run": place, "summary": summary })
}

/// A metric that no run can have.
fn unknown_metric(plan: &Plan, k: usize, specimen: &Value) -> Error {
    let metric = &plan.sweep.metrics[k];
    let remedy = match meant(specimen, metric) {
        _ if metric.contains(".topology.") && !plan.sweep.topology => {
            "set topology = true in the plan, and give a flow that goes to one node".to_owned()
        }
        Some(way) => format!("did you mean {way:?}?"),
        None => "give the way to a number of the summary that `wayhop run --json` prints".to_owned(),
    };
    plan.error(&format!("metrics[{k}]"), format!("no run of the plan has a figure {metric:?}"), remedy)
}

/// What is wrong with a run, as the plan says it. Scenarios know of values from outside only from the command line.
fn named(plan: &Plan, run: &PlannedRun, e: SweepError) -> SweepError {
    let SweepError::Usage(told) = e else { return e };
    let axes = plan.sweep.axes.iter().zip(&run.labels);
    let place: Vec<String> = axes.map(|(a, l)| format!("{} = {l}", a.name)).collect();
    let with = if place.is_empty() { String::new() } else { format!("with {}: ", place.join(", ")) };
    let plans = told.replace(" (from the command line)", " (from the plan)");
    let plans = plans.strip_prefix("--set ").unwrap_or(&plans);
    let file =
        plan.path().filter(|_| plans != told).map_or_else(String::new, |p| format!("{}: ", p.display()));
    SweepError::Usage(format!("{file}{with}{plans}"))
}

fn chains(plan: &Plan, path: &Path) -> Result<ChainThroughput, SweepError> {
    let path = plan.folder().join(path);
    let text = fs::read_to_string(&path).map_err(|e| {
        plan.error("chains", format!("cannot read {}: {e}", path.display()), "name a file of hops,kbps")
    })?;
    ChainThroughput::parse(&text).map_err(|e| SweepError::Usage(format!("{}:{e}", path.display())))
}

/// A set's key, and its value without the folder if it is a way to a file.
fn without_folder(set: &str) -> (&str, &str) {
    let (key, value) = set.split_once('=').unwrap_or((set, ""));
    (key, value.rsplit_once('/').map_or(value, |(_, name)| name))
}
