//! A part of a plan's runs, as one worker makes it.

use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use wayhop_core::version;
use wayhop_report::Document;

use crate::chunk_files::{attempts, done, own, this_host};
use crate::error::SweepError;
use crate::execute::{Batch, record};
use crate::folders::Folders;
use crate::lines::{RESULTS, for_each_line};
use crate::matrix::PlannedRun;
use crate::plan::Plan;
use crate::store::Store;
use crate::work::Work;

/// Which of a plan's runs a worker makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// Every `of`-th run, starting with run `number`; both count from 1. Neighbouring runs differ in their seeds only, so the
    /// parts take similar times.
    Part {
        /// Number of the part.
        number: usize,
        /// Number of parts.
        of: usize,
    },
    /// Runs by their number in the plan, from 1, with the ids that the coordinator computed.
    Listed(Vec<(usize, String)>),
}

/// Where a worker writes its lines.
#[derive(Clone, Copy, Debug)]
pub enum ChunkOutput<'a> {
    /// A file of its own in the folder of the sweep.
    Folder,
    /// This file. Runs in other files of its folder with the same name up to the first dot are not repeated.
    File(&'a Path),
    /// Standard output.
    Standard,
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOutcome {
    /// How many runs it has.
    pub runs: usize,
    /// How many of them are done.
    pub done: usize,
    /// How many of those were already done.
    pub found: usize,
}

impl Chunk {
    /// `3/40` is the third of 40 parts.
    pub fn part(text: &str) -> Result<Self, String> {
        let numbers: Option<(usize, usize)> =
            text.split_once('/').and_then(|(n, of)| Some((n.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self::Part { number, of }),
            _ => Err(format!("{text:?} is not a part; give K/N with K from 1 to N, such as 3/40")),
        }
    }

    /// One run per line: its number and its id, as in `left` of `wayhop sweep --prepare`.
    pub fn list(text: &str) -> Result<Self, String> {
        let run = |(k, line): (usize, &str)| {
            let pair = line.split_once(' ').and_then(|(n, id)| Some((n.parse().ok()?, id.to_owned())));
            pair.ok_or_else(|| format!("line {}: {line:?} is not NUMBER ID; give lines of --prepare", k + 1))
        };
        text.lines().enumerate().map(run).collect::<Result<_, _>>().map(Self::Listed)
    }

    fn places(&self, runs: usize) -> Result<Vec<usize>, SweepError> {
        match self {
            Self::Part { number, of } => Ok((number - 1..runs).step_by(*of).collect()),
            Self::Listed(list) => (list.iter())
                .map(|(number, _)| {
                    number.checked_sub(1).filter(|i| *i < runs).ok_or_else(|| {
                        SweepError::Usage(format!(
                            "run {number}: the plan has runs 1 to {runs}; it was changed"
                        ))
                    })
                })
                .collect(),
        }
    }

    /// Checks that this machine would make the runs that the coordinator means.
    fn check(&self, ids: &[String]) -> Result<(), SweepError> {
        let Self::Listed(list) = self else { return Ok(()) };
        let other = list.iter().zip(ids).find(|((_, theirs), ours)| theirs != *ours);
        other.map_or(Ok(()), |((number, theirs), ours)| {
            Err(SweepError::Usage(format!(
                "run {number} has the id {ours} on {}, not {theirs}: the scenario's files or the version ({}) differ \
                 from the coordinator's; copy the files and install the same version",
                this_host(),
                version::full()
            )))
        })
    }

    fn name(&self) -> String {
        match self {
            Self::Part { number, of } => format!("chunk-{number}-of-{of}"),
            Self::Listed(_) => "runs".to_owned(),
        }
    }
}

/// Makes the runs of a chunk that neither `dir` nor an earlier attempt at it has, on `threads` threads, until `stop` is set.
/// `progress` is called with the number of its runs that are done and that of all, before the first and after each. Apart from
/// run directories, only the worker's own results file is written.
pub fn run_chunk(
    plan: &Plan,
    chunk: &Chunk,
    (dir, output): (&Path, ChunkOutput<'_>),
    threads: usize,
    stop: &AtomicBool,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<ChunkOutcome, SweepError> {
    let work = Work::new(plan)?;
    let all = plan.runs()?;
    let places = chunk.places(all.len())?;
    let runs: Vec<PlannedRun> = places.iter().map(|&i| all[i].clone()).collect();
    let ids = work.ids(&runs)?;
    chunk.check(&ids)?;
    let is_recorded = plan.sweep.tables || plan.sweep.captures;
    // The name of a run directory depends on those of all others.
    let folders = is_recorded
        .then(|| Ok::<_, SweepError>(Folders::new(dir, &all, &work.ids(&all)?).only(&places)))
        .transpose()?;
    let file = match output {
        ChunkOutput::Folder => Some(own(dir, &chunk.name())),
        ChunkOutput::File(path) => Some(path.to_path_buf()),
        ChunkOutput::Standard => None,
    };
    let mut earlier = file.as_deref().map_or(Ok(Vec::new()), attempts).and_then(|files| done(&files))?;
    for_each_line(&dir.join(RESULTS), |record| {
        earlier.extend(record["id"].as_str().map(str::to_owned));
        record["id"].is_string()
    })?;
    let due = work.due(&runs, folders.as_ref(), |i| earlier.contains(&ids[i]))?;
    let found = runs.len() - due.len();
    let mut done = found;
    progress(done, runs.len());
    let mut sink = match file {
        Some(path) if !due.is_empty() => Sink::File(open(&path)?),
        _ => Sink::Standard,
    };
    let host = this_host();
    let batch = Batch { work: &work, runs: &runs, folders: folders.as_ref() };
    batch.run(&due, threads, stop, |i, summary| {
        let mut record = record(plan, &runs[i], &ids[i], summary);
        record["host"] = host.as_str().into();
        sink.add(&ids[i], &record)?;
        done += 1;
        progress(done, runs.len());
        Ok(())
    })?;
    sink.close()?;
    Ok(ChunkOutcome { runs: runs.len(), done, found })
}

fn open(path: &Path) -> Result<Store, SweepError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)
            .map_err(|e| SweepError::Run(format!("cannot create the folder {}: {e}", folder.display())))?;
    }
    Store::open(path, &[])
}

enum Sink {
    File(Store),
    Standard,
}

impl Sink {
    fn add(&mut self, id: &str, record: &Value) -> Result<(), SweepError> {
        match self {
            Self::File(store) => store.add(id, record),
            Self::Standard => writeln!(stdout(), "{}", Document::from(record.clone()))
                .map_err(|e| SweepError::Run(format!("cannot write results to standard output: {e}"))),
        }
    }

    fn close(&mut self) -> Result<(), SweepError> {
        match self {
            Self::File(store) => store.flush(),
            Self::Standard => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_plan_have_each_run_once() {
        for (runs, of) in [(10, 1), (10, 3), (10, 10), (3, 7)] {
            let part = |number| Chunk::Part { number, of }.places(runs).unwrap();
            let mut all: Vec<usize> = (1..=of).flat_map(part).collect();
            all.sort_unstable();
            assert_eq!(all, (0..runs).collect::<Vec<_>>(), "{runs} runs in {of} parts");
        }
    }

    #[test]
    fn parts_and_lists_that_make_no_sense_are_refused() {
        for text in ["", "3", "0/4", "5/4", "-1/4", "a/b", "1/0"] {
            assert!(Chunk::part(text).is_err(), "{text}");
        }
        let e = Chunk::list("1 aa\nbb\n").unwrap_err();
        assert!(e.starts_with("line 2: \"bb\" is not NUMBER ID"), "{e}");
        let list = Chunk::list("2 aa\n9 bb\n").unwrap();
        assert!(list.places(8).is_err());
        assert_eq!(list.places(9).unwrap(), [1, 8]);
    }
}
