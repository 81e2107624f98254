//! The keys of batteries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A battery for each node, from which its radio draws power by what it does: `docs/concepts/energy.md`. A node whose battery is
/// empty goes down for good. Simulation and emulation; needs nodes with one radio each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// Energy at the start, J. Needed for every node with a battery, here or in its own keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_j: Option<f64>,
    /// Power while the radio sends, W. Without it: 0.66, as ns-2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_w: Option<f64>,
    /// Power while the radio hears anything, for whomever it is, W. Without it: 0.395, as ns-2 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_w: Option<f64>,
    /// Power while it hears nothing, W. Without it: 0, as ns-2 has it; real cards draw nearly as much as while they receive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_w: Option<f64>,
    /// Power while the node is down by `outages`, W. Without it: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sleep_w: Option<f64>,
}
