//! What happened, in order.

use wayhop_core::{
    Addr, DropReason, FlowTag, NodeId, PacketId, Prefix, Priority, Route, SendState, Time, TraceNote,
    TxStatus,
};

/// One thing that happened at one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When.
    pub at: Time,
    /// Where.
    pub node: NodeId,
    /// What.
    pub what: EventKind,
}

/// The kinds of things that happen.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// An application handed a packet down.
    Originated {
        /// The packet.
        id: PacketId,
        /// Its flow.
        flow: FlowTag,
    },
    /// A frame went on the air (once, however often the MAC tries).
    Sent {
        /// The packet.
        id: PacketId,
        /// Its flow, for data.
        flow: Option<FlowTag>,
        /// The neighbour addressed, or broadcast.
        next_hop: Addr,
        /// The queue class that it was sent in.
        priority: Priority,
        /// The IP packet.
        bytes: Vec<u8>,
    },
    /// A frame sent by this node was lost on a link that reports nothing.
    LostOnAir {
        /// The packet.
        id: PacketId,
        /// Its flow, for data.
        flow: Option<FlowTag>,
    },
    /// The protocol heard of a transmission that ended with this status, other than `Acked` and `Unknown`.
    Status {
        /// The neighbour addressed.
        next_hop: Addr,
        /// How it ended.
        status: TxStatus,
    },
    /// The local stack got a packet.
    Delivered {
        /// The packet.
        id: PacketId,
        /// Its flow, for data.
        flow: Option<FlowTag>,
        /// The IP packet.
        bytes: Vec<u8>,
    },
    /// A packet ended undelivered.
    Dropped {
        /// The packet.
        id: PacketId,
        /// Its flow, for data.
        flow: Option<FlowTag>,
        /// The cause.
        reason: DropReason,
    },
    /// A row of the forwarding table was written.
    Installed(Route),
    /// A row of the forwarding table was removed.
    Uninstalled(Prefix),
    /// The protocol's remark.
    Note(TraceNote),
    /// The protocol's state when it sent a packet.
    State(SendState),
}
