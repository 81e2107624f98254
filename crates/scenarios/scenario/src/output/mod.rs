//! What a run writes, and a scenario in other programs' words.

mod daemon;
mod export;
mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use daemon::daemon_settings;
pub use export::{export_ns2, export_ns2_movement, export_ns2_traffic};
pub use resolve::{CapturePlan, ReceptionPlan};
pub(crate) use resolve::{capture_plan, reception_plan};

/// Nodes that write a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// All nodes.
    #[serde(default)]
    pub all: bool,
    /// These nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// The number of bytes kept of each frame.
    #[serde(default = "snap")]
    pub snap_length_bytes: u32,
    /// Include frames in range that the node could not decode, marked as damaged, each with a comment that gives the
    /// reason; in simulation and emulation.
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

/// The nodes and flows for which a run records the outcome of each frame at its receivers, in the table `receptions`.
/// Simulation and emulation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receptions {
    /// All nodes and flows.
    #[serde(default)]
    pub all: bool,
    /// Frames sent or to be received by these nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// Frames with packets of these flows, and frames exchanged for them: indexes as in the table `flows`, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<u32>,
}

impl Receptions {
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Additional output of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Write a trace in ns-2's old wireless format.
    #[serde(default)]
    pub ns2_trace: bool,
}
