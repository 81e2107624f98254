//! One hop of a packet.

use std::net::Ipv4Addr;

use wayhop_core::{Decision, Span};

/// One hop that a packet is about to make.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Hop {
    /// The neighbour.
    pub(crate) to: Ipv4Addr,
    /// Whether the packet is one of the protocol's own.
    pub(crate) control: bool,
    pub(crate) decision: Decision,
    /// Length of the route from here.
    pub(crate) hops: usize,
    pub(crate) delay: Span,
}
