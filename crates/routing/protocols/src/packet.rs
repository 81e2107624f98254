//! From a packet's octets to its protocol.

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Carrier, Class, Datagram, DecodedMessage, Description, MessageFormat, Messages, PacketMeta, Pool,
};
use wayhop_wire::ipv4::{self, protocol};
use wayhop_wire::{auth, udp};

use crate::{ALL, foreign};

/// No protocol, in [`BY_NUMBER`].
const NONE: u8 = u8::MAX;

/// The place in [`ALL`] of the protocol with each IP protocol number: every packet of a simulation is looked up here.
static BY_NUMBER: [u8; 256] = {
    let mut by_number = [NONE; 256];
    let mut place = 0;
    while place < ALL.len() {
        if let Carrier::IpProtocol(number) = ALL[place].messages.carrier {
            by_number[number as usize] = place as u8;
        }
        place += 1;
    }
    by_number
};

/// Which protocol's packet this is, and what it carries; `None` for packets of applications and fragments behind the first.
fn protocol_of<'a>(ip: &ipv4::Packet<'a>) -> Option<(u8, Datagram<'a>)> {
    if ip.fragment_offset() != 0 {
        return None;
    }
    let (place, header_len) = match ip.protocol() {
        protocol::UDP => (by_ports(ip.payload())?, udp::HEADER_LEN),
        number => {
            let built_in = || BY_NUMBER[usize::from(number)];
            (foreign::place(|c| c == Carrier::IpProtocol(number)).unwrap_or_else(built_in), 0)
        }
    };
    if place == NONE {
        return None;
    }
    let complete_len = (ip.total_len() - ip.header_len()).saturating_sub(header_len);
    let payload = ip.payload().get(header_len..)?;
    Some((place, Datagram { source: ip.src().into(), destination: ip.dst().into(), payload, complete_len }))
}

/// The place in [`ALL`] of the protocol whose port is one of a datagram's.
fn by_ports(datagram: &[u8]) -> Option<u8> {
    let [s0, s1, d0, d1, ..] = datagram else { return None };
    let ports = [u16::from_be_bytes([*s0, *s1]), u16::from_be_bytes([*d0, *d1])];
    let is_its = |carrier| matches!(carrier, Carrier::UdpPort(p) if ports.contains(&p));
    let built_in = || Some(ALL.iter().position(|d| is_its(d.messages.carrier))? as u8);
    foreign::place(is_its).or_else(built_in)
}

/// The class of a routing packet, from its octets, and the routing messages in it. The class is `None` for a packet with
/// application data, which may carry routing messages all the same.
pub fn classify(ip_packet: &[u8]) -> (Option<Class>, Messages) {
    let found = ipv4::Packet::new_snapped(ip_packet).ok().and_then(|ip| protocol_of(&ip));
    let Some((place, mut datagram)) = found else { return (None, Messages::NONE) };
    let description = foreign::at(place);
    let format = &description.messages;
    if let Some(auth) = datagram_format(format) {
        let message = auth.of_datagram(&datagram).map_or(datagram.payload.len(), |(end, _)| end);
        if message == 0 {
            // An exchange of challenges and answers, or one before it leaves: it is counted with the last class.
            let last = format.classes.len().checked_sub(1);
            return (last.and_then(|index| Class::of(place, description, index as u8)), Messages::NONE);
        }
        datagram = up_to(&datagram, message);
    }
    let c = (format.classify)(&datagram);
    let class = c.class.and_then(|index| Class::of(place, description, index));
    (class, Messages::of(place, description, c.types))
}

/// The packet without the block that authenticates it; `None` if it has none.
pub(crate) fn without_authentication(ip_packet: &[u8]) -> Option<Vec<u8>> {
    let (place, _) = protocol_of(&ipv4::Packet::new_checked(ip_packet).ok()?)?;
    let auth = auth::Format::of(&foreign::at(place).messages)?;
    auth.find(ip_packet)?;
    let mut bare = Pool::new().packet(ip_packet, PacketMeta::default());
    auth.remove(&mut bare)?;
    Some(bare.bytes().to_vec())
}

/// The place among its protocol's classes of a routing packet of which a node takes a limited number from each neighbour.
pub fn limited_class(ip_packet: &[u8]) -> Option<u8> {
    classify(ip_packet).0.and_then(Class::limited)
}

/// The protocol whose packet this is, and its messages. The end of the packet may be missing.
pub fn decode(ip: &ipv4::Packet<'_>) -> Option<(&'static Description, Vec<DecodedMessage>)> {
    let (place, datagram) = protocol_of(ip)?;
    let description = foreign::at(place);
    let format = &description.messages;
    let found = auth::Format::of(format).and_then(|auth| auth.of_datagram(&datagram));
    let mut messages = match (&found, datagram_format(format)) {
        (Some((0, _)), Some(_)) => Vec::new(),
        (Some((end, _)), Some(_)) => (format.decode)(&up_to(&datagram, *end)),
        _ => (format.decode)(&datagram),
    };
    messages.extend(found.map(|(_, block)| authentication(&block)));
    Some((description, messages))
}

/// How messages are authenticated that fill datagrams, each with its block behind it.
fn datagram_format(messages: &MessageFormat) -> Option<auth::Format> {
    auth::Format::of(messages).filter(|f| f.is_udp())
}

/// The datagram with this start of its payload.
fn up_to<'a>(d: &Datagram<'a>, end: usize) -> Datagram<'a> {
    Datagram { payload: &d.payload[..end], complete_len: d.complete_len - (d.payload.len() - end), ..*d }
}

/// What authenticates a packet, as a message of its own.
fn authentication(b: &auth::Block) -> DecodedMessage {
    let hex = |n: u64| format!("{n:016x}");
    let (kind, exchange) = match &b.kind {
        auth::BlockKind::Message => ("message", None),
        auth::BlockKind::Exchange(e) => ("exchange", Some(e)),
    };
    let answer =
        |(to, nonce): &(Ipv4Addr, u64)| serde_json::json!({ "to": to.to_string(), "nonce": hex(*nonce) });
    let asks = |e: &auth::Exchange| e.asks().iter().map(ToString::to_string).collect::<Vec<_>>();
    let answers = |e: &auth::Exchange| e.answers().iter().map(answer).collect::<Vec<_>>();
    let fields = serde_json::json!({
        "kind": kind,
        "key_id": b.key_id,
        "transmitter": b.transmitter.to_string(),
        "index": hex(b.index),
        "counter": b.counter,
        "nonce": exchange.map(|e| hex(e.nonce)),
        "challenges": exchange.map(asks),
        "answers": exchange.map(answers),
        "tag": wayhop_core::hex(&b.tag),
    });
    DecodedMessage::whole("authentication", fields)
}

/// The node that transmitted this packet, and the node that shall receive it now, as its own headers tell.
pub fn hop(ip_packet: &[u8]) -> Option<(Addr, Addr)> {
    let ip = ipv4::Packet::new_checked(ip_packet).ok()?;
    match protocol_of(&ip) {
        Some((place, datagram)) => (foreign::at(place).messages.hop)(&datagram),
        None => Some((ip.src().into(), ip.dst().into())),
    }
}

/// The part of the packet that each node on its way changes: `None` if its protocol has none, the inner `None` if it was not
/// captured whole.
#[allow(clippy::option_option, reason = "there is none, or it is cut")]
pub fn route_header<'a>(ip: &ipv4::Packet<'a>) -> Option<Option<&'a [u8]>> {
    let (place, datagram) = protocol_of(ip)?;
    let header = foreign::at(place).messages.route_header?;
    Some(header(datagram.payload))
}
