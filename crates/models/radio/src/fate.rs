//! The fate of a frame at a station.

use wayhop_core::PacketId;

use crate::phy::FrameKind;

/// What became of a frame at a station.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// It was received.
    Received,
    /// It was received again: the acknowledgement of the first time was lost.
    Duplicate,
    /// It was understood, but the station was in another exchange, or had not cleared it: it was discarded.
    Refused,
    /// It was understood, but the station's card had no free buffer.
    CardFull,
    /// It overlapped with another frame.
    Collision,
    /// The station was receiving another frame, which this one neither disturbed nor overpowered.
    Receiving,
    /// The station's own transmitter was on.
    Sending,
    /// Its signal is too weak, at this distance.
    TooWeak,
    /// Its signal is strong enough on average, but was too weak this time: shadowing or fading.
    Faded,
    /// Noise alone destroyed it: bit errors.
    Noise,
    /// The link was taken down, or loses frames, by order.
    Link,
    /// The station was switched off, or had just been switched on.
    NodeDown,
    /// Its sender was switched off in the middle of it.
    CutShort,
    /// It is for an address that no station has.
    NoStation,
    /// It was not sent: a CTS that its station owes, but may not send into a medium that is busy or reserved.
    Withheld,
}

wayhop_core::names!(Fate {
    Received = "received",
    Duplicate = "duplicate",
    Refused = "refused",
    CardFull = "card_full",
    Collision = "collision",
    Receiving = "receiving",
    Sending = "sending",
    TooWeak = "too_weak",
    Faded = "faded",
    Noise = "noise",
    Link = "link",
    NodeDown = "node_down",
    CutShort = "cut_short",
    NoStation = "no_station",
    Withheld = "withheld",
});

impl Fate {
    /// Whether the station understood the frame.
    pub const fn is_understood(self) -> bool {
        matches!(self, Self::Received | Self::Duplicate | Self::Refused | Self::CardFull)
    }
}

/// Which frame it was.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FrameId {
    /// Its sender.
    pub from: u32,
    /// What it is.
    pub kind: FrameKind,
    /// The packet that it carries, or (RTS, CTS, ACK) is exchanged for; `None` for address resolution.
    pub packet: Option<PacketId>,
}
