//! What a node wants its host to do.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_dtn::{BundleId, Eid, RequestError};

use crate::record::Record;

/// How bundles travel from agent to agent.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Convergence")]
pub enum Layer {
    /// Each in a UDP datagram (draft-ietf-dtn-udpcl), which nobody acknowledges.
    #[default]
    Udpcl,
    /// Licklider's protocol over UDP (RFC 5326), which sends lost segments again.
    Ltp,
    /// A TCP connection (RFC 9174). Not in simulation, whose TCP is a model that carries no octets of others.
    Tcpcl,
}

impl Layer {
    /// As settings have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Udpcl => "udpcl",
            Self::Ltp => "ltp",
            Self::Tcpcl => "tcpcl",
        }
    }
}

/// A number for a TCP connection, of the host's for one that came, of the node's for one that it asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(pub u64);

/// One thing that a node wants its host to do, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Send a beacon to all neighbours.
    Beacon(Vec<u8>),
    /// Send a beacon to this address: a neighbour that links or a configuration told of.
    BeaconTo(SocketAddr, Vec<u8>),
    /// Send a datagram from this layer's port.
    Datagram(Layer, SocketAddr, Vec<u8>),
    /// Open a TCP connection; answer by [`crate::Node::connected`] or [`crate::Node::closed`].
    Connect(Connection, SocketAddr),
    /// Send octets over it.
    Write(Connection, Vec<u8>),
    /// Close it when all was written.
    Close(Connection),
    /// Give an application this; [`crate::Node::confirm`] when it has got it.
    Deliver {
        /// For whom.
        endpoint: Eid,
        /// The delivery's number at this endpoint.
        number: u64,
        /// Which bundle.
        id: BundleId,
        /// What was sent.
        payload: Vec<u8>,
    },
    /// An application's request is a bundle now, and safe.
    Sent {
        /// The request's number.
        number: u64,
        /// The bundle.
        id: BundleId,
    },
    /// An application's request was not taken.
    Rejected {
        /// The request's number.
        number: u64,
        /// Why.
        why: RequestError,
    },
    /// Write this down.
    Record(Record),
    /// Tell people: what went wrong with a neighbour.
    Remark(String),
}
