//! The nodes' radios and wires, with batteries, losses of single links, stalled drivers and filters.

pub(crate) mod energy;
mod macfilter;
pub(crate) mod path_losses;
mod resolve;
pub(crate) mod stalls;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;
use crate::site::Site;

pub use resolve::{Attachment, Interfaces, RadioPlan, WirePlan};
pub(crate) use resolve::{find, resolve};

/// The radio: a preset, and any key of the radio that should differ from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Radio {
    /// The name of the preset.
    #[serde(default = "preset", deserialize_with = "crate::presets::names::radio")]
    pub preset: String,
    /// The interface's name: up to 15 letters, digits, `-`, `_` and `.`. Default: `radio`; `radio1`, `radio2` ... for
    /// additional ones.
    pub name: Option<String>,
    /// The number of an IEEE 802.11 channel, instead of `frequency_mhz`: 1 to 14 in the 2.4 GHz band, 36 to 177 in the
    /// 5 GHz band (with `phy = "ofdm"`).
    pub channel: Option<u32>,
    /// The nodes that have it. Default: every node.
    pub nodes: Option<Vec<NodeRef>>,
    /// How the surroundings of the nodes affect signals, in addition to distance. Default: not at all.
    pub site: Option<Site>,
    /// Keys that differ from the preset.
    #[serde(flatten)]
    #[schemars(skip)]
    pub overrides: toml::Table,
}

fn preset() -> String {
    wayhop_radio::DEFAULT_PRESET.into()
}
impl Default for Radio {
    fn default() -> Self {
        Self {
            preset: preset(),
            name: None,
            channel: None,
            nodes: None,
            site: None,
            overrides: toml::Table::new(),
        }
    }
}

/// An Ethernet segment: a cable between two nodes, or a switch with a cable to each of several. Full duplex: each node
/// sends its frames one after the other, and they never collide. Frames are not acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// The nodes attached to it, at least two.
    pub nodes: Vec<NodeRef>,
    /// The interface's name: up to 15 letters, digits, `-`, `_` and `.`. Default: `wire0`, `wire1` ... in the order of
    /// this list.
    pub name: Option<String>,
    /// Rate of each node's cable, Mb/s. A frame takes 38 bytes in addition to its packet, and at least 84 in all:
    /// preamble, header, padding, check sequence and the gap to the next one (IEEE 802.3).
    #[serde(default = "rate")]
    pub rate_mbps: f64,
    /// Delay from the last bit sent to the last bit received, microseconds.
    #[serde(default = "delay")]
    pub delay_us: f64,
    /// Probability that a frame is lost, drawn for each frame and receiver.
    #[serde(default)]
    pub loss: f64,
    /// Capacity of each class of its interface queues, packets.
    #[serde(default = "queue")]
    pub queue_packets: u32,
    /// Times when it is cut. Its interfaces are down then: a packet sent to one fails as if the next hop had not
    /// answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<Cut>,
    /// An IPv4 prefix, such as `10.1.0.0/24`: the wire is a network outside of the mesh, as an uplink of a gateway is. Its nodes find each
    /// other's link addresses by ARP, and ask there for every address of the prefix, such as the home address of a mobile node.
    pub network: Option<String>,
    /// When nodes are away from it: only with a `network`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absences: Vec<Absence>,
}

/// A time in which a node is not at a wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Absence {
    /// The node.
    pub node: NodeRef,
    /// When it leaves, seconds.
    pub start_s: f64,
    /// How long, in seconds. The default is until the end of the run.
    pub length_s: Option<f64>,
}

/// A time when a wire is cut.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Start, seconds.
    pub start_s: f64,
    /// Length, seconds. Default: permanently.
    pub length_s: Option<f64>,
}

defaults! {
    rate: f64 = 100.0;
    delay: f64 = 5.0;
    queue: u32 = 100;
}
