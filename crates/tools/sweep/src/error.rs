//! Why a sweep failed.

use wayhop_document::Error;

use crate::store::StoreError;

/// Why a sweep came to nothing, or stopped.
#[derive(Debug)]
pub enum SweepError {
    /// What the user gave cannot be used; the text names the file, the key and the remedy.
    Usage(String),
    /// It could, but something went wrong.
    Run(String),
}

impl From<Error> for SweepError {
    fn from(e: Error) -> Self {
        Self::Usage(e.to_string())
    }
}

impl From<StoreError> for SweepError {
    fn from(e: StoreError) -> Self {
        Self::Run(e.to_string())
    }
}
