//! What is left to do of a plan, without doing it.

use std::collections::BTreeSet;
use std::path::Path;

use wayhop_scenario::Resolved;

use crate::archive::for_each_line;
use crate::error::SweepError;
use crate::folders::Folders;
use crate::matrix::PlannedRun;
use crate::plan::Plan;
use crate::work::Work;

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
        let mut due = Vec::new();
        for (i, run) in runs.iter().enumerate() {
            let has_folder = match &folders {
                Some(folders) if done.contains(&ids[i]) => folders.has(i, work.file(), work.load(run)?),
                _ => true,
            };
            if !(done.contains(&ids[i]) && has_folder) {
                due.push(run.clone());
            }
        }
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
