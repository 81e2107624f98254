//! What a busy medium does to a running backoff.

use wayhop_core::{Span, Time};

use crate::station::{Backoff, PhyState};

/// What a busy medium does to a running backoff.
#[derive(Copy, Clone)]
pub(crate) struct Pause {
    pub(crate) difs: Span,
    pub(crate) slot_ns: u64,
    /// How long a carrier goes unnoticed.
    pub(crate) cca: Span,
}

impl Pause {
    /// The medium goes busy at `at`: the slots counted by then are done, a begun one is not. A backoff that ends before the carrier
    /// is noticed goes on.
    #[inline]
    pub(crate) fn apply(self, phy_state: &mut PhyState, at: Time) {
        if phy_state.backoff != Backoff::Running {
            return;
        }
        let counting = phy_state.since + self.difs;
        if counting + Span::from_nanos(self.slot_ns * u64::from(phy_state.slots)) <= at + self.cca {
            return;
        }
        phy_state.slots -= (at.since(counting).as_nanos() / self.slot_ns) as u16;
        phy_state.backoff = Backoff::Paused;
    }
}
