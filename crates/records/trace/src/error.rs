//! Errors of files, with remedies.

use std::io;
use std::path::{Path, PathBuf};

/// An error of this crate.
#[derive(Debug)]
pub enum Error {
    /// The operating system refused; the message names the file and, where there is one, the remedy.
    Io {
        /// Which file.
        path: PathBuf,
        /// What was being done: "create", "write", "read".
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// A file or directory is not what it should be; the text says what is wrong and what to do.
    Invalid {
        /// Which file.
        path: PathBuf,
        /// What is wrong, and the remedy.
        what: String,
    },
}

impl Error {
    pub(crate) fn io(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, doing, source }
    }
    pub(crate) fn invalid(path: &Path, what: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_owned(), what: what.into() }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io { path, doing, source } => {
                write!(f, "cannot {doing} {}: {source}", path.display())?;
                f.write_str(remedy(source.kind()))
            }
            Self::Invalid { path, what } => write!(f, "{}: {what}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Invalid { .. } => None,
        }
    }
}

fn remedy(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull => {
            " (free some space, or choose another disk with --out; captures need the most)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (choose a writable directory with --out)"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::NotFound => " (check the path)",
        io::ErrorKind::InvalidFilename => " (use a shorter name)",
        _ => "",
    }
}
