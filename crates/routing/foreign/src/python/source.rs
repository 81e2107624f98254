//! The file of a module.

use std::path::{Path, PathBuf};

use crate::{fault, progress};

/// What a module defines.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Defines {
    Protocol,
    Application,
}

impl Defines {
    /// As `wayhop.host` calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Application => "application",
        }
    }
}

/// The file of a module. Each run has an interpreter of its own for it.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) defines: Defines,
    /// Where it is.
    pub(super) path: PathBuf,
    /// As it is shown to users.
    pub(super) shown: String,
    /// Its number for a supervisor.
    number: u8,
}

impl Source {
    /// The file at `path` of this number, which is shown to users as `shown`.
    pub(super) fn new(defines: Defines, path: &Path, shown: &Path, number: u8) -> Self {
        Self { defines, path: path.to_owned(), shown: shown.display().to_string(), number }
    }

    /// Ends the run because of something that the module did.
    pub(super) fn end(&self, what: &str) -> ! {
        // Libraries may have been called since.
        progress::end(self.number);
        fault::end(what)
    }
}
