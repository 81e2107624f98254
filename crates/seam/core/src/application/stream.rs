//! Streams: the TCP connections of an application.

use core::net::SocketAddr;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::bytes;

/// Bytes that an application may have written to a stream and that have not left the host. What it writes beyond is kept, too: an
/// application that writes no more than it is told by [`StreamInput::Room`] bounds the memory.
pub const STREAM_ROOM: usize = 256 << 10;

/// A number for a stream. None is used twice while the application runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamId {
    /// One that the application opened, with a number of the application's.
    Opened(u64),
    /// One that came, with a number of the host's.
    Accepted(u64),
}

/// What happens to a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamInput<'a> {
    /// Somebody has connected. There is [`STREAM_ROOM`].
    Accepted {
        /// Its number.
        stream: StreamId,
        /// To this port, at which the application listens.
        port: u16,
        /// From there.
        from: SocketAddr,
    },
    /// A stream that the application opened is there. There is [`STREAM_ROOM`].
    Connected {
        /// Its number.
        stream: StreamId,
        /// The other end.
        to: SocketAddr,
    },
    /// Bytes came.
    Data {
        /// By this stream.
        stream: StreamId,
        /// The bytes.
        #[serde(with = "bytes::cow")]
        data: Cow<'a, [u8]>,
    },
    /// Bytes of the pattern came ([`StreamEffect::WritePattern`]). The application hears only how many.
    Pattern {
        /// By this stream.
        stream: StreamId,
        /// How many.
        bytes: u64,
    },
    /// Bytes have left: there is room for this many.
    Room {
        /// Of this stream.
        stream: StreamId,
        /// The room, bytes.
        bytes: usize,
    },
    /// A stream is gone, or did not come about.
    Closed {
        /// Which.
        stream: StreamId,
        /// Why.
        cause: StreamEnd,
    },
}

/// Why a stream is gone.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEnd {
    /// The other end has closed it: all that it sent has come.
    Finished,
    /// It did not come about: nobody listens there, or nobody answered in time.
    Unreachable,
    /// It broke.
    Broken,
}

/// What an application asks for about streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEffect {
    /// Streams to this TCP port are for it, from now on.
    Listen(u16),
    /// Open a stream.
    Connect {
        /// Its number: [`StreamId::Opened`].
        stream: StreamId,
        /// Where to.
        to: SocketAddr,
    },
    /// Send bytes.
    Write {
        /// By this stream.
        stream: StreamId,
        /// The bytes.
        #[serde(serialize_with = "bytes::hexadecimal")]
        data: Vec<u8>,
    },
    /// Send bytes of a fixed pattern, where each byte follows from its position in the stream: hosts neither copy nor keep them, and
    /// report no [`StreamInput::Room`]. Only TCP flows of a simulation use it, and write nothing else to their streams.
    WritePattern {
        /// By this stream.
        stream: StreamId,
        /// How many; [`u64::MAX`] for as many as can be sent until the stream is closed.
        bytes: u64,
    },
    /// Close a stream when everything has been sent. No more events about it follow.
    Close(StreamId),
}
