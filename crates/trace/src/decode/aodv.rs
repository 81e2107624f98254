//! AODV messages as JSON.

use serde_json::{Map, Value, json};
use wayhop_wire::aodv::{self, Extension, Rrep};
use wayhop_wire::ipv4;

use super::Message;
use crate::hex::hex;

/// Whether a Route Reply is a Hello (RFC 3561, section 6.9): no hop made, for the sender itself, and for all neighbours or
/// at least for nobody else.
pub(super) fn is_hello(r: &Rrep, ip: &ipv4::Packet<'_>) -> bool {
    r.hop_count == 0 && r.destination == ip.src() && (r.originator == ip.src() || ip.dst().is_broadcast())
}

/// The message in the payload of a UDP datagram. `complete_len` is the payload's length before the capture cut it.
pub(super) fn message(payload: &[u8], complete_len: usize, ip: &ipv4::Packet<'_>) -> Message {
    let cut = complete_len > payload.len();
    match aodv::Message::parse(payload) {
        Ok(m) => {
            let mut out = whole(&m, ip);
            extensions(&payload[m.buffer_len()..], cut, &mut out);
            out
        }
        Err(_) if cut => shortened(payload, ip),
        Err(e) => {
            let kind = payload.first().map_or("unknown", |k| kind_name(*k));
            Message { kind, fields: Map::new(), truncated: false, malformed: Some(e.to_string()) }
        }
    }
}

fn whole(m: &aodv::Message<'_>, ip: &ipv4::Packet<'_>) -> Message {
    let (kind, value) = match m {
        aodv::Message::Rreq(r) => (
            "rreq",
            json!({
                "join": r.join, "repair": r.repair, "gratuitous": r.gratuitous,
                "destination_only": r.destination_only, "unknown_seq": r.unknown_seq, "hop_count": r.hop_count,
                "id": r.id, "destination": r.destination.to_string(), "destination_seq": r.destination_seq,
                "originator": r.originator.to_string(), "originator_seq": r.originator_seq,
            }),
        ),
        aodv::Message::Rrep(r) => (
            if is_hello(r, ip) { "hello" } else { "rrep" },
            json!({
                "repair": r.repair, "ack_required": r.ack_required, "prefix_size": r.prefix_size,
                "hop_count": r.hop_count, "destination": r.destination.to_string(),
                "destination_seq": r.destination_seq, "originator": r.originator.to_string(),
                "lifetime_ms": r.lifetime_ms,
            }),
        ),
        aodv::Message::Rerr(r) => {
            let unreachable: Vec<Value> = r
                .unreachable
                .iter()
                .map(|u| json!({ "destination": u.destination.to_string(), "seq": u.seq }))
                .collect();
            ("rerr", json!({ "no_delete": r.no_delete, "unreachable": unreachable }))
        }
        aodv::Message::RrepAck => ("rrep_ack", json!({})),
    };
    let Value::Object(fields) = value else { return Message::cut(kind) };
    Message { kind, fields, truncated: false, malformed: None }
}

fn extensions(bytes: &[u8], cut: bool, out: &mut Message) {
    let mut list = Vec::new();
    for e in aodv::extensions(bytes) {
        match e {
            Ok(Extension::HelloInterval { millis }) => {
                list.push(json!({ "type": 1, "hello_interval_ms": millis }));
            }
            Ok(Extension::Unknown { kind, data }) => {
                list.push(json!({ "type": kind, "data": hex(data) }));
            }
            Err(_) if cut => out.truncated = true,
            Err(e) => out.malformed = Some(format!("extension: {e}")),
        }
    }
    if !list.is_empty() {
        out.fields.insert("extensions".to_owned(), Value::Array(list));
    }
}

/// A message whose end was not captured. A Route Error tells the destinations that are wholly there.
fn shortened(payload: &[u8], ip: &ipv4::Packet<'_>) -> Message {
    let Some(kind) = payload.first() else { return Message::cut("unknown") };
    if let [3, flags, reserved, _, list @ ..] = payload
        && list.len() >= 8
    {
        let whole_ones = list.len() / 8;
        let mut copy = vec![3, *flags, *reserved, whole_ones.min(255) as u8];
        copy.extend_from_slice(&list[..whole_ones * 8]);
        if let Ok(m) = aodv::Message::parse(&copy) {
            return Message { truncated: true, ..whole(&m, ip) };
        }
    }
    Message::cut(kind_name(*kind))
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        1 => "rreq",
        2 => "rrep",
        3 => "rerr",
        4 => "rrep_ack",
        _ => "unknown",
    }
}
