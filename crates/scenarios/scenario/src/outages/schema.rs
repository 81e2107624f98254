//! The keys of `[[outages]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// Times in which nodes are down: a dead battery, a reboot, a host that sleeps. A node that is down sends, hears and senses
/// nothing, and its applications stand still. Give either `length_s`, and `every_s` for an outage that comes again and
/// again, or `mean_up_s` and `mean_down_s` for outages at random. `docs/concepts/outages.md` says what happens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outages {
    /// Which node. Give this or `nodes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeRef>,
    /// Which nodes. Outages at random without this and without `node` are those of all nodes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// When the node goes down, seconds. For outages at random: before this it is up.
    #[serde(default)]
    pub start_s: f64,
    /// For how long, seconds. Without it: to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_s: Option<f64>,
    /// From one outage to the next, start to start, seconds. Without it there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
    /// Outages at random: how long the node is up on average, seconds. Times are exponential, each node's drawn from the
    /// run's seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_up_s: Option<f64>,
    /// Outages at random: how long it is down on average, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_down_s: Option<f64>,
    /// What becomes of the node's tables.
    #[serde(default)]
    pub tables: Tables,
}

/// What an outage does to what a node knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tables {
    /// The node reboots: its tables, what its protocol holds and its TCP connections are lost.
    #[default]
    Lost,
    /// The node sleeps: it goes on where it was.
    Kept,
}
