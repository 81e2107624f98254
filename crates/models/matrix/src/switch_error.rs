//! Why a switch cannot be.

use std::fmt;

/// A switch that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchError(pub(crate) String);

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SwitchError {}
