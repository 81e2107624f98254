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

impl From<Error> for SweepError {
    fn from(e: Error) -> Self {
        Self::Usage(e.to_string())
    }
}
