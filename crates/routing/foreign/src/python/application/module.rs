//! An application in a Python module.

use std::path::Path;

use super::describe;
use crate::application::ApplicationFacts;
use crate::python::interpreter::Interpreter;
use crate::python::source::{Defines, Source};

/// A module with an application, described by an interpreter.
#[derive(Debug)]
pub(crate) struct ApplicationModule {
    pub(super) facts: ApplicationFacts,
    pub(super) source: Source,
    /// The names of its remarks.
    pub(super) notes: &'static [&'static str],
    /// Bits of [`super::call::Kind`]: the methods that its class defines.
    pub(super) handlers: u16,
}

impl ApplicationModule {
    /// Loads the module at `path` of this number, which is shown to users as `shown`. The error says what is wrong with it, without its name.
    pub(crate) fn load(path: &Path, shown: &Path, number: u8) -> Result<Self, String> {
        let source = Source::new(Defines::Application, path, shown, number);
        let (_, description) = Interpreter::start(&source)?;
        let (claims, handlers) = describe::read(description)?;
        let facts = ApplicationFacts::check(&claims).map_err(|e| format!("in its class, {e}"))?;
        let notes = facts.kept_notes();
        Ok(Self { facts, source, notes, handlers })
    }
}
