//! Why a run failed.

use std::fmt;

/// A failure: what could not be done, why, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What the user gave cannot be used.
    #[error("{0}")]
    Usage(String),
    /// It could, but something went wrong.
    #[error("{0}")]
    Run(String),
    /// The user stopped it before it began.
    #[error("{0}")]
    Stopped(String),
    /// The run was not consistent: what is wrong with it.
    #[error("bug in Wayhop, please report it with the scenario: {0}")]
    Defect(String),
}

impl Error {
    /// Something went wrong.
    pub(crate) fn run(e: impl fmt::Display) -> Self {
        Self::Run(e.to_string())
    }
}

/// A run directory or a table: what it is not is the user's to mend, what the system refuses is not.
impl From<wayhop_trace::Error> for Error {
    fn from(e: wayhop_trace::Error) -> Self {
        match e {
            wayhop_trace::Error::Invalid { .. } => Self::Usage(e.to_string()),
            wayhop_trace::Error::Io { .. } => Self::Run(e.to_string()),
        }
    }
}

#[cfg(feature = "linux")]
impl From<wayhop_netns::Error> for Error {
    fn from(e: wayhop_netns::Error) -> Self {
        match e {
            wayhop_netns::Error::Stopped => Self::Stopped(e.to_string()),
            e => Self::run(e),
        }
    }
}

#[cfg(feature = "linux")]
impl From<wayhop_linux::Error> for Error {
    fn from(e: wayhop_linux::Error) -> Self {
        match e {
            wayhop_linux::Error::Config(m) => Self::Usage(m),
            wayhop_linux::Error::System(m) => Self::Run(m),
        }
    }
}
