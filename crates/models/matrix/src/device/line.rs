//! Lines over a connection, of limited length.

use std::io::{self, BufRead, Read};

use super::rcdat::LONGEST;

/// The next line that says something; `None` at the end. A longer one than [`LONGEST`] is an error.
pub(super) fn next(from: &mut impl BufRead) -> io::Result<Option<String>> {
    loop {
        let mut line = Vec::new();
        let read = from.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        if line.len() > LONGEST {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a line of more than {LONGEST} bytes"),
            ));
        }
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        if !text.is_empty() {
            return Ok(Some(text));
        }
    }
}
