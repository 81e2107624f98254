//! Bundles in the summary of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All bundles of a run in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BundleSummary {
    /// Who gets a copy: `epidemic`, `spray-and-wait`, `prophet` or `static`.
    pub routing: String,
    /// How they travel: `udpcl`, `ltp` or `tcpcl`.
    pub convergence: String,
    /// Nodes with an agent.
    pub agents: u32,
    /// Bundles that applications made.
    pub originated: u64,
    /// Of these, those that an application at the destination got.
    pub delivered: u64,
    /// Deliveries of one that had been delivered before: a defect.
    pub delivered_again: u64,
    /// `delivered / originated`; null if none was made.
    pub delivery_ratio: Option<f64>,
    /// From making to delivery, of the delivered ones; null if there were none.
    pub delay_s: Option<DelayS>,
    /// Bundles, or fragments of them, that went from one agent to another.
    pub forwarded: u64,
    /// Their length as they travelled, octets.
    pub forwarded_bytes: u64,
    /// Of these, those that the other end had already.
    pub duplicates: u64,
    /// `(forwarded - delivered) / delivered`: transmissions that delivered nothing, for each delivery; null without a delivery.
    pub overhead: Option<f64>,
    /// How often custody was taken.
    pub custody_taken: u64,
    /// How often it was passed on.
    pub custody_released: u64,
    /// Copies that agents gave up, by cause.
    pub dropped: BTreeMap<String, u64>,
    /// The contacts that ended, each counted once; null without any.
    pub contacts: Option<ContactSummary>,
    /// One entry a flow, in the scenario's order.
    pub flows: Vec<BundleFlowSummary>,
}

/// From making to delivery, seconds.
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

/// What contacts carried. Octets are those of bundles, as they travel, that arrived whole, both ways together.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContactSummary {
    /// How many.
    pub count: u64,
    /// Of these, those that carried any.
    pub used: u64,
    /// Mean length, seconds.
    pub length_s: f64,
    /// Mean of the octets of a contact.
    pub bytes_mean: f64,
    /// Their standard deviation (n - 1); null for one contact.
    pub bytes_sd: Option<f64>,
    /// `bytes_sd / bytes_mean`: how much contacts vary; null if undefined.
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
    /// What the scenario calls the source.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub src_name: Option<String>,
    /// What it calls the destination.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dst_name: Option<String>,
    /// Bundles that its application made.
    pub originated: u64,
    /// Of these, those that were delivered.
    pub delivered: u64,
    /// `delivered / originated`; null if none was made.
    pub delivery_ratio: Option<f64>,
    /// Null if none was delivered.
    pub delay_s: Option<DelayS>,
}
