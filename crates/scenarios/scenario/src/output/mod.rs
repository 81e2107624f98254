//! What a run writes, and a scenario in other programs' words.

mod daemon;
mod export;
mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use daemon::daemon_settings;
pub use export::{export_ns2, export_ns2_movement, export_ns2_traffic};
pub use resolve::{CapturePlan, ReceptionPlan, TABLES, TablePlan};
pub(crate) use resolve::{capture_plan, reception_plan, table_plan};

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

/// What a run writes: tables, the size of their files, and further output. The summary counts everything all the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Write a trace in ns-2's old wireless format.
    #[serde(default)]
    pub ns2_trace: bool,
    /// The tables that the run writes, of those that it has; an empty list writes none. The table `nodes` is always written with
    /// others. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Vec<String>>,
    /// Write only rows of these nodes, in tables with a column `node`. Default: all nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// Write only rows of these flows, in tables with a column `flow`, except `bundles`; rows without a flow, such as those of
    /// routing packets, are left out. Indexes as in the table `flows`, from 0. Default: all flows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<u32>,
    /// The size of all tables together, in MB (1,000,000 bytes), from which on only a share of the packets and nodes has rows;
    /// 0 is no limit. The run may exceed it by 3 %.
    #[serde(default = "limit_mb")]
    pub limit_mb: u32,
}

/// With what comes above the limit, a run directory without captures stays below 1 GB.
fn limit_mb() -> u32 {
    950
}

impl Default for Output {
    fn default() -> Self {
        Self { ns2_trace: false, tables: None, nodes: Vec::new(), flows: Vec::new(), limit_mb: limit_mb() }
    }
}
