//! Errors of an agent.

/// A failure: what could not be done, why, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What the user gave cannot be used.
    #[error("{0}")]
    Config(String),
    /// The system refused something, or the disk failed.
    #[error("{0}")]
    System(String),
}
