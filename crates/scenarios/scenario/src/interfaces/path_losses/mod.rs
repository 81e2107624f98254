//! Links whose path loss follows a table.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use resolve::LossTable;
pub(crate) use resolve::resolve;

/// The path loss between two nodes over time, in both directions: attenuators between their antenna connectors. It
/// replaces distance, propagation, antennas, site and fading; the positions of the nodes do not change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathLosses {
    /// The two nodes.
    pub nodes: [NodeRef; 2],
    /// The name of the radio. Default: the first one.
    pub interface: Option<String>,
    /// Steps of time, seconds, and path loss, dB, in order of time. Before the first step the model's own path loss
    /// applies.
    pub db: Vec<[f64; 2]>,
}
