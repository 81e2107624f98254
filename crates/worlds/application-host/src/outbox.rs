//! Bytes that wait to be written to a non-blocking socket.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};

#[derive(Debug, Default)]
pub(crate) struct Outbox(VecDeque<u8>);

impl Outbox {
    pub(crate) fn push(&mut self, bytes: Vec<u8>) {
        self.0.extend(bytes);
    }
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes what the socket takes. Whether that was anything.
    pub(crate) fn flush(&mut self, to: &mut impl Write) -> io::Result<bool> {
        let before = self.len();
        while !self.is_empty() {
            match to.write(self.0.as_slices().0) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => drop(self.0.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(self.len() < before)
    }
}
