//! The run directory: written by a run, and read by everything else; and its lock.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use wayhop_core::{Classifier, file_name};

use crate::packet_index::PACKET_INDEX;
use crate::tables::remove_checkpoint;
use crate::{Error, Manifest, PartialRecord, RunStatus, Summary, TABLES};

/// The file whose presence makes a directory a run directory.
const MANIFEST: &str = "manifest.json";
pub(crate) const SUMMARY: &str = "summary.json";
const CAPTURES: &str = "captures";
const INPUTS: &str = "inputs";
const NS2_TRACE: &str = "trace.tr";
/// What programs in the nodes said and wrote, what nodes reported, and their own run directories.
const OUTPUTS: [&str; 4] = ["programs", "files", "reports", NODES];
const NODES: &str = "nodes";
/// The page and the figures that `wayhop report` and `wayhop plot` leave beside what they show.
const REPORT: &str = "report.html";
const FIGURES: [&str; 8] =
    ["delivery", "throughput", "latency", "cdf", "losses", "hops", "overhead", "searches"];
/// Space set aside at the start, so that a full disk leaves room for the ends of tables and captures ...
const RESERVE: (&str, usize) = (".reserve", 256 << 10);
/// ... and, whatever those take, for the manifest and the summary.
const LAST_RESERVE: (&str, usize) = (".reserve.last", 64 << 10);

/// Folders with a file for each node, and how their names end.
const FOLDERS: [(&str, &str); 2] = [(CAPTURES, "pcapng"), (INPUTS, "jsonl")];

/// A directory that holds, or will hold, one run.
#[derive(Clone, Debug)]
pub struct RunDir {
    path: PathBuf,
    /// Names the classes and messages of routing packets in its tables.
    classifier: &'static dyn Classifier,
    /// The directory itself, locked until the run has ended, or the process has, however that ends.
    lock: Option<Arc<File>>,
}

impl RunDir {
    /// Makes the directory ready for a new run, and writes its manifest with the status `running`.
    ///
    /// An older run in it is removed. A directory with anything else in it, or with a run that another process or value is
    /// writing, is refused and left alone.
    pub fn create(
        path: impl Into<PathBuf>,
        manifest: &Manifest,
        classifier: &'static dyn Classifier,
    ) -> Result<Self, Error> {
        let path = path.into();
        if path.exists() && !path.is_dir() {
            return Err(Error::invalid(&path, "not a directory; choose a new or empty directory with --out"));
        }
        fs::create_dir_all(&path).map_err(Error::io(&path, "create"))?;
        let busy = "another run is writing to it; wait until it ends, or choose another directory with --out";
        let dir = Self { lock: locked(&path, busy)?, path, classifier };
        dir.clear()?;
        dir.write_json(MANIFEST, &Manifest { status: RunStatus::Running, error: None, ..manifest.clone() })?;
        if let Err(e) = dir.set_aside() {
            // There may be room for saying so.
            let _ = dir.end(RunStatus::Failed, Some(e.to_string()));
            return Err(e);
        }
        Ok(dir)
    }

    fn set_aside(&self) -> Result<(), Error> {
        for (name, bytes) in [RESERVE, LAST_RESERVE] {
            let file = self.path.join(name);
            fs::write(&file, vec![0; bytes]).map_err(Error::io(&file, "write"))?;
        }
        Ok(())
    }

    /// Opens the directory of an earlier run.
    pub fn open(path: impl Into<PathBuf>, classifier: &'static dyn Classifier) -> Result<Self, Error> {
        let dir = Self { path: path.into(), classifier, lock: None };
        if let Some(library) = dir.manifest()?.library {
            let learnt = classifier.learn(&library.protocol, &library.classes, &library.types);
            learnt.map_err(|what| Error::invalid(&dir.path, what))?;
        }
        Ok(dir)
    }

    /// What its packets are classified by.
    pub fn classifier(&self) -> &'static dyn Classifier {
        self.classifier
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a node's capture is; characters that do not belong in a file name become `_`.
    pub fn capture_path(&self, node_name: &str) -> PathBuf {
        self.path.join(CAPTURES).join(file_name(node_name) + ".pcapng")
    }

    /// Where the log of what went into a node's engine is; as [`RunDir::capture_path`].
    pub fn inputs_path(&self, node_name: &str) -> PathBuf {
        self.path.join(INPUTS).join(file_name(node_name) + ".jsonl")
    }

    /// Where a node's own run directory is, of a lab that has them; as [`RunDir::capture_path`].
    pub fn node_run_path(&self, node_name: &str) -> PathBuf {
        self.path.join(NODES).join(file_name(node_name))
    }

    /// Makes the folder of these logs.
    pub fn make_inputs_dir(&self) -> Result<(), Error> {
        self.make_dir(INPUTS)
    }

    /// Reads the manifest.
    pub fn manifest(&self) -> Result<Manifest, Error> {
        let path = self.path.join(MANIFEST);
        let text = match fs::read(&path) {
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                let why = match self.path.try_exists() {
                    Ok(false) => "no such directory; check the name".to_owned(),
                    _ => format!("it has no {MANIFEST}; `wayhop run SCENARIO --out DIR` writes one"),
                };
                return Err(Error::invalid(&self.path, format!("not a run directory: {why}")));
            }
            read => read.map_err(Error::io(&path, "read"))?,
        };
        serde_json::from_slice(&text).map_err(|e| {
            Error::invalid(
                &path,
                format!("not a manifest written by Wayhop ({e}); copy the run again, or repeat it"),
            )
        })
    }

    /// Whether a process writes this run now. A run with the status `running` that no process writes was killed.
    pub fn is_under_way(&self) -> bool {
        lock_folder(&self.path).is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
    }

    /// Whether the run was killed: it has not ended, and no process writes it.
    pub fn is_killed(&self) -> bool {
        self.manifest().is_ok_and(|m| m.status == RunStatus::Running) && !self.is_under_way()
    }

    /// Whether the run would have had this table, and was asked to leave it out.
    pub(crate) fn leaves_out(&self, table: &str) -> bool {
        self.manifest().is_ok_and(|m| m.record.is_some_and(|r| r.lacks(table)))
    }

    pub(crate) fn has(&self, table: &str) -> bool {
        self.path.join(format!("{table}.parquet")).exists()
    }

    /// Opens the directory of an earlier run to change it.
    pub(crate) fn open_alone(path: &Path, classifier: &'static dyn Classifier) -> Result<Self, Error> {
        let dir = Self::open(path, classifier)?;
        let lock = locked(path, "the run is still running: wait until it ends, or stop it with SIGTERM")?;
        Ok(Self { lock, ..dir })
    }

    pub(crate) fn make_captures_dir(&self) -> Result<(), Error> {
        self.make_dir(CAPTURES)
    }

    fn make_dir(&self, name: &str) -> Result<(), Error> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).map_err(Error::io(&path, "create"))
    }

    /// Gives back the space that was set aside for the ends of tables and captures.
    pub(crate) fn release_reserve(&self) {
        // It may be gone already; what matters is that it does not stay.
        let _ = fs::remove_file(self.path.join(RESERVE.0));
    }

    pub(crate) fn write_summary(&self, summary: &Summary) -> Result<(), Error> {
        self.write_json(SUMMARY, summary)
    }

    /// Waits until the disk has the manifest and, if there is one, the summary.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        let synced = |path: &Path| File::open(path).and_then(|f| f.sync_all());
        for file in [MANIFEST, SUMMARY].map(|f| self.path.join(f)).iter().filter(|f| f.exists()) {
            synced(file).map_err(Error::io(file, "write"))?;
        }
        synced(&self.path).map_err(Error::io(&self.path, "write"))
    }

    /// Says how the run ended, in the space set aside for it.
    pub(crate) fn end(&self, status: RunStatus, error: Option<String>) -> Result<(), Error> {
        self.release_reserve();
        let _ = fs::remove_file(self.path.join(LAST_RESERVE.0));
        let manifest = Manifest { status, error, ..self.manifest()? };
        self.write_json(MANIFEST, &manifest)?;
        // Until here a run that is killed is read by it.
        remove_checkpoint(&self.path);
        if let Some(lock) = &self.lock {
            // It would end with this value.
            unlock(lock);
        }
        Ok(())
    }

    /// Says in the manifest what the record leaves out.
    pub(crate) fn note(&self, record: PartialRecord) -> Result<(), Error> {
        self.write_json(MANIFEST, &Manifest { record: Some(record), ..self.manifest()? })
    }

    /// Replaces the file as a whole, so that a reader never sees half of it.
    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let (path, part) = (self.path.join(name), self.path.join(format!("{name}.part")));
        let write = || -> std::io::Result<()> {
            let mut text = serde_json::to_vec_pretty(value)?;
            text.push(b'\n');
            File::create(&part)?.write_all(&text)?;
            fs::rename(&part, &path)
        };
        write().map_err(|e| {
            let _ = fs::remove_file(&part);
            Error::io(&path, "write")(e)
        })
    }

    /// Removes an older run's files, and only those.
    fn clear(&self) -> Result<(), Error> {
        let entries = fs::read_dir(&self.path).map_err(Error::io(&self.path, "read"))?;
        if entries.count() == 0 {
            return Ok(());
        }
        if self.manifest().is_err() {
            let what =
                "contains files that do not belong to a run; choose a new or empty directory with --out";
            return Err(Error::invalid(&self.path, what));
        }
        let mut old: Vec<PathBuf> = TABLES.iter().map(|t| self.path.join(format!("{t}.parquet"))).collect();
        // They would show another run than the one that is there.
        old.extend(
            FIGURES.iter().flat_map(|f| ["svg", "csv"].map(|end| self.path.join(format!("{f}.{end}")))),
        );
        old.extend(
            [REPORT, SUMMARY, NS2_TRACE, PACKET_INDEX, RESERVE.0, LAST_RESERVE.0].map(|f| self.path.join(f)),
        );
        remove_checkpoint(&self.path);
        for (folder, extension) in FOLDERS {
            if let Ok(entries) = fs::read_dir(self.path.join(folder)) {
                let ours = |p: &PathBuf| p.extension() == Some(extension.as_ref());
                old.extend(entries.flatten().map(|e| e.path()).filter(ours));
            }
        }
        for file in old {
            gone(fs::remove_file(&file)).map_err(Error::io(&file, "remove"))?;
        }
        // Whatever the older run's programs were, their output is not this run's.
        for folder in OUTPUTS.map(|f| self.path.join(f)) {
            gone(fs::remove_dir_all(&folder)).map_err(Error::io(&folder, "remove"))?;
        }
        for (folder, _) in FOLDERS {
            // Stays if the user has put something into it.
            let _ = fs::remove_dir(self.path.join(folder));
        }
        Ok(())
    }
}

/// Locks a folder; `busy` says what to do if somebody else has.
fn locked(path: &Path, busy: &str) -> Result<Option<Arc<File>>, Error> {
    match lock_folder(path) {
        Err(e) if e.kind() == ErrorKind::WouldBlock => Err(Error::invalid(path, busy)),
        lock => Ok(lock.map_err(Error::io(path, "open"))?.map(Arc::new)),
    }
}

/// What was not there is gone as well.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })
}

/// Locks a folder until the returned file is closed, or the process ends, however it does.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process or value has the lock; other kinds if the folder cannot be opened. Where
/// there are no such locks (some file systems, systems other than Unix), locking always succeeds.
pub fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    // Elsewhere folders are no files that could be opened.
    if cfg!(not(unix)) {
        return Ok(None);
    }
    let folder = File::open(path)?;
    lock_file(&folder)?;
    Ok(Some(folder))
}

/// Locks an open file, as [`lock_folder`] does a folder.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process or value has the lock.
#[cfg(unix)]
pub fn lock_file(file: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(io::ErrorKind::WouldBlock.into()),
        // Where the file system knows no locks, nothing is lost but the check.
        _ => Ok(()),
    }
}

/// There are no locks here that end with the process and leave readers alone.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub fn lock_file(_: &File) -> io::Result<()> {
    Ok(())
}

/// Gives a lock back while copies of its file are open.
fn unlock(file: &File) {
    #[cfg(unix)]
    let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
    #[cfg(not(unix))]
    let _ = file;
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_until_the_lock_is_dropped() {
        let dir = tempfile::tempdir().expect("a folder");
        let first = lock_folder(dir.path()).expect("the lock is free");
        let refused = lock_folder(dir.path()).map(drop).map_err(|e| e.kind());
        assert_eq!(refused, Err(io::ErrorKind::WouldBlock));
        drop(first);
        assert!(lock_folder(dir.path()).is_ok());
    }
}
