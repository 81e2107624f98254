//! The registry of applications.
//!
//! [`ALL`] lists the [`ApplicationDescription`] of each. Everything else in Wayhop takes names and parameters from there: no other
//! crate names an application. `docs/concepts/new-application.md` says how to add one.

mod request;

use wayhop_core::ApplicationDescription;

/// Every application.
pub static ALL: &[&ApplicationDescription] = &[
    &request::DESCRIPTION,
    &wayhop_mobile_ip::HOME_AGENT,
    &wayhop_mobile_ip::FOREIGN_AGENT,
    &wayhop_mobile_ip::MOBILE_NODE,
];

/// The application of this name.
pub fn find(name: &str) -> Option<&'static ApplicationDescription> {
    ALL.iter().find(|d| d.name == name).copied()
}

/// The names of all applications.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|d| d.name)
}
