//! Commands sent to nodes.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use resolve::Order;
pub(crate) use resolve::resolve;

/// A command sent to nodes during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Delete routes without notifying neighbours: the next packet starts a new discovery. AODV's entries are kept as
    /// expired, for their sequence numbers; DSR deletes them from its caches.
    PurgeRoutes(PurgeRoutes),
}

/// Delete routes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeRoutes {
    /// The nodes that delete routes. Default: every node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// The destination of the route to delete. Default: all routes.
    pub destination: Option<NodeRef>,
    /// When, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// Interval between repetitions, seconds. Default: the command is sent once.
    pub every_s: Option<f64>,
}
