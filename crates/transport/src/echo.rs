//! Answering echo requests.

use wayhop_core::{Packet, PacketId, PacketMeta, Pool, Time};
use wayhop_wire::{icmp, ipv4};

use crate::INITIAL_TTL;

/// The reply to an echo request, or `None` when `request` is something else or is broken.
///
/// The reply carries the request's identifier, number, data and TOS, and its flow tag; `ip_id` as for
/// [`crate::Source::build`].
pub fn echo_reply(request: &Packet, now: Time, id: PacketId, ip_id: u16, pool: &mut Pool) -> Option<Packet> {
    let ip = ipv4::Packet::new_checked(request.bytes()).ok()?;
    if ip.protocol() != ipv4::protocol::ICMP || ip.dst().is_multicast() || ip.dst().is_broadcast() {
        return None;
    }
    let Ok(icmp::Repr::EchoRequest { ident, seq, data }) = icmp::Repr::parse(ip.payload()) else {
        return None;
    };
    let reply = icmp::Repr::EchoReply { ident, seq, data };
    let meta = PacketMeta { id, flow: request.meta.flow, born: now };
    let mut p = pool.zeroed(ipv4::HEADER_LEN + reply.buffer_len(), meta);
    let (header, message) = p.bytes_mut().split_at_mut(ipv4::HEADER_LEN);
    reply.emit(message);
    let header_repr = ipv4::Repr {
        tos: ip.tos(),
        ttl: INITIAL_TTL,
        id: ip_id,
        ..ipv4::Repr::new(ip.dst(), ip.src(), ipv4::protocol::ICMP, message.len() as u16)
    };
    header_repr.emit(header);
    Some(p)
}
