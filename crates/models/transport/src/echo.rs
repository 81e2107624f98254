//! Echo requests, and the answers of a host's stack.

use std::net::Ipv6Addr;

use wayhop_core::{Addr, EchoRequest, Packet, PacketId, PacketMeta, Pool, Time};
use wayhop_wire::ipv6::next_header;
use wayhop_wire::{icmp, icmpv6, ip, ipv4};

use crate::INITIAL_TTL;

/// The packet of an echo request from the address `src`, of the same family as its destination. Its data is not longer than
/// [`crate::MAX_PAYLOAD`].
pub fn echo_request(r: &EchoRequest, src: Addr, id: u16, meta: PacketMeta, pool: &mut Pool) -> Packet {
    let dst = Addr::from(r.to);
    let header_len = ip::Repr::header_len(dst);
    // The header of an echo message has the same length over IPv6.
    let message_len = icmp::HEADER_LEN + r.data.len();
    let mut p = pool.zeroed(header_len + message_len, meta);
    let (header, message) = p.bytes_mut().split_at_mut(header_len);
    message[icmp::HEADER_LEN..].copy_from_slice(&r.data);
    let protocol = if let (Some(src), Some(dst)) = (src.v6(), dst.v6()) {
        icmpv6::emit_echo_request(message, r.identifier, r.number, src, dst);
        next_header::ICMPV6
    } else {
        icmp::emit_echo_request(message, r.identifier, r.number);
        ipv4::protocol::ICMP
    };
    let payload_len = message_len as u16;
    ip::Repr { src, dst, protocol, ttl: r.ttl, tos: r.tos, id, payload_len }.emit(header);
    p
}

/// The reply to an echo request, or `None` when `request` is something else or is broken.
///
/// The reply carries the request's identifier, number, data and TOS, and its flow tag; `ip_id` is the node's
/// [`crate::next_ip_id`].
pub fn echo_reply(request: &Packet, now: Time, id: PacketId, ip_id: u16, pool: &mut Pool) -> Option<Packet> {
    let ip = ip::Packet::new_checked(request.bytes()).ok()?;
    let (src, dst) = (ip.dst, ip.src);
    if src.is_multicast() || src == Addr::BROADCAST {
        return None;
    }
    let meta = PacketMeta { id, flow: request.meta.flow, born: now };
    let header_len = ip::Repr::header_len(dst);
    let mut p = pool.zeroed(header_len + ip.payload.len(), meta);
    let (header, message) = p.bytes_mut().split_at_mut(header_len);
    let answered = match (src.v6(), dst.v6()) {
        (Some(src), Some(dst)) => {
            ip.protocol == next_header::ICMPV6 && answer6(ip.payload, message, src, dst)
        }
        _ => ip.protocol == ipv4::protocol::ICMP && answer4(ip.payload, message),
    };
    if !answered {
        pool.recycle(p);
        return None;
    }
    let (protocol, tos, payload_len) = (ip.protocol, ip.tos, message.len() as u16);
    ip::Repr { src, dst, protocol, ttl: INITIAL_TTL, tos, id: ip_id, payload_len }.emit(header);
    Some(p)
}

/// Writes the reply; false if there is none to this.
fn answer4(request: &[u8], reply: &mut [u8]) -> bool {
    let Ok(icmp::Repr::EchoRequest { ident, seq, data }) = icmp::Repr::parse(request) else { return false };
    icmp::Repr::EchoReply { ident, seq, data }.emit(reply);
    true
}

/// The same over IPv6; `src` is who answers.
fn answer6(request: &[u8], reply: &mut [u8], src: Ipv6Addr, dst: Ipv6Addr) -> bool {
    let Ok(icmpv6::Repr::EchoRequest { ident, seq, data }) = icmpv6::Repr::parse(request, dst, src) else {
        return false;
    };
    icmpv6::Repr::EchoReply { ident, seq, data }.emit(reply, src, dst);
    true
}
