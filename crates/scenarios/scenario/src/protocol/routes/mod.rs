//! Static routes.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;
use crate::traffic::IpVersion;

pub(crate) use resolve::resolve;

/// A static route: a node has it from the start, in addition to the routes of the routing protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticRoute {
    /// The node that has the route.
    pub node: NodeRef,
    /// The destination: a node, or an address or prefix of either IP version, such as "10.1.0.0/16" or "fd00:77::/64".
    pub destination: NodeRef,
    /// The next hop, a neighbour.
    pub via: NodeRef,
    /// The outgoing interface: the name of a radio or wire of the node. Default: the interface on which the neighbour
    /// was last heard, or the node's first.
    pub interface: Option<String>,
    /// The IP version, 4 or 6, if the destination is a node. Default: 4.
    pub ip: Option<IpVersion>,
}
