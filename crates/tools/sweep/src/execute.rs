//! A plan, run on the cores of this machine.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use wayhop_runs::jobs;
use wayhop_trace::Summary;

use crate::error::SweepError;
use crate::folders::Folders;
use crate::matrix::PlannedRun;
use crate::plan::Plan;
use crate::prepared::{Prepared, SweepOutcome};
use crate::work::Work;

/// Runs what `dir` lacks of `plan` (a folder with another plan's results is rejected), on `threads` threads, until `stop`
/// is set. Results that workers left in `dir` are merged first. `progress` is called with the number of runs that are done
/// and that of all, before the first and after each.
pub fn go(
    plan: &Plan,
    dir: &Path,
    threads: usize,
    stop: &AtomicBool,
    progress: impl Fn(usize, usize) + Sync,
    warn: impl FnMut(&str),
) -> Result<SweepOutcome, SweepError> {
    let mut prepared = Prepared::new(plan, dir, warn)?;
    let Prepared { work, runs, ids, store, folders, due } = &mut prepared;
    let mut done = runs.len() - due.len();
    progress(done, runs.len());
    let batch = Batch { work, runs, folders: folders.as_ref() };
    batch.run(due, threads, stop, |i, summary| {
        // A run that was repeated for its tables has a line.
        if !store.has(&ids[i]) {
            store.add(&ids[i], &record(plan, &runs[i], &ids[i], summary))?;
        }
        done += 1;
        progress(done, runs.len());
        Ok(())
    })?;
    Ok(prepared.outcome(plan, done))
}

/// Runs of a plan, and where they are recorded.
pub(crate) struct Batch<'a> {
    pub(crate) work: &'a Work,
    pub(crate) runs: &'a [PlannedRun],
    pub(crate) folders: Option<&'a Folders>,
}

impl Batch<'_> {
    /// Makes the runs at the places `due`, on `threads` threads, until `stop` is set. `take` gets the summary of each; the
    /// first error ends the rest.
    pub(crate) fn run(
        &self,
        due: &[usize],
        threads: usize,
        stop: &AtomicBool,
        take: impl FnMut(usize, &Summary) -> Result<(), SweepError> + Send,
    ) -> Result<(), SweepError> {
        let take = Mutex::new(take);
        let failed: Mutex<Option<SweepError>> = Mutex::new(None);
        let end = AtomicBool::new(stop.load(Ordering::Relaxed));
        let fail = |e: SweepError| {
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
            end.store(true, Ordering::Relaxed);
        };
        jobs::run(
            due,
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
                match self.work.run(&self.runs[i], self.folders.map(|f| f.path(i)), raised) {
                    Ok(Some(summary)) => {
                        let take = &mut *take.lock().unwrap_or_else(PoisonError::into_inner);
                        take(i, &summary).unwrap_or_else(fail);
                    }
                    Ok(None) => end.store(true, Ordering::Relaxed),
                    Err(e) => fail(e),
                }
            },
        );
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// A line of the results file.
pub(crate) fn record(plan: &Plan, run: &PlannedRun, id: &str, summary: &Summary) -> Value {
    let labels = run.labels.iter().map(|label| Value::from(label.as_str()));
    let mut place: Value = plan.sweep.axes.iter().map(|a| a.name.clone()).zip(labels).collect();
    place["seed"] = run.seed.into();
    json!({ "id": id, "run": place, "summary": summary })
}
