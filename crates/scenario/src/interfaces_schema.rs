//! The keys of `wires`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::NodeRef;

/// An Ethernet segment: a cable between two nodes, or a switch with a cable to each of several. Full duplex; every node's
/// frames leave one after the other and reach the others whole, whatever these send at the time. Nothing is acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// The nodes at its ends, at least two.
    pub nodes: Vec<NodeRef>,
    /// The interface's name: up to 15 letters, digits, `-`, `_` and `.`. Without one: `wire0`, `wire1` ... in the order of
    /// this list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Rate of each node's cable, Mb/s. A frame takes 38 octets besides its packet, and at least 84 in all: preamble,
    /// header, padding, check sequence and the gap to the next one (IEEE 802.3).
    #[serde(default = "rate")]
    pub rate_mbps: f64,
    /// From the last bit sent to the last bit received, microseconds.
    #[serde(default = "delay")]
    pub delay_us: f64,
    /// Share of the frames that are lost, drawn for each frame and receiver.
    #[serde(default)]
    pub loss: f64,
    /// Packets that each class of its interface queues holds.
    #[serde(default = "queue")]
    pub queue_packets: u32,
    /// When it is cut. Its interfaces are down for so long: a packet for one ends as if its next hop had not answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
}

/// A time in which a wire is cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// When it is cut, seconds.
    pub start_s: f64,
    /// For how long, seconds. Without it: for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_s: Option<f64>,
}

fn rate() -> f64 {
    100.0
}
fn delay() -> f64 {
    5.0
}
fn queue() -> u32 {
    100
}
