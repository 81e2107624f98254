//! Next hops that must be heard from.

use std::net::Ipv4Addr;

use wayhop_core::Time;

/// Next hops that were sent data and have not been heard since.
#[derive(Clone, Debug, Default, Hash)]
pub(crate) struct NextHopWatch(pub(crate) Vec<WatchedHop>);

#[derive(Clone, Debug, Hash)]
pub(crate) struct WatchedHop {
    pub(crate) neighbour: Ipv4Addr,
    pub(crate) was_asked: bool,
    pub(crate) due: Time,
}

impl NextHopWatch {
    /// Active next hops beyond this number are not watched.
    pub(crate) const LIMIT: usize = 64;

    /// A sign of life.
    pub(crate) fn heard(&mut self, neighbour: Ipv4Addr) {
        self.0.retain(|w| w.neighbour != neighbour);
    }
}
