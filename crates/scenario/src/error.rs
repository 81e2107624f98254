//! What is wrong with a scenario, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// A scenario that cannot be used. Its one-line message names the file, the line and column, the key, the reason and the
/// remedy, as far as each is known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Error {
    /// The file; none for what comes from the command line.
    pub file: Option<PathBuf>,
    /// Line and column, from 1.
    pub place: Option<Place>,
    /// The key, such as `movement.speed_max_mps`.
    pub key: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

/// A place in a text, counted from 1.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column, in bytes.
    pub column: u32,
}

impl Place {
    /// The place of byte `offset` of `text`.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        Self {
            line: before.split(|&b| b == b'\n').count() as u32,
            column: (before.len() - line_start) as u32 + 1,
        }
    }
}

impl Error {
    pub(crate) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: None, place: None, key: None, reason: reason.into(), remedy: remedy.into() }
    }
    #[must_use]
    pub(crate) fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
    #[must_use]
    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.to_path_buf());
        self
    }
    #[must_use]
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.place) {
            (Some(file), Some(p)) => write!(f, "{}:{}:{}: ", file.display(), p.line, p.column)?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(p)) => write!(f, "line {}, column {}: ", p.line, p.column)?,
            (None, None) => {}
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        write!(f, "{}; {}", self.reason, self.remedy)
    }
}

/// The candidate that `word` was probably meant to be: the nearest by edits, if it is near at all.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|c| (edits(word, c), c))
        .filter(|&(d, c)| d <= (c.len().max(word.len()) / 2).max(2))
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// Levenshtein's distance, over the first 64 characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_the_fewest_edits_and_nothing_when_all_are_far() {
        let keys = ["tx_power_dbm", "frequency_mhz", "capture_db"];
        assert_eq!(nearest("tx_power_db", keys), Some("tx_power_dbm"));
        assert_eq!(nearest("frequncy_mhz", keys), Some("frequency_mhz"));
        assert_eq!(nearest("zzzzzzzzzzzzzzzz", keys), None);
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("abc", "abc")), (3, 3, 0));
    }

    #[test]
    fn place_counts_lines_and_columns_from_one() {
        assert_eq!(Place::of("ab\ncd", 0), Place { line: 1, column: 1 });
        assert_eq!(Place::of("ab\ncd", 4), Place { line: 2, column: 2 });
        assert_eq!(Place::of("ab", 99), Place { line: 1, column: 3 });
    }
}
