//! The keys of delay-tolerant networking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_dtn::node::{DtnRouting, Layer};

use crate::nodes::NodeRef;

/// Bundles (RFC 9171) above the network layer: an agent in each node stores them, and passes them on at each contact with
/// another one: `docs/concepts/dtn.md`. In simulation the agents run in the simulator, in emulation and lab each is
/// a program in its node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dtn {
    /// The nodes with an agent. Without it: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<NodeRef>>,
    /// Who gets a copy of a bundle.
    #[serde(default)]
    pub routing: DtnRouting,
    /// Copies of each bundle that `spray-and-wait` makes.
    #[serde(default = "copies")]
    pub copies: u32,
    /// How bundles travel from agent to agent.
    #[serde(default)]
    pub convergence: Layer,
    /// What each agent's store holds, octets of bundles.
    #[serde(default = "store")]
    pub store_bytes: u64,
    /// The longest bundle that an agent sends, octets; a longer one is cut into fragments. Without it: 1400 with `udpcl`, whose
    /// bundles have to fit into a packet, else no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment_bytes: Option<u64>,
    /// How fast an agent sends over `udpcl` and `ltp`, to all neighbours together, bits per second of datagrams: neither of the two
    /// asks how much the network takes.
    #[serde(default = "rate")]
    pub rate_bps: f64,
    /// Each agent makes itself known to its neighbours so often, seconds.
    #[serde(default = "beacon")]
    pub beacon_s: f64,
    /// A contact ends when a neighbour was not heard for so long, seconds.
    #[serde(default = "silence")]
    pub silence_s: f64,
    /// With `static`: by which neighbour bundles go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<DtnRoute>,
    /// Who sends bundles to whom.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<BundleFlow>,
}

/// By which neighbour bundles go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DtnRoute {
    /// At which node.
    pub node: NodeRef,
    /// Where to.
    pub destination: NodeRef,
    /// The neighbour.
    pub via: NodeRef,
}

/// Bundles from one node to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BundleFlow {
    /// The source.
    pub src: NodeRef,
    /// The destination.
    pub dst: NodeRef,
    /// When the first bundle is made, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Without it: at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// Payload of each bundle, octets.
    #[serde(default = "size")]
    pub size_bytes: u64,
    /// From bundle to bundle, seconds.
    #[serde(default = "interval")]
    pub interval_s: f64,
    /// How long a bundle lives, seconds.
    #[serde(default = "lifetime")]
    pub lifetime_s: f64,
    /// Ask for custody: whoever takes it keeps the bundle until another one has taken it.
    #[serde(default)]
    pub custody: bool,
    /// Stop after so many bundles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bundles: Option<u64>,
}

fn copies() -> u32 {
    8
}
fn store() -> u64 {
    64 << 20
}
fn rate() -> f64 {
    1e6
}
fn beacon() -> f64 {
    1.0
}
fn silence() -> f64 {
    3.5
}
fn size() -> u64 {
    1_000
}
fn interval() -> f64 {
    10.0
}
fn lifetime() -> f64 {
    3_600.0
}
