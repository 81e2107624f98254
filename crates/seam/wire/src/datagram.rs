//! A whole UDP datagram in IPv4, as a program on its port would get it.

use std::net::Ipv4Addr;
use std::ops::Range;

use wayhop_core::Packet;

use crate::{ipv4, udp};

/// What the headers say, and where the payload is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The IP source, a host.
    pub source: Ipv4Addr,
    /// The IP destination.
    pub destination: Ipv4Addr,
    /// The IP header's time to live.
    pub ttl: u8,
    /// Where the payload is in the packet.
    pub payload: Range<usize>,
}

/// A packet with this payload, from and to a port.
pub fn datagram(source: Ipv4Addr, destination: Ipv4Addr, port: u16, ttl: u8, payload: &[u8]) -> Vec<u8> {
    let len = payload.len() as u16;
    let udp = udp::Repr { src_port: port, dst_port: port, payload_len: len };
    let mut ip =
        ipv4::Repr::new(source, destination, ipv4::protocol::UDP, len.saturating_add(udp::HEADER_LEN as u16));
    ip.ttl = ttl;
    let mut packet = vec![0; ipv4::HEADER_LEN + udp.buffer_len()];
    packet[ipv4::HEADER_LEN + udp::HEADER_LEN..].copy_from_slice(payload);
    ip.emit(&mut packet);
    udp.emit(&mut packet[ipv4::HEADER_LEN..], source, destination);
    packet
}

impl Datagram {
    /// Reads a packet to this port. `None` if it is a fragment, if it has IP options (no protocol sends them, and filters look for
    /// the port where it is without), if a checksum is wrong, or if its source is no host.
    pub fn read(packet: &Packet, port: u16) -> Option<Self> {
        let are_right = |_: &Self| packet.has_checked_sums() || sums_are_right(packet.bytes());
        Self::parse(packet.bytes(), port).filter(are_right)
    }

    /// The same of bytes.
    pub fn of_bytes(ip_packet: &[u8], port: u16) -> Option<Self> {
        Self::parse(ip_packet, port).filter(|_| sums_are_right(ip_packet))
    }

    /// Whatever the checksums.
    fn parse(ip_packet: &[u8], port: u16) -> Option<Self> {
        let ip = ipv4::Packet::new_checked(ip_packet).ok()?;
        let plain = !ip.more_fragments() && ip.fragment_offset() == 0 && ip.header_len() == ipv4::HEADER_LEN;
        if !plain || ip.protocol() != ipv4::protocol::UDP || !ipv4::is_host(ip.src()) {
            return None;
        }
        let udp = udp::Packet::new_checked(ip.payload()).ok().filter(|udp| udp.dst_port() == port)?;
        let start = ip.header_len() + udp::HEADER_LEN;
        let payload = start..start + udp.payload().len();
        Some(Self { source: ip.src(), destination: ip.dst(), ttl: ip.ttl(), payload })
    }
}

/// Whether it is a UDP datagram in IPv4 with right checksums.
fn sums_are_right(ip_packet: &[u8]) -> bool {
    ipv4::Packet::new_checked(ip_packet).is_ok_and(|ip| {
        ip.protocol() == ipv4::protocol::UDP
            && ip.checksum_is_valid()
            && udp::Packet::new_checked(ip.payload())
                .is_ok_and(|udp| udp.checksum_is_valid(ip.src(), ip.dst()))
    })
}

/// Checks the checksums of a UDP datagram in IPv4 once for all who will have a copy: see [`Packet::has_checked_sums`].
pub fn check_sums(packet: &mut Packet) {
    if sums_are_right(packet.bytes()) {
        packet.set_checked_sums();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{PacketMeta, Pool};

    #[test]
    fn a_copy_of_a_packet_is_read_as_its_bytes_are_whether_or_not_its_sums_were_checked() {
        const PORT: u16 = 654;
        let mut pool = Pool::new();
        let right = datagram([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), PORT, 1, &[1, 2, 3]);
        // A bit of each octet is wrong; last, none.
        for wrong in 0..=right.len() {
            let mut bytes = right.clone();
            if let Some(octet) = bytes.get_mut(wrong) {
                *octet ^= 0x10;
            }
            let mut packet = pool.packet(&bytes, PacketMeta::default());
            check_sums(&mut packet);
            assert_eq!(packet.has_checked_sums(), wrong == right.len(), "octet {wrong}");
            let copy = pool.copy(&packet);
            assert_eq!(Datagram::read(&copy, PORT), Datagram::of_bytes(&bytes, PORT), "octet {wrong}");
            assert_eq!(Datagram::read(&copy, PORT).is_some(), wrong == right.len(), "octet {wrong}");
        }
    }
}
