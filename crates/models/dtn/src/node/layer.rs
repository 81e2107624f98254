//! The convergence layers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How bundles travel from agent to agent.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Convergence")]
pub enum Layer {
    /// Each in a UDP datagram (draft-ietf-dtn-udpcl), which nobody acknowledges.
    #[default]
    Udpcl,
    /// Licklider's protocol over UDP (RFC 5326), which sends lost segments again.
    Ltp,
    /// A TCP connection (RFC 9174).
    Tcpcl,
}

wayhop_core::names!(Layer {
    Udpcl = "udpcl",
    Ltp = "ltp",
    Tcpcl = "tcpcl",
});
