//! The records that a world hands to the [`crate::Recorder`].

use std::sync::Arc;

use wayhop_core::{
    Addr, BundleEventKind, DropReason, Fix, FixQuality, FlowTag, HopKind, IfaceId, NodeId, PacketId,
    Position, SendState, Span, TcpConnection, Time, TraceNote,
};

use crate::{Messages, PacketClass};

/// One event in the life of a packet: one row of the `packets` table.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct HopEvent {
    /// When.
    pub time: Time,
    /// Which packet; every copy has the same id.
    pub packet: PacketId,
    /// Its flow and number; `None` for control packets.
    pub flow: Option<FlowTag>,
    /// Where.
    pub node: NodeId,
    /// Length of the IP packet in octets, as it is at this moment (with a DSR header when it has one).
    pub bytes: u32,
    /// IP source.
    pub source: Addr,
    /// IP destination.
    pub destination: Addr,
    /// The next hop of a packet that leaves ([`wayhop_core::BROADCAST`] for all), the previous hop of one that came;
    /// 0.0.0.0 where there is none.
    pub peer: Addr,
    /// The interface that it came on or leaves by; [`IfaceId::ANY`] where there is none.
    pub iface: IfaceId,
    /// Received power in dBm with [`HopKind::Receive`]; NaN otherwise.
    pub signal_dbm: f32,
    /// What happened.
    pub kind: HopKind,
    /// What the packet is.
    pub class: PacketClass,
    /// The routing messages in it.
    pub messages: Messages,
    /// IP time to live, as it is at this moment.
    pub ttl: u8,
    /// Why it ended, with [`HopKind::Drop`].
    pub reason: Option<DropReason>,
}

/// A frame as a node's interface sent or heard it: one packet of its capture.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct FrameEvent<'a> {
    /// The end of the frame's preamble for a transmission, the end of the frame for a reception.
    pub time: Time,
    /// Whose capture.
    pub node: NodeId,
    /// On which of the node's interfaces.
    pub iface: IfaceId,
    /// Sent or heard.
    pub direction: Direction,
    /// The 802.11 or Ethernet frame without its FCS, or its beginning.
    pub bytes: &'a [u8],
    /// Length of the whole frame without its FCS, in octets; at least `bytes.len()`.
    pub original_len: u32,
    /// Received power in dBm; NaN (left out) for a transmission.
    pub signal_dbm: f32,
    /// Noise in dBm; NaN where the radio model has none.
    pub noise_dbm: f32,
    /// Data rate in units of 100 kb/s.
    pub rate_100kbps: u16,
    /// Channel centre frequency in MHz.
    pub channel_mhz: u16,
    /// How often the frame had been sent before; for transmissions.
    pub retries: u8,
    /// Whether a received frame failed its check.
    pub bad_fcs: bool,
    /// A remark; empty for none.
    pub comment: &'a str,
}

/// Whether a captured frame left or came.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Sent by this node.
    Tx,
    /// Heard by this node.
    Rx,
}

/// A protocol's remark: one row of the `events` table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NoteEvent {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// The remark.
    pub note: TraceNote,
}

/// The state in which a protocol sent a packet: one row of the `sends` table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SendEvent {
    /// When.
    pub time: Time,
    /// Where.
    pub node: NodeId,
    /// The state.
    pub state: SendState,
}

/// What happened at a TCP sender, with its state after it: one row of the `tcp` table.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TcpEvent {
    /// When.
    pub time: Time,
    /// The flow's index in the scenario.
    pub flow: u32,
    /// The sender.
    pub node: NodeId,
    /// What; `lower_snake_case`, from the set that `docs/reference/run-directory.md` lists.
    pub event: &'static str,
    /// The octet of the sender's stream that it is about, counted from 0.
    pub octet: u64,
    /// Octets of payload; 0 where there are none.
    pub bytes: u32,
    /// The oldest octet that is not acknowledged.
    pub acked: u64,
    /// Bytes in flight.
    pub in_flight: u64,
    /// The congestion window, in segments.
    pub window: f32,
    /// The slow-start threshold, in segments.
    pub threshold: f32,
    /// The smoothed round-trip time, once it was measured.
    pub srtt: Option<Span>,
    /// The retransmission timeout, backed off.
    pub rto: Span,
}

/// Where a node is and how it moves from here on: one row of the `positions` table. One per leg of its motion is enough
/// to compute its place at any time exactly.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct PositionEvent {
    /// From when.
    pub time: Time,
    /// Until when; [`Time::NEVER`] for the last leg.
    pub until: Time,
    /// Who.
    pub node: NodeId,
    /// Its place at that time, metres.
    pub at: Position,
    /// Its velocity until then, metres per second.
    pub velocity: Position,
}

/// A TCP connection of a program at a real network stack, when it was looked at: one row of the `connections` table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ConnectionEvent {
    /// When.
    pub time: Time,
    /// At which node.
    pub node: NodeId,
    /// The kernel's view of it.
    pub connection: TcpConnection,
}

/// How long a list of a node was when it was looked at: one row of the `sizes` table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SizeEvent {
    /// When.
    pub time: Time,
    /// Whose.
    pub node: NodeId,
    /// Which list: a table or a place of packets, as [`wayhop_core::Inspect`] names it; `queue` for an interface queue.
    pub what: &'static str,
    /// The node's interface, of a queue; otherwise [`IfaceId::ANY`].
    pub iface: IfaceId,
    /// Entries or packets in it.
    pub count: u64,
}

/// What a node knows of a place on the earth: one row of the `gps` table.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct GpsEvent {
    /// When.
    pub time: Time,
    /// Who knows it.
    pub node: NodeId,
    /// Whose place it is.
    pub about: Addr,
    /// How the node knows it.
    pub source: GpsSource,
    /// The place; none if the receiver has lost it.
    pub fix: Option<Fix>,
    /// How good it is, of a receiver's.
    pub quality: Option<FixQuality>,
}

/// How a node knows a place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum GpsSource {
    /// From its own receiver.
    Receiver,
    /// Somebody told it at the control socket.
    Told,
    /// Another node said so in its packets.
    Heard,
}

wayhop_core::names!(GpsSource {
    Receiver = "receiver",
    Told = "told",
    Heard = "heard",
});

/// What became of a flow's packet: one row of the `outcomes` table. One for each packet that its flow counts as sent; of a packet
/// to several nodes one for each outcome.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PacketOutcome {
    /// Its flow and number.
    pub packet: FlowTag,
    /// How it ended.
    pub outcome: Outcome,
    /// At how many of the nodes that it is for.
    pub nodes: u32,
}

/// How a packet ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It arrived.
    Delivered,
    /// It ended on the way.
    Dropped(DropReason),
    /// It was still in transit at the end of the run.
    Held,
}

impl Outcome {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Dropped(_) => "dropped",
            Self::Held => "held",
        }
    }
    /// Why it was dropped.
    pub const fn reason(self) -> Option<DropReason> {
        match self {
            Self::Dropped(why) => Some(why),
            Self::Delivered | Self::Held => None,
        }
    }
}

/// One counter of one node at the end of the run: one row of the `counters` table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Whose.
    pub node: NodeId,
    /// The node's interface; `None` where the event concerns none.
    pub iface: Option<IfaceId>,
    /// Which layer keeps it: `mac`, `queue`, `dsr`, ...
    pub layer: &'static str,
    /// What it counts; `lower_snake_case`.
    pub name: &'static str,
    /// The count.
    pub value: u64,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_event_fits_two_cache_lines() {
        assert!(size_of::<HopEvent>() <= 128);
    }

    #[test]
    fn all_kinds_are_listed_in_order() {
        for (i, k) in HopKind::ALL.iter().enumerate() {
            assert_eq!(*k as usize, i);
        }
    }
}
