//! Errors of a log.

use std::fmt;

/// A log that cannot be used: which, where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogError {
    /// The file.
    pub file: String,
    /// The line, from 1; `None` for the file as a whole.
    pub line: Option<u64>,
    /// What is wrong, and what to do about it.
    pub what: String,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.what),
            None => write!(f, "{}: {}", self.file, self.what),
        }
    }
}

impl std::error::Error for LogError {}
