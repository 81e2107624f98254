//! A whole UDP datagram in IPv4, as a program on its port would get it.

use std::net::Ipv4Addr;
use std::ops::Range;

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
    pub fn read(ip_packet: &[u8], port: u16) -> Option<Self> {
        let ip = ipv4::Packet::new_checked(ip_packet).ok()?;
        let plain = !ip.more_fragments() && ip.fragment_offset() == 0 && ip.header_len() == ipv4::HEADER_LEN;
        if !plain || ip.protocol() != ipv4::protocol::UDP || !ip.checksum_is_valid() {
            return None;
        }
        let udp = udp::Packet::new_checked(ip.payload()).ok()?;
        if udp.dst_port() != port || !udp.checksum_is_valid(ip.src(), ip.dst()) || !ipv4::is_host(ip.src()) {
            return None;
        }
        let start = ip.header_len() + udp::HEADER_LEN;
        let payload = start..start + udp.payload().len();
        Some(Self { source: ip.src(), destination: ip.dst(), ttl: ip.ttl(), payload })
    }
}
