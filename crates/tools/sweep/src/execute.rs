//! A plan, run, and what is left to run of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use wayhop_core::version;
use wayhop_runs::jobs;
use wayhop_scenario::Resolved;
use wayhop_trace::Summary;

use crate::archive::for_each_line;
use crate::error::SweepError;
use crate::folders::Folders;
use crate::matrix::PlannedRun;
use crate::owner::{claim, write_plan};
use crate::plan::Plan;
use crate::results::Results;
use crate::store::Store;
use crate::work::Work;

/// The outcome of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOutcome {
    /// The figures of the runs that are done.
    pub results: Results,
    /// How many runs the plan has.
    pub runs: usize,
    /// How many of them are done.
    pub done: usize,
    /// How many of those were already done.
    pub found: usize,
    /// Size of the run directories, bytes; `None` if the plan writes none.
    pub recorded_bytes: Option<u64>,
}

/// Runs what `dir` lacks of `plan` (a folder with another plan's results is rejected), on `threads` threads, until `stop`
/// is set. `progress` is called with the number of runs that are done and that of all, before the
/// first and after each.
pub fn go(
    plan: &Plan,
    dir: &Path,
    threads: usize,
    stop: &AtomicBool,
    progress: impl Fn(usize, usize) + Sync,
    mut warn: impl FnMut(&str),
) -> Result<SweepOutcome, SweepError> {
    let work = Work::new(plan)?;
    let runs = plan.runs()?;
    for warning in work.try_each_value(plan, &runs)? {
        warn(&warning);
    }
    let ids = work.ids(&runs)?;
    fs::create_dir_all(dir).map_err(|e| {
        let dir = dir.display();
        SweepError::Run(format!("cannot create the folder {dir}: {e}; choose a writable one with --out"))
    })?;
    let store = Store::open(&dir.join("runs.jsonl"), &plan.sweep.metrics)?;
    if let Some(warning) = different_code(&store, dir) {
        warn(&warning);
    }
    claim(dir, plan, &runs, &ids)?;
    write_plan(plan, dir)?;
    let is_recorded = plan.sweep.tables || plan.sweep.captures;
    let folders = is_recorded.then(|| Folders::new(dir, &runs, &ids));
    let due = work.due(&runs, folders.as_ref(), |i| store.has(&ids[i]))?;
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
            match work.run(&runs[i], folders.as_ref().map(|f| f.path(i)), raised) {
                Ok(Some(summary)) => {
                    let record = record(plan, &runs[i], &ids[i], &summary);
                    let (store, done) = &mut *store.lock().unwrap_or_else(PoisonError::into_inner);
                    *done += 1;
                    // A run that was made again for its tables has a line.
                    let added = if store.has(&ids[i]) { Ok(()) } else { store.add(&ids[i], &record) };
                    match added {
                        Ok(()) => progress(*done, runs.len()),
                        Err(e) => fail(e),
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
    let recorded_bytes = folders.map(|f| f.bytes());
    Ok(SweepOutcome { results, runs: runs.len(), done, found, recorded_bytes })
}

/// The runs of a plan that a folder has not.
pub struct DueRuns {
    work: Work,
    /// How many runs the plan has.
    pub runs: usize,
    /// Those that are not done, in the plan's order.
    pub due: Vec<PlannedRun>,
}

impl DueRuns {
    /// Looks into the folder `dir`, which need not be there, and writes nothing.
    pub fn of(plan: &Plan, dir: &Path) -> Result<Self, SweepError> {
        let work = Work::new(plan)?;
        let runs = plan.runs()?;
        work.try_each_value(plan, &runs)?;
        let ids = work.ids(&runs)?;
        let mut done = BTreeSet::new();
        for_each_line(&dir.join("runs.jsonl"), |record| {
            let id = record["id"].as_str();
            done.extend(id.map(str::to_owned));
            id.is_some()
        })?;
        let is_recorded = plan.sweep.tables || plan.sweep.captures;
        let folders = is_recorded.then(|| Folders::new(dir, &runs, &ids));
        let due = work.due(&runs, folders.as_ref(), |i| done.contains(&ids[i]))?;
        let due = due.into_iter().map(|i| runs[i].clone()).collect();
        Ok(Self { work, runs: runs.len(), due })
    }

    /// The scenario of a run.
    pub fn scenario(&self, run: &PlannedRun) -> Result<Resolved, SweepError> {
        Ok(self.work.load(run)?.resolve()?)
    }

    /// The first run that is due of each combination of values, in the plan's order.
    pub fn combinations(&self) -> Vec<&PlannedRun> {
        let mut seen = BTreeSet::new();
        self.due.iter().filter(|run| seen.insert(&run.labels)).collect()
    }
}

/// A warning if runs of the folder were written by other code than this.
fn different_code(store: &Store, dir: &Path) -> Option<String> {
    let others: Vec<&str> = store.other_versions().collect();
    (!others.is_empty()).then(|| {
        format!(
            "{}: finished runs of {} are kept, but this is {}; to repeat them, choose another --out",
            dir.display(),
            others.join(", "),
            version::full()
        )
    })
}

fn record(plan: &Plan, run: &PlannedRun, id: &str, summary: &Summary) -> Value {
    let labels = run.labels.iter().map(|label| Value::from(label.as_str()));
    let mut place: Value = plan.sweep.axes.iter().map(|a| a.name.clone()).zip(labels).collect();
    place["seed"] = run.seed.into();
    json!({ "id": id, "run": place, "summary": summary })
}
