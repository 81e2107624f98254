//! Where the text of logs goes: one file each, to which whole lines are appended.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The most open files; with more logs, each is opened for every write, so that thousands of nodes
/// do not use up the process's file descriptors.
const MAX_OPEN: usize = 64;

/// The files of some logs.
pub(crate) struct Store {
    files: Vec<Place>,
}

struct Place {
    path: PathBuf,
    /// `None` if it is opened for each write.
    file: Option<File>,
}

impl Store {
    /// Makes the files, empty.
    pub(crate) fn create(paths: &[PathBuf]) -> Result<Self, String> {
        let make = |path: &PathBuf| {
            let file = File::create(path).map_err(|e| cannot(path, &e))?;
            Ok(Place { path: path.clone(), file: Some(file).filter(|_| paths.len() <= MAX_OPEN) })
        };
        let mut sorted: Vec<&PathBuf> = paths.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let path = twice[0].display();
            return Err(format!("two nodes would write {path}: rename one of them"));
        }
        Ok(Self { files: paths.iter().map(make).collect::<Result<_, String>>()? })
    }

    /// Appends whole lines to a file, compressed if its name ends in `.gz`. If the system takes only a part of them, what is left of the last one is taken back.
    pub(crate) fn append(&mut self, log: usize, lines: &[u8]) -> Result<(), String> {
        let Place { path, file } = &mut self.files[log];
        let mut write = || match file {
            Some(file) => append(file, path, lines),
            None => append(&mut OpenOptions::new().append(true).open(&*path)?, path, lines),
        };
        write().map_err(|e| cannot(path, &e))
    }
}

/// A gzip member of its own, so that what is in the file can be read at any time, also when the writer was killed; several in a row are one
/// file (RFC 1952, section 2.2).
fn compressed(lines: &[u8]) -> io::Result<Cow<'static, [u8]>> {
    let mut member = GzEncoder::new(Vec::with_capacity(lines.len() / 8), Compression::fast());
    member.write_all(lines)?;
    member.finish().map(Cow::Owned)
}

fn append(file: &mut File, path: &Path, lines: &[u8]) -> io::Result<()> {
    let is_compressed = path.extension().is_some_and(|end| end == "gz");
    let piece = if is_compressed { compressed(lines)? } else { Cow::Borrowed(lines) };
    let lines = &*piece;
    let before = file.metadata()?.len();
    let mut written = 0;
    while written < lines.len() {
        match file.write(&lines[written..]) {
            Ok(n) if n > 0 => written += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            refused => {
                let text = &lines[..if is_compressed { 0 } else { written }];
                let whole = text.iter().rposition(|o| *o == b'\n').map_or(0, |at| at + 1);
                // As well as it goes: a line that breaks off is recognised, too.
                let _ = file.set_len(before + whole as u64);
                return Err(refused.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into()));
            }
        }
    }
    Ok(())
}

fn cannot(path: &Path, e: &io::Error) -> String {
    format!("cannot write {}: {e}", path.display())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::MultiGzDecoder;

    use super::*;

    #[test]
    fn a_compressed_log_can_be_read_up_to_the_piece_that_was_being_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("0.jsonl.gz");
        let mut store = Store::create(std::slice::from_ref(&path)).unwrap();
        let pieces = [b"{\"a\":1}\n".repeat(500), b"{\"b\":2}\n".repeat(500)];
        store.append(0, &pieces[0]).unwrap();
        let first = std::fs::metadata(&path).unwrap().len();
        store.append(0, &pieces[1]).unwrap();
        let all = std::fs::read(&path).unwrap();
        let read = |octets: &[u8]| {
            let mut text = Vec::new();
            let whole = MultiGzDecoder::new(octets).read_to_end(&mut text).is_ok();
            (whole, text)
        };
        assert_eq!(read(&all), (true, pieces.concat()));
        let (whole, text) = read(&all[..first as usize + 12]);
        assert!(!whole && text.starts_with(&pieces[0]));
        assert!(all.len() * 20 < pieces.concat().len());
    }
}
