//! The keys of `[protocol]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The routing protocol: a profile, and parameters that override it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Protocol {
    /// The protocol's name.
    #[serde(default = "protocol", deserialize_with = "crate::presets::names::protocol")]
    pub name: String,
    /// The name of a profile, a set of parameters of the protocol. Default: the protocol's first.
    #[serde(
        default,
        deserialize_with = "crate::presets::names::profile",
        skip_serializing_if = "Option::is_none"
    )]
    pub profile: Option<String>,
    /// Parameters that differ from the profile.
    #[serde(flatten)]
    #[schemars(skip)]
    pub overrides: toml::Table,
}

fn protocol() -> String {
    wayhop_protocols::default().name.into()
}

impl Default for Protocol {
    fn default() -> Self {
        Self { name: protocol(), profile: None, overrides: toml::Table::new() }
    }
}
