//! Errors of an attenuator box.

use std::io;
use std::time::Duration;

/// How long a box may take to answer.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Why a box did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no such address.
    #[error("{0}; give the attenuator as HOST:PORT, telnet://HOST:PORT or http://HOST:PORT")]
    Address(String),
    /// The connection broke, or the answer did not come in time.
    #[error("{}", lost(.0))]
    Connection(io::Error),
    /// It answered that it will not.
    #[error(
        "the attenuator rejected {0}; give an existing channel, and 0 dB to its maximum in its \
         steps"
    )]
    Refused(String),
    /// What it said is no answer.
    #[error("{0:?} is not an answer of a Mini-Circuits RCDAT")]
    Nonsense(String),
    /// The box at this address failed.
    #[error("box {address}: {error}")]
    Box {
        /// Where the box is.
        address: String,
        /// How it failed.
        error: Box<DeviceError>,
    },
    /// The boxes have fewer channels than there are attenuators.
    #[error(
        "{boxes} boxes of {each} channels are too few for {attenuators} attenuators; add boxes, or use fewer buses"
    )]
    TooFewChannels {
        /// Number of boxes.
        boxes: usize,
        /// Channels of each box.
        each: usize,
        /// Attenuators that need a channel.
        attenuators: usize,
    },
}

fn lost(e: &io::Error) -> String {
    match e.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("no answer in {} s", PATIENCE.as_secs())
        }
        _ => format!("connection lost: {e}"),
    }
}

impl From<io::Error> for DeviceError {
    fn from(e: io::Error) -> Self {
        Self::Connection(e)
    }
}
