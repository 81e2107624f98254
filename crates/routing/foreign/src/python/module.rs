//! A protocol in a Python module.

use std::path::{Path, PathBuf};

use wayhop_core::Classified;

use super::describe;
use super::interpreter::Interpreter;
use crate::facts::Facts;
use crate::{fault, progress};

/// A module, described by an interpreter. Each run has an interpreter of its own.
#[derive(Debug)]
pub(crate) struct Module {
    pub(super) facts: Facts,
    /// Where it is.
    pub(super) path: PathBuf,
    /// As it is shown to users.
    pub(super) shown: String,
    /// Its number for a supervisor.
    number: u8,
    /// Bits of [`super::call::Kind`]: the methods that its class defines.
    pub(super) handlers: u16,
    /// By the first octet of a message.
    pub(super) table: Box<[Classified; 256]>,
}

impl Module {
    /// Loads the module at `path` of this number, which is shown to users as `shown`. The error says what is wrong with it, without its name.
    pub(crate) fn load(path: &Path, shown: &Path, number: u8) -> Result<Self, String> {
        let (_, description) = Interpreter::start(path)?;
        let described = describe::read(description)?;
        let facts = Facts::check(&described.claims).map_err(|e| format!("in its class, {e}"))?;
        Ok(Self {
            facts,
            path: path.to_owned(),
            shown: shown.display().to_string(),
            number,
            handlers: described.handlers,
            table: described.table,
        })
    }

    /// Ends the run because of something that the module did.
    pub(super) fn end(&self, what: &str) -> ! {
        // Libraries may have been called since.
        progress::end(self.number);
        fault::end(what)
    }
}
