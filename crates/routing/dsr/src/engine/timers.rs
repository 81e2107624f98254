//! The timers of a node.

use std::net::Ipv4Addr;

use wayhop_core::TimerKey;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The next look into the Send Buffer.
    BufferCheck,
    /// The oldest packet of the Send Buffer will have waited too long.
    BufferExpiry,
    /// A discovery for this target may go on.
    Discovery(Ipv4Addr),
    /// A held-back Route Reply is due.
    HeldReply,
    /// A neighbour has not answered whether it hears this node.
    Doubt,
    /// Routes to this target over links remembered as bad may be used.
    LastResort(Ipv4Addr),
    /// The next look into the Maintenance Buffer.
    Rexmt,
    /// The next probe of this node's links.
    Probe,
}

impl Timer {
    pub(crate) const fn key(self) -> TimerKey {
        TimerKey(match self {
            Self::BufferCheck => 1 << 32,
            Self::BufferExpiry => 2 << 32,
            Self::Discovery(a) => 3 << 32 | a.to_bits() as u64,
            Self::HeldReply => 4 << 32,
            Self::Doubt => 5 << 32,
            Self::Probe => 17 << 32,
            Self::LastResort(a) => 16 << 32 | a.to_bits() as u64,
            Self::Rexmt => 6 << 32,
        })
    }
    pub(crate) const fn from_key(k: TimerKey) -> Option<Self> {
        Some(match k.0 >> 32 {
            1 => Self::BufferCheck,
            2 => Self::BufferExpiry,
            3 => Self::Discovery(Ipv4Addr::from_bits(k.0 as u32)),
            4 => Self::HeldReply,
            5 => Self::Doubt,
            17 => Self::Probe,
            16 => Self::LastResort(Ipv4Addr::from_bits(k.0 as u32)),
            6 => Self::Rexmt,
            _ => return None,
        })
    }
}
