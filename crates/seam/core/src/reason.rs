//! Why a packet ended undelivered.

use serde::{Deserialize, Serialize};

/// The cause of a drop. Every packet that is not delivered or held ends with one of these.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[repr(u8)]
pub enum DropReason {
    /// No route, and nobody may look for one.
    NoRoute,
    /// Route discovery gave up.
    DiscoveryFailed,
    /// Waited too long for a route.
    BufferTimeout,
    /// The protocol's buffer of waiting packets was full.
    BufferFull,
    /// The interface queue was full.
    QueueFull,
    /// The MAC gave up after its last retry.
    MacRetries,
    /// The link layer held one packet for an address that did not resolve, and a newer one took its place.
    ArpFull,
    /// Its next hop's link address did not resolve.
    ArpFailed,
    /// Its time to live ran out.
    TtlExpired,
    /// It would have visited a node twice.
    Loop,
    /// Its route broke on the way, and there was no other. Tables have DSR's word for it.
    #[serde(rename = "NO_SALVAGE")]
    NoOtherRoute,
    /// It was sent by another route as often as is allowed. Tables have DSR's word for it.
    #[serde(rename = "SALVAGE_LIMIT")]
    RerouteLimit,
    /// A header contradicts itself or the specification.
    Malformed,
    /// The protocol had seen it before.
    Duplicate,
    /// It asks for something that this node is told not to do.
    Policy,
    /// No application waits for it at its destination.
    NoListener,
    /// Longer than the link can carry.
    TooLong,
    /// The node went down with it.
    NodeDown,
    /// Sent on a radio that acknowledges nothing, and nobody got it.
    LostOnAir,
    /// Its neighbour sent more routing packets than this node takes from one.
    RateLimit,
    /// An attacker of the scenario kept it.
    Attack,
    /// A routing packet without authentication, where the node has keys.
    AuthMissing,
    /// A routing packet whose tag no key of this node makes.
    AuthFailed,
    /// A routing packet that was received before.
    AuthReplay,
    /// A routing packet of a neighbour that has not answered this node's challenge yet.
    AuthUnknown,
}

crate::names!(DropReason {
    NoRoute = "NO_ROUTE",
    DiscoveryFailed = "DISCOVERY_FAILED",
    BufferTimeout = "BUFFER_TIMEOUT",
    BufferFull = "BUFFER_FULL",
    QueueFull = "QUEUE_FULL",
    MacRetries = "MAC_RETRIES",
    ArpFull = "ARP_FULL",
    ArpFailed = "ARP_FAILED",
    TtlExpired = "TTL_EXPIRED",
    Loop = "LOOP",
    NoOtherRoute = "NO_SALVAGE",
    RerouteLimit = "SALVAGE_LIMIT",
    Malformed = "MALFORMED",
    Duplicate = "DUPLICATE",
    Policy = "POLICY",
    NoListener = "NO_LISTENER",
    TooLong = "TOO_LONG",
    NodeDown = "NODE_DOWN",
    LostOnAir = "LOST_ON_AIR",
    RateLimit = "RATE_LIMIT",
    Attack = "ATTACK",
    AuthMissing = "AUTH_MISSING",
    AuthFailed = "AUTH_FAILED",
    AuthReplay = "AUTH_REPLAY",
    AuthUnknown = "AUTH_UNKNOWN",
});

impl DropReason {
    /// The drop code of an ns-2 trace (`trace/cmu-trace.h`) that says the same, or the nearest.
    pub const fn ns2_code(self) -> &'static str {
        match self {
            Self::NoRoute | Self::DiscoveryFailed | Self::NoOtherRoute => "NRTE",
            Self::BufferTimeout => "TOUT",
            Self::BufferFull | Self::QueueFull => "IFQ",
            Self::MacRetries => "RET",
            Self::ArpFull | Self::ArpFailed => "ARP",
            Self::TtlExpired => "TTL",
            Self::Loop => "LOOP",
            Self::RerouteLimit => "SAL",
            Self::Malformed | Self::TooLong | Self::LostOnAir => "ERR",
            Self::Duplicate => "DUP",
            Self::Policy
            | Self::NoListener
            | Self::RateLimit
            | Self::Attack
            | Self::AuthMissing
            | Self::AuthFailed
            | Self::AuthReplay
            | Self::AuthUnknown => "FIL",
            Self::NodeDown => "END",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_complete_and_in_order() {
        for (i, r) in DropReason::ALL.iter().enumerate() {
            assert_eq!(*r as usize, i);
        }
    }

    #[test]
    fn records_have_the_names_of_the_tables() {
        for r in DropReason::ALL {
            assert_eq!(serde_json::to_value(r).unwrap(), r.name());
        }
    }
}
