//! Bundles of delay-tolerant networking in a run's record: their events, and the bytes of each contact.

use std::sync::Arc;

use wayhop_core::{BundleEventKind, NodeId, Time};

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
