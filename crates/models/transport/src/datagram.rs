//! The packets that a host's stack makes of what applications send.

use wayhop_core::{Addr, ApplicationDatagram, Packet, PacketMeta, Pool};
use wayhop_wire::{ip, ipv4, udp};

/// The next IP identification of a node. Not 0, for which network stacks put in one of their own.
///
/// The host counts it for each node, over all of its applications: DSR's passive acknowledgement tells packets apart by it (RFC
/// 4728 section 3.4.1), so it must differ between packets of one node that are under way at the same time, also where
/// fragmentation is forbidden.
pub fn next_ip_id(id: &mut u16) -> u16 {
    *id = id.checked_add(1).unwrap_or(1);
    *id
}

/// The packet of a datagram from the address `src`, of the same family as its destination. Its data is not longer than
/// [`crate::MAX_PAYLOAD`].
pub fn datagram(d: &ApplicationDatagram, src: Addr, id: u16, meta: PacketMeta, pool: &mut Pool) -> Packet {
    let dst = Addr::from(d.to.ip());
    let header_len = ip::Repr::header_len(dst);
    let udp = udp::Repr { src_port: d.port, dst_port: d.to.port(), payload_len: d.data.len() as u16 };
    let mut p = pool.zeroed(header_len + udp.buffer_len(), meta);
    let (header, body) = p.bytes_mut().split_at_mut(header_len);
    body[udp::HEADER_LEN..].copy_from_slice(&d.data);
    udp.emit(body, src, dst);
    let payload_len = udp.buffer_len() as u16;
    ip::Repr { src, dst, protocol: ipv4::protocol::UDP, ttl: d.ttl, tos: d.tos, id, payload_len }
        .emit(header);
    p
}
