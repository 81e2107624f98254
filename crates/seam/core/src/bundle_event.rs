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

crate::names!(BundleEventKind {
    Originate = "originate",
    Signal = "signal",
    Receive = "receive",
    Duplicate = "duplicate",
    Forward = "forward",
    Deliver = "deliver",
    CustodyTaken = "custody_taken",
    CustodyReleased = "custody_released",
    CustodyRefused = "custody_refused",
    CustodyTimeout = "custody_timeout",
    Fragmented = "fragmented",
    Reassembled = "reassembled",
    Drop = "drop",
});
