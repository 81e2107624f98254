//! A session with a neighbour, and its state in the node.

use std::net::{IpAddr, SocketAddr};

use wayhop_core::{ApplicationCx, ApplicationRow, STREAM_ROOM, Span, StreamId, Time};

use super::layer::Layer;
use super::record::{ContactRecord, Record};
use crate::cl::Session;
use crate::eid::Eid;

/// Between this node and a neighbour.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum NeighbourSession {
    /// Datagrams of a layer, to this address.
    Udp(Layer, SocketAddr),
    /// A stream with this address.
    Tcp(StreamId, IpAddr),
}

impl NeighbourSession {
    pub(super) fn ip(&self) -> IpAddr {
        match self {
            Self::Udp(_, to) => to.ip(),
            Self::Tcp(_, ip) => *ip,
        }
    }
    pub(super) fn layer(&self) -> Layer {
        match self {
            Self::Udp(layer, _) => *layer,
            Self::Tcp(..) => Layer::Tcpcl,
        }
    }
}

/// A session, and what the node knows of it.
pub(super) struct OpenSession {
    pub(super) session: Box<dyn Session + Send>,
    pub(super) link: NeighbourSession,
    /// `Eid::None` where nobody told.
    pub(super) peer: Eid,
    /// When something came.
    pub(super) heard: Time,
    pub(super) state: SessionState,
    /// Of a stream: bytes that the host takes.
    pub(super) room: usize,
    /// What it carried, while it is up.
    pub(super) carried: Option<ContactRecord>,
}

/// How far a session is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionState {
    /// It is being made.
    Young,
    /// It is up; the agent is told at this time, or when the neighbour's beacon comes.
    Waits(Option<usize>, Time),
    /// The agent knows.
    Up,
    /// It is over, and goes when nothing is left to write.
    Over,
}

impl OpenSession {
    pub(super) fn new(
        now: Time,
        session: Box<dyn Session + Send>,
        link: NeighbourSession,
        peer: Eid,
    ) -> Self {
        let state = SessionState::Young;
        Self { session, link, peer, heard: now, state, room: STREAM_ROOM, carried: None }
    }

    /// Writes down what it carried.
    pub(super) fn end_contact(&mut self, cx: &mut ApplicationCx<'_>) {
        if let Some(carried) = self.carried.take() {
            let record = ContactRecord { until: cx.now(), ..carried };
            cx.row(ApplicationRow::new(Record::Contact(record)));
        }
    }

    /// Whether the datagrams come from an address that no beacon has announced.
    pub(super) fn is_stranger(&self) -> bool {
        matches!(self.link, NeighbourSession::Udp(..))
            && self.peer.is_none()
            && self.state != SessionState::Over
    }
    pub(super) fn is_silent(&self, now: Time, silence: Span) -> bool {
        self.is_stranger() && now.since(self.heard) >= silence
    }
}
