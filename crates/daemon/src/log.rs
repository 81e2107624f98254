//! Lines on standard error.

use std::fmt::Display;
use std::io::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much is told.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What stops the node.
    Error,
    /// What goes wrong, and it goes on.
    Warning,
    /// Beginning, end, and changes of the interface.
    #[default]
    Info,
    /// Routes as they come and go.
    Debug,
}

/// Tells who wants to know.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    level: Level,
}

impl Log {
    pub(crate) fn new(level: Level) -> Self {
        Self { level }
    }
    pub(crate) fn is_on(&self, level: Level) -> bool {
        level <= self.level
    }
    pub(crate) fn tell(&self, level: Level, what: impl Display) {
        if self.is_on(level) {
            let name = match level {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Info => "info",
                Level::Debug => "debug",
            };
            // `eprintln!` panics when the log is on a full disk; a node goes on.
            let _ = writeln!(std::io::stderr(), "{name}: {what}");
        }
    }
}
