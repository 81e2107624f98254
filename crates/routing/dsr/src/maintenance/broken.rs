//! Broken links: the last one found here, and the last one learned from others.

use std::net::Ipv4Addr;

use wayhop_core::Time;

/// A link that broke just now, while the packets that waited for it come back.
#[derive(Clone, Hash)]
pub(crate) struct BrokenLink {
    pub(crate) next_hop: Ipv4Addr,
    pub(crate) at: Time,
    /// The nodes that were told already.
    pub(crate) told: Vec<Ipv4Addr>,
}

/// A broken link that a Route Error told this node of.
#[derive(Copy, Clone, Debug, Hash)]
pub(crate) struct ToldError {
    pub(crate) from: Ipv4Addr,
    pub(crate) to: Ipv4Addr,
    pub(crate) at: Time,
}
