//! The part of a stream that waits to be sent.

use std::collections::VecDeque;
use std::io;

use crate::limits::MAX_STREAM_BYTES;

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
