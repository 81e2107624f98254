//! The timers of a node.

use wayhop_core::TimerKey;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The next full update.
    Full = 1,
    /// Changes that were to settle, or to wait for the last update's distance in time.
    Trigger,
    /// Silent neighbours, packets that waited too long, entries to forget.
    Check,
    /// The wait after a reboot is over.
    Awake,
    /// The next Hello.
    Hello,
}

impl Timer {
    pub(crate) const fn key(self) -> TimerKey {
        TimerKey(self as u64)
    }
    pub(crate) fn from_key(key: TimerKey) -> Option<Self> {
        let all = [Self::Full, Self::Trigger, Self::Check, Self::Awake, Self::Hello];
        all.into_iter().find(|timer| timer.key() == key)
    }
}
