//! Errors of an attenuator box.

use std::time::Duration;
use std::{fmt, io};

/// How long a box may take to answer.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Why a box did not do what it was told.
#[derive(Debug)]
pub enum DeviceError {
    /// There is no such address.
    Address(String),
    /// The connection broke, or the answer did not come in time.
    Connection(io::Error),
    /// It answered that it will not.
    Refused(String),
    /// What it said is no answer.
    Nonsense(String),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(what) => {
                write!(f, "{what}; give the attenuator as HOST:PORT, telnet://HOST:PORT or http://HOST:PORT")
            }
            Self::Connection(e)
                if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                write!(f, "no answer in {} s", PATIENCE.as_secs())
            }
            Self::Connection(e) => write!(f, "connection lost: {e}"),
            Self::Refused(what) => write!(
                f,
                "the attenuator rejected {what}; give an existing channel, and 0 dB to its maximum in its \
                 steps"
            ),
            Self::Nonsense(what) => {
                write!(f, "{what:?} is not an answer of a Mini-Circuits RCDAT")
            }
        }
    }
}

impl std::error::Error for DeviceError {}

impl From<io::Error> for DeviceError {
    fn from(e: io::Error) -> Self {
        Self::Connection(e)
    }
}
