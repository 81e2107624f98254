//! The arguments of `wayhop presets`.

use std::ffi::OsStr;

use clap_complete::{ArgValueCompleter, CompletionCandidate};
use wayhop_scenario::presets;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Profiles are named PROTOCOL/PROFILE. PROTOCOL alone is its default profile, and PROFILE alone works if only one protocol has it. \
The output for one preset can be pasted into a scenario.

Examples:
  wayhop presets
  wayhop presets 80211g
  wayhop presets aodv/rfc >> scenario.toml";

#[derive(Debug, clap::Args)]
pub(crate) struct PresetsArgs {
    /// Preset whose values to print, as TOML
    #[arg(add = ArgValueCompleter::new(names_starting_with))]
    pub(super) name: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

fn names_starting_with(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy().into_owned();
    let fit = presets().into_iter().filter(|p| p.name.starts_with(&current));
    fit.map(|p| CompletionCandidate::new(p.name).help(Some(p.about.into()))).collect()
}
