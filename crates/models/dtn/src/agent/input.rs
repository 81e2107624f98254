//! An agent's inputs.

use serde::{Deserialize, Serialize};
use wayhop_core::Span;

use crate::eid::Eid;

/// The host's number for a contact: one session with one neighbour. Never used twice while the agent runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContactId(pub u64);

/// A number for a bundle under way on a contact: the agent's for one that it sends, the session's for one that comes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransferId(pub u64);

/// A neighbour with which bundles can be exchanged now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// The host's number for it.
    pub id: ContactId,
    /// The neighbour's administrative endpoint; `Eid::None` where nobody told: then nothing is sent.
    pub peer: Eid,
    /// The largest bundle that its convergence layer carries; larger ones are sent as fragments.
    pub largest: Option<usize>,
    /// Whether the neighbour understands the messages of routing (docs/concepts/dtn.md): one that sends our beacons does.
    /// Without it, routing that exchanges messages sends a neighbour what is for its node only.
    pub exchanges: bool,
}

/// A bundle that an application wants to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The application's number, which comes back with [`crate::Output::Sent`] or [`crate::Output::Rejected`].
    pub number: u64,
    /// From which endpoint of this node.
    pub source: Eid,
    /// The destination.
    pub destination: Eid,
    /// Who gets status reports; `Eid::None` for nobody.
    pub report_to: Eid,
    /// How long it is wanted.
    pub lifetime: Span,
    /// Flags of the bundle, for reports ([`crate::flags`]).
    pub flags: u64,
    /// Whether it travels with custody transfer.
    pub custody: bool,
    /// What is sent.
    pub payload: Vec<u8>,
}

/// One thing that happens to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// An application is registered for an endpoint of this node or a group. `got` is the highest number of a delivery that it has
    /// got ([`crate::Output::Deliver`]), 0 for an application that does not know: what comes after it and was not confirmed is
    /// delivered again. So an application that remembers gets each bundle once, whatever crashes.
    Register {
        /// The endpoint.
        endpoint: Eid,
        /// The highest number that the application has got.
        got: u64,
    },
    /// It is registered no longer: bundles wait.
    Unregister {
        /// The endpoint.
        endpoint: Eid,
    },
    /// An application has got this delivery and all before it at the endpoint: they need not be kept any longer.
    Confirm {
        /// The endpoint.
        endpoint: Eid,
        /// The delivery's number.
        number: u64,
    },
    /// An application sends.
    Send(Request),
    /// A neighbour came.
    ContactUp(Contact),
    /// A neighbour went. What was under way is over: first come [`TransferEvent::Interrupted`] and [`TransferEvent::Part`], if
    /// anything arrived; nothing arrived of other transfers.
    ContactDown(ContactId),
    /// Something happened to a transfer.
    Transfer(ContactId, TransferEvent),
    /// The time of [`crate::Agent::next_timer`] has come.
    Timer,
}

/// What happens to a transfer of a bundle over a contact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferEvent {
    /// A whole bundle arrived. Answered by [`crate::Output::Accept`] or [`crate::Output::Refuse`]; it is acknowledged only after
    /// the former.
    Received {
        /// The session's number for it.
        transfer: TransferId,
        /// The bundle.
        bundle: Vec<u8>,
    },
    /// The first octets of a bundle arrived, and the contact ended: they are kept as a fragment.
    Part(Vec<u8>),
    /// A transfer of ours arrived whole, says the neighbour. Of a layer that acknowledges nothing: it was sent.
    Sent(TransferId),
    /// A transfer of ours did not arrive whole: it or its session ended.
    Interrupted {
        /// The agent's number for it.
        transfer: TransferId,
        /// How many of its first octets the neighbour has acknowledged: what comes after goes on from there.
        acknowledged: u64,
    },
    /// The neighbour refused a transfer of ours.
    Refused(TransferId, Refusal),
}

/// Why a transfer is refused. The numbers are those of TCPCLv4's XFER_REFUSE (RFC 9174, section 5.2.4).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Refusal {
    /// None of the others.
    Unknown = 0,
    /// It has the bundle already.
    Completed = 1,
    /// No room for it now.
    NoResources = 2,
    /// Something went wrong: send it again from its beginning.
    Retransmit = 3,
    /// It never takes this bundle.
    NotAcceptable = 4,
    /// An extension that it must understand could not be processed.
    ExtensionFailure = 5,
    /// Its session is about to end.
    SessionTerminating = 6,
}
