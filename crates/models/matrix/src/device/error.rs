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
    /// The box at this address failed.
    Box {
        /// Where the box is.
        address: String,
        /// How it failed.
        error: Box<DeviceError>,
    },
    /// The boxes have fewer channels than there are attenuators.
    TooFewChannels {
        /// Number of boxes.
        boxes: usize,
        /// Channels of each box.
        each: usize,
        /// Attenuators that need a channel.
        attenuators: usize,
    },
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
            Self::Box { address, error } => write!(f, "box {address}: {error}"),
            Self::TooFewChannels { boxes, each, attenuators } => write!(
                f,
                "{boxes} boxes of {each} channels are too few for {attenuators} attenuators; add boxes, or use fewer buses"
            ),
        }
    }
}

impl std::error::Error for DeviceError {}

impl From<io::Error> for DeviceError {
    fn from(e: io::Error) -> Self {
        Self::Connection(e)
    }
}
