//! Where a run came from, and how it ended.

use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It is under way, or it was killed before it could say how it ended.
    Running,
    /// It came to its end.
    Complete,
    /// The user stopped it; what is there is whole up to that moment.
    Interrupted,
    /// An error stopped it.
    Failed,
}
