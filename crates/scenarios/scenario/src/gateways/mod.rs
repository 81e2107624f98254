//! Gateways, and networks outside the mesh.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub(crate) use resolve::resolve;
pub use resolve::{EdgePlan, GatewayPlan, OutsidePlan};

/// A gateway: a node that connects the mesh to other networks: docs/concepts/gateway.md.
///
/// An outside node is one attached only to gateway uplinks. Outside nodes run no routing protocol; their default
/// addresses are 198.51.100.1, 198.51.100.2, ...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// The node.
    pub node: NodeRef,
    /// The name of the uplink wire, which the routing protocol does not use. Default: the node's only wire.
    pub uplink: Option<String>,
    /// The IPv4 prefixes that it can reach. Addresses in the mesh are always excluded.
    #[serde(default = "everything")]
    pub reaches: Vec<String>,
}

fn everything() -> Vec<String> {
    vec!["0.0.0.0/0".to_owned()]
}
