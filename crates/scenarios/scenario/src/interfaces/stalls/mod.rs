//! Times in which drivers do not serve their interface queues.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use resolve::QueueStall;
pub(crate) use resolve::resolve;

/// A time when a node's driver does not serve its interface queue: deliberate congestion, as in the CMU testbed's
/// experiment with retransmission timers (Maltz, Broch and Johnson 1999, section 6.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// The node.
    pub node: NodeRef,
    /// The name of one of the node's interfaces. Default: all of them.
    pub interface: Option<String>,
    /// Start, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// Length, seconds.
    pub length_s: f64,
    /// Interval from one stall to the next, seconds. Default: a single stall.
    pub every_s: Option<f64>,
}
