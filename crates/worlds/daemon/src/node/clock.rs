//! The clock that the node's times are read from.

use std::time::Instant;

use wayhop_core::Time;

/// The host's monotonic clock, from the node's begin on.
#[derive(Copy, Clone, Debug)]
pub(crate) struct NodeClock(Instant);

impl NodeClock {
    pub(crate) fn from(begun: Instant) -> Self {
        Self(begun)
    }

    pub(crate) fn now(self) -> Time {
        Time::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}
