//! A protocol in a Python module.

use std::path::Path;

use wayhop_core::Classified;

use super::describe;
use super::interpreter::Interpreter;
use super::source::{Defines, Source};
use crate::facts::Facts;

/// A module with a protocol, described by an interpreter.
#[derive(Debug)]
pub(crate) struct Module {
    pub(super) facts: Facts,
    pub(super) source: Source,
    /// Bits of [`super::call::Kind`]: the methods that its class defines.
    pub(super) handlers: u16,
    /// By the first octet of a message.
    pub(super) table: Box<[Classified; 256]>,
}

impl Module {
    /// Loads the module at `path` of this number, which is shown to users as `shown`. The error says what is wrong with it, without its name.
    pub(crate) fn load(path: &Path, shown: &Path, number: u8) -> Result<Self, String> {
        let source = Source::new(Defines::Protocol, path, shown, number);
        let (_, description) = Interpreter::start(&source)?;
        let described = describe::read(description)?;
        let facts = Facts::check(&described.claims).map_err(|e| format!("in its class, {e}"))?;
        Ok(Self { facts, source, handlers: described.handlers, table: described.table })
    }
}
