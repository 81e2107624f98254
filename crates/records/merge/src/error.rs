//! Why runs cannot be merged.

use std::fmt;

/// An error of this crate.
#[derive(Debug)]
pub enum Error {
    /// What was given cannot be merged; the text names the run, what is wrong and the remedy.
    Unfit(String),
    /// A file of a run cannot be read or written.
    Trace(wayhop_trace::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit(what) => f.write_str(what),
            Self::Trace(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<wayhop_trace::Error> for Error {
    fn from(e: wayhop_trace::Error) -> Self {
        Self::Trace(e)
    }
}
