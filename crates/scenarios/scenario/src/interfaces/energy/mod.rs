//! The nodes' batteries.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use resolve::{DRAW, resolve};

/// A battery for each node, discharged by its radio according to what the radio does: `docs/concepts/energy.md`. A
/// node whose battery is empty goes down permanently. Simulation and emulation; requires one radio per node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// Energy at the start, J. Required for every node with a battery, here or in the node's own keys.
    pub initial_j: Option<f64>,
    /// Power while sending, W. Default: 0.66, as in ns-2.
    pub tx_w: Option<f64>,
    /// Power while receiving any frame, W, whether or not it is addressed to the node. Default: 0.395, as in ns-2.
    pub rx_w: Option<f64>,
    /// Power while idle, W. Default: 0, as in ns-2; real cards need nearly as much as for receiving.
    pub idle_w: Option<f64>,
    /// Power while the node is down because of `outages`, W. Default: 0.
    pub sleep_w: Option<f64>,
}
