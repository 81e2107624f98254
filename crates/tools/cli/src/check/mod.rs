//! `--check` of the commands that run a scenario: every setting with its origin, and the estimated time and memory.

mod json;
mod show;
mod table;
pub(crate) use show::rounded;

use serde::Serialize;
use wayhop_document::Origin;
use wayhop_scenario::{InForce, Resolved, Scenario};

use crate::scenario_args::SourceArgs;

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

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Label {
    /// `file`, `setting`, `option`, `preset`, `profile`, `default` or `derived`.
    pub(super) origin: &'static str,
    /// Which: `chain.toml:3`, `--set`, `preset 80211g`.
    pub(super) from: String,
    /// The line in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u32>,
}

impl Check<'_> {
    /// Where a value comes from, with the file and the options of this call.
    pub(super) fn label(&self, value: &InForce) -> Label {
        let label = |origin, from: String| Label { origin, from, line: None };
        if let Some((_, option)) = self.switched.iter().find(|(key, _)| *key == value.key) {
            return label("option", (*option).to_owned());
        }
        match &value.origin {
            Origin::Line(n) => {
                let file = self.scenario.document.path.as_deref();
                let file = file.map_or_else(|| "line".to_owned(), |f| f.display().to_string());
                Label { line: Some(*n), ..label("file", format!("{file}:{n}")) }
            }
            Origin::Setting(set) => match self.source.changes.option_of(set) {
                Some(option) => label("option", option.to_owned()),
                None => label("setting", "--set".to_owned()),
            },
            Origin::Option(option) => label("option", (*option).to_owned()),
            Origin::Preset(name) => label("preset", format!("preset {name}")),
            Origin::Profile(name) => label("profile", format!("profile {name}")),
            Origin::Default => label("default", "default".to_owned()),
            Origin::Derived(from) => label("derived", format!("derived from {from}")),
        }
    }
}
