//! The runs that a studio shows, by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::RunDir;

use crate::error::Error;
use crate::folders::{self, is_drive, is_run};
use crate::run::{MOST_COUNTED, OpenRun};
use crate::table::OpenTable;
use crate::{drive, reports, sweeps};

const MOST_OPEN: usize = 4;
/// Scenarios of more octets are not read for their names.
const LONGEST_NAMED: usize = 1 << 16;
const MOST_LISTED: usize = 1_000;

enum Source {
    /// These, by name.
    Runs(Vec<(String, PathBuf)>),
    /// All of a folder.
    Folder(PathBuf),
}

pub(crate) struct Library {
    source: Source,
    /// The last used ones, the latest last.
    open: Mutex<Vec<(String, Arc<OpenRun>)>>,
}

fn real(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path)
        .map_err(|e| format!("{}: {e}; give a run directory, or a folder of runs", path.display()))
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| "run".to_owned(), |n| n.to_string_lossy().into_owned())
}

/// The names of a scenario and its protocol, for the list of runs; a long scenario is not read for them.
fn names_in(scenario: &str) -> [Option<String>; 2] {
    let scenario = Some(scenario).filter(|s| s.len() <= LONGEST_NAMED);
    let Some(Ok(table)) = scenario.map(str::parse::<toml_edit::DocumentMut>) else { return [None, None] };
    let word = |item: Option<&toml_edit::Item>| item.and_then(|i| i.as_str()).map(str::to_owned);
    [word(table.get("name")), word(table.get("protocol").and_then(|p| p.get("name")))]
}

fn about(name: &str, path: &Path) -> Value {
    let dir = RunDir::open(path, CLASSIFIER);
    let dir = dir.as_ref().ok();
    let manifest = dir.and_then(|d| d.manifest().ok());
    let outline = dir.and_then(|d| d.outline(MOST_COUNTED).ok());
    let is_counted = outline.as_ref().is_some_and(|(_, is_counted)| *is_counted);
    let summary = outline.map(|(summary, _)| summary);
    let [scenario, protocol] = manifest.as_ref().map_or([None, None], |m| names_in(&m.scenario));
    let is_killed = dir.is_some_and(RunDir::is_killed);
    let status = manifest.as_ref().map(|m| if is_killed { json!("killed") } else { json!(m.status) });
    // The configurations of real nodes, merged, are no scenario, and a long one is not read.
    let protocol = protocol.or_else(|| Some(summary.as_ref()?.protocol.clone()));
    let scenario = scenario.or_else(|| Some(summary.as_ref()?.scenario.clone()));
    let nodes = dir.and_then(|d| OpenTable::open(d, "nodes").ok()).map(|t| t.rows());
    json!({
        "name": name,
        "status": status,
        "started": manifest.as_ref().map(|m| &m.started),
        "seed": manifest.as_ref().map(|m| m.seed),
        "scenario": scenario,
        "protocol": protocol,
        "world": summary.as_ref().map(|s| &s.world),
        "nodes": nodes,
        "duration_s": summary.as_ref().map(|s| s.simulated_s),
        "delivery_ratio": summary.as_ref().filter(|_| is_counted).and_then(|s| s.totals.delivery_ratio),
    })
}

impl Library {
    const fn of(source: Source) -> Self {
        Self { source, open: Mutex::new(Vec::new()) }
    }

    /// A run directory, or a folder of them.
    pub(crate) fn new(path: &Path) -> Result<Self, String> {
        let path = real(path)?;
        if is_run(&path) || is_drive(&path) {
            return Ok(Self::of(Source::Runs(vec![(name_of(&path), path)])));
        }
        let library = Self::of(Source::Folder(path.clone()));
        if [library.names(), library.drives(), library.sweeps()].concat().is_empty()
            && library.reports().is_empty()
        {
            return Err(format!(
                "{}: neither a run directory nor a folder of runs; create a run with: wayhop run SCENARIO.toml",
                path.display()
            ));
        }
        Ok(library)
    }

    /// Two run directories, to compare. The second has another name if they have the same.
    pub(crate) fn pair(paths: [&Path; 2]) -> Result<Self, String> {
        let [a, b] = paths.map(|path| {
            let path = real(path)?;
            if is_run(&path) {
                return Ok((name_of(&path), path));
            }
            Err(format!("{}: not a run directory; give two run directories to compare", path.display()))
        });
        let (a, mut b) = (a?, b?);
        if a.0 == b.0 {
            b.0.push_str(" (2)");
        }
        Ok(Self::of(Source::Runs(vec![a, b])))
    }

    /// A folder that may have no runs yet. It is made if it is missing.
    pub(crate) fn of_folder(path: &Path) -> Result<Self, String> {
        fs::create_dir_all(path)
            .and_then(|()| fs::canonicalize(path))
            .map(|folder| Self::of(Source::Folder(folder)))
            .map_err(|e| format!("{}: {e}; give a folder for the runs", path.display()))
    }

    /// A folder that may not be there, or a run directory.
    #[cfg(feature = "live")]
    pub(crate) fn of_any_folder(path: &Path) -> Self {
        Self::new(path).unwrap_or_else(|_| Self::of(Source::Folder(path.to_owned())))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.named(is_run)
    }

    /// The names of what has the settings of a matrix of attenuators, second by second.
    pub(crate) fn drives(&self) -> Vec<String> {
        self.named(is_drive)
    }

    /// The names of the sweeps that have results here; `.` is the folder itself.
    pub(crate) fn sweeps(&self) -> Vec<String> {
        let is_own = matches!(&self.source, Source::Folder(folder) if sweeps::is_sweep(folder));
        is_own.then(|| ".".to_owned()).into_iter().chain(self.named(sweeps::is_sweep)).collect()
    }

    /// The figures of a sweep, as it wrote them.
    pub(crate) fn sweep_table(&self, name: &str) -> Result<String, Error> {
        if !self.sweeps().iter().any(|n| n == name) {
            return Err(Error::not_found(format!("there is no sweep {name} here; choose one from the list")));
        }
        sweeps::table(&self.path(name))
    }

    /// The reports in the folder of the runs, or in one of the runs.
    pub(crate) fn reports(&self) -> Vec<reports::ReportPath> {
        match &self.source {
            Source::Folder(folder) => reports::list(folder),
            Source::Runs(runs) => {
                let of = |(name, path): &(String, PathBuf)| {
                    let name = name.clone();
                    reports::list(path).into_iter().map(move |(n, p)| (format!("{name}/{n}"), p))
                };
                runs.iter().flat_map(of).collect()
            }
        }
    }

    fn named(&self, is: impl Fn(&Path) -> bool) -> Vec<String> {
        let folder = match &self.source {
            Source::Runs(runs) => {
                return runs.iter().filter(|(_, path)| is(path)).map(|(name, _)| name.clone()).collect();
            }
            Source::Folder(folder) => folder,
        };
        folders::below(folder).into_iter().filter(|(_, path)| is(path)).map(|(name, _)| name).collect()
    }

    /// What a drive has written from a place of its log on.
    pub(crate) fn drive(&self, name: &str, from: &drive::Since) -> Result<Value, Error> {
        if !self.drives().iter().any(|n| n == name) {
            return Err(Error::not_found(format!(
                "there is no {} of {name} here; create one with: wayhop matrix drive SCENARIO.toml --out RUN",
                drive::LOG
            )));
        }
        drive::rows(&self.path(name), from)
    }

    /// The list for the page; `more` runs are left out.
    pub(crate) fn list(&self) -> Value {
        let names = self.names();
        let run = |name: &String| about(name, &self.path(name));
        let runs: Vec<Value> = names.iter().take(MOST_LISTED).map(run).collect();
        let sweep = |name: &String| sweeps::about(name, &self.path(name));
        let sweeps: Vec<Value> = self.sweeps().iter().take(MOST_LISTED).map(sweep).collect();
        json!({"more": names.len().saturating_sub(runs.len()), "runs": runs, "sweeps": sweeps})
    }

    /// A run, which stays open for the next question. Only a name that is listed is joined to a path.
    pub(crate) fn run(&self, name: &str) -> Result<Arc<OpenRun>, Error> {
        let mut open = self.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(at) = open.iter().position(|(n, _)| n == name) {
            let (name, run) = open.remove(at);
            if !run.is_stale() {
                open.push((name, Arc::clone(&run)));
                return Ok(run);
            }
        }
        if !self.names().iter().any(|n| n == name) {
            return Err(Error::not_found(format!("there is no run {name} here; choose one from the list")));
        }
        let run = Arc::new(OpenRun::open(&self.path(name))?);
        if open.len() >= MOST_OPEN {
            open.remove(0);
        }
        open.push((name.to_owned(), Arc::clone(&run)));
        Ok(run)
    }

    fn path(&self, name: &str) -> PathBuf {
        match &self.source {
            Source::Runs(runs) => {
                runs.iter().find(|(n, _)| n == name).map(|(_, path)| path.clone()).unwrap_or_default()
            }
            Source::Folder(folder) => folder.join(name),
        }
    }
}
