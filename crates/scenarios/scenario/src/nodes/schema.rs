//! The keys of nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::references::Place;
use crate::interfaces::energy::Energy;

/// The nodes of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// How many. Needed where the movement does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// IPv6 addresses, besides those of IPv4: true for addresses in fd00:77::/64, or a prefix such as "fd00:1::/64". Node 0 gets
    /// the first address of the prefix, fd00:77::1, and so on upwards; each interface has its link-local address besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<NodesIpv6>,
    /// What single nodes have of their own.
    #[serde(default, rename = "node", skip_serializing_if = "Vec::is_empty")]
    pub single: Vec<Node>,
}

/// What one node has of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// The node, counted from 0.
    pub id: u32,
    /// A name, to be used in flows and captures. Without one: its number (its number in the file, for ns-2 files).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its IPv4 address. Without one: 10.0.0.1 for node 0, and so on upwards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<std::net::Ipv4Addr>,
    /// Its IPv6 address, in scenarios with `nodes.ipv6`. Without one: by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address6: Option<std::net::Ipv6Addr>,
    /// Where it stands, in the place of what `movement` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Place>,
    /// Its network card: the name of a radio preset, whose `card_` keys stand in the place of those of `radio` (not of
    /// `radios`) at this node. All else of the radio is the same for all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    /// Its battery: these keys stand in the place of those of `energy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// It runs on mains: `energy` is not for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mains: bool,
}

/// The box from the local origin in which nodes are placed and move.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// Eastward, metres.
    pub x_m: f64,
    /// Northward, metres.
    pub y_m: f64,
    /// Upward, metres.
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
