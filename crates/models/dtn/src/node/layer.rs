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

impl Layer {
    /// As settings have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udpcl => "udpcl",
            Self::Ltp => "ltp",
            Self::Tcpcl => "tcpcl",
        }
    }
}
