//! What an agent wants done.

use serde::{Deserialize, Serialize};
use wayhop_core::{BundleEventKind, Time};

use crate::agent::input::{ContactId, Refusal, TransferId};
use crate::bundle::BundleId;
use crate::eid::Eid;

/// One thing that an agent wants done, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Send this bundle to the neighbour. Answered by [`crate::TransferEvent::Sent`], `Interrupted` or `Refused`.
    Transmit {
        /// On which contact.
        contact: ContactId,
        /// The agent's number for it.
        transfer: TransferId,
        /// The bundle.
        bundle: Vec<u8>,
    },
    /// A bundle that arrived is safe here: acknowledge it.
    Accept(ContactId, TransferId),
    /// A bundle that arrived is not taken.
    Refuse(ContactId, TransferId, Refusal),
    /// Give an application this, and tell with [`crate::Input::Confirm`] when it has got it.
    Deliver {
        /// For whom.
        endpoint: Eid,
        /// The delivery's number at this endpoint: 1, 2, ... without an end, across restarts.
        number: u64,
        /// Which bundle; of a reassembled one without fragment.
        id: BundleId,
        /// Whether the payload is an administrative record.
        is_admin_record: bool,
        /// What was sent.
        payload: Vec<u8>,
    },
    /// A request of an application is a bundle now, and safe in the store.
    Sent {
        /// The application's number.
        number: u64,
        /// The bundle.
        id: BundleId,
    },
    /// A request of an application was not taken.
    Rejected {
        /// The application's number.
        number: u64,
        /// Why.
        why: RequestError,
    },
    /// A row for the run's tables.
    Record(BundleRecord),
}

/// Why a request of an application was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The source is not of this node.
    #[error("{0} is not an endpoint of this node")]
    ForeignSource(Eid),
    /// Nobody can be reached there.
    #[error("dtn:none is not the address of a node")]
    NoDestination,
    /// There is no room for it.
    #[error("the store is full: {0}")]
    StoreFull(&'static str),
    /// It is larger than a bundle may be.
    #[error("{octets} bytes are too many for a bundle (at most {limit})")]
    TooLarge {
        /// Its payload.
        octets: u64,
        /// The limit.
        limit: u64,
    },
}

/// What happened to a bundle: one row of the run's `bundles` table. A real host writes it as a JSON object, with times in
/// nanoseconds of the node's clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleRecord {
    /// When.
    #[serde(rename = "time_ns")]
    pub at: Time,
    /// What.
    pub event: BundleEventKind,
    /// The bundle's name, a fragment's that of the whole.
    pub bundle: String,
    /// Of a fragment: where its payload begins in that of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Who made it.
    pub source: Eid,
    /// Where it goes.
    pub destination: Eid,
    /// The neighbour, where there is one.
    pub peer: Eid,
    /// Its length as it is encoded, in octets; of a delivery, of its payload.
    pub bytes: u64,
    /// Why it ended, of a drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<DropCause>,
}

impl BundleRecord {
    /// Without a neighbour and a reason.
    pub(crate) fn new(at: Time, event: BundleEventKind, id: &BundleId, destination: Eid, bytes: u64) -> Self {
        let (bundle, offset, source) = (id.name(), id.offset(), id.source.clone());
        Self { at, event, bundle, offset, source, destination, peer: Eid::None, bytes, reason: None }
    }
}

/// Why a copy of a bundle ended, or was not taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropCause {
    /// Its lifetime is over.
    LifetimeExpired,
    /// It has made as many hops as it may.
    HopLimit,
    /// There was no room for it.
    StoreFull,
    /// It made room for another one.
    Evicted,
    /// It is forwarded, and routing keeps no copy.
    Forwarded,
    /// The neighbour never takes it.
    NotAcceptable,
    /// A block that may not be ignored is not understood.
    UnintelligibleBlock,
    /// It was no bundle, or too large.
    Malformed,
    /// It would be reassembled into more than is allowed.
    TooLarge,
    /// It says nothing that is understood: an administrative record or message of routing.
    NotUnderstood,
    /// It goes nowhere: `dtn:none`.
    NoDestination,
}
