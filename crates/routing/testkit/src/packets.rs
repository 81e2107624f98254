//! Test data: UDP over IPv4.

use std::net::Ipv4Addr;

use wayhop_core::NodeId;
use wayhop_wire::{ipv4, udp};

/// The address that node `n` of a [`crate::Net`] has.
pub fn addr(n: usize) -> Ipv4Addr {
    NodeId(n as u32).default_addr()
}

/// The fields of a test packet.
#[derive(Copy, Clone, Debug)]
pub struct TestPacket {
    /// IP source.
    pub source: Ipv4Addr,
    /// IP destination.
    pub destination: Ipv4Addr,
    /// IP time to live.
    pub ttl: u8,
    /// IP identification.
    pub ident: u16,
    /// UDP destination port (the source port is the same).
    pub port: u16,
}

/// The bytes of an IPv4 packet with a UDP datagram in it; both checksums are right.
///
/// # Panics
/// If the payload does not fit a datagram.
pub fn data_packet(t: TestPacket, payload: &[u8]) -> Vec<u8> {
    let payload_len = u16::try_from(payload.len()).expect("a payload of at most 65507 octets");
    let datagram = udp::Repr { src_port: t.port, dst_port: t.port, payload_len };
    let len = datagram.buffer_len() as u16;
    let head = ipv4::Repr { ttl: t.ttl, id: t.ident, ..ipv4::Repr::new(t.source, t.destination, 17, len) };
    let mut p = vec![0; ipv4::HEADER_LEN + udp::HEADER_LEN];
    p.extend_from_slice(payload);
    head.emit(&mut p);
    datagram.emit(&mut p[ipv4::HEADER_LEN..], t.source, t.destination);
    p
}
