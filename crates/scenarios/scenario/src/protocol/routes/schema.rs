//! The keys of `[[routes]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;

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
