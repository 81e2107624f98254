//! What movement and range allowed a packet while it was under way.

use schemars::JsonSchema;
use serde::Serialize;

/// Whether a path between a packet's ends existed while it was under way: from its sending until it arrived or was dropped, or until
/// the run ended. What could be received by positions and range counts, not what the protocol knew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PathBetween {
    /// Whether one existed at any time of it; null if that is not known.
    pub existed: Option<bool>,
    /// Whether one existed when the packet was sent.
    pub when_sent: Option<bool>,
    /// Whether one existed when it arrived or was dropped, or when the run ended.
    pub when_ended: Option<bool>,
    /// Length of the shortest path when it was sent, hops; null without a path.
    pub hops_when_sent: Option<u16>,
    /// When the time without a path began in which the packet was sent, or else the last such time of its way; null if there was a path
    /// all the time.
    pub none_from_s: Option<f64>,
    /// When that time ended; null also if it lasted until the end of the run.
    pub none_until_s: Option<f64>,
    /// Why it is not known whether a path existed.
    pub unknown: Option<String>,
    /// All this in words.
    pub text: String,
}

impl PathBetween {
    /// The same in a word: `yes`, `none`, `later` (none when the packet was sent), `lost` (when it was sent, but not when it ended).
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
