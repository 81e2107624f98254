//! What happens to the bundles of delay-tolerant networking.

use serde::{Deserialize, Serialize};

/// What happened to a bundle. Every copy that is originated or received at a node ends there delivered, forwarded (and not
/// kept), released, reassembled or dropped, or is held.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BundleEventKind {
    /// An application made it.
    Originate,
    /// The agent itself made it: a record for another agent.
    Signal,
    /// It came, whole, from a neighbour, and was new.
    Receive,
    /// It came again.
    Duplicate,
    /// A neighbour has got a copy.
    Forward,
    /// An application got it: once, put together of its fragments.
    Deliver,
    /// This agent took custody of it.
    CustodyTaken,
    /// Another one has taken custody of it.
    CustodyReleased,
    /// A neighbour refused custody.
    CustodyRefused,
    /// Custody was not taken in time: it is retransmitted.
    CustodyTimeout,
    /// It became fragments.
    Fragmented,
    /// It became part of a whole bundle again.
    Reassembled,
    /// This agent's copy ended.
    Drop,
}

impl BundleEventKind {
    /// As tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Originate => "originate",
            Self::Signal => "signal",
            Self::Receive => "receive",
            Self::Duplicate => "duplicate",
            Self::Forward => "forward",
            Self::Deliver => "deliver",
            Self::CustodyTaken => "custody_taken",
            Self::CustodyReleased => "custody_released",
            Self::CustodyRefused => "custody_refused",
            Self::CustodyTimeout => "custody_timeout",
            Self::Fragmented => "fragmented",
            Self::Reassembled => "reassembled",
            Self::Drop => "drop",
        }
    }
}
