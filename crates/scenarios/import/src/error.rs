//! What is wrong with a file, where, and how to fix it.

use std::fmt;
use std::path::PathBuf;

/// A file that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file.
    pub file: Option<PathBuf>,
    /// The line, from 1, if it is about one.
    pub line: Option<u32>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

impl Error {
    pub(crate) fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: None, line: None, reason: reason.into(), remedy: remedy.into() }
    }
    #[must_use]
    pub(crate) fn at(mut self, line: u32) -> Self {
        self.line.get_or_insert(line);
        self
    }
    /// Says which file it is about, if that is not known yet.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file.get_or_insert_with(|| file.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        write!(f, "{}; {}", self.reason, self.remedy)
    }
}

impl std::error::Error for Error {}

/// A text that may be long and have anything in it, for a message.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{more}")
}
