//! When nodes are down.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use resolve::Outage;
pub(crate) use resolve::resolve;

/// Times when nodes are down: a dead battery, a reboot, a sleeping host. A node that is down sends, hears and senses
/// nothing, and its applications pause. Set `length_s`, with `every_s` for a repeating outage, or set `mean_up_s` and
/// `mean_down_s` for random outages. See `docs/concepts/outages.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outages {
    /// The node. Set this or `nodes`.
    pub node: Option<NodeRef>,
    /// The nodes. Random outages without this and without `node` apply to all nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// When the node goes down, seconds. With random outages, the node is up before this time.
    #[serde(default)]
    pub start_s: f64,
    /// Length of the outage, seconds. Default: to the end of the run.
    pub length_s: Option<f64>,
    /// Interval from the start of one outage to the start of the next, seconds. Default: a single outage.
    pub every_s: Option<f64>,
    /// Random outages: mean time up, seconds. Times are exponentially distributed and drawn from the run's seed for
    /// each node.
    pub mean_up_s: Option<f64>,
    /// Random outages: mean time down, seconds.
    pub mean_down_s: Option<f64>,
    /// What happens to the node's tables.
    #[serde(default)]
    pub tables: Tables,
}

/// The effect of an outage on the state of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tables {
    /// The node reboots: its tables, the state of its protocol and its TCP connections are lost.
    #[default]
    Lost,
    /// The node sleeps: it resumes with the state that it had.
    Kept,
}
