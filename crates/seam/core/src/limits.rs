//! Limits on the routing traffic that a node accepts from its neighbours.

/// Limits on what a node takes from its neighbours, a second; 0 is no limit. What exceeds a limit ends as
/// [`crate::DropReason::RateLimit`] before an engine sees it, so that a neighbour that floods spends its own share.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Routing packets of one class (Route Requests, Route Replies, Route Errors, ...) from one neighbour.
    pub routing_per_neighbour: u16,
    /// Routing packets of one class from all neighbours. Those that were heard lately have equal shares of it.
    pub routing_total: u16,
    /// ARP requests that one neighbour has answered.
    pub arp_per_neighbour: u16,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self { routing_per_neighbour: 0, routing_total: 0, arp_per_neighbour: 0 };
    /// Those of nodes by default. In networks of 50 nodes with 20 flows, a neighbour sends at most 36 routing packets of one
    /// class a second with DSR, 4 with AODV and 2 with DSDV, and all neighbours together 97
    /// (docs/concepts/limits.md).
    pub const STANDARD: Self = Self { routing_per_neighbour: 50, routing_total: 500, arp_per_neighbour: 50 };
}

impl Default for Limits {
    fn default() -> Self {
        Self::NONE
    }
}
