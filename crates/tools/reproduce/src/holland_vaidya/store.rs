//! The finished runs, one line each in a file, from which an interrupted study resumes.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wayhop_report::Document;
use wayhop_trace::lock_folder;

use super::plan::Job;
use super::transfer::Transfer;

pub(crate) const NAME: &str = "runs.jsonl";

#[derive(Serialize, Deserialize)]
struct Line {
    /// Of what program and scenarios: see [`program`].
    of: u64,
    job: Job,
    transfer: Transfer,
}

pub(crate) struct Store {
    of: u64,
    known: BTreeMap<Job, Transfer>,
    file: Mutex<File>,
    /// Locked: one study at a time writes into a folder.
    _folder: Option<File>,
}

impl Store {
    /// Opens the file, or makes it. Lines of another program, of other scenarios and lines that an interruption cut off
    /// are dropped; a file of something else is refused.
    pub(crate) fn open(dir: &Path, of: u64) -> io::Result<Self> {
        std::fs::create_dir_all(dir)?;
        let folder = lock_folder(dir).map_err(|e| match e.kind() {
            io::ErrorKind::WouldBlock => io::Error::other("another study is writing to it"),
            _ => e,
        })?;
        let path = dir.join(NAME);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(e),
        };
        let text = String::from_utf8_lossy(&bytes);
        if let Some(i) = text.lines().position(is_of_something_else) {
            return Err(io::Error::other(format!(
                "line {} is not a run of this study, and would be lost",
                i + 1
            )));
        }
        let lines = text.lines().filter_map(|l| serde_json::from_str::<Line>(l).ok());
        let known: BTreeMap<Job, Transfer> =
            lines.filter(|l| l.of == of).map(|l| (l.job, l.transfer)).collect();
        // The kept lines are rewritten beside the file, which they then replace.
        let part = path.with_extension("part");
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(&part)?;
        for (job, transfer) in &known {
            file.write_all(line(of, *job, transfer)?.as_bytes())?;
        }
        std::fs::rename(&part, &path)?;
        Ok(Self { of, known, file: Mutex::new(file), _folder: folder })
    }

    pub(crate) fn known(&self, job: Job) -> Option<Transfer> {
        self.known.get(&job).cloned()
    }

    pub(crate) fn add(&self, job: Job, transfer: &Transfer) -> io::Result<()> {
        let text = line(self.of, job, transfer)?;
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(text.as_bytes())
    }
}

/// Whether a line is complete and of another program's file, such as that of `wayhop sweep`.
fn is_of_something_else(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|v| v.get("of").is_none() || v.get("job").is_none())
}

fn line(of: u64, job: Job, transfer: &Transfer) -> io::Result<String> {
    let line = Line { of, job, transfer: transfer.clone() };
    Ok(format!("{}\n", Document::from(serde_json::to_value(&line)?)))
}

/// A number for this very program and these scenarios: another build may have another result.
pub(crate) fn program(files: &[(&str, &str)]) -> u64 {
    let mut hash = std::hash::DefaultHasher::new();
    (wayhop_core::version::full(), files).hash(&mut hash);
    if let Ok(about) = std::env::current_exe().and_then(std::fs::metadata) {
        (about.len(), about.modified().ok()).hash(&mut hash);
    }
    // JSON numbers beyond 2^53 are not safe with every reader.
    hash.finish() >> 12
}

#[cfg(test)]
mod tests {
    use super::super::plan::Mechanism;
    use super::*;

    const JOBS: [Job; 2] = [
        Job::Chain { hops: 3, seed: 1 },
        Job::Pattern { pattern: 7, speed_mps: 30, mechanism: Mechanism::ElfnHalf },
    ];

    fn transfer(kbps: f64) -> Transfer {
        Transfer { kbps, acknowledged: vec![1, 0, 3], ..Transfer::default() }
    }

    /// A folder with both runs.
    fn filled() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), 1).unwrap();
        store.add(JOBS[0], &transfer(1.5)).unwrap();
        store.add(JOBS[1], &transfer(2.5)).unwrap();
        dir
    }

    #[test]
    fn runs_are_found_again_and_a_torn_line_is_not_in_the_way() {
        let dir = filled();
        let path = dir.path().join(NAME);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let store = Store::open(dir.path(), 1).unwrap();
        assert_eq!(JOBS.map(|j| store.known(j)), [Some(transfer(1.5)), None]);
        store.add(JOBS[1], &transfer(2.75)).unwrap();
        drop(store);
        let store = Store::open(dir.path(), 1).unwrap();
        assert_eq!(JOBS.map(|j| store.known(j)), [Some(transfer(1.5)), Some(transfer(2.75))]);
    }

    #[test]
    fn a_spoilt_line_costs_one_run() {
        let dir = filled();
        let path = dir.path().join(NAME);
        let mut bytes = std::fs::read(&path).unwrap();
        // Within the first line's figures.
        let at = bytes.windows(4).position(|w| w == b"kbps").unwrap();
        bytes[at] = 0xff;
        std::fs::write(&path, &bytes).unwrap();
        let store = Store::open(dir.path(), 1).unwrap();
        assert_eq!(JOBS.map(|j| store.known(j)), [None, Some(transfer(2.5))]);
    }

    #[test]
    fn a_file_of_something_else_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        // As `wayhop sweep` writes it.
        let text = "{\"id\":\"8e1a\",\"run\":{\"seed\":1},\"summary\":{}}\n";
        std::fs::write(&path, text).unwrap();
        let e = Store::open(dir.path(), 1).map(|_| ()).unwrap_err().to_string();
        assert_eq!(e, "line 1 is not a run of this study, and would be lost");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn two_studies_do_not_write_to_the_same_folder() {
        let dir = tempfile::tempdir().unwrap();
        let first = Store::open(dir.path(), 1).unwrap();
        let e = Store::open(dir.path(), 1).map(|_| ()).unwrap_err().to_string();
        assert_eq!(e, "another study is writing to it");
        drop(first);
        assert!(Store::open(dir.path(), 1).is_ok());
    }

    #[test]
    fn runs_of_another_program_do_not_count() {
        assert_eq!(Store::open(filled().path(), 2).unwrap().known(JOBS[0]), None);
    }
}
