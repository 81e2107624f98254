//! The keys of `[[commands]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// An order that nodes get from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// Forget routes, without a word to anybody: the next packet begins a new discovery. In AODV the entries stay, as if
    /// their lifetime had ended, for their sequence numbers; DSR's caches forget.
    PurgeRoutes(PurgeRoutes),
}

/// Forget routes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PurgeRoutes {
    /// Who is to forget. Without it: every node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// The route to whom. Without it: all routes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<NodeRef>,
    /// When, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// From one time to the next, seconds. Without it the order is given once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
}
