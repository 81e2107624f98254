//! Optimized Link State Routing (RFC 3626).

use serde_json::{Value, json};
use wayhop_core::{
    Carrier, Classified, Datagram, DecodedMessage, Description, MessageFormat, Ns2Format, hex,
};
use wayhop_wire::olsr::{
    Address, Body, LinkMessage, LinkType, Message, NeighbourType, Network, PORT, Packet, TimeCode,
    message_type,
};

use crate::format::{NO_ENGINE, NO_MESSAGES, heaviest, unreadable};

pub(super) static DESCRIPTION: Description = Description {
    name: "olsr",
    full_name: "Optimized Link State Routing",
    specification: "RFC 3626",
    messages: MessageFormat {
        carrier: Carrier::UdpPort(PORT),
        classes: &["hello", "tc", "mid", "hna", "other"],
        types: &[(0, "hello"), (1, "tc"), (2, "mid"), (3, "hna"), (4, "other")],
        classify,
        decode,
        ns2: Ns2Format { tag: "OLSR", tail: |_, _| {} },
        ..NO_MESSAGES
    },
    ..NO_ENGINE
};

/// Types of messages as bits, with the index of their class. What floods the network weighs more.
const BY_WEIGHT: [(u16, u8); 5] = [(1 << 1, 1), (1 << 3, 3), (1 << 2, 2), (1, 0), (1 << 4, 4)];

fn classify(d: &Datagram<'_>) -> Classified {
    let Some(packet) = packet(d) else { return Classified::default() };
    let types = packet.messages().fold(0_u16, |types, m| {
        types
            | 1 << match m[0] {
                message_type::HELLO => 0,
                message_type::TC => 1,
                message_type::MID => 2,
                message_type::HNA => 3,
                _ => 4,
            }
    });
    Classified { class: heaviest(types, &BY_WEIGHT), types }
}

fn packet<'a>(d: &Datagram<'a>) -> Option<Packet<'a>> {
    let read = if d.is_cut() { Packet::new_snapped } else { Packet::new_checked };
    read(d.payload).ok()
}

fn decode(d: &Datagram<'_>) -> Vec<DecodedMessage> {
    let Some(packet) = packet(d) else {
        return vec![unreadable(d, d.payload, "unknown", "not a packet of OLSR")];
    };
    let message = |octets: &[u8]| {
        // Messages have addresses of the packet's family (RFC 3626, section 17).
        let read = if d.source.is_v4() {
            Message::parse(octets).map(|m| whole(&packet, &m))
        } else {
            Message::parse6(octets).map(|m| whole(&packet, &m))
        };
        read.unwrap_or_else(|e| unreadable(d, octets, kind_name(octets[0]), e))
    };
    packet.messages().map(message).collect()
}

fn whole<A: Address>(packet: &Packet<'_>, m: &Message<'_, A>) -> DecodedMessage {
    let mut message = DecodedMessage::whole(
        kind_name(m.body.kind()),
        json!({
            "packet_seq": packet.seq(), "validity_s": seconds(m.vtime), "originator": m.originator.to_string(),
            "message_ttl": m.ttl, "hop_count": m.hop_count, "seq": m.seq,
        }),
    );
    let fields = &mut message.fields;
    let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    match &m.body {
        Body::Hello(h) => {
            put("hello_interval_s", json!(seconds(h.htime)));
            put("willingness", json!(h.willingness));
            put("links", h.links.iter().map(|l| link(&l)).collect());
        }
        Body::Tc { ansn, advertised } => {
            put("ansn", json!(ansn));
            put("advertised", advertised.iter().map(|a| a.to_string()).collect());
        }
        Body::Mid(interfaces) => {
            put("interfaces", interfaces.iter().map(|a| a.to_string()).collect());
        }
        Body::Hna(networks) => {
            let network =
                |n: Network<A>| json!({ "address": n.address.to_string(), "netmask": n.netmask.to_string() });
            put("networks", networks.iter().map(network).collect());
        }
        Body::Other { kind, data } => {
            put("message_type", json!(kind));
            put("data", json!(hex(data)));
        }
    }
    message
}

/// A link message. States that RFC 3626 does not define are null.
fn link<A: Address>(l: &LinkMessage<'_, A>) -> Value {
    let link = l.code.link().map(|t| match t {
        LinkType::Unspecified => "unspecified",
        LinkType::Asymmetric => "asymmetric",
        LinkType::Symmetric => "symmetric",
        LinkType::Lost => "lost",
    });
    let neighbour = l.code.neighbour().map(|t| match t {
        NeighbourType::Not => "not_neighbour",
        NeighbourType::Symmetric => "symmetric",
        NeighbourType::Mpr => "mpr",
    });
    let neighbours: Vec<String> = l.neighbours.iter().map(|a| a.to_string()).collect();
    json!({ "code": l.code.0, "link": link, "neighbour": neighbour, "neighbours": neighbours })
}

/// Exact: the step of a [`TimeCode`] is 1/256 s.
fn seconds(t: TimeCode) -> f64 {
    t.as_nanos() as f64 / 1e9
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        message_type::HELLO => "hello",
        message_type::TC => "tc",
        message_type::MID => "mid",
        message_type::HNA => "hna",
        _ => "other",
    }
}
