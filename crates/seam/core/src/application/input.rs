//! What happens to an application.

use core::net::SocketAddr;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::network::NetworkInput;
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
    /// The host's network layer tells something.
    Network(NetworkInput<'a>),
}
