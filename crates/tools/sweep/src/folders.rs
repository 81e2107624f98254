//! The run directories of a sweep.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use wayhop_core::file_name;
use wayhop_runs::run_dir::holds;
use wayhop_scenario::Scenario;

use crate::matrix::PlannedRun;

/// Letters of a folder's name before the seed. File systems take 255 octets.
const LONGEST: usize = 60;

#[derive(Debug)]
pub(crate) struct Folders {
    paths: Vec<PathBuf>,
}

impl Folders {
    /// In `dir/runs`: the run's values on the axes and its seed are its name, as `dsr-20-seed-3`. Where that does not tell
    /// runs apart, part of their `ids` is appended.
    pub(crate) fn new(dir: &Path, runs: &[PlannedRun], ids: &[String]) -> Self {
        let short = |run: &PlannedRun| {
            let values: Vec<String> = run.labels.iter().map(|l| file_name(l)).collect();
            let mut name = values.join("-");
            let is_whole = name.chars().count() <= LONGEST;
            name = name.chars().take(LONGEST).collect();
            (
                if name.is_empty() {
                    format!("seed-{}", run.seed)
                } else {
                    format!("{name}-seed-{}", run.seed)
                },
                is_whole,
            )
        };
        let names: Vec<(String, bool)> = runs.iter().map(short).collect();
        // Some file systems take large and small letters for the same.
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for (name, _) in &names {
            *count.entry(name.to_lowercase()).or_default() += 1;
        }
        let path = |((name, is_whole), id): (&(String, bool), &String)| {
            let is_alone = *is_whole && count[&name.to_lowercase()] == 1;
            let own = if is_alone { name.clone() } else { format!("{name}-{}", &id[..8.min(id.len())]) };
            dir.join("runs").join(own)
        };
        Self { paths: names.iter().zip(ids).map(path).collect() }
    }

    /// Those of the runs at these places, in their order.
    pub(crate) fn only(mut self, places: &[usize]) -> Self {
        Self { paths: places.iter().map(|&i| std::mem::take(&mut self.paths[i])).collect() }
    }

    pub(crate) fn path(&self, run: usize) -> &Path {
        &self.paths[run]
    }

    /// Whether it is there, whole, and of this scenario, which the file `file` holds. Captures that it has besides do no harm.
    pub(crate) fn has(&self, run: usize, file: &Path, mut scenario: Scenario) -> bool {
        let is_it = |scenario: &Scenario| holds(self.path(run), Some(file), scenario);
        is_it(&scenario) || {
            scenario.captures.all = true;
            is_it(&scenario)
        }
    }

    /// What those that are there take on the disk, octets.
    pub(crate) fn bytes(&self) -> u64 {
        self.paths.iter().map(|p| size(p)).sum()
    }
}

fn size(folder: &Path) -> u64 {
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(m) if m.is_dir() => size(&entry.path()),
        Ok(m) => m.len(),
        Err(_) => 0,
    };
    fs::read_dir(folder).into_iter().flatten().flatten().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(labels: &[&[&str]]) -> Vec<String> {
        let run = |l: &&[&str]| PlannedRun {
            labels: l.iter().map(ToString::to_string).collect(),
            seed: 3,
            sets: Vec::new(),
        };
        let runs: Vec<PlannedRun> = labels.iter().map(run).collect();
        let ids: Vec<String> = (0..runs.len()).map(|i| format!("{i:020}")).collect();
        let folders = Folders::new(Path::new("d"), &runs, &ids);
        let name = |i: usize| folders.path(i).strip_prefix("d/runs").unwrap().to_str().unwrap().to_owned();
        (0..runs.len()).map(name).collect()
    }

    #[test]
    fn a_folder_is_named_after_its_run_and_no_two_are_the_same() {
        assert_eq!(names(&[&[]]), ["seed-3"]);
        assert_eq!(names(&[&["dsr", "20"]]), ["dsr-20-seed-3"]);
        assert_eq!(
            names(&[&["a/b"], &["A_b"], &["c"]]),
            ["a_b-seed-3-00000000", "A_b-seed-3-00000000", "c-seed-3"].map(str::to_owned)
        );
        let long = "x".repeat(400);
        let name = &names(&[&[&long]])[0];
        assert!(name.len() < 100 && name.ends_with("-seed-3-00000000"), "{name}");
        assert_eq!(names(&[&["../../etc"]]), ["_.._.._etc-seed-3"]);
    }
}
