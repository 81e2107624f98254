//! A column of a comparison: one run, or several that differ only in their seeds.

use std::collections::BTreeMap;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use wayhop_core::{Classifier, Span};
use wayhop_trace::{Error, Manifest, RouteSearch, RunDir, RunStatus, Summary, addresses, searches};

/// One run.
pub struct ColumnRun {
    /// Its directory.
    pub dir: RunDir,
    /// Where it came from.
    pub manifest: Manifest,
    /// Its result.
    pub summary: Summary,
    /// The searches for routes; `None` if the run recorded none.
    pub searches: Option<Vec<RouteSearch>>,
    addresses: Vec<Ipv4Addr>,
}

impl ColumnRun {
    fn read(dir: &RunDir) -> Result<Self, Error> {
        let manifest = dir.manifest()?;
        let summary = dir.summary()?;
        let has_events = dir.path().join("events.parquet").is_file();
        let searches = has_events.then(|| searches(dir)).transpose()?;
        let addresses = if has_events { addresses(dir)? } else { Vec::new() };
        Ok(Self { dir: dir.clone(), manifest, summary, searches, addresses })
    }

    /// How long the source of a flow searched for its first route to the destination.
    pub fn first_search(&self, flow: usize) -> Option<Span> {
        let f = self.summary.flows.get(flow)?;
        let target = *self.addresses.get(f.dst as usize)?;
        let mut own = self.searches.iter().flatten().filter(|s| s.node.0 == f.src && s.target == target);
        own.find_map(|s| s.took)
    }
}

/// One run, or those of a folder.
pub struct Column {
    /// Where they are.
    pub path: PathBuf,
    /// A short name, which no other column has to have.
    pub name: String,
    /// In the order of their seeds.
    pub runs: Vec<ColumnRun>,
}

impl Column {
    /// Reads a run directory, or a folder of them.
    pub fn read(path: &Path, classifier: &'static dyn Classifier) -> Result<Self, Error> {
        let inside = |path: &Path| {
            let mut all: Vec<PathBuf> =
                fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
            all.sort();
            all.into_iter().filter_map(|p| RunDir::open(p, classifier).ok()).collect::<Vec<_>>()
        };
        let dirs = match RunDir::open(path, classifier) {
            Ok(dir) => vec![dir],
            Err(e) => {
                // As `run --seeds` and `sweep --tables` leave it.
                let all = Some(inside(path))
                    .filter(|a| !a.is_empty())
                    .unwrap_or_else(|| inside(&path.join("runs")));
                if all.is_empty() {
                    return Err(e);
                }
                all
            }
        };
        let mut runs = dirs.iter().map(ColumnRun::read).collect::<Result<Vec<_>, _>>()?;
        // So that runs of two columns that have the same seed have the same place.
        runs.sort_by_key(|r| r.summary.seed);
        let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // The folder `runs` is one of every study.
        let named =
            if absolute.ends_with("runs") { absolute.parent().unwrap_or(&absolute) } else { &absolute };
        let name = named
            .file_name()
            .map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        Ok(Self { path: path.to_owned(), name, runs })
    }

    /// What all runs say of themselves, each answer once.
    pub fn each(&self, what: impl Fn(&ColumnRun) -> &str) -> Vec<String> {
        let mut all: Vec<String> = self.runs.iter().map(|r| what(r).to_owned()).collect();
        all.sort();
        all.dedup();
        all
    }

    /// How many of its runs did not come to their end.
    pub fn unfinished(&self) -> usize {
        self.runs.iter().filter(|r| r.manifest.status != RunStatus::Complete).count()
    }

    /// The keys of the runs' scenarios with their values, but the seed's. With several values for a key, all of them.
    pub fn scenario(&self) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for r in &self.runs {
            for (key, value) in keys(r) {
                let values = all.entry(key).or_default();
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        all.remove("seed");
        all.into_iter().map(|(k, v)| (k, v.join(" or "))).collect()
    }
}

/// Gives columns of the same name as many of the folders above as tell them apart, `dsr/s1` and `aodv/s1`; to a run that is given
/// twice a number.
pub fn tell_apart(columns: &mut [Column]) {
    let above: Vec<Vec<String>> = columns.iter().map(|c| folders_above(&c.path, &c.name)).collect();
    let mut names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    let deepest = above.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 0..deepest {
        let is_taken: Vec<bool> =
            names.iter().map(|n| names.iter().filter(|o| *o == n).count() > 1).collect();
        for (i, name) in names.iter_mut().enumerate().filter(|(i, _)| is_taken[*i]) {
            if let Some(folder) = above[i].get(depth) {
                *name = format!("{folder}/{name}");
            }
        }
    }
    for i in 0..names.len() {
        let before = names[..i].iter().filter(|n| **n == names[i]).count();
        columns[i].name =
            if before > 0 { format!("{} ({})", names[i], before + 1) } else { names[i].clone() };
    }
}

/// The folders above the one that gave a column its name, the nearest first.
fn folders_above(path: &Path, name: &str) -> Vec<String> {
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let parts = absolute.components().rev().map(|c| c.as_os_str().to_string_lossy().into_owned());
    parts.skip_while(|p| p != name).skip(1).filter(|p| p != "/").collect()
}

/// The keys of a run's scenario with their values; none of one that cannot be read.
pub(crate) fn keys(run: &ColumnRun) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    if let Ok(table) = run.manifest.scenario.parse::<toml::Table>() {
        flatten("", &toml::Value::Table(table), &mut |key, value| {
            all.insert(key, value);
        });
    }
    all
}

fn flatten(key: &str, value: &toml::Value, found: &mut impl FnMut(String, String)) {
    match value {
        toml::Value::Table(t) => {
            for (k, v) in t {
                let below = if key.is_empty() { k.clone() } else { format!("{key}.{k}") };
                flatten(&below, v, found);
            }
        }
        toml::Value::Array(a) if a.iter().any(toml::Value::is_table) => {
            for (i, v) in a.iter().enumerate() {
                flatten(&format!("{key}[{i}]"), v, found);
            }
        }
        other => found(key.to_owned(), other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_name_are_told_apart_by_the_folders_above() {
        let named = |paths: &[&str]| {
            let column = |path: &&str| {
                let path = Path::new(path).to_owned();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                Column { path, name, runs: Vec::new() }
            };
            let mut columns: Vec<Column> = paths.iter().map(column).collect();
            tell_apart(&mut columns);
            columns.into_iter().map(|c| c.name).collect::<Vec<_>>()
        };
        assert_eq!(named(&["/r/dsr", "/r/aodv"]), ["dsr", "aodv"]);
        assert_eq!(named(&["/r/dsr/s1", "/r/aodv/s1", "/r/aodv/s2"]), ["dsr/s1", "aodv/s1", "s2"]);
        assert_eq!(named(&["/a/dsr/s1", "/b/dsr/s1", "/s1"]), ["a/dsr/s1", "b/dsr/s1", "s1"]);
        assert_eq!(named(&["/r/dsr", "/r/dsr"]), ["r/dsr", "r/dsr (2)"]);
    }
}
