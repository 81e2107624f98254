//! Loading the application of a library and reading its description.

use std::path::Path;

use super::abi::RawApplication;
use crate::application::{ApplicationClaims, ApplicationFacts};
use crate::ffi::abi::Check;
use crate::ffi::library::{check_count, described, own, parameters};
use crate::ffi::text::items;

/// The application of a library, which stays loaded until the process ends.
pub(crate) struct ApplicationLibrary {
    pub(super) raw: RawApplication,
    pub(crate) facts: ApplicationFacts,
    /// The names of its remarks, kept until the process ends.
    pub(crate) notes: &'static [&'static str],
    /// Its number for a supervisor.
    pub(super) number: u8,
}

// SAFETY: its pointers are to code and to data of the library that never change, as `wayhop.h` demands.
unsafe impl Send for ApplicationLibrary {}
// SAFETY: the same. Callbacks that change something are called under `call::enter` alone.
unsafe impl Sync for ApplicationLibrary {}

impl core::fmt::Debug for ApplicationLibrary {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("ApplicationLibrary").field(&self.facts.name).finish()
    }
}

impl ApplicationLibrary {
    /// Loads the library at `path` of this number. The error says what is wrong with it, without its name.
    pub(crate) fn load(path: &Path, number: u8) -> Result<Self, String> {
        let raw: RawApplication = described(path, "wayhop_application", "wayhop_application_library")?;
        let required =
            [("name", raw.name.is_null()), ("create", raw.create.is_none()), ("start", raw.start.is_none())];
        let missing: Vec<&str> =
            required.into_iter().filter_map(|(name, is_missing)| is_missing.then_some(name)).collect();
        if !missing.is_empty() {
            return Err(format!("its description has no {}; set them", missing.join(", ")));
        }
        check_count("note_count", raw.note_count)?;
        // SAFETY: texts and arrays of the description, as the header demands.
        let claims = unsafe {
            ApplicationClaims {
                name: own(raw.name),
                about: own(raw.about),
                version: own(raw.version),
                parameters: parameters(raw.parameters, raw.parameter_count)?,
                notes: items(raw.notes, raw.note_count).iter().map(|n| own(*n)).collect(),
            }
        };
        let facts = ApplicationFacts::check(&claims).map_err(|e| format!("in its description, {e}"))?;
        let notes = facts.kept_notes();
        Ok(Self { raw, facts, notes, number })
    }

    /// Its check of the values of parameters together.
    pub(crate) fn check(&self) -> Option<Check> {
        self.raw.check
    }
}
