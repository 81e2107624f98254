//! What happens to an application.

use core::net::{IpAddr, SocketAddr};
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::program::ProgramInput;
use super::stream::StreamInput;
use crate::{Fix, TimerKey, bytes};

/// One call of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationInput<'a> {
    /// The node is up.
    Start,
    /// A datagram came.
    Datagram {
        /// To this port.
        port: u16,
        /// From there.
        from: SocketAddr,
        /// Its data.
        #[serde(with = "bytes::cow")]
        data: Cow<'a, [u8]>,
    },
    /// A timer fires.
    Timer(TimerKey),
    /// Where the node is.
    Position(Fix),
    /// The node lost its memory.
    Restart,
    /// Something about streams.
    Stream(StreamInput<'a>),
    /// Something at the socket for programs.
    Program(ProgramInput),
    /// The routing protocol has these neighbours now.
    Neighbours(Vec<IpAddr>),
    /// The node was down and is back, with its memory.
    Resume,
    /// The application ends.
    End(Ending),
}

/// How an application ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It is asked to: it can still send.
    InOrder,
    /// The run is over, or the power fails: it can only write down what it has not yet.
    AtOnce,
}
