//! The timers of a node.

use wayhop_core::TimerKey;

/// What a timer is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The next full update.
    Full,
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
        TimerKey(match self {
            Self::Full => 1,
            Self::Trigger => 2,
            Self::Check => 3,
            Self::Awake => 4,
            Self::Hello => 5,
        })
    }
    pub(crate) const fn from_key(k: TimerKey) -> Option<Self> {
        Some(match k.0 {
            1 => Self::Full,
            2 => Self::Trigger,
            3 => Self::Check,
            4 => Self::Awake,
            5 => Self::Hello,
            _ => return None,
        })
    }
}
