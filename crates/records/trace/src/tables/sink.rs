//! A file that only ever grows by whole pieces.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};

/// Keeps what is written until [`GroupSink::commit`] appends it to the file: all of it, or, when the disk is full, nothing.
pub(crate) struct GroupSink {
    file: File,
    /// Octets that are in the file.
    pub(crate) good_len: u64,
    pending: Vec<u8>,
}

impl GroupSink {
    /// Writes to this file, which is empty.
    pub(crate) fn new(file: File) -> Self {
        Self { file, good_len: 0, pending: Vec::new() }
    }

    /// Waits until the disk has what is in the file.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Appends what was collected. After an error the file has the length that it had before.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        let outcome = self.file.write_all(&self.pending);
        if outcome.is_ok() {
            self.good_len += self.pending.len() as u64;
        } else {
            // The error that matters is the first one; a file that cannot be cut (a device) stays as it is.
            let _ = self.file.set_len(self.good_len);
            let _ = self.file.seek(SeekFrom::Start(self.good_len));
        }
        self.pending.clear();
        outcome
    }
}

#[cfg(test)]
impl GroupSink {
    pub(super) fn replace_file(&mut self, file: File) {
        self.file = file;
    }
}

impl Write for GroupSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
