//! Bytes that follow an answer instead of lines: a capture.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::shared::ServerState;
use crate::limits::MAX_STREAM_BYTES;

/// The owner's end of a stream. Dropped, it ends the connection when all that it took is sent.
///
/// Writing never blocks. What is written at a time is taken as a whole or, with [`io::ErrorKind::WouldBlock`], not at all: the
/// reader is slow. [`io::ErrorKind::BrokenPipe`] tells that it has gone.
#[derive(Debug)]
pub struct Stream {
    shared: Arc<ServerState>,
    client: u64,
}

impl Stream {
    pub(super) fn begin(shared: &Arc<ServerState>, client: u64, answer: Vec<u8>) -> Self {
        shared.begin_stream(client, answer);
        Self { shared: Arc::clone(shared), client }
    }
}

impl io::Write for Stream {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.shared.push_stream(self.client, octets).map(|()| octets.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.shared.end_stream(self.client);
    }
}

/// The part of a stream that waits to be sent to its reader.
#[derive(Debug, Default)]
pub(super) struct StreamBuffer {
    octets: VecDeque<u8>,
    /// Nothing more comes.
    pub(super) ended: bool,
}

impl StreamBuffer {
    pub(super) fn push(&mut self, octets: &[u8]) -> io::Result<()> {
        if self.octets.len() + octets.len() > MAX_STREAM_BYTES {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.octets.extend(octets);
        Ok(())
    }

    /// Moves octets to `out` until it has this many.
    pub(super) fn write(&mut self, out: &mut VecDeque<u8>, limit: usize) {
        let n = limit.saturating_sub(out.len()).min(self.octets.len());
        out.extend(self.octets.drain(..n));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }
}
