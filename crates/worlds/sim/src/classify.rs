//! What a packet is, read from its bytes.

use wayhop_core::Addr;
use wayhop_trace::{Messages, PacketClass};
use wayhop_wire::{ip, ipv4};

/// What the trace says of a packet.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PacketFacts {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
    pub(crate) ttl: u8,
    /// The routing protocol's class; `None` for data.
    pub(crate) control: Option<PacketClass>,
    pub(crate) messages: Messages,
}

/// Reads a packet. One that is not IP gives unspecified addresses.
pub(crate) fn read(bytes: &[u8]) -> PacketFacts {
    let (class, messages) = wayhop_protocols::classify(bytes);
    let (source, destination, ttl) = match ipv4::Packet::new_checked(bytes) {
        Ok(ip) => (ip.src().into(), ip.dst().into(), ip.ttl()),
        Err(_) => ip::Packet::new_checked(bytes)
            .map_or((Addr::UNSPECIFIED, Addr::UNSPECIFIED, 0), |ip| (ip.src, ip.dst, ip.ttl)),
    };
    PacketFacts { source, destination, ttl, control: class.map(PacketClass::Control), messages }
}
