//! What is wrong with a file, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file or setting that cannot be used. Its one-line message names the file, the line and column, the key, the reason and the
/// remedy, as far as each is known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Error {
    /// The file; none for what comes from the command line.
    pub file: Option<PathBuf>,
    /// Line and column, from 1.
    pub place: Option<LineColumn>,
    /// The key, such as `movement.speed_max_mps`.
    pub key: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
    /// What else is wrong with the same file.
    pub(crate) rest: Option<Box<Rest>>,
}

/// What can fail with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rest {
    listed: Vec<Error>,
    /// How many more there are that are not listed.
    unlisted: usize,
}

const MAX_LISTED: usize = 20;

/// Collects what is wrong with a file.
#[derive(Debug, Default)]
pub struct Problems {
    listed: Vec<Error>,
    unlisted: usize,
}

impl Problems {
    /// Notes a problem, unless it is the last one again.
    pub fn note(&mut self, e: Error) {
        if self.listed.len() == MAX_LISTED {
            self.unlisted += 1;
        } else if self.listed.last() != Some(&e) {
            self.listed.push(e);
        }
    }

    /// One error with all of them, in the order of the file.
    pub fn outcome(mut self) -> Result<()> {
        self.listed.sort_by(|a, b| (&a.file, a.place).cmp(&(&b.file, b.place)));
        let mut all = self.listed.into_iter();
        let Some(mut first) = all.next() else { return Ok(()) };
        let listed: Vec<Error> = all.collect();
        if !listed.is_empty() {
            first.rest = Some(Box::new(Rest { listed, unlisted: self.unlisted }));
        }
        Err(first)
    }
}

/// A place in a text, counted from 1.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line.
    pub line: u32,
    /// Column, in bytes; 0 for the line as a whole.
    pub column: u32,
}

impl LineColumn {
    /// The place of byte `offset` of `text`.
    pub fn of(text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        Self {
            line: before.split(|&b| b == b'\n').count() as u32,
            column: (before.len() - line_start) as u32 + 1,
        }
    }
}

impl Error {
    /// What is wrong and what to do about it, wherever that may be.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: None, place: None, key: None, reason: reason.into(), remedy: remedy.into(), rest: None }
    }
    /// About this key.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }
    /// In this file, unless it is in one already.
    #[must_use]
    pub fn in_file(mut self, file: &Path) -> Self {
        let rest = self.rest.iter_mut().flat_map(|rest| &mut rest.listed);
        for file_of in rest.map(|e| &mut e.file).chain([&mut self.file]) {
            file_of.get_or_insert_with(|| file.to_path_buf());
        }
        self
    }
    /// At this place of the file.
    #[must_use]
    pub fn at(self, place: LineColumn) -> Self {
        Self { place: Some(place), ..self }
    }
    /// In this line of the file.
    #[must_use]
    pub fn at_line(self, line: u32) -> Self {
        self.at(LineColumn { line, column: 0 })
    }

    /// Whether the text lacks a key, which may come from elsewhere.
    pub(crate) fn is_of_a_missing_key(&self) -> bool {
        self.reason.starts_with("the key `") && self.reason.ends_with("` is missing")
    }

    /// All that is known to be wrong, a line for each problem.
    pub fn lines(&self) -> Vec<String> {
        let Some(rest) = &self.rest else { return vec![self.to_string()] };
        let first = Self { rest: None, ..self.clone() };
        let mut lines: Vec<String> =
            std::iter::once(&first).chain(&rest.listed).map(Self::to_string).collect();
        if rest.unlisted > 0 {
            lines.push(format!("and {} more", rest.unlisted));
        }
        lines
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.place) {
            (Some(file), Some(LineColumn { line, column: 0 })) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), Some(p)) => write!(f, "{}:{}:{}: ", file.display(), p.line, p.column)?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(LineColumn { line, column: 0 })) => write!(f, "line {line}: ")?,
            (None, Some(p)) => write!(f, "line {}, column {}: ", p.line, p.column)?,
            (None, None) => {}
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        write!(f, "{}; {}", self.reason, self.remedy)?;
        match &self.rest {
            Some(rest) => write!(f, " (and {} more problems)", rest.listed.len() + rest.unlisted),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_counts_lines_and_columns_from_one() {
        assert_eq!(LineColumn::of("ab\ncd", 0), LineColumn { line: 1, column: 1 });
        assert_eq!(LineColumn::of("ab\ncd", 4), LineColumn { line: 2, column: 2 });
        assert_eq!(LineColumn::of("ab", 99), LineColumn { line: 1, column: 3 });
    }
}
