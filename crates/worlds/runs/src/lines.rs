//! Records with one JSON object per line, written by programs in nodes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// The longest line, bytes.
const LONGEST_LINE: u64 = 16 << 10;

/// Gives each line of a file to `take`, the last one too if it is not whole: its program may have been killed. Without a file there are none.
pub(crate) fn each_line(path: &Path, mut take: impl FnMut(&[u8])) {
    let Ok(file) = File::open(path) else { return };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while matches!(reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line), Ok(1..)) {
        take(&line);
        line.clear();
    }
}
