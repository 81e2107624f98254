//! What a client can subscribe to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kinds of [`Event`](crate::Event).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum EventKind {
    /// A remark of the protocol.
    Note,
    /// A packet ended undelivered.
    Drop,
    /// A row of the forwarding table came, changed or went.
    Route,
    /// A link was overridden or is free again.
    Link,
    /// A node's place was told.
    Position,
    /// A program or a daemon of a node began or ended.
    Process,
    /// A neighbour is new, or has another link address.
    Neighbour,
    /// Somebody changed something that a node on a real interface depends on.
    Host,
    /// Something became of a packet: a row of the table `packets`.
    Packet,
    /// A protocol sent a packet, with what it knew then: a row of the table `sends`.
    Sent,
    /// How long a node's queues and tables are: rows of the table `sizes`.
    Sizes,
    /// Events that this subscriber was too slow for.
    Lost,
}

impl EventKind {
    /// All that can be subscribed to; `lost` comes with any.
    pub const ALL: [Self; 11] = [
        Self::Note,
        Self::Drop,
        Self::Route,
        Self::Link,
        Self::Position,
        Self::Process,
        Self::Neighbour,
        Self::Host,
        Self::Packet,
        Self::Sent,
        Self::Sizes,
    ];
    /// Those that a subscriber gets who names none: all but those of single packets and of sizes.
    pub const USUAL: &'static [Self] = Self::ALL.split_at(8).0;

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Drop => "drop",
            Self::Route => "route",
            Self::Link => "link",
            Self::Position => "position",
            Self::Process => "process",
            Self::Neighbour => "neighbour",
            Self::Host => "host",
            Self::Packet => "packet",
            Self::Sent => "sent",
            Self::Sizes => "sizes",
            Self::Lost => "lost",
        }
    }
    /// A set that holds this kind only.
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u8
    }
}
