//! The files in which workers leave their results, and merging them: `chunks/NAME.HOST-PROCESS.jsonl` in the folder of the sweep.
//!
//! Each process writes a file of its own, because shared file systems do not append for two. All attempts at a chunk have its
//! NAME.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wayhop_core::version;
use wayhop_trace::lock_file;

use crate::error::SweepError;
use crate::lines::{for_each_line, host_of};
use crate::store::Store;

const FOLDER: &str = "chunks";
const EXTENSION: &str = "jsonl";

/// The file of this process for the chunk `name`.
pub(crate) fn own(dir: &Path, name: &str) -> PathBuf {
    let host = wayhop_core::file_name(&this_host());
    dir.join(FOLDER).join(format!("{name}.{host}-{}.{EXTENSION}", std::process::id()))
}

/// The name of this machine, as the results of its runs give it.
pub(crate) fn this_host() -> String {
    let told = |key: &str| std::env::var(key).ok();
    let kernel = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = kernel.or_else(|| told("HOSTNAME")).or_else(|| told("COMPUTERNAME"));
    name.map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).unwrap_or_else(|| "unknown host".to_owned())
}

/// The files of all workers in the folder of a sweep.
pub(crate) fn all(dir: &Path) -> Result<Vec<PathBuf>, SweepError> {
    in_folder(&dir.join(FOLDER), |_| true)
}

/// `file`, and those of other attempts at the same chunk.
pub(crate) fn attempts(file: &Path) -> Result<Vec<PathBuf>, SweepError> {
    let chunk = |path: &Path| {
        let name = path.file_name()?.to_str()?;
        Some(name.split('.').next()?.to_owned())
    };
    let ours = chunk(file);
    in_folder(file.parent().unwrap_or(Path::new("")), |path| chunk(path) == ours)
}

fn in_folder(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>, SweepError> {
    let entries = match fs::read_dir(folder) {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        read => read.map_err(|e| SweepError::Run(format!("cannot read {}: {e}", folder.display())))?,
    };
    let is_one = |path: &PathBuf| path.extension().is_some_and(|e| e == EXTENSION) && is_wanted(path);
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(is_one).collect();
    files.sort();
    Ok(files)
}

/// The ids of the runs in files of workers with this version of the program.
pub(crate) fn done(files: &[PathBuf]) -> Result<BTreeSet<String>, SweepError> {
    let mut ids = BTreeSet::new();
    for file in files {
        for_each_line(file, |record| {
            let id = record["id"].as_str().filter(|_| record["wayhop"] == version::full());
            ids.extend(id.map(str::to_owned));
            record["id"].is_string()
        })?;
    }
    Ok(ids)
}

/// Adds the results of workers to `store`, each run of the plan's `ids` once, and removes the files that are in it completely.
///
/// # Errors
/// Two machines disagree about a run.
pub(crate) fn merge(
    dir: &Path,
    store: &mut Store,
    ids: &[String],
    mut warn: impl FnMut(&str),
) -> Result<(), SweepError> {
    let files = all(dir)?;
    if files.is_empty() {
        return Ok(());
    }
    let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let mut merged = Vec::new();
    for path in &files {
        // A worker that is still writing has the lock; its later lines are merged next time.
        let lock = File::open(path).ok().filter(|file| lock_file(file).is_ok());
        let mut ignored: BTreeMap<String, usize> = BTreeMap::new();
        let mut failed = None;
        for_each_line(path, |record| {
            let (Some(id), true) = (record["id"].as_str(), record["summary"].is_object()) else {
                return false;
            };
            if let Some(why) = why_ignored(record, ids.contains(id)) {
                *ignored.entry(why).or_default() += 1;
            } else if failed.is_none() {
                failed = store.merge(id, record, path).err();
            }
            true
        })?;
        if let Some(e) = failed {
            return Err(e);
        }
        for (why, runs) in &ignored {
            warn(&format!("{}: ignoring {runs} runs {why}", path.display()));
        }
        if let (true, Some(lock)) = (ignored.is_empty(), lock) {
            merged.push((path, lock));
        }
    }
    store.flush()?;
    for (path, _lock) in merged {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Why a result does not count, with the machine that it is from.
fn why_ignored(record: &Value, is_planned: bool) -> Option<String> {
    let host = host_of(record);
    let theirs = record["wayhop"].as_str().unwrap_or("an unknown version");
    if theirs != version::full() {
        let ours = version::full();
        return Some(format!(
            "by Wayhop {theirs} on {host}, because this is {ours}; install the same version there"
        ));
    }
    (!is_planned).then(|| format!("from {host} that the plan does not have; its files or the plan changed"))
}
