//! Events that a running node sends to its subscribers.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event_kind::EventKind;
use crate::gps::Gps;
use crate::messages::{LinkState, Place};

/// Something that happened. Times are seconds since the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// A remark of the protocol ([`wayhop_core::TraceNote`]).
    Note {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// What; the protocol documents its remarks.
        what: String,
        /// Whom it concerns.
        about: IpAddr,
        /// A figure that belongs to it.
        value: u64,
    },
    /// A packet ended undelivered.
    Drop {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// [`wayhop_core::DropReason::name`].
        reason: String,
        /// The packet's source, where it can be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<IpAddr>,
        /// The packet's destination, where it can be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        destination: Option<IpAddr>,
        /// Its length, octets from the IP header on.
        bytes: u32,
    },
    /// A row of the forwarding table.
    Route {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// Where to.
        destination: IpAddr,
        /// By which neighbour; absent when the route went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_hop: Option<IpAddr>,
        /// How far; absent when the route went.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hops: Option<u8>,
    },
    /// A link was overridden or is free again.
    Link {
        /// When.
        time_s: f64,
        /// One end: events of a link come to those who watch this node.
        node: u32,
        /// The other end.
        to: u32,
        /// What it does from now on.
        state: LinkState,
    },
    /// A node's place was told from outside, its GPS receiver reported one, or it heard another node's.
    Position {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// The address of the other node whose place it is; absent for the node's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        about: Option<IpAddr>,
        /// Where.
        place: Place,
        /// How good that is, if it is the node's receiver's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gps: Option<Gps>,
    },
    /// A program or a daemon of a node began or ended.
    Process {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// What runs or ran.
        command: String,
        /// Its process number.
        pid: u32,
        /// How it ended; absent when it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<i32>,
    },
    /// A neighbour is new, or has another link address. Nodes on real interfaces only.
    Neighbour {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// Its address.
        address: IpAddr,
        /// Its link address.
        mac: String,
    },
    /// Somebody changed something that the node depends on - a setting, an address, a route, an
    /// interface - and the node restored it or adapted. Nodes on real interfaces only.
    Host {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// What was changed, such as `forwarding of eth1`.
        what: String,
        /// What the node did about it.
        done: String,
    },
    /// Something became of a packet. For subscribers who name this kind.
    Packet {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// What: an event of the table `packets`.
        event: String,
        /// Its number: at this node, or in an emulation the same at all nodes.
        packet: u64,
        /// The flow of the scenario that it belongs to. Emulation only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow: Option<u32>,
        /// Its number in the flow. Emulation only.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u32>,
        /// Its length, octets from the IP header on.
        bytes: u32,
        /// Its first octets from the IP header on, as hexadecimal digits.
        head: String,
        /// The number of the node's interface that it came on or leaves by, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interface: Option<u8>,
        /// The neighbour that it came from or goes to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<IpAddr>,
        /// Received power, where it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal_dbm: Option<f32>,
        /// Why it ended, of a drop.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A protocol sent a packet, or has it wait. Nodes on real interfaces only, for subscribers who name this kind.
    Sent {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// What it knew and decided: the columns of the table `sends`, times in nanoseconds.
        #[schemars(with = "serde_json::Value")]
        state: wayhop_core::SendState,
    },
    /// How long a node's queues and tables are, once a second, or less often in a network of more than 100 simulated nodes. For
    /// subscribers who name this kind.
    Sizes {
        /// When.
        time_s: f64,
        /// At which node.
        node: u32,
        /// Those that are not empty, and the interface queues: rows of the table `sizes`.
        sizes: Vec<SizeOf>,
    },
    /// Events that this subscriber was too slow for.
    Lost {
        /// How many.
        count: u64,
    },
}

/// How long a queue or table of a node is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeOf {
    /// Which one.
    pub what: String,
    /// Packets or entries.
    pub count: u64,
    /// The node's interface, from 0; absent if the event concerns none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<u8>,
}

impl Event {
    /// Its kind.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::Note { .. } => EventKind::Note,
            Self::Drop { .. } => EventKind::Drop,
            Self::Route { .. } => EventKind::Route,
            Self::Link { .. } => EventKind::Link,
            Self::Position { .. } => EventKind::Position,
            Self::Process { .. } => EventKind::Process,
            Self::Neighbour { .. } => EventKind::Neighbour,
            Self::Host { .. } => EventKind::Host,
            Self::Packet { .. } => EventKind::Packet,
            Self::Sent { .. } => EventKind::Sent,
            Self::Sizes { .. } => EventKind::Sizes,
            Self::Lost { .. } => EventKind::Lost,
        }
    }
    /// The node that it happened at.
    pub const fn node(&self) -> Option<u32> {
        match self {
            Self::Note { node, .. }
            | Self::Drop { node, .. }
            | Self::Route { node, .. }
            | Self::Link { node, .. }
            | Self::Position { node, .. }
            | Self::Process { node, .. }
            | Self::Neighbour { node, .. }
            | Self::Host { node, .. }
            | Self::Packet { node, .. }
            | Self::Sent { node, .. }
            | Self::Sizes { node, .. } => Some(*node),
            Self::Lost { .. } => None,
        }
    }
}
