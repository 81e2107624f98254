//! Errors of an application's host.

use std::fmt::Display;

/// Why an application cannot run here, or go on.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

impl Error {
    pub(crate) fn new<E: Display>(what: impl Display) -> impl FnOnce(E) -> Self {
        move |e| Self(format!("{what}: {e}"))
    }
}

impl From<wayhop_linux::Error> for Error {
    fn from(why: wayhop_linux::Error) -> Self {
        Self(why.to_string())
    }
}

impl From<String> for Error {
    fn from(why: String) -> Self {
        Self(why)
    }
}
