//! The log of a drive: a line of JSON per second.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// DIR/matrix.jsonl.
pub(super) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Creates the log in a folder, which may be a run directory; an older one is renamed to matrix.jsonl.old.
    pub(super) fn create(dir: &Path) -> Result<Self, Failure> {
        let path = dir.join("matrix.jsonl");
        let failed = |e: std::io::Error| Failure::Run(format!("cannot write {}: {e}", path.display()));
        fs::create_dir_all(dir).map_err(failed)?;
        if path.exists() {
            fs::rename(&path, dir.join("matrix.jsonl.old")).map_err(failed)?;
        }
        let file = File::create(&path).map_err(failed)?;
        Ok(Self { path, file })
    }

    pub(super) fn line(&mut self, json: &str) -> Result<(), Failure> {
        let line = format!("{json}\n");
        let failed = |e: std::io::Error| Failure::Run(format!("cannot write {}: {e}", self.path.display()));
        self.file.write_all(line.as_bytes()).map_err(failed)
    }
}
