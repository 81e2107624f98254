//! From a packet's octets to its protocol.

use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Carrier, Class, Datagram, DecodedMessage, Description, MessageFormat, Messages, PacketMeta, Pool,
};
use wayhop_wire::ipv4::{self, protocol};
use wayhop_wire::{auth, ipv6, udp};

use crate::{ALL, daemons, foreign, formats};

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

/// A packet of a known protocol.
struct Found<'a> {
    /// The protocol's place.
    place: u8,
    description: &'static Description,
    /// What it carries.
    datagram: Datagram<'a>,
}

/// Which protocol's packet this is; `None` for packets of applications and fragments behind the first. Its end may be missing.
fn find(packet: &[u8]) -> Option<Found<'_>> {
    match ipv4::Packet::new_snapped(packet) {
        Ok(ip) => find4(&ip),
        Err(_) => find6(&ipv6::Packet::new_snapped(packet).ok()?),
    }
}

fn find4<'a>(ip: &ipv4::Packet<'a>) -> Option<Found<'a>> {
    if ip.fragment_offset() != 0 {
        return None;
    }
    let (place, description, header_len) = match ip.protocol() {
        protocol::UDP => {
            let (place, description) = by_ports(ip.payload(), formats())?;
            (place, description, udp::HEADER_LEN)
        }
        number => {
            let built_in = || {
                let place = BY_NUMBER[usize::from(number)];
                Some((place, *ALL.get(usize::from(place))?))
            };
            let (place, description) =
                foreign::of_carrier(|c| c == Carrier::IpProtocol(number)).or_else(built_in)?;
            (place, description, 0)
        }
    };
    let complete_len = (ip.total_len() - ip.header_len()).saturating_sub(header_len);
    let payload = ip.payload().get(header_len..)?;
    let (source, destination) = (ip.src().into(), ip.dst().into());
    Some(Found { place, description, datagram: Datagram { source, destination, payload, complete_len } })
}

/// No protocol of [`ALL`] sends over IPv6.
fn find6<'a>(ip: &ipv6::Packet<'a>) -> Option<Found<'a>> {
    let upper = ip.upper().ok().filter(|upper| upper.protocol == protocol::UDP)?;
    let (place, description) = by_ports(upper.payload, daemons())?;
    let complete_len = ip.total_len().checked_sub(upper.header_len + udp::HEADER_LEN)?;
    let payload = upper.payload.get(udp::HEADER_LEN..)?;
    let (source, destination) = (ip.src().into(), ip.dst().into());
    Some(Found { place, description, datagram: Datagram { source, destination, payload, complete_len } })
}

/// The loaded protocol, or else the first of these, whose port is one of a datagram's.
fn by_ports(
    datagram: &[u8],
    mut formats: impl Iterator<Item = (u8, &'static Description)>,
) -> Option<(u8, &'static Description)> {
    let [s0, s1, d0, d1, ..] = datagram else { return None };
    let ports = [u16::from_be_bytes([*s0, *s1]), u16::from_be_bytes([*d0, *d1])];
    let is_its = |carrier| matches!(carrier, Carrier::UdpPort(p) if ports.contains(&p));
    foreign::of_carrier(is_its).or_else(|| formats.find(|(_, d)| is_its(d.messages.carrier)))
}

/// The class of a routing packet, from its octets, and the routing messages in it. The class is `None` for a packet with
/// application data, which may carry routing messages all the same.
pub fn classify(ip_packet: &[u8]) -> (Option<Class>, Messages) {
    let Some(Found { place, description, mut datagram }) = find(ip_packet) else {
        return (None, Messages::NONE);
    };
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
    let found = find4(&ipv4::Packet::new_checked(ip_packet).ok()?)?;
    let auth = auth::Format::of(&found.description.messages)?;
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
pub fn decode(ip_packet: &[u8]) -> Option<(&'static Description, Vec<DecodedMessage>)> {
    let Found { description, datagram, .. } = find(ip_packet)?;
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
    match find4(&ip) {
        Some(found) => (found.description.messages.hop)(&found.datagram),
        None => Some((ip.src().into(), ip.dst().into())),
    }
}

/// The part of the packet that each node on its way changes: `None` if its protocol has none, the inner `None` if it was not
/// captured whole.
#[allow(clippy::option_option, reason = "there is none, or it is cut")]
pub fn route_header<'a>(ip: &ipv4::Packet<'a>) -> Option<Option<&'a [u8]>> {
    let found = find4(ip)?;
    let header = found.description.messages.route_header?;
    Some(header(found.datagram.payload))
}
