//! The keys of `[[stalls]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// A time in which a node's driver does not serve its interface queue: congestion made to order, as in the CMU testbed's
/// experiment with retransmission timers (Maltz, Broch and Johnson 1999, section 6.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// Whose.
    pub node: NodeRef,
    /// The name of one of the node's interfaces. Without it: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// When it stops, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// For how long, seconds.
    pub length_s: f64,
    /// From one stop to the next, seconds. Without it there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_s: Option<f64>,
}
