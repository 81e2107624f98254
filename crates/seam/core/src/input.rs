//! A protocol's inputs. They serialise: a log of a node's inputs, replayed to the same protocol,
//! makes it behave the same.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::effect::{TimerKey, TxId};
use crate::{Addr, Command, Fix, IfaceId, LinkChange, Packet, RouteUse, bytes};

/// One thing that happens to a protocol.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input<'a> {
    /// The node comes up.
    Start,
    /// A packet from above, or one for which the forwarding table has no route.
    Outbound(Packet),
    /// A packet from the air: to this node's interface, or to all.
    Frame(Packet, RxMeta),
    /// A packet that a neighbour sent to somebody else, heard in promiscuous mode.
    Overheard {
        /// The IP packet.
        #[serde(with = "bytes::cow", borrow)]
        packet: Cow<'a, [u8]>,
        /// The neighbour that the frame is for.
        next_hop: Addr,
        /// What the interface knows of it.
        rx: RxMeta,
    },
    /// A transmission ended.
    TxStatus(TxReport),
    /// A timer fires.
    Timer(TimerKey),
    /// A row of the forwarding table was used.
    RouteUsed(RouteUse),
    /// An interface changed.
    Link(IfaceId, LinkChange),
    /// Where the node is.
    Position(Fix),
    /// An order from outside.
    Command(Command),
}

/// What the interface knows of a received packet.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RxMeta {
    /// The neighbour that transmitted it.
    pub from: Addr,
    /// The interface that received it.
    pub iface: IfaceId,
    /// Whether the frame was a broadcast.
    pub broadcast: bool,
    /// Received power, dBm; NaN where nobody tells.
    #[serde(with = "bytes::maybe_nan")]
    pub signal_dbm: f32,
    /// Noise and interference, dBm; NaN where nobody tells.
    #[serde(with = "bytes::maybe_nan")]
    pub noise_dbm: f32,
    /// The rate of the frame's data part, in kb/s; 0 where nobody tells.
    pub rate_kbps: u32,
}

impl RxMeta {
    /// A frame from this neighbour, without measurements from the interface.
    #[inline]
    pub fn from(from: impl Into<Addr>, broadcast: bool) -> Self {
        let from = from.into();
        Self { from, iface: IfaceId(0), broadcast, signal_dbm: f32::NAN, noise_dbm: f32::NAN, rate_kbps: 0 }
    }
    /// Received with this power.
    #[must_use]
    pub const fn with_signal(mut self, dbm: f32) -> Self {
        self.signal_dbm = dbm;
        self
    }
}

/// How a transmission ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TxStatus {
    /// The neighbour acknowledged it.
    Acked,
    /// No acknowledgement after all tries: the link is taken for broken.
    NoAck {
        /// How often it was sent; 0 when the neighbour's link address did not resolve.
        tries: u8,
    },
    /// The interface queue had no room.
    QueueFull,
    /// It was taken back out of the queue, unsent, by [`crate::Cx::recall`].
    Recalled,
    /// It was sent on a wire that acknowledges nothing (every broadcast).
    Unknown,
}

/// The end of a transmission.
#[derive(Debug, Serialize, Deserialize)]
pub struct TxReport {
    /// The protocol's number for it; `None` for a packet that the node forwarded by the protocol's route.
    pub id: Option<TxId>,
    /// The neighbour it was for.
    pub next_hop: Addr,
    /// The interface it was sent by.
    pub iface: IfaceId,
    /// How it ended.
    pub status: TxStatus,
    /// The packet comes back with every status but [`TxStatus::Acked`] and [`TxStatus::Unknown`], with which the node
    /// has consumed it. A kernel that forwards by itself keeps what it had: then no packet comes with `NoAck` either.
    pub packet: Option<Packet>,
}
