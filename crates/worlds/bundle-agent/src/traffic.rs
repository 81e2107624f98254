//! Traffic of the agent itself, for emulations and tests: generated bundles, and endpoints that discard them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;
use wayhop_dtn::node::BundleSeries;

/// Bundles that the agent generates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The sending service of this node.
    pub service: String,
    /// The destination.
    pub destination: String,
    /// Time of the first bundle, seconds after the agent's start.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds after the agent's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// Payload of each bundle, bytes.
    pub size_bytes: u64,
    /// Interval between bundles, seconds.
    pub interval_s: f64,
    /// Lifetime of each bundle, seconds.
    pub lifetime_s: f64,
    /// Use custody transfer.
    #[serde(default)]
    pub custody: bool,
    /// Stop after this many bundles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bundles: Option<u64>,
}

impl Source {
    /// When its bundles are made, and what they are like.
    pub(crate) fn series(&self) -> BundleSeries {
        BundleSeries {
            start: Span::from_secs_f64(self.start_s),
            stop: self.stop_s.map(Span::from_secs_f64),
            size_bytes: self.size_bytes,
            interval: Span::from_secs_f64(self.interval_s),
            lifetime: Span::from_secs_f64(self.lifetime_s),
            custody: self.custody,
            max_bundles: self.max_bundles,
        }
    }
}
