//! The headers around a message, and the addresses in it.

use std::net::Ipv4Addr;

use wayhop_core::{Packet, RxMeta};
use wayhop_wire::{Datagram, aodv, ipv4};

/// What the headers around a message say.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// The neighbour that sent it: the IP source.
    pub(crate) source: Ipv4Addr,
    pub(crate) ttl: u8,
    pub(crate) is_broadcast: bool,
    /// Where the message and its extensions are.
    pub(crate) payload: core::ops::Range<usize>,
}

impl Head {
    /// Of a packet that `own` received from a neighbour, by itself or, as the link says, with all others.
    /// Each hop sends its own message: one whose source is not the neighbour was forwarded by mistake.
    pub(crate) fn read(p: &Packet, own: Ipv4Addr, rx: &RxMeta) -> Option<Self> {
        let d = Datagram::read(p, aodv::PORT)?;
        if d.source == own || rx.from != d.source {
            return None;
        }
        Some(Self {
            source: d.source,
            ttl: d.ttl,
            // Some implementations send to the subnet's broadcast address, which only the link tells from a node's.
            is_broadcast: d.destination.is_broadcast() || rx.broadcast,
            payload: d.payload,
        })
    }
}

/// Whether a request may ask for an address. Section 2: for a group it is passed on like any other.
pub(crate) fn is_destination(a: Ipv4Addr) -> bool {
    ipv4::is_host(a) || (a.is_multicast() && !a.is_broadcast())
}
