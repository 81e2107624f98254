//! Where the text of logs goes: one file each, to which whole lines are appended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// So many files stay open; with more logs, each is opened for every piece that is written to it, so that thousands of
/// nodes do not use up the process's file descriptors.
const MAX_OPEN: usize = 64;

/// The files of some logs.
pub(crate) struct Store {
    files: Vec<Place>,
}

enum Place {
    Open(File, PathBuf),
    Closed(PathBuf),
}

impl Store {
    /// Makes the files, empty.
    pub(crate) fn create(paths: &[PathBuf]) -> Result<Self, String> {
        let make = |path: &PathBuf| {
            let file = File::create(path).map_err(|e| cannot(path, &e))?;
            let few = paths.len() <= MAX_OPEN;
            Ok(if few { Place::Open(file, path.clone()) } else { Place::Closed(path.clone()) })
        };
        let mut sorted: Vec<&PathBuf> = paths.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let path = twice[0].display();
            return Err(format!(
                "two nodes' logs would be {path}: give the nodes names that differ in letters or digits"
            ));
        }
        Ok(Self { files: paths.iter().map(make).collect::<Result<_, String>>()? })
    }

    /// Appends whole lines to a file. If the system takes only a part of them, what is left of the last one is taken back.
    pub(crate) fn append(&mut self, log: usize, lines: &[u8]) -> Result<(), String> {
        match &mut self.files[log] {
            Place::Open(file, path) => append(file, lines).map_err(|e| cannot(path, &e)),
            Place::Closed(path) => {
                let mut file = OpenOptions::new().append(true).open(&*path).map_err(|e| cannot(path, &e))?;
                append(&mut file, lines).map_err(|e| cannot(path, &e))
            }
        }
    }
}

fn append(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut written = 0;
    while written < lines.len() {
        match file.write(&lines[written..]) {
            Ok(n) if n > 0 => written += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            refused => {
                let whole = lines[..written].iter().rposition(|o| *o == b'\n').map_or(0, |at| at + 1);
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
