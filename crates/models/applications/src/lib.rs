//! The registry of applications.
//!
//! [`ALL`] lists the [`ApplicationDescription`] of each. Everything else in Wayhop takes names and parameters from there: no other
//! crate names an application. [`load`] adds one from a shared library. `docs/concepts/new-application.md` says how to add one.

mod beacon;
mod request;

use std::path::Path;

use wayhop_core::{ApplicationDescription, LibraryFile};
pub use wayhop_foreign::locate;
use wayhop_foreign::{load_application, loaded_applications};

/// Every application.
pub static ALL: &[&ApplicationDescription] = &[
    &beacon::DESCRIPTION,
    &request::DESCRIPTION,
    &wayhop_mobile_ip::HOME_AGENT,
    &wayhop_mobile_ip::FOREIGN_AGENT,
    &wayhop_mobile_ip::MOBILE_NODE,
];

/// The application of this name, built in or loaded.
pub fn find(name: &str) -> Option<&'static ApplicationDescription> {
    let built_in = ALL.iter().find(|d| d.name == name).copied();
    built_in.or_else(|| loaded_applications().into_iter().map(|(d, _)| d).find(|d| d.name == name))
}

/// The names of the built-in applications.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|d| d.name)
}

/// Loads the application of the library at `path`. From now on [`find`] knows it.
///
/// # Errors
/// Says what is wrong with the library, and what to do.
pub fn load(path: &Path) -> Result<&'static ApplicationDescription, String> {
    let description = load_application(path)?;
    if names().any(|name| name == description.name) {
        return Err(format!(
            "its application has the name of a built-in one, {}; rename it",
            description.name
        ));
    }
    Ok(description)
}

/// The file that an application comes from, if it comes from a library.
pub fn library(description: &ApplicationDescription) -> Option<LibraryFile> {
    loaded_applications().into_iter().find_map(|(d, file)| std::ptr::eq(d, description).then_some(file))
}
