//! The state of a node with IPv6.

use std::net::Ipv6Addr;

use wayhop_core::{Prefix, Time};

/// A node's IPv6 address, and when it may send its next error.
#[derive(Clone, Debug)]
pub(crate) struct Ipv6 {
    pub(crate) addr: Ipv6Addr,
    /// Addresses in it count as neighbours, unless a route says otherwise.
    pub(crate) on_link: Prefix,
    pub(crate) next_error: Time,
}

/// Whether a packet says that it is of IPv6.
#[inline]
pub(crate) fn is_v6(packet: &[u8]) -> bool {
    packet.first().is_some_and(|b| b >> 4 == 6)
}
