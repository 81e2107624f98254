//! Bundles in the summary of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Summary of the bundles of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BundleSummary {
    /// Routing: `epidemic`, `spray-and-wait`, `prophet` or `static`.
    pub routing: String,
    /// Convergence layer: `udpcl`, `ltp` or `tcpcl`.
    pub convergence: String,
    /// Nodes with an agent.
    pub agents: u32,
    /// Bundles originated by applications.
    pub originated: u64,
    /// Bundles delivered to an application at the destination.
    pub delivered: u64,
    /// Repeated deliveries of a bundle, which indicate a bug.
    pub delivered_again: u64,
    /// `delivered / originated`; null if none was originated.
    pub delivery_ratio: Option<f64>,
    /// Time from origination to delivery; null if none was delivered.
    pub delay_s: Option<DelayS>,
    /// Bundles or fragments forwarded from one agent to another.
    pub forwarded: u64,
    /// Their length on the wire, bytes.
    pub forwarded_bytes: u64,
    /// Forwarded bundles that the receiver already had.
    pub duplicates: u64,
    /// `(forwarded - delivered) / delivered`: transmissions without delivery per delivery; null without a delivery.
    pub overhead: Option<f64>,
    /// Number of times custody was taken.
    pub custody_taken: u64,
    /// Number of times custody was passed on.
    pub custody_released: u64,
    /// Copies dropped by agents, by cause.
    pub dropped: BTreeMap<String, u64>,
    /// Finished contacts, each counted once; null without any.
    pub contacts: Option<ContactSummary>,
    /// One entry per flow, in the scenario's order.
    pub flows: Vec<BundleFlowSummary>,
}

/// Delay from origination to delivery, seconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DelayS {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest.
    pub max: f64,
}

/// Summary of contacts. Bytes are those of bundles that arrived completely, as on the wire, in both directions together.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContactSummary {
    /// Number of contacts.
    pub count: u64,
    /// Contacts that carried bundles.
    pub used: u64,
    /// Mean length, seconds.
    pub length_s: f64,
    /// Mean bytes of a contact.
    pub bytes_mean: f64,
    /// Their standard deviation (n - 1); null for one contact.
    pub bytes_sd: Option<f64>,
    /// `bytes_sd / bytes_mean`, the coefficient of variation; null if undefined.
    pub bytes_variation: Option<f64>,
    /// The least.
    pub bytes_min: u64,
    /// The most.
    pub bytes_max: u64,
}

/// One flow of bundles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BundleFlowSummary {
    /// Its index in the scenario.
    pub id: u32,
    /// The source node, as the scenario numbers it.
    pub src: u32,
    /// The destination node.
    pub dst: u32,
    /// Name of the source in the scenario.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub src_name: Option<String>,
    /// Name of the destination in the scenario.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dst_name: Option<String>,
    /// Bundles originated by its application.
    pub originated: u64,
    /// Bundles delivered.
    pub delivered: u64,
    /// `delivered / originated`; null if none was originated.
    pub delivery_ratio: Option<f64>,
    /// Null if none was delivered.
    pub delay_s: Option<DelayS>,
}
