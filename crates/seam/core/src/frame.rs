//! A packet with what its link header needs: the unit between a node and the medium below it.

use crate::{Addr, IfaceId, Mac, Packet, Priority, TxId};

/// What a data frame carries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// An IPv4 packet.
    Ip,
    /// An ARP packet (RFC 826).
    Arp,
    /// An IPv6 packet.
    Ip6,
    /// An IPv6 packet with a message of neighbour discovery (RFC 4861).
    Neighbour,
    /// What a host's own network stack sends, with this EtherType.
    Ethernet(u16),
}

impl Payload {
    /// Whether it only serves to find link addresses: no application sent it, and nobody misses it.
    #[inline]
    pub const fn is_resolution(self) -> bool {
        matches!(self, Self::Arp | Self::Neighbour)
    }
    /// Whether it is of IPv6.
    #[inline]
    pub const fn is_v6(self) -> bool {
        matches!(self, Self::Ip6 | Self::Neighbour)
    }
}

/// Who hears how a transmission ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Reporting {
    /// Nobody.
    Nobody,
    /// The engine of this index, which gave the packet this number.
    Engine(u8, TxId),
    /// The engine of this index, by whose route the node forwarded the packet.
    Route(u8),
}

/// A packet on its way from a node to the medium.
///
/// Cloning is for a model checker, which keeps whole states of a node, as for [`Packet`].
#[derive(Clone, Debug)]
pub struct Frame {
    /// Its payload.
    pub packet: Packet,
    /// What the payload is.
    pub payload: Payload,
    /// The interface it leaves by.
    pub iface: IfaceId,
    /// The neighbour's network address; [`Addr::BROADCAST`] for all.
    pub next_hop: Addr,
    /// The neighbour's link address; [`Mac::BROADCAST`] for all.
    pub receiver: Mac,
    /// Its class in the interface queue.
    pub priority: Priority,
    /// Who hears of its end.
    pub reporting: Reporting,
    /// How often its node had gone down when it was sent: one of an earlier life ends unsent.
    pub life: u16,
}
