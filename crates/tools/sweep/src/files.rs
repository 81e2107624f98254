//! The files of a plan, and their contents.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use wayhop_trace::InputFile;

use crate::error::SweepError;

/// The files that `pattern` names from `folder`, in order of their names, as absolute paths. A `*` in the last part stands
/// for any letters. A pattern that matches nothing is refused, with reason and remedy.
pub(crate) fn matching(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, (String, String)> {
    let full = folder.join(pattern);
    let remedy = || "names are relative to the plan's folder, and may contain * in the last part".to_owned();
    let (Some(parent), Some(name)) = (full.parent(), full.file_name().and_then(|n| n.to_str())) else {
        return Err((format!("{pattern:?} does not name a file"), remedy()));
    };
    let parent = if parent == Path::new("") { Path::new(".") } else { parent };
    let parent = parent.canonicalize().map_err(|e| (format!("{}: {e}", parent.display()), remedy()))?;
    if !name.contains('*') {
        let path = parent.join(name);
        return if path.is_file() {
            Ok(vec![path])
        } else {
            Err((format!("no such file: {pattern:?}"), remedy()))
        };
    }
    let entries = fs::read_dir(&parent).map_err(|e| (format!("{}: {e}", parent.display()), remedy()))?;
    let is_match =
        |p: &PathBuf| p.is_file() && p.file_name().and_then(|n| n.to_str()).is_some_and(|n| matches(name, n));
    let mut found: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(is_match).collect();
    found.sort();
    if found.is_empty() { Err((format!("{pattern:?} matches no file"), remedy())) } else { Ok(found) }
}

/// Whether `name` matches `pattern`, in which `*` matches any letters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.strip_suffix(".tcl").unwrap_or(name).to_owned()
}

/// The contents of files by their hashes, each read once.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    known: Mutex<BTreeMap<PathBuf, String>>,
}

impl Contents {
    /// The hash of a file; of one that cannot be read, why. The run will say so, too.
    pub(crate) fn hash(&self, path: &Path) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || fs::read(path).map_or_else(|e| e.to_string(), |bytes| hash(&bytes));
        known.entry(path.to_path_buf()).or_insert_with(read).clone()
    }
}

pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), SweepError> {
    let part = path.with_extension("part");
    fs::write(&part, bytes)
        .and_then(|()| fs::rename(&part, path))
        .map_err(|e| SweepError::Run(format!("cannot write {}: {e}", path.display())))
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    InputFile::new("", bytes).sha256
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, name, expect) in [
            ("p*.tcl", "p01.tcl", true),
            ("p*.tcl", "p.tcl", true),
            ("p*.tcl", "p01.tcl.gz", false),
            ("p*.v2*gz", "p01.v2.tcl.gz", true),
            ("*", "anything", true),
            ("a*b*a", "aba", true),
            ("a*a", "a", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, name), expect, "{pattern} {name}");
        }
    }
}
