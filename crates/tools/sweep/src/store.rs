//! The results file: one line of JSON per run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use wayhop_core::version;
use wayhop_report::Document;
use wayhop_trace::lock_file;

use crate::error::SweepError;
use crate::figures::figure;
use crate::lines::{for_each_line, host_of};

/// Results in a file, to which lines are added. One process at a time has it.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    values: BTreeMap<String, Vec<Option<f64>>>,
    /// The trace hash of each run.
    hashes: BTreeMap<String, String>,
    metrics: Vec<String>,
    versions: BTreeSet<String>,
    flushed: Instant,
}

/// A disk takes milliseconds, and some runs less.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

impl Store {
    /// Opens the file, which is made if it is not there, takes off a torn last line, and reads the figures `metrics` (ways
    /// into the summary) of each run in it.
    pub fn open(path: &Path, metrics: &[String]) -> Result<Self, SweepError> {
        let error = |reason: &str| SweepError::Run(format!("{}: {reason}", path.display()));
        let open = OpenOptions::new().create(true).read(true).append(true).open(path);
        let file = open.map_err(|e| error(&format!("cannot be opened: {e}")))?;
        lock_file(&file)
            .map_err(|_| error("another sweep is writing to it; wait for that, or choose another --out"))?;
        let mut store = Self {
            path: path.to_path_buf(),
            file,
            values: BTreeMap::new(),
            hashes: BTreeMap::new(),
            metrics: metrics.to_vec(),
            versions: BTreeSet::new(),
            flushed: Instant::now(),
        };
        store.read()?;
        Ok(store)
    }

    fn read(&mut self) -> Result<(), SweepError> {
        let mut reader = BufReader::new(&self.file);
        let (mut line, mut whole, mut number) = (Vec::new(), 0u64, 0);
        loop {
            line.clear();
            let read = reader
                .read_until(b'\n', &mut line)
                .map_err(|e| self.error(&format!("cannot be read: {e}")))?;
            if line.last() != Some(&b'\n') {
                break;
            }
            number += 1;
            whole += read as u64;
            let record = serde_json::from_slice::<Value>(&line).ok();
            let id = record.as_ref().and_then(|r| r.get("id")).and_then(Value::as_str);
            let (Some(id), Some(summary)) = (id, record.as_ref().and_then(|r| r.get("summary"))) else {
                let reason = format!("line {number} is not a result; remove it to repeat that run");
                return Err(self.error(&reason));
            };
            let version = record.as_ref().and_then(|r| r.get("wayhop")?.as_str());
            self.versions.extend(version.map(str::to_owned));
            let values = self.metrics.iter().map(|m| figure(summary, m)).collect();
            self.values.insert(id.to_owned(), values);
            self.hashes.insert(id.to_owned(), hash_of(summary));
        }
        drop(reader);
        // What was being written when the process ended.
        if !line.is_empty() {
            self.file.set_len(whole).map_err(|e| self.error(&format!("cannot be repaired: {e}")))?;
        }
        Ok(())
    }

    /// Versions of the program that wrote runs, other than this one's.
    pub fn other_versions(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(String::as_str).filter(|v| *v != version::full())
    }

    /// Whether it has this run.
    pub fn has(&self, id: &str) -> bool {
        self.values.contains_key(id)
    }

    /// The figures of a run.
    pub fn values(&self, id: &str) -> Option<&[Option<f64>]> {
        self.values.get(id).map(Vec::as_slice)
    }

    /// Adds a run: an object with `id` and `summary`.
    pub fn add(&mut self, id: &str, record: &Value) -> Result<(), SweepError> {
        let line = format!("{}\n", Document::from(record.clone()));
        let cannot = |e: io::Error| self.error(&format!("cannot be written: {e}; earlier results are kept"));
        let whole = self.file.metadata().map_err(cannot)?.len();
        // In one piece, so that a kill tears at most the last line; flushed, so that a power cut does not take much.
        let is_due = self.flushed.elapsed() >= FLUSH_EVERY;
        let flush = || if is_due { self.file.sync_data() } else { Ok(()) };
        let written = (&self.file).write_all(line.as_bytes()).and_then(|()| flush());
        if let Err(e) = written {
            // A piece of a line, as a full disk leaves it, must not become the beginning of another's.
            let mended = self.file.set_len(whole);
            return Err(cannot(mended.err().unwrap_or(e)));
        }
        if is_due {
            self.flushed = Instant::now();
        }
        let summary = &record["summary"];
        self.values.insert(id.to_owned(), self.metrics.iter().map(|m| figure(summary, m)).collect());
        self.hashes.insert(id.to_owned(), hash_of(summary));
        Ok(())
    }

    /// Adds a run from the file `from` of a worker, unless it is there already.
    ///
    /// # Errors
    /// It is there with another trace hash: the error names both machines.
    pub fn merge(&mut self, id: &str, record: &Value, from: &Path) -> Result<(), SweepError> {
        let theirs = hash_of(&record["summary"]);
        match self.hashes.get(id) {
            None => self.add(id, record),
            Some(ours) if *ours == theirs => Ok(()),
            Some(ours) => {
                let reason = format!(
                    "run {id} ({}) has the trace hash {ours} on {} and {theirs} on {} ({}): one of the machines or its \
                     program is faulty; remove the wrong line, and repeat the runs of that machine",
                    record["run"],
                    self.host(id),
                    host_of(record),
                    from.display()
                );
                Err(self.error(&reason))
            }
        }
    }

    /// The machine that made a run.
    fn host(&self, id: &str) -> String {
        let mut host = None;
        // The runs themselves are what matters: without the name the error is still true.
        let _ = for_each_line(&self.path, |record| {
            if record["id"] == id {
                host = Some(host_of(record));
            }
            true
        });
        host.unwrap_or_else(|| "an unknown machine".to_owned())
    }

    /// Waits until the lines are on the disk.
    pub fn flush(&self) -> Result<(), SweepError> {
        self.file
            .sync_data()
            .map_err(|e| self.error(&format!("cannot be written: {e}; earlier results are kept")))
    }

    fn error(&self, reason: &str) -> SweepError {
        SweepError::Run(format!("{}: {reason}", self.path.display()))
    }
}

fn hash_of(summary: &Value) -> String {
    summary["trace_hash"].as_str().unwrap_or_default().to_owned()
}
