//! The state of a protocol at the moment when it sends a packet (Maltz, Broch and Johnson 1999, section 6.5.5).

use serde::{Deserialize, Serialize};

use crate::{Addr, PacketId, Span};

/// What a protocol knew and decided when it sent a packet: one row of the trace's `sends` table.
///
/// Plain numbers, written down as they are, so that the trace can be left on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct SendState {
    /// Which packet; every copy has the same id.
    pub packet: PacketId,
    /// The neighbour it goes to; [`Addr::UNSPECIFIED`] when it goes nowhere yet.
    pub next_hop: Addr,
    /// Where its route came from.
    pub decision: Decision,
    /// How often this node has sent it, this time included; 0 when it waits.
    pub attempt: u8,
    /// Length of the route from here, in hops; 0 where it is not known.
    pub hops: u8,
    /// Packets in the interface queue.
    pub queued: u32,
    /// How long the protocol waits for a confirmation; zero when it waits for none.
    pub timer: Span,
    /// Smoothed round-trip time to the neighbour; zero while it is not known.
    pub rtt: Span,
    /// Mean deviation of that time.
    pub rtt_deviation: Span,
}

/// Where the route of a packet came from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Decision {
    /// Known when this node's packet came.
    Cached,
    /// Found while this node's packet waited.
    Discovered,
    /// Chosen by the packet's source; this node passes it on.
    Forwarded,
    /// Chosen here after the packet's own route broke. Tables have DSR's word for it.
    #[serde(rename = "salvaged")]
    Rerouted,
    /// That of an established flow.
    Flow,
    /// As before: no confirmation came in time.
    Retransmitted,
    /// None: the packet waits while a route is looked for.
    Waits,
}

crate::names!(Decision {
    Cached = "cached",
    Discovered = "discovered",
    Forwarded = "forwarded",
    Rerouted = "salvaged",
    Flow = "flow",
    Retransmitted = "retransmitted",
    Waits = "waits",
});
