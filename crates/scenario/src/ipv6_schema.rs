//! The keys of a scenario that IPv6 and static routes have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::NodeRef;

/// Whether nodes have IPv6 addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NodesIpv6 {
    /// Whether they have them in the default prefix.
    Default(bool),
    /// They have them in this prefix.
    Prefix(String),
}

/// The version of IP: 4 or 6.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8")]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl TryFrom<u8> for IpVersion {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            other => Err(format!("there is no IP version {other}; give 4 or 6")),
        }
    }
}

impl From<IpVersion> for u8 {
    fn from(version: IpVersion) -> Self {
        match version {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}

impl IpVersion {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::V4
    }
}

/// A route that a node has from the start, whatever the routing protocol finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticRoute {
    /// Whose it is.
    pub node: NodeRef,
    /// Where to: a node, or an address or prefix of either family such as "10.1.0.0/16" or "fd00:77::/64".
    pub destination: NodeRef,
    /// The neighbour that packets go to.
    pub via: NodeRef,
    /// The interface that packets leave by: the name of a radio or wire of the node. Without it: the one on which the neighbour was
    /// heard last, or the node's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// 4 or 6: the family, where the destination is a node. Without it: 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpVersion>,
}
