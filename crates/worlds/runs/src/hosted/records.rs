//! Where programs in nodes write their records, with a JSON object a line.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use wayhop_core::{NodeId, file_name};
use wayhop_netns::{Launch, Restart};

use crate::error::Error;

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

/// A folder in the run directory or, without one, for as long as the run.
pub(crate) struct RecordFolder {
    path: PathBuf,
    is_temporary: bool,
}

impl RecordFolder {
    /// Creates it, without what an older run left there.
    pub(crate) fn create(run: Option<&Path>, name: &str) -> Result<Self, Error> {
        let temporary = || std::env::temp_dir().join(format!("wayhop-{name}-{}", std::process::id()));
        let path = std::path::absolute(run.map_or_else(temporary, |r| r.join(name))).map_err(Error::run)?;
        let _ = fs::remove_dir_all(&path);
        make(&path)?;
        Ok(Self { path, is_temporary: run.is_none() })
    }

    /// Makes a folder of this name in it.
    pub(crate) fn make(&self, name: &str) -> Result<String, Error> {
        let folder = self.path.join(name);
        make(&folder)?;
        Ok(folder.to_string_lossy().into_owned())
    }

    /// A program's file of this kind.
    pub(super) fn file(&self, program: &str, kind: &str) -> PathBuf {
        self.path.join(format!("{}.{kind}", file_name(program)))
    }
}

fn make(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|e| Error::Run(format!("cannot create {}: {e}", folder.display())))
}

impl Drop for RecordFolder {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Starts a program in a node whenever that comes up.
pub(super) fn launch(node: NodeId, command: Vec<OsString>, output: PathBuf) -> Launch {
    Launch {
        node: node.0,
        command,
        output: Some(output),
        has_terminal: false,
        confined: None,
        restart: Restart::AfterOutage,
    }
}
