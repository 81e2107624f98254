//! What a packet is, read from its bytes.

use wayhop_core::Addr;
use wayhop_trace::{Messages, PacketClass};
use wayhop_wire::{aodv, dsr, ipv4, udp};

/// What the trace says of a packet.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
    pub(crate) ttl: u8,
    /// The routing protocol's class; `None` for data.
    pub(crate) control: Option<PacketClass>,
    pub(crate) messages: Messages,
}

/// Reads a packet. One that is not IP gives unspecified addresses.
pub(crate) fn read(bytes: &[u8]) -> Facts {
    let mut f = Facts {
        source: Addr::UNSPECIFIED,
        destination: Addr::UNSPECIFIED,
        ttl: 0,
        control: None,
        messages: Messages::NONE,
    };
    let Ok(ip) = ipv4::Packet::new_checked(bytes) else { return f };
    f.source = ip.src();
    f.destination = ip.dst();
    f.ttl = ip.ttl();
    match ip.protocol() {
        ipv4::protocol::DSR => read_dsr(ip.payload(), &mut f),
        ipv4::protocol::UDP => {
            if let Ok(u) = udp::Packet::new_checked(ip.payload())
                && u.dst_port() == aodv::PORT
            {
                read_aodv(u.payload(), &mut f);
            }
        }
        _ => {}
    }
    f
}

/// The IP destination; unspecified if this is not IP.
pub(crate) fn destination(bytes: &[u8]) -> Addr {
    ipv4::Packet::new_checked(bytes).map_or(Addr::UNSPECIFIED, |ip| ip.dst())
}

/// The IP source; unspecified if this is not IP.
pub(crate) fn source(bytes: &[u8]) -> Addr {
    ipv4::Packet::new_checked(bytes).map_or(Addr::UNSPECIFIED, |ip| ip.src())
}

fn read_dsr(bytes: &[u8], f: &mut Facts) {
    let Ok(p) = dsr::Packet::new_checked(bytes) else { return };
    let mut class = PacketClass::DsrOther;
    // The first of these in the order of importance names the packet: a request with an error in it is a request.
    let rank = |c| match c {
        PacketClass::DsrRreq => 4,
        PacketClass::DsrRrep => 3,
        PacketClass::DsrRerr => 2,
        PacketClass::DsrAck => 1,
        _ => 0,
    };
    for option in p.options().flatten() {
        let (message, kind) = match option {
            dsr::DsrOption::RouteRequest(_) => (Messages::RREQ, PacketClass::DsrRreq),
            dsr::DsrOption::RouteReply(_) => (Messages::RREP, PacketClass::DsrRrep),
            dsr::DsrOption::RouteError(_) => (Messages::RERR, PacketClass::DsrRerr),
            dsr::DsrOption::Ack { .. } => (Messages::ACK, PacketClass::DsrAck),
            dsr::DsrOption::AckRequest { .. } => (Messages::ACK_REQUEST, PacketClass::DsrAck),
            _ => continue,
        };
        f.messages = f.messages.with(message);
        if rank(kind) > rank(class) {
            class = kind;
        }
    }
    if p.next_header() == ipv4::protocol::NO_NEXT_HEADER {
        f.control = Some(class);
    }
}

fn read_aodv(bytes: &[u8], f: &mut Facts) {
    let (message, class) = match aodv::Message::parse(bytes) {
        Ok(aodv::Message::Rreq(_)) => (Messages::RREQ, PacketClass::AodvRreq),
        // Section 6.9: a Hello is a reply about its sender, to all neighbours.
        Ok(aodv::Message::Rrep(_)) if f.destination.is_broadcast() => (Messages::HELLO, PacketClass::AodvHello),
        Ok(aodv::Message::Rrep(_)) => (Messages::RREP, PacketClass::AodvRrep),
        Ok(aodv::Message::Rerr(_)) => (Messages::RERR, PacketClass::AodvRerr),
        Ok(aodv::Message::RrepAck) => (Messages::RREP_ACK, PacketClass::AodvRrepAck),
        Err(_) => return,
    };
    f.messages = message;
    f.control = Some(class);
}
