//! The keys of `gateways`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// A node that leads out of the mesh: docs/concepts/gateway.md.
///
/// Nodes that have no other interfaces than wires by which gateways lead out are outside: they run no routing protocol. Without an address of
/// their own they have 198.51.100.1 and so on upwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// The node.
    pub node: NodeRef,
    /// The name of the wire that leads out: the routing protocol does not use it. Without it: the only wire of the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink: Option<String>,
    /// What it reaches: IPv4 prefixes. Addresses of the mesh are never among it.
    #[serde(default = "everything")]
    pub reaches: Vec<String>,
}

fn everything() -> Vec<String> {
    vec!["0.0.0.0/0".to_owned()]
}
