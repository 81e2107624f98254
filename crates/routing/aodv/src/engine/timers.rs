//! The timers of a node.

use std::net::Ipv4Addr;

use wayhop_core::TimerKey;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The periodic check.
    Check,
    /// The next Hello.
    Hello,
    /// The deadline of a repair.
    Repair,
    /// A reply was not acknowledged in time.
    Ack,
    /// The wait after a reboot is over.
    Awake,
    /// A next hop was not heard in time.
    Watch,
    /// A search for this destination may go on.
    Search(Ipv4Addr),
}

impl Timer {
    pub(crate) const fn key(self) -> TimerKey {
        TimerKey(match self {
            Self::Check => 1,
            Self::Hello => 2,
            Self::Repair => 3,
            Self::Ack => 4,
            Self::Awake => 5,
            Self::Watch => 6,
            Self::Search(a) => 1 << 32 | a.to_bits() as u64,
        })
    }
    pub(crate) const fn from_key(k: TimerKey) -> Option<Self> {
        Some(match (k.0 >> 32, k.0) {
            (0, 1) => Self::Check,
            (0, 2) => Self::Hello,
            (0, 3) => Self::Repair,
            (0, 4) => Self::Ack,
            (0, 5) => Self::Awake,
            (0, 6) => Self::Watch,
            (1, _) => Self::Search(Ipv4Addr::from_bits(k.0 as u32)),
            _ => return None,
        })
    }
}
