//! `--check` of the commands that run a scenario: every setting with its origin, and the estimated time and memory.

mod json;
mod label;
mod show;
mod table;

use wayhop_scenario::{Resolved, Scenario};

use crate::scenario_args::SourceArgs;

pub(crate) use show::rounded;

/// What a command would run, and how.
pub(crate) struct Check<'a> {
    pub(crate) source: &'a SourceArgs,
    /// With what the command's options changed.
    pub(crate) scenario: &'a Scenario,
    pub(crate) resolved: &'a Resolved,
    /// As summaries call it: `sim`, `emulation` or `lab`.
    pub(crate) world: &'static str,
    /// Warnings of the command, which speak of more than the scenario.
    pub(crate) warnings: Vec<String>,
    /// Options besides those of the source that set keys: the key, and the option.
    pub(crate) switched: Vec<(&'static str, &'static str)>,
    /// Whether a run would write tables.
    pub(crate) writes: bool,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}
