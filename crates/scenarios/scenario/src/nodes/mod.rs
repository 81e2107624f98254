//! The nodes: how many, where, by what name and address, and how a scenario refers to them.

pub(crate) mod ipv6;
mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interfaces::energy::Energy;

pub(crate) use resolve::Placement;

/// The nodes of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// The number of nodes. Required unless the movement implies it.
    pub count: Option<u32>,
    /// Enable IPv6 in addition to IPv4: true for addresses in fd00:77::/64, or a prefix such as "fd00:1::/64". Node 0
    /// gets the first address of the prefix, fd00:77::1, node 1 the next one, and so on; each interface also has its
    /// link-local address.
    pub ipv6: Option<NodesIpv6>,
    /// Settings of single nodes.
    #[serde(default, rename = "node", skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<Node>,
}

/// Settings of one node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The node's number, counted from 0.
    pub id: u32,
    /// A name for use in flows and captures. Default: the node's number (for ns-2 files, its number in the file).
    pub name: Option<String>,
    /// IPv4 address. Default: 10.0.0.1 for node 0, 10.0.0.2 for node 1, and so on.
    pub address: Option<std::net::Ipv4Addr>,
    /// IPv6 address, in scenarios with `nodes.ipv6`. Default: derived from the node's number.
    pub address6: Option<std::net::Ipv6Addr>,
    /// Fixed position, instead of what `movement` says.
    pub position: Option<Place>,
    /// Network card: the name of a radio preset whose `card_` keys replace those of `radio` (not of `radios`) at this
    /// node. All other settings of the radio are the same for all nodes.
    pub card: Option<String>,
    /// Battery: these keys override those of `energy`.
    pub energy: Option<Energy>,
    /// Mains power: `energy` does not apply to this node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mains: bool,
}

/// The box, starting at the local origin, in which nodes are placed and move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Extent to the east, metres.
    pub x_m: f64,
    /// Extent to the north, metres.
    pub y_m: f64,
    /// Height, metres.
    #[serde(default)]
    pub z_m: f64,
}

/// Whether nodes have IPv6 addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NodesIpv6 {
    /// Whether they have them in the default prefix.
    Default(bool),
    /// They have them in this prefix.
    Prefix(String),
}

/// A position: metres in the local frame, or degrees if the scenario has an `origin`.
// With defaults, a list of two numbers is a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Place {
    /// East, metres.
    pub x: Option<f64>,
    /// North, metres.
    pub y: Option<f64>,
    /// Up, metres.
    pub z: Option<f64>,
    /// Latitude, degrees, north positive.
    pub lat: Option<f64>,
    /// Longitude, degrees, east positive.
    pub lon: Option<f64>,
    /// Height above the WGS 84 ellipsoid, metres.
    pub alt: Option<f64>,
}

/// A node: its number counted from 0, or its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NodeRef {
    /// Counted from 0.
    Id(u32),
    /// As `nodes.node` names it.
    Name(String),
}
