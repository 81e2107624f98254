//! The directory that a run writes and everything else reads.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::Error;

/// The file whose presence makes a directory a run directory.
pub(crate) const MANIFEST: &str = "manifest.json";

/// A directory that holds, or will hold, one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

impl RunDir {
    /// Makes the directory ready for a new run. An older run in it is removed; anything else in it is a refusal.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        fs::create_dir_all(&path).map_err(Error::io(&path, "create"))?;
        Ok(Self { path })
    }

    /// Opens the directory of an earlier run.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        match fs::metadata(path.join(MANIFEST)) {
            Ok(_) => Ok(Self { path }),
            Err(e) if e.kind() == ErrorKind::NotFound => {
                Err(Error::invalid(&path, format!("not a run directory: it has no {MANIFEST}")))
            }
            Err(e) => Err(Error::io(&path.join(MANIFEST), "read")(e)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
