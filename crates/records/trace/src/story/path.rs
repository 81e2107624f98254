//! What movement and range allowed a packet while it was in transit.

use schemars::JsonSchema;
use serde::Serialize;

/// Whether a path between a packet's ends existed while it was in transit: from its sending until it arrived or was dropped, or
/// until the end of the run. Links follow from positions and range, not from the protocol's knowledge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PathBetween {
    /// Whether one existed at any time in this interval; null if unknown.
    pub existed: Option<bool>,
    /// Whether one existed when the packet was sent.
    pub when_sent: Option<bool>,
    /// Whether one existed when it arrived or was dropped, or when the run ended.
    pub when_ended: Option<bool>,
    /// Length of the shortest path when it was sent, hops; null without a path.
    pub hops_when_sent: Option<u16>,
    /// Start of the interval without a path in which the packet was sent, or else of the last such interval; null if there always
    /// was a path.
    pub none_from_s: Option<f64>,
    /// End of that interval; null also if it lasted until the end of the run.
    pub none_until_s: Option<f64>,
    /// Why it is unknown whether a path existed.
    pub unknown: Option<String>,
    /// The same in words.
    pub text: String,
}

impl PathBetween {
    /// The same in one word: `yes`, `none`, `later` (none when the packet was sent) or `lost` (one when it was sent, but none when it ended).
    pub fn word(&self) -> &'static str {
        match (self.existed, self.when_sent, self.when_ended) {
            (Some(false), ..) => "none",
            (_, Some(false), _) => "later",
            (_, Some(true), Some(false)) => "lost",
            (Some(true), ..) => "yes",
            (None, ..) => "?",
        }
    }
}
