//! The engines' messages as complete IP packets.

use std::net::Ipv4Addr;

use wayhop_core::{ApplicationCx, LinkId, NetworkEffect};
use wayhop_wire::mobile_ip::{Discovery, PORT};
use wayhop_wire::{ip_in_ip, ipv4, udp};

/// How far registration and tunnels may go, in hops.
const FAR: u8 = 64;

/// Sends a packet, if there is one, by a link, or where the host's routes lead.
pub(crate) fn send(cx: &mut ApplicationCx<'_>, link: Option<LinkId>, packet: impl Into<Option<Vec<u8>>>) {
    if let Some(packet) = packet.into() {
        cx.network(NetworkEffect::Send { link, packet });
    }
}

/// A message of agent discovery.
pub(crate) fn discovery(src: Ipv4Addr, dst: Ipv4Addr, ttl: u8, message: &Discovery<'_>) -> Vec<u8> {
    let len = message.buffer_len();
    let mut packet = vec![0; ipv4::HEADER_LEN + len];
    ipv4::Repr { ttl, ..ipv4::Repr::new(src, dst, ipv4::protocol::ICMP, len as u16) }.emit(&mut packet);
    message.emit(&mut packet[ipv4::HEADER_LEN..]);
    packet
}

/// A datagram between the port of registration and another one.
pub(crate) fn datagram(src: Ipv4Addr, dst: Ipv4Addr, dst_port: u16, message: &[u8]) -> Vec<u8> {
    let header = udp::Repr { src_port: PORT, dst_port, payload_len: message.len() as u16 };
    let len = header.buffer_len();
    let mut packet = vec![0; ipv4::HEADER_LEN + len];
    ipv4::Repr { ttl: FAR, ..ipv4::Repr::new(src, dst, ipv4::protocol::UDP, len as u16) }.emit(&mut packet);
    let body = &mut packet[ipv4::HEADER_LEN..];
    body[udp::HEADER_LEN..].copy_from_slice(message);
    header.emit(body, src, dst);
    packet
}

/// A packet in a tunnel; none if it is no whole packet, or does not fit.
pub(crate) fn tunnelled(src: Ipv4Addr, dst: Ipv4Addr, id: &mut u16, packet: &[u8]) -> Option<Vec<u8>> {
    let inner = ipv4::Packet::new_checked(packet).ok()?;
    *id = id.wrapping_add(1);
    let header = ip_in_ip::Repr { src, dst, ttl: FAR, id: *id };
    let mut outer = vec![0; header.buffer_len(&inner)];
    header.emit(&inner, &mut outer).ok()?;
    Some(outer)
}

/// Outer source and destination of a packet in a tunnel, and the packet in it.
pub(crate) fn untunnelled(packet: &[u8]) -> Option<(Ipv4Addr, Ipv4Addr, ipv4::Packet<'_>)> {
    let outer = ipv4::Packet::new_checked(packet).ok()?;
    let inner = ip_in_ip::inner(&outer).ok()?;
    Some((outer.src(), outer.dst(), inner))
}

/// The octets of a packet, with one hop less to live; none if it has had its last.
pub(crate) fn forwarded(packet: &ipv4::Packet<'_>) -> Option<Vec<u8>> {
    let mut octets = packet.start(usize::from(u16::MAX)).to_vec();
    (ipv4::decrement_ttl(&mut octets).ok()? > 0).then_some(octets)
}
