//! What kind of packet these octets are.

use wayhop_wire::ipv4::{self, protocol};
use wayhop_wire::{aodv, dsr, udp};

use super::aodv::is_hello;
use crate::{Messages, PacketClass};

/// The type of the ICMP message Destination Unreachable.
const ICMP_UNREACHABLE: u8 = 3;

/// The class of a routing packet, from its octets, and the routing messages in it. The class is `None` for a packet with
/// application data, which may carry routing messages all the same.
///
/// A DSR packet with several messages has the class of the first of: Route Request, Route Reply, Route Error,
/// acknowledgement.
pub fn classify(ip_packet: &[u8]) -> (Option<PacketClass>, Messages) {
    let Ok(ip) = ipv4::Packet::new_snapped(ip_packet) else { return (None, Messages::NONE) };
    if ip.fragment_offset() != 0 {
        return (None, Messages::NONE);
    }
    match ip.protocol() {
        protocol::DSR => of_dsr(ip.payload()),
        protocol::UDP => of_udp(&ip),
        _ => (None, Messages::NONE),
    }
}

fn of_dsr(payload: &[u8]) -> (Option<PacketClass>, Messages) {
    let payload = match payload {
        // The options follow a Flow State header (RFC 4728, section 8.6.2).
        [protocol::DSR, flags, _, _, options @ ..] if flags & 0x80 != 0 => options,
        other => other,
    };
    let [next_header, flags, a, b, behind @ ..] = payload else { return (None, Messages::NONE) };
    let mut messages = Messages::NONE;
    if flags & 0x80 == 0 {
        let len = usize::from(u16::from_be_bytes([*a, *b])).min(behind.len());
        for option in dsr::options(&behind[..len]).flatten() {
            messages = messages.with(match option {
                dsr::DsrOption::RouteRequest(_) => Messages::RREQ,
                dsr::DsrOption::RouteReply(_) => Messages::RREP,
                dsr::DsrOption::RouteError(_) => Messages::RERR,
                dsr::DsrOption::Ack { .. } => Messages::ACK,
                dsr::DsrOption::AckRequest { .. } => Messages::ACK_REQUEST,
                _ => Messages::NONE,
            });
        }
    }
    // A notice of a lost route that rides on a Route Error makes no data packet of it.
    let notice = *next_header == protocol::ICMP
        && messages.contains(Messages::RERR)
        && behind.get(usize::from(u16::from_be_bytes([*a, *b]))) == Some(&ICMP_UNREACHABLE);
    if *next_header != protocol::NO_NEXT_HEADER && !notice {
        return (None, messages);
    }
    let by_weight = [
        (Messages::RREQ, PacketClass::DsrRreq),
        (Messages::RREP, PacketClass::DsrRrep),
        (Messages::RERR, PacketClass::DsrRerr),
        (Messages::ACK, PacketClass::DsrAck),
        (Messages::ACK_REQUEST, PacketClass::DsrAck),
    ];
    let class =
        by_weight.iter().find(|(m, _)| messages.contains(*m)).map_or(PacketClass::DsrOther, |(_, c)| *c);
    (Some(class), messages)
}

fn of_udp(ip: &ipv4::Packet<'_>) -> (Option<PacketClass>, Messages) {
    let payload = ip.payload();
    let ports = [0, 2].map(|at| payload.get(at..at + 2).map(|p| u16::from_be_bytes([p[0], p[1]])));
    if !ports.contains(&Some(aodv::PORT)) {
        return (None, Messages::NONE);
    }
    let (class, messages) = match payload.get(udp::HEADER_LEN..).map(aodv::Message::parse) {
        Some(Ok(aodv::Message::Rreq(_))) => (PacketClass::AodvRreq, Messages::RREQ),
        Some(Ok(aodv::Message::Rrep(r))) if is_hello(&r, ip) => (PacketClass::AodvHello, Messages::HELLO),
        Some(Ok(aodv::Message::Rrep(_))) => (PacketClass::AodvRrep, Messages::RREP),
        Some(Ok(aodv::Message::Rerr(_))) => (PacketClass::AodvRerr, Messages::RERR),
        Some(Ok(aodv::Message::RrepAck)) => (PacketClass::AodvRrepAck, Messages::RREP_ACK),
        Some(Err(_)) | None => return (None, Messages::NONE),
    };
    (Some(class), messages)
}
