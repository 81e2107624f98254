//! Why a switch cannot be.

use std::fmt;

/// A switch that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchError(String);

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SwitchError {}

impl SwitchError {
    pub(crate) fn new(what: String) -> Self {
        Self(what)
    }
}
