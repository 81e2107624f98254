//! Why a sweep failed.

use wayhop_document::Error;

/// Why a sweep could not run, or stopped.
#[derive(Debug)]
pub enum SweepError {
    /// Invalid input; the text names the file, the key and the remedy.
    Usage(String),
    /// Something went wrong with valid input.
    Run(String),
}

impl From<wayhop_runs::Error> for SweepError {
    fn from(e: wayhop_runs::Error) -> Self {
        match e {
            wayhop_runs::Error::Usage(m) => Self::Usage(m),
            e => Self::Run(e.to_string()),
        }
    }
}

impl From<Error> for SweepError {
    fn from(e: Error) -> Self {
        Self::Usage(e.to_string())
    }
}
