//! A plan in the folder of its results: what is done, and what is left to run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wayhop_core::version;
use wayhop_scenario::Resolved;

use crate::chunk_files;
use crate::error::SweepError;
use crate::folders::Folders;
use crate::lines::{RESULTS, for_each_line};
use crate::matrix::PlannedRun;
use crate::owner::{claim, write_plan};
use crate::plan::Plan;
use crate::results::Results;
use crate::store::Store;
use crate::work::{Work, resolve};

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

/// A plan whose folder holds all results of workers in one file.
pub struct Prepared {
    pub(crate) work: Work,
    pub(crate) runs: Vec<PlannedRun>,
    pub(crate) ids: Vec<String>,
    pub(crate) store: Store,
    pub(crate) folders: Option<Folders>,
    /// Places of the runs that are not done.
    pub(crate) due: Vec<usize>,
}

impl Prepared {
    /// Takes the folder `dir` for the results of `plan`, which is rejected if it holds another plan's; writes the plan into it,
    /// and merges the files that workers left there.
    pub fn new(plan: &Plan, dir: &Path, mut warn: impl FnMut(&str)) -> Result<Self, SweepError> {
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
        let mut store = Store::open(&dir.join(RESULTS), &plan.sweep.metrics)?;
        if let Some(warning) = different_code(&store, dir) {
            warn(&warning);
        }
        claim(dir, plan, &runs, &ids)?;
        write_plan(plan, dir)?;
        chunk_files::merge(dir, &mut store, &ids, warn)?;
        let is_recorded = plan.sweep.tables || plan.sweep.captures;
        let folders = is_recorded.then(|| Folders::new(dir, &runs, &ids));
        let due = work.due(&runs, folders.as_ref(), |i| store.has(&ids[i]))?;
        Ok(Self { work, runs, ids, store, folders, due })
    }

    /// How many runs the plan has.
    pub fn planned(&self) -> usize {
        self.runs.len()
    }

    /// The runs that are not done: number in the plan, from 1, and id.
    pub fn left(&self) -> impl Iterator<Item = (usize, &str)> {
        self.due.iter().map(|&i| (i + 1, self.ids[i].as_str()))
    }

    /// The files that the runs left read, without the plan.
    pub fn files(&self, plan: &Plan) -> Result<BTreeSet<PathBuf>, SweepError> {
        self.work.files(plan, self.due.iter().map(|&i| &self.runs[i]))
    }

    /// The figures of the runs that are done so far, without running any.
    pub fn merged(self, plan: &Plan) -> SweepOutcome {
        let done = self.runs.len() - self.due.len();
        self.outcome(plan, done)
    }

    pub(crate) fn outcome(self, plan: &Plan, done: usize) -> SweepOutcome {
        let figures = self.ids.iter().map(|id| self.store.values(id));
        let results = Results::new(&plan.sweep, self.runs.iter().zip(figures));
        let recorded_bytes = self.folders.map(|f| f.bytes());
        let found = self.runs.len() - self.due.len();
        SweepOutcome { results, runs: self.runs.len(), done, found, recorded_bytes }
    }

    /// What is left to run, apart from the folder.
    pub fn into_due(self) -> DueRuns {
        let due = self.due.iter().map(|&i| self.runs[i].clone()).collect();
        DueRuns { work: self.work, runs: self.runs.len(), due }
    }
}

/// The runs of a plan that a folder lacks.
pub struct DueRuns {
    work: Work,
    /// How many runs the plan has.
    pub runs: usize,
    /// Those that are not done, in the plan's order.
    pub due: Vec<PlannedRun>,
}

impl DueRuns {
    /// Looks into the folder `dir`, which need not exist, and writes nothing.
    pub fn of(plan: &Plan, dir: &Path) -> Result<Self, SweepError> {
        let work = Work::new(plan)?;
        let runs = plan.runs()?;
        work.try_each_value(plan, &runs)?;
        let ids = work.ids(&runs)?;
        let mut done = chunk_files::done(&chunk_files::all(dir)?)?;
        for_each_line(&dir.join(RESULTS), |record| {
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
        resolve(&self.work.load(run)?)
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
