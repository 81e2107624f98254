//! Runs of scenario files that the program carries in itself.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use wayhop_runs::to_end;
use wayhop_scenario::{Resolved, Scenario};
use wayhop_trace::{Observer, Recorder, Summary};

use crate::outcome::{OutcomeError, write};

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
    folder: PathBuf,
    stop: &'a AtomicBool,
}

impl<'a> Runs<'a> {
    /// Writes `files` (names and texts) into `folder`, where a reader can run them one by one. A raised `stop` breaks off runs.
    pub fn new(folder: PathBuf, files: &[(&str, &str)], stop: &'a AtomicBool) -> Result<Self, OutcomeError> {
        files.iter().try_for_each(|(name, text)| write(&folder.join(name), text))?;
        Ok(Self { folder, stop })
    }

    /// Where a file is.
    #[cfg(feature = "linux")]
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The scenario in this file with `sets` (`path.key=value`) on top.
    pub fn resolve(&self, file: &str, sets: &[String]) -> Result<Resolved, RunError> {
        let path: &Path = &self.folder.join(file);
        let scenario = Scenario::load(path, sets).map_err(|e| RunError::Scenario(e.to_string()))?;
        scenario.resolve().map_err(|e| RunError::Scenario(e.to_string()))
    }

    /// Runs a scenario to its end and returns what `observer` has become.
    pub fn run<O: Observer>(&self, scenario: &Resolved, observer: O) -> Result<O, RunError> {
        self.summarise(scenario, observer).map(|(observer, _)| observer)
    }

    /// [`Runs::run`], with the run's summary.
    pub fn summarise<O: Observer>(&self, scenario: &Resolved, observer: O) -> Result<(O, Summary), RunError> {
        let recorder = Recorder::hash_only().observed_by(Box::new(observer));
        let ended =
            to_end(scenario, recorder, || self.stop.load(Ordering::Relaxed)).map_err(|e| match e {
                wayhop_runs::Error::Defect(_) => RunError::Scenario(format!("{}: {e}", scenario.name)),
                _ => RunError::Scenario(e.to_string()),
            })?;
        let mut outcome = ended.ok_or(RunError::Stopped)?;
        outcome.take_observer().map(|o| (o, outcome.summary)).ok_or(RunError::Stopped)
    }
}
