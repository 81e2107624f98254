//! Traffic of an agent's own, for emulations and tests: bundles that it makes at times, and endpoints at which it takes what comes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{Span, Time};
use wayhop_dtn::Eid;

/// Bundles that the agent makes by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// From which service of this node.
    pub service: String,
    /// Where to.
    pub destination: String,
    /// When the first is made, seconds after the agent's start.
    #[serde(default)]
    pub start_s: f64,
    /// When to stop, seconds after the agent's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// Payload of each, octets.
    pub size_bytes: u64,
    /// From bundle to bundle, seconds.
    pub interval_s: f64,
    /// How long each lives, seconds.
    pub lifetime_s: f64,
    /// Whether they travel with custody transfer.
    #[serde(default)]
    pub custody: bool,
    /// Stop after so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bundles: Option<u64>,
}

/// A source under way.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    pub(crate) config: Source,
    pub(crate) from: Eid,
    pub(crate) to: Eid,
    begun: Time,
    made: u64,
}

impl Running {
    pub(crate) fn new(config: Source, from: Eid, to: Eid, begun: Time) -> Self {
        Self { config, from, to, begun, made: 0 }
    }

    /// When the next bundle is due.
    pub(crate) fn next(&self) -> Option<Time> {
        let c = &self.config;
        let after = c.start_s + c.interval_s * self.made as f64;
        let is_made =
            c.max_bundles.is_none_or(|most| self.made < most) && c.stop_s.is_none_or(|stop| after < stop);
        is_made.then(|| self.begun + Span::from_secs_f64(after))
    }

    /// It is made.
    pub(crate) fn make(&mut self) {
        self.made += 1;
    }
}
