//! The seam: a routing protocol as a state machine without I/O.

use crate::effect::{TimerKey, TxId};
use crate::{Addr, Command, Cx, Fix, Inspect, Packet, Refused, Span, Time};

/// How a protocol takes part in forwarding.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DataPlane {
    /// It handles every packet (DSR): the host gives it all that arrives and all that applications send.
    PerPacket,
    /// It installs routes (AODV): the host, or the kernel, forwards by them, reports their use, and brings the misses.
    Forwarding,
}

/// Calls that a protocol wants; the host makes no others.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Interests {
    /// The promiscuous tap: `on_overheard`.
    pub overhear: bool,
    /// Use of installed routes: `on_route_used`.
    pub route_used: bool,
    /// For [`DataPlane::Forwarding`]: the UDP port whose packets are the protocol's own and come to `on_frame`.
    pub udp_port: Option<u16>,
    /// How often to tell where the node is: `on_position`.
    pub position: Option<Span>,
}

/// What the radio knows of a received packet.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RxMeta {
    /// The neighbour that transmitted it.
    pub from: Addr,
    /// Whether the frame was a broadcast.
    pub broadcast: bool,
    /// Received power in dBm.
    pub signal_dbm: f32,
}

/// How a transmission ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
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
    /// It was taken back out of the queue, unsent, by [`Cx::recall`].
    Recalled,
    /// It was sent on a wire that acknowledges nothing (every broadcast).
    Unknown,
}

/// A forwarding-table row was used by a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RouteUse {
    /// The packet's source.
    pub source: Addr,
    /// Its destination.
    pub destination: Addr,
    /// The neighbour it went to.
    pub next_hop: Addr,
    /// The neighbour it came from; `None` for this node's own packets and where the host cannot know.
    pub previous_hop: Option<Addr>,
}

/// A routing protocol at one node.
///
/// **Packets.** A [`Packet`] begins with its IPv4 header. A handler that is given one must pass it on by an effect
/// (`send`, `deliver`, `drop`, `consume`) or keep it in a buffer that [`Protocol::inspect`] reports as held.
///
/// **Who forwards.** With [`DataPlane::PerPacket`] every packet from above comes to `on_outbound` and every packet from
/// the air that is addressed to this node's interface or broadcast comes to `on_frame`; the protocol sends, forwards and
/// delivers. With [`DataPlane::Forwarding`] the host looks each packet up in the forwarding table; it decrements the TTL,
/// forwards the hits and delivers what is for this node. `on_outbound` gets the misses - the node's own and, recognisable
/// by the source address, those of others - and `on_frame` only the protocol's own messages ([`Interests::udp_port`]).
/// Status of packets that the host forwarded comes to `on_tx_status` under the id 0 with the packet.
///
/// **Order.** Handlers of one node never overlap; effects are applied in order after the handler returns.
pub trait Protocol: Send {
    /// How it takes part in forwarding.
    fn data_plane(&self) -> DataPlane;
    /// Which optional calls it wants.
    fn interests(&self) -> Interests;

    /// The node comes up.
    fn start(&mut self, cx: &mut Cx<'_>);
    /// A packet from an application, or a miss of the forwarding table.
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet);
    /// A packet from the air, to this node's interface or to all.
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta);
    /// A packet that a neighbour sent to somebody else, heard in promiscuous mode; `next_hop` is the frame's receiver.
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        let _ = (cx, p, next_hop, rx);
    }
    /// A reported transmission ended. The packet comes back with every status but `Acked` and `Unknown`, with which the
    /// host has consumed it. A kernel that forwards by itself tells of a neighbour that it did not find, but keeps what
    /// was for it: id 0, [`TxStatus::NoAck`] with no tries, and no packet.
    fn on_tx_status(
        &mut self,
        cx: &mut Cx<'_>,
        id: TxId,
        next_hop: Addr,
        status: TxStatus,
        p: Option<Packet>,
    );
    /// A timer fires.
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey);
    /// A row of the forwarding table was used.
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        let _ = (cx, used);
    }
    /// Where the node is, from its GPS receiver.
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        let _ = (cx, fix);
    }
    /// An order from outside; an error says why it is not carried out.
    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        let _ = cx;
        Err(Refused(format!("this protocol does not know the order {command:?}")))
    }
    /// Shows its tables and the packets that it holds.
    fn inspect(&self, now: Time, out: &mut dyn Inspect);
}
