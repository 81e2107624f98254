//! What a packet is, read from its bytes.

use wayhop_core::{Addr, Class, NodeId, Packet, Time};
use wayhop_node::Hop;
use wayhop_trace::{HopEvent, Messages, PacketClass};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{arp, ip, ipv4};

/// What the trace says of a packet.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PacketFacts {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
    pub(crate) ttl: u8,
    /// The class of routing messages, or that of address resolution; `None` for data.
    pub(crate) control: Option<PacketClass>,
    pub(crate) messages: Messages,
}

impl PacketFacts {
    /// The row about a packet with these facts at a node.
    pub(crate) fn row(&self, at: Time, node: u32, p: &Packet, class: PacketClass, hop: &Hop) -> HopEvent {
        HopEvent {
            iface: hop.iface,
            time: at,
            packet: p.meta.id,
            flow: p.meta.flow,
            node: NodeId(node),
            bytes: p.len() as u32,
            source: self.source,
            destination: self.destination,
            peer: hop.peer,
            signal_dbm: hop.signal_dbm,
            kind: hop.kind,
            class,
            messages: self.messages,
            ttl: self.ttl,
            reason: hop.reason,
        }
    }
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

/// The packets that were read last, by their number: one that is queued, sent and received is read once.
pub(crate) struct ReadPackets {
    packets: Vec<ReadPacket>,
    /// The place of the last one.
    last: usize,
}

struct ReadPacket {
    octets: Vec<u8>,
    facts: PacketFacts,
}

/// A power of two; a transmission and its receptions are some milliseconds apart.
const READ_PACKETS: usize = 256;

impl ReadPackets {
    pub(crate) fn new() -> Self {
        let none = || ReadPacket { octets: Vec::new(), facts: read(&[]) };
        Self { packets: (0..READ_PACKETS).map(|_| none()).collect(), last: 0 }
    }

    /// [`read`], which a packet with the same octets as last time is spared.
    #[inline]
    pub(crate) fn facts(&mut self, p: &Packet) -> PacketFacts {
        self.last = p.meta.id.0 as usize % READ_PACKETS;
        let last = &mut self.packets[self.last];
        if last.octets != p.bytes() {
            last.octets.clear();
            last.octets.extend_from_slice(p.bytes());
            last.facts = read(p.bytes());
        }
        last.facts
    }

    /// The class of a routing packet. The packet that was read last is not read again: each of its receivers asks.
    #[inline]
    pub(crate) fn class(&self, octets: &[u8]) -> Option<Class> {
        let last = &self.packets[self.last];
        match last.facts.control {
            _ if last.octets != octets => wayhop_protocols::classify(octets).0,
            Some(PacketClass::Control(class)) => Some(class),
            _ => None,
        }
    }
}

/// Reads what a host's own network stack sends, which may be anything. Only ARP and IP have addresses.
pub(crate) fn of_host(bytes: &[u8]) -> PacketFacts {
    let facts = read(bytes);
    let control = match ip::Packet::new_checked(bytes) {
        Ok(ip) if is_of_link(&ip) => Some(PacketClass::Arp),
        Ok(ip) => wayhop_protocols::class_of_host(ip.protocol, ip.payload).map(PacketClass::Control),
        Err(_) => {
            if let Ok(arp) = arp::Repr::parse(bytes) {
                let (source, destination) = (arp.sender.into(), arp.target.into());
                return PacketFacts { source, destination, control: Some(PacketClass::Arp), ..facts };
            }
            wayhop_protocols::class_of_frames().map(PacketClass::Control)
        }
    };
    PacketFacts { control: facts.control.or(control), ..facts }
}

/// Whether a kernel sends it about its link, and no program: neighbour discovery (RFC 4861, section 4), or a report of the
/// groups that a host listens to (RFC 3376, section 4; RFC 3810, section 5).
fn is_of_link(ip: &ip::Packet<'_>) -> bool {
    const IGMP: u8 = 2;
    match ip.protocol {
        IGMP => true,
        next_header::ICMPV6 => matches!(ip.payload.first(), Some(130..=137 | 143)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{PacketId, PacketMeta, Pool};

    #[test]
    fn a_packet_that_was_changed_is_read_again() {
        let (mut pool, mut read_packets) = (Pool::new(), ReadPackets::new());
        let mut octets = [0; ipv4::HEADER_LEN];
        ipv4::Repr::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 17, 0).emit(&mut octets);
        // Another one has its place.
        for id in [1, 1 + READ_PACKETS as u64, 1] {
            let mut p = pool.packet(&octets, PacketMeta { id: PacketId(id), ..PacketMeta::default() });
            for ttl in [64, 64, 63] {
                ipv4::set_ttl(p.bytes_mut(), ttl).expect("a header");
                assert_eq!(read_packets.facts(&p).ttl, ttl);
                assert_eq!(read_packets.class(p.bytes()), None);
            }
        }
        let other = pool.packet(&[], PacketMeta { id: PacketId(1), ..PacketMeta::default() });
        assert_eq!(read_packets.facts(&other).source, Addr::UNSPECIFIED);
        // A routing packet, before and after it is the last one that was read.
        let routing = wayhop_wire::datagram(
            [10, 0, 0, 1].into(),
            [10, 0, 0, 2].into(),
            wayhop_wire::aodv::PORT,
            1,
            &[4, 0],
        );
        let (class, _) = wayhop_protocols::classify(&routing);
        assert!(class.is_some());
        assert_eq!(read_packets.class(&routing), class);
        read_packets.facts(&pool.packet(&routing, PacketMeta::default()));
        assert_eq!(read_packets.class(&routing), class);
    }
}
