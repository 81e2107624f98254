//! Packets sent by hosts.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, IfaceId, Mac, Packet};
use wayhop_wire::arp;

/// Something that a host sends, or a change of its interfaces in the order of what it sends.
pub(crate) enum Outgoing {
    /// A packet of a program.
    Originate(Packet),
    /// A packet that the host passes on.
    Forward(Packet),
    /// A packet for a neighbour, or for all.
    By(Packet, IfaceId, Addr),
    /// An ARP message.
    Arp(IfaceId, Mac, arp::Repr),
    /// An interface has this address of its own.
    Address(IfaceId, Option<Ipv4Addr>),
}

/// How a packet of a host goes.
pub(crate) enum HostRoute {
    /// As the node's engines or its forwarding table say.
    Node,
    /// By an interface, to a neighbour.
    By(IfaceId, Addr),
    /// To the application of this number, as to a TUN interface.
    Tunnel(u32),
    /// To the host's own programs.
    Here,
}
