//! Runs of scenario files that the program carries in itself.

#[cfg(feature = "linux")]
use std::ops::ControlFlow;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "linux")]
use wayhop_core::Time;
#[cfg(feature = "linux")]
use wayhop_runs::{Emulation, Outcome, Tasks};
use wayhop_runs::{jobs, run_dir, to_end};
use wayhop_scenario::{Resolved, Scenario};
use wayhop_trace::{Observer, Recorder, Summary};

use crate::outcome::write;
use crate::{Options, Plan};

/// Why a run gave nothing.
#[derive(Debug)]
pub enum RunError {
    /// The user stopped it.
    Stopped,
    /// The scenario cannot be run; the text says why.
    Scenario(String),
}

/// Scenario files in a folder, ready to be run.
#[derive(Debug)]
pub struct Runs<'a> {
    pub(crate) folder: PathBuf,
    /// Where run directories are left, if they are kept.
    kept: Option<PathBuf>,
    stop: &'a AtomicBool,
}

/// A run that can begin.
#[derive(Debug)]
pub struct Ready {
    scenario: Scenario,
    resolved: Resolved,
    file: PathBuf,
    /// The run directory within the folder of those that are kept.
    name: PathBuf,
}

impl Deref for Ready {
    type Target = Resolved;
    fn deref(&self) -> &Resolved {
        &self.resolved
    }
}

impl From<RunError> for String {
    fn from(e: RunError) -> Self {
        match e {
            RunError::Stopped => "stopped".to_owned(),
            RunError::Scenario(e) => e,
        }
    }
}

fn text(e: impl std::fmt::Display) -> RunError {
    RunError::Scenario(e.to_string())
}

/// Makes the runs of all jobs on this number of threads and hands what each gives to `add`, in order of the jobs. Returns how
/// many are missing, because the user stopped.
pub(crate) fn each<J: Sync, R: Send>(
    jobs: &[J],
    (threads, stop): (usize, &AtomicBool),
    done: impl Fn(usize) + Sync,
    run: impl Fn(&J) -> Result<R, RunError> + Sync,
    mut add: impl FnMut(&J, R),
) -> Result<usize, String> {
    let mut missing = 0;
    for (job, result) in jobs.iter().zip(jobs::run(jobs, threads, stop, done, run)) {
        match result {
            Some(Ok(shown)) => add(job, shown),
            Some(Err(RunError::Scenario(e))) => return Err(e),
            Some(Err(RunError::Stopped)) | None => missing += 1,
        }
    }
    Ok(missing)
}

/// Jobs seed by seed, so that what there is after an interruption is of whole seeds.
pub(crate) fn by_seed<E: Copy>(options: &Options, experiments: &[E]) -> Vec<(u64, E)> {
    options.each_seed().flat_map(|seed| experiments.iter().map(move |e| (seed, *e))).collect()
}

/// Runs a scenario's nodes in real time with its programs, from `file` into the run directory `dir`. Returns what `observer`
/// has become, too.
#[cfg(feature = "linux")]
pub(crate) fn emulate_run<O: Observer>(
    scenario: &Scenario,
    [file, dir]: [&Path; 2],
    observer: Option<O>,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<(Outcome, Option<O>), String> {
    let resolved = scenario.resolve().map_err(|e| e.to_string())?;
    let text = |e: wayhop_runs::Error| e.to_string();
    let emulation = Emulation::new(&resolved, || false).map_err(text)?;
    let world = run_dir::World::Emulation;
    let run = run_dir::create(Some(dir), Some(file), world, scenario, &resolved).map_err(text)?.dir;
    let mut recorder = run_dir::tables(&run, &resolved).map_err(text)?;
    if let Some(observer) = observer {
        recorder = recorder.observed_by(Box::new(observer));
    }
    let tasks =
        Tasks { recorder, dir: Some(dir), trust: false, command: None, collector: None, inputs: None, watch };
    let mut outcome = emulation.run(tasks).map_err(text)?;
    let observer = outcome.take_observer();
    outcome.save().map_err(text)?;
    outcome.check().map_err(|e| format!("{}: {e}", resolved.name))?;
    Ok((outcome, observer))
}

impl<'a> Runs<'a> {
    /// Writes `files` (names and texts) into the folder `scenarios` of `dir`, where a reader can run them one by one. If runs are
    /// kept, each leaves its run directory in `dir/runs`, where `wayhop run --seeds` would leave it. A raised `stop` breaks off runs.
    pub fn new(
        dir: &Path,
        files: &[(&str, &str)],
        keep_runs: bool,
        stop: &'a AtomicBool,
    ) -> Result<Self, String> {
        let folder = dir.join("scenarios");
        files.iter().try_for_each(|(name, text)| write(&folder.join(name), text))?;
        Ok(Self { folder, kept: keep_runs.then(|| dir.join("runs")), stop })
    }

    /// The scenario in this file with `sets` (`path.key=value`) on top.
    pub fn resolve(&self, file: &str, sets: &[String]) -> Result<Resolved, RunError> {
        Scenario::load(&self.folder.join(file), sets).and_then(|s| s.resolve()).map_err(text)
    }

    /// The run of a plan with this seed.
    pub fn ready(&self, plan: &Plan, seed: u64) -> Result<Ready, RunError> {
        let file = self.folder.join(plan.file);
        let sets: Vec<String> = plan.sets.iter().cloned().chain([format!("seed={seed}")]).collect();
        let scenario = Scenario::load(&file, &sets).map_err(text)?;
        let resolved = scenario.resolve().map_err(text)?;
        let name = Path::new(&plan.name).join("runs").join(format!("seed-{seed}"));
        Ok(Ready { scenario, resolved, file, name })
    }

    /// Runs a scenario to its end and returns what `observer` has become.
    pub fn run<O: Observer>(&self, ready: &Ready, observer: O) -> Result<O, RunError> {
        self.summarise(ready, observer).map(|(observer, _)| observer)
    }

    /// [`Runs::run`], with the run's summary.
    pub fn summarise<O: Observer>(&self, ready: &Ready, observer: O) -> Result<(O, Summary), RunError> {
        let recorder = self.recorder(ready)?.observed_by(Box::new(observer));
        let stopped = || self.stop.load(Ordering::Relaxed);
        let ended = to_end(&ready.resolved, recorder, stopped).map_err(|e| match e {
            wayhop_runs::Error::Defect(_) => RunError::Scenario(format!("{}: {e}", ready.resolved.name)),
            _ => text(e),
        })?;
        let mut outcome = ended.ok_or(RunError::Stopped)?;
        let observer = outcome.take_observer();
        if self.kept.is_some() {
            outcome.save().map_err(text)?;
        }
        observer.map(|o| (o, outcome.summary)).ok_or(RunError::Stopped)
    }

    fn recorder(&self, ready: &Ready) -> Result<Recorder, RunError> {
        let Some(kept) = &self.kept else { return Ok(Recorder::hash_only()) };
        let (dir, world) = (kept.join(&ready.name), run_dir::World::Simulation);
        let made = run_dir::create(Some(&dir), Some(&ready.file), world, &ready.scenario, &ready.resolved);
        run_dir::tables(&made.map_err(text)?.dir, &ready.resolved).map_err(text)
    }
}
