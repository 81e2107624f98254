//! The keys of what a run writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// Which nodes write a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// All of them.
    #[serde(default)]
    pub all: bool,
    /// These.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// How much of each frame is kept, octets.
    #[serde(default = "snap")]
    pub snap_length_bytes: u32,
    /// Also frames in range that the node could not decode, marked as damaged, each with a comment that says why; in simulation
    /// and emulation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}

fn snap() -> u32 {
    200
}

impl Default for Captures {
    fn default() -> Self {
        Self { all: false, nodes: Vec::new(), snap_length_bytes: snap(), damaged: false }
    }
}

/// Of which nodes and flows a run records what became of each frame at its receivers: the table `receptions`. In simulation
/// and emulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receptions {
    /// Of all of them.
    #[serde(default)]
    pub all: bool,
    /// Frames that these nodes send or should receive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// Frames that carry packets of these flows, or are exchanged for them: indexes as in the table `flows`, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<u32>,
}

impl Receptions {
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What else a run writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// A trace in ns-2's old wireless format.
    #[serde(default)]
    pub ns2_trace: bool,
}
