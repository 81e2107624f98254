//! Babel (RFC 8966, with RFC 8967 and RFC 9229).

use std::net::IpAddr;

use serde_json::{Value, json};
use wayhop_core::{
    Carrier, Classified, Datagram, DecodedMessage, Description, MessageFormat, Ns2Format, hex,
};
use wayhop_wire::babel::{
    Body, Encoding, PORT, Packet, ParserState, Prefix, Route, RouterId, Tlv, Update, tlv_type,
};

use crate::format::{NO_ENGINE, NO_MESSAGES, heaviest, unreadable};

pub(super) static DESCRIPTION: Description = Description {
    name: "babel",
    full_name: "The Babel routing protocol",
    specification: "RFC 8966",
    messages: MessageFormat {
        carrier: Carrier::UdpPort(PORT),
        classes: &["hello", "update", "request", "ack", "other"],
        types: TYPES,
        classify,
        decode,
        ns2: Ns2Format { tag: "Babel", tail: |_, _| {} },
        ..NO_MESSAGES
    },
    ..NO_ENGINE
};

/// The types of messages: TLVs other than padding.
const TYPES: &[(u8, &str)] = &[
    (0, "ack_request"),
    (1, "ack"),
    (2, "hello"),
    (3, "ihu"),
    (4, "router_id"),
    (5, "next_hop"),
    (6, "update"),
    (7, "route_request"),
    (8, "seqno_request"),
    (9, "mac"),
    (10, "pc"),
    (11, "challenge_request"),
    (12, "challenge_reply"),
    (OTHER_BIT, "other"),
];
const OTHER_BIT: u8 = 13;

/// Types of messages as bits, with the index of their class. A packet without any of them is padding and authentication.
const BY_WEIGHT: [(u16, u8); 4] = [(1 << 6, 1), (1 << 7 | 1 << 8, 2), (1 << 2 | 1 << 3, 0), (1 | 1 << 1, 3)];
const OTHER: u8 = 4;

/// The bit of a type of TLV in [`TYPES`]; `None` for padding.
const fn bit(kind: u8) -> Option<u8> {
    match kind {
        tlv_type::PAD1 | tlv_type::PAD_N => None,
        tlv_type::ACK_REQUEST..=tlv_type::SEQNO_REQUEST => Some(kind - tlv_type::ACK_REQUEST),
        tlv_type::MAC..=tlv_type::CHALLENGE_REPLY => Some(kind - tlv_type::MAC + 9),
        _ => Some(OTHER_BIT),
    }
}

fn kind_name(kind: u8) -> &'static str {
    bit(kind).map_or("padding", |bit| TYPES[usize::from(bit)].1)
}

fn packet<'a>(d: &Datagram<'a>) -> Result<Packet<'a>, wayhop_wire::Error> {
    if d.is_cut() { Packet::new_snapped(d.payload) } else { Packet::new_checked(d.payload) }
}

fn classify(d: &Datagram<'_>) -> Classified {
    let Ok(packet) = packet(d) else { return Classified::default() };
    let kinds = packet.body().chain(packet.trailer()).filter_map(|tlv| bit(tlv[0]));
    let types = kinds.fold(0_u16, |types, bit| types | 1 << bit);
    Classified { class: Some(heaviest(types, &BY_WEIGHT).unwrap_or(OTHER)), types }
}

/// Every TLV of a packet but padding.
fn decode(d: &Datagram<'_>) -> Vec<DecodedMessage> {
    let packet = match packet(d) {
        Ok(packet) => packet,
        Err(e) => return vec![unreadable(d, d.payload, "unknown", e)],
    };
    let mut state = ParserState::new(d.source);
    let message = |octets: &[u8]| match Tlv::parse(octets) {
        Ok(Tlv { body: Body::Pad1 | Body::PadN(_), .. }) => None,
        Ok(tlv) => Some(whole(&tlv, state.take(&tlv))),
        Err(e) => Some(unreadable(d, octets, kind_name(octets[0]), e)),
    };
    packet.body().chain(packet.trailer()).filter_map(message).collect()
}

fn whole(tlv: &Tlv<'_>, route: Option<Route>) -> DecodedMessage {
    let fields = match &tlv.body {
        Body::Pad1 | Body::PadN(_) => json!({}),
        Body::AckRequest { opaque, interval_cs } => {
            json!({ "opaque": opaque, "interval_ms": millis(*interval_cs) })
        }
        Body::Ack { opaque } => json!({ "opaque": opaque }),
        Body::Hello { unicast, seqno, interval_cs } => {
            json!({ "unicast": unicast, "seqno": seqno, "interval_ms": millis(*interval_cs) })
        }
        Body::Ihu { rxcost, interval_cs, address } => {
            json!({ "rxcost": rxcost, "interval_ms": millis(*interval_cs), "address": address.map(text) })
        }
        Body::RouterId(id) => json!({ "router_id": router_id(*id) }),
        Body::NextHop(a) => json!({ "next_hop": text(*a) }),
        Body::Update(u) => update(u, route),
        Body::RouteRequest(p) => json!({ "prefix": prefix(p, p.resolve(None)) }),
        Body::SeqnoRequest { seqno, hop_count, router_id: id, prefix: p } => json!({
            "prefix": prefix(p, p.resolve(None)), "seqno": seqno, "hop_count": hop_count, "router_id": router_id(*id),
        }),
        Body::Mac(mac) => json!({ "mac": hex(mac) }),
        Body::Pc { counter, index } => json!({ "counter": counter, "index": hex(index) }),
        Body::ChallengeRequest(nonce) | Body::ChallengeReply(nonce) => json!({ "nonce": hex(nonce) }),
        Body::Other { kind, data } => json!({ "tlv_type": kind, "data": hex(data) }),
    };
    let mut message = DecodedMessage::whole(kind_name(tlv.body.kind()), fields);
    let sub_tlv = |s: wayhop_wire::babel::SubTlv<'_>| json!({ "type": s.kind, "data": hex(s.data) });
    let sub_tlvs: Vec<Value> = tlv.sub_tlvs.iter().map(sub_tlv).collect();
    if !sub_tlvs.is_empty() {
        message.fields.insert("sub_tlvs".to_owned(), sub_tlvs.into());
    }
    message.fields.retain(|_, value| !value.is_null());
    message
}

/// An Update, with what the TLVs in front of it say of it. A retraction needs none of that.
fn update(u: &Update<'_>, route: Option<Route>) -> Value {
    let finite = route.filter(|_| u.metric != Update::INFINITY);
    json!({
        "prefix": prefix(&u.prefix, route.and_then(|r| r.destination)),
        "via_ipv6": (u.prefix.encoding == Encoding::Ipv4ViaIpv6).then_some(true),
        "sets_default": u.sets_default,
        "sets_router_id": u.sets_router_id,
        "omitted": u.prefix.omitted,
        "interval_ms": (u.interval_cs != u16::MAX).then(|| millis(u.interval_cs)),
        "seqno": u.seqno,
        "metric": u.metric,
        "router_id": finite.and_then(|r| r.router_id).map(router_id),
        "next_hop": finite.and_then(|r| r.next_hop).map(text),
    })
}

/// As `10.0.0.0/8`; `*` for the wildcard. Null without the octets that it omits.
fn prefix(p: &Prefix<'_>, address: Option<IpAddr>) -> Option<String> {
    match p.encoding {
        Encoding::Wildcard => Some("*".to_owned()),
        _ => address.map(|a| format!("{a}/{}", p.len)),
    }
}

fn millis(centiseconds: u16) -> u32 {
    u32::from(centiseconds) * 10
}

fn text(a: IpAddr) -> String {
    a.to_string()
}

/// As babeld writes it.
fn router_id(id: RouterId) -> String {
    let octets = id.map(|o| format!("{o:02x}"));
    octets.join(":")
}
