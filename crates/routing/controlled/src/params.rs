//! The parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Constants of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Maximum time between two Hellos of a node, in milliseconds; each is sent up to a tenth earlier, so that
    /// nodes do not synchronise. 0: no Hellos.
    pub hello_interval_ms: u64,
}

impl Default for Params {
    /// A Hello every second, as in AODV (RFC 3561, section 10).
    fn default() -> Self {
        Self { hello_interval_ms: 1_000 }
    }
}

impl Params {
    /// An hour; a longer interval announces nobody.
    const LONGEST_MS: u64 = 3_600_000;
    /// Less would fill the channel with Hellos.
    const SHORTEST_MS: u64 = 10;

    /// Rejects values with which a node would not work.
    pub fn check(&self) -> Result<(), String> {
        match self.hello_interval_ms {
            0 | Self::SHORTEST_MS..=Self::LONGEST_MS => Ok(()),
            ms => Err(format!(
                "hello_interval_ms is {ms}: give {} to {}, or 0 for no Hellos",
                Self::SHORTEST_MS,
                Self::LONGEST_MS
            )),
        }
    }
}
