//! The ICMP error that informs a program that its packet was dropped (RFC 792; RFC 1122, section
//! 3.2.2; RFC 1812, section 4.3.2).

use std::net::{Ipv4Addr, Ipv6Addr};

use wayhop_core::DropReason;

use crate::icmp::{HEADER_LEN, Repr, unreachable_code};
use crate::{icmpv6, ipv4, ipv6};

/// The longest ICMP error, IP header included (RFC 1812, section 4.3.2.3).
const MAX_LEN: usize = 576;

/// Whether a packet that its own node ended for this reason had no route, so that its program is told "host unreachable".
///
/// Losses further on are no such case: the network may lose packets, and transport protocols repeat them.
pub const fn had_no_route(why: DropReason) -> bool {
    matches!(
        why,
        DropReason::NoRoute
            | DropReason::DiscoveryFailed
            | DropReason::BufferTimeout
            | DropReason::BufferFull
            | DropReason::NoOtherRoute
    )
}

/// The ICMP message Destination Unreachable, code 1 (host), about a packet, which it quotes up to
/// `quoted` bytes behind the IP header; `None` where RFC 1122 section 3.2.2 forbids an answer, as
/// with [`unreachable_for`].
pub fn host_unreachable<'a>(about: &ipv4::Packet<'a>, quoted: usize) -> Option<Repr<'a>> {
    let (src, dst) = (about.src(), about.dst());
    let single = |a: Ipv4Addr| !(a.is_broadcast() || a.is_multicast());
    if !single(dst) || !single(src) || src.is_unspecified() || about.fragment_offset() != 0 {
        return None;
    }
    // All messages but echo and its kin (types 0, 8, 13 to 18) are errors, or unknown.
    if about.protocol() == ipv4::protocol::ICMP && !matches!(about.payload().first(), Some(0 | 8 | 13..=18)) {
        return None;
    }
    let code = unreachable_code::HOST;
    Some(Repr::DestinationUnreachable { code, next_hop_mtu: 0, original: about.start(quoted) })
}

/// The IP packet from `from` with the ICMP message Destination Unreachable, code 1 (host), about `packet`.
///
/// `None` where RFC 1122 section 3.2.2 forbids an answer: about ICMP errors, packets to several hosts, fragments other
/// than the first, and packets without a single source; and about what is no IPv4 packet.
pub fn unreachable_for(packet: &[u8], from: Ipv4Addr) -> Option<Vec<u8>> {
    let ip = ipv4::Packet::new_checked(packet).ok()?;
    let message = host_unreachable(&ip, MAX_LEN - ipv4::HEADER_LEN - HEADER_LEN - ip.header_len())?;
    let head = ipv4::Repr::new(from, ip.src(), ipv4::protocol::ICMP, message.buffer_len() as u16);
    let mut answer = vec![0; ipv4::HEADER_LEN + message.buffer_len()];
    head.emit(&mut answer);
    message.emit(&mut answer[ipv4::HEADER_LEN..]);
    Some(answer)
}

/// Whether RFC 4443, section 2.4 (e), lets a node answer an IPv6 packet with an error: not about ICMPv6 errors, not to
/// nobody or a group, and about packets to groups only where they are too big. Fragments other than the first are not answered:
/// what they belong to is not told.
pub fn may_answer6(about: &ipv6::Packet<'_>, too_big: bool) -> bool {
    let (src, dst) = (about.src(), about.dst());
    if src.is_unspecified() || src.is_multicast() || dst.is_multicast() && !too_big {
        return false;
    }
    about.upper().is_ok_and(|u| {
        let of_icmp = u.protocol == ipv6::next_header::ICMPV6;
        u.protocol != ipv6::next_header::FRAGMENT
            && !(of_icmp && u.payload.first().is_none_or(|kind| icmpv6::is_error(*kind)))
    })
}

/// How many octets of a packet an ICMPv6 error returns at most: as many as fit into the smallest MTU.
pub const QUOTED6: usize = ipv6::MIN_MTU - ipv6::HEADER_LEN - icmpv6::HEADER_LEN;

/// The IPv6 packet from `from` with the ICMPv6 message Destination Unreachable, code 0 (no route), about `packet`; `None`
/// where no answer is allowed, and about what is no IPv6 packet.
pub fn unreachable6_for(packet: &[u8], from: Ipv6Addr) -> Option<Vec<u8>> {
    let ip = ipv6::Packet::new_checked(packet).ok().filter(|ip| may_answer6(ip, false))?;
    let code = icmpv6::unreachable_code::NO_ROUTE;
    let message = icmpv6::Repr::DestinationUnreachable { code, original: ip.start(QUOTED6) };
    let len = message.buffer_len();
    let mut answer = vec![0; ipv6::HEADER_LEN + len];
    ipv6::Repr::new(from, ip.src(), ipv6::next_header::ICMPV6, len as u16).emit(&mut answer);
    message.emit(&mut answer[ipv6::HEADER_LEN..], from, ip.src());
    Some(answer)
}
