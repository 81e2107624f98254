//! Bytes that follow an answer instead of lines: a capture.

use std::io;
use std::sync::Arc;

use super::shared::ServerState;

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
