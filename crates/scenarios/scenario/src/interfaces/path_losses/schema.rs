//! The keys of `[[path_losses]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// The path loss between two nodes over time, in both directions: attenuators between their antenna connectors. It takes the place of
/// distance, propagation, antennas, site and fading; where nodes are stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathLosses {
    /// The two nodes.
    pub nodes: [NodeRef; 2],
    /// Of which radio, by its name. Without it: the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// From when on, seconds, and how much, dB; in order of time. Before the first the model's own path loss holds.
    pub db: Vec<[f64; 2]>,
}
