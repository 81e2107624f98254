//! Why a run failed.

use std::fmt;

/// A failure: what could not be done, why, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// What the user gave cannot be used.
    Usage(String),
    /// It could, but something went wrong.
    Run(String),
    /// The user stopped it before it began.
    Stopped(String),
    /// The run was not consistent: what is wrong with it.
    Defect(String),
}

impl Error {
    /// Something went wrong.
    pub(crate) fn run(e: impl fmt::Display) -> Self {
        Self::Run(e.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(m) | Self::Run(m) | Self::Stopped(m) => f.write_str(m),
            Self::Defect(what) => {
                write!(f, "bug in Wayhop, please report it with the scenario: {what}")
            }
        }
    }
}

impl std::error::Error for Error {}

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
