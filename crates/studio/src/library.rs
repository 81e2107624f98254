//! The runs that a studio shows, by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use wayhop_trace::RunDir;

use crate::error::Error;
use crate::run::Run;

/// Runs that stay open.
const MOST_OPEN: usize = 4;
/// Runs that are listed.
const MOST_LISTED: usize = 1_000;

/// A run directory, or a folder of them.
pub(crate) struct Library {
    folder: PathBuf,
    /// The only run, if the folder is one itself.
    only: Option<String>,
    /// The last used ones, the latest last.
    open: Mutex<Vec<(String, Arc<Run>)>>,
}

impl Library {
    pub(crate) fn new(path: &Path) -> Result<Self, String> {
        let path = fs::canonicalize(path)
            .map_err(|e| format!("{}: {e}; name a run directory, or a folder of them", path.display()))?;
        let is_run = path.join("manifest.json").is_file();
        let name = || path.file_name().map_or_else(|| "run".to_owned(), |n| n.to_string_lossy().into_owned());
        let only = is_run.then(name);
        let library = Self { folder: path, only, open: Mutex::default() };
        if library.names().is_empty() {
            return Err(format!(
                "{}: neither a run directory nor a folder of them; make one: wayhop run SCENARIO.toml",
                library.folder.display()
            ));
        }
        Ok(library)
    }

    /// A folder that may have no runs yet. It is made if it is missing.
    pub(crate) fn of_folder(path: &Path) -> Result<Self, String> {
        fs::create_dir_all(path)
            .and_then(|()| fs::canonicalize(path))
            .map(|folder| Self { folder, only: None, open: Mutex::default() })
            .map_err(|e| format!("{}: {e}; name a folder for the runs", path.display()))
    }

    /// A folder that may not be there, or a run directory.
    #[cfg(feature = "live")]
    pub(crate) fn of_any_folder(path: &Path) -> Self {
        Self::new(path).unwrap_or_else(|_| Self {
            folder: path.to_owned(),
            only: None,
            open: Mutex::default(),
        })
    }

    /// The names of the runs, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        if let Some(only) = &self.only {
            return vec![only.clone()];
        }
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let runs = entries.filter(|e| e.path().join("manifest.json").is_file());
        let mut names: Vec<String> = runs.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names.truncate(MOST_LISTED);
        names
    }

    /// The list for the page.
    pub(crate) fn list(&self) -> Value {
        let of = |name: &String| {
            let manifest = RunDir::open(self.path(name)).and_then(|r| r.manifest()).ok();
            json!({
                "name": name,
                "status": manifest.as_ref().map(|m| m.status),
                "started": manifest.as_ref().map(|m| &m.started),
                "seed": manifest.as_ref().map(|m| m.seed),
            })
        };
        json!({"runs": self.names().iter().map(of).collect::<Vec<_>>()})
    }

    /// A run, which stays open for the next question. Only what is listed is opened: a name is compared, never joined to a path
    /// before.
    pub(crate) fn run(&self, name: &str) -> Result<Arc<Run>, Error> {
        let mut open = self.open.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(at) = open.iter().position(|(n, _)| n == name) {
            let (name, run) = open.remove(at);
            if !run.is_stale() {
                open.push((name, Arc::clone(&run)));
                return Ok(run);
            }
        }
        if !self.names().iter().any(|n| n == name) {
            return Err(Error::not_found(format!("there is no run {name} here; choose one of the list")));
        }
        let run = Arc::new(Run::open(&self.path(name))?);
        if open.len() >= MOST_OPEN {
            open.remove(0);
        }
        open.push((name.to_owned(), Arc::clone(&run)));
        Ok(run)
    }

    fn path(&self, name: &str) -> PathBuf {
        if self.only.is_some() { self.folder.clone() } else { self.folder.join(name) }
    }
}
