//! Why a switch cannot be.

/// A switch that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SwitchError(pub(crate) String);
