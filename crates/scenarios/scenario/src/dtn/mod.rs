//! Bundles above the network layer.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_dtn::node::{DtnRouting, Layer};

use crate::nodes::NodeRef;

pub(crate) use resolve::resolve;
pub use resolve::{BundleFlowPlan, DtnPlan};

/// Bundles (RFC 9171) above the network layer: an agent in each node stores them and forwards them at each contact
/// with another agent: `docs/concepts/dtn.md`. In simulation the agents are part of the simulator; in emulation and
/// lab each one is a program in its node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dtn {
    /// The nodes with an agent. Default: all.
    pub nodes: Option<Vec<NodeRef>>,
    /// Which agents get a copy of a bundle.
    #[serde(default)]
    pub routing: DtnRouting,
    /// Number of copies of each bundle with `spray-and-wait`.
    #[serde(default = "copies")]
    pub copies: u32,
    /// Convergence layer between agents.
    #[serde(default)]
    pub convergence: Layer,
    /// Capacity of each agent's store, bytes of bundles.
    #[serde(default = "store")]
    pub store_bytes: u64,
    /// The longest bundle that an agent sends, bytes; longer ones are fragmented. Default: 1400 with `udpcl`, whose
    /// bundles must fit into one packet, otherwise no limit.
    pub fragment_bytes: Option<u64>,
    /// Rate at which an agent sends over `udpcl` and `ltp` to all neighbours together, bits of datagrams per second.
    /// Neither of the two has congestion control.
    #[serde(default = "rate")]
    pub rate_bps: f64,
    /// Interval between an agent's beacons, seconds.
    #[serde(default = "beacon")]
    pub beacon_s: f64,
    /// Time without hearing a neighbour after which a contact ends, seconds.
    #[serde(default = "silence")]
    pub silence_s: f64,
    /// With `static`: the next hops of bundles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<DtnRoute>,
    /// Flows of bundles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<BundleFlow>,
}

/// The next hop of bundles at one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DtnRoute {
    /// The node.
    pub node: NodeRef,
    /// Destination of the bundles.
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
    /// When the first bundle is sent, seconds.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds. Default: at the end of the run.
    pub stop_s: Option<f64>,
    /// Payload of each bundle, bytes.
    #[serde(default = "size")]
    pub size_bytes: u64,
    /// Interval between bundles, seconds.
    #[serde(default = "interval")]
    pub interval_s: f64,
    /// Lifetime of a bundle, seconds.
    #[serde(default = "lifetime")]
    pub lifetime_s: f64,
    /// Request custody: each custodian keeps the bundle until another agent has accepted custody.
    #[serde(default)]
    pub custody: bool,
    /// Stop after this number of bundles.
    pub max_bundles: Option<u64>,
}

defaults! {
    copies: u32 = 8;
    store: u64 = 64 << 20;
    rate: f64 = 1e6;
    beacon: f64 = 1.0;
    silence: f64 = 3.5;
    size: u64 = 1_000;
    interval: f64 = 10.0;
    lifetime: f64 = 3_600.0;
}
