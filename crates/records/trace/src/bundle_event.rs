//! Bundles of delay-tolerant networking in a run's record: their events, and the bytes of each contact.

use std::sync::Arc;

use wayhop_core::{NodeId, Time};

/// What happened to a bundle.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BundleEventKind {
    /// An application made it.
    Originate,
    /// The agent itself made it: a record for another agent.
    Signal,
    /// It came, whole, from a neighbour, and was new.
    Receive,
    /// It came again.
    Duplicate,
    /// A neighbour has got a copy.
    Forward,
    /// An application got it: once, put together of its fragments.
    Deliver,
    /// This agent took custody of it.
    CustodyTaken,
    /// Another one has taken custody of it.
    CustodyReleased,
    /// A neighbour refused custody.
    CustodyRefused,
    /// Custody was not taken in time: it is retransmitted.
    CustodyTimeout,
    /// It became fragments.
    Fragmented,
    /// It became part of a whole bundle again.
    Reassembled,
    /// This agent's copy ended.
    Drop,
}

impl BundleEventKind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Originate,
        Self::Signal,
        Self::Receive,
        Self::Duplicate,
        Self::Forward,
        Self::Deliver,
        Self::CustodyTaken,
        Self::CustodyReleased,
        Self::CustodyRefused,
        Self::CustodyTimeout,
        Self::Fragmented,
        Self::Reassembled,
        Self::Drop,
    ];

    /// As tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Originate => "originate",
            Self::Signal => "signal",
            Self::Receive => "receive",
            Self::Duplicate => "duplicate",
            Self::Forward => "forward",
            Self::Deliver => "deliver",
            Self::CustodyTaken => "custody_taken",
            Self::CustodyReleased => "custody_released",
            Self::CustodyRefused => "custody_refused",
            Self::CustodyTimeout => "custody_timeout",
            Self::Fragmented => "fragmented",
            Self::Reassembled => "reassembled",
            Self::Drop => "drop",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// What happened to a bundle: one row of the `bundles` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleEvent {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// What.
    pub kind: BundleEventKind,
    /// Its name: source, creation time and number, the same at every node; a fragment has that of the whole.
    pub bundle: Arc<str>,
    /// Of a fragment: where its payload begins in that of the whole, octets.
    pub offset: Option<u64>,
    /// The flow of the scenario that it belongs to.
    pub flow: Option<u32>,
    /// Its length as it travels, octets; of a delivery, that of its payload.
    pub bytes: u64,
    /// The neighbour that it went to, or came from.
    pub peer: Option<NodeId>,
    /// Why it was given up.
    pub reason: Option<Arc<str>>,
}

/// What a contact carried, as one of its ends saw it: one row of the `contacts` table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ContactEvent {
    /// When it ended.
    pub time: Time,
    /// When it began.
    pub from: Time,
    /// Who saw it.
    pub node: NodeId,
    /// With whom.
    pub peer: NodeId,
    /// Bundles that went whole to the other end.
    pub sent: u64,
    /// Their length as they travel, octets.
    pub sent_bytes: u64,
    /// Bundles that came whole from there.
    pub received: u64,
    /// Their length as they travel, octets.
    pub received_bytes: u64,
}
