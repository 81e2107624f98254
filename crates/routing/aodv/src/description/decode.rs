//! AODV messages as JSON.

use serde_json::{Value, json};
use wayhop_core::{Datagram, DecodedMessage, hex};
use wayhop_wire::aodv::{self, Extension, Message};

use crate::description::messages::is_hello;

/// The message of a datagram.
pub(crate) fn decode(d: &Datagram<'_>) -> Vec<DecodedMessage> {
    let message = match Message::parse(d.payload) {
        Ok(m) => {
            let mut out = whole(&m, d);
            extensions(&d.payload[m.buffer_len()..], d.is_cut(), &mut out);
            out
        }
        Err(_) if d.is_cut() => shortened(d),
        Err(e) => {
            let kind = d.payload.first().map_or("unknown", |k| kind_name(*k));
            DecodedMessage::malformed(kind, e.to_string())
        }
    };
    vec![message]
}

fn whole(m: &Message<'_>, d: &Datagram<'_>) -> DecodedMessage {
    let (kind, value) = match m {
        Message::Rreq(r) => (
            "rreq",
            json!({
                "join": r.join, "repair": r.repair, "gratuitous": r.gratuitous,
                "destination_only": r.destination_only, "unknown_seq": r.unknown_seq, "hop_count": r.hop_count,
                "id": r.id, "destination": r.destination.to_string(), "destination_seq": r.destination_seq,
                "originator": r.originator.to_string(), "originator_seq": r.originator_seq,
            }),
        ),
        Message::Rrep(r) => (
            if is_hello(r, d) { "hello" } else { "rrep" },
            json!({
                "repair": r.repair, "ack_required": r.ack_required, "prefix_size": r.prefix_size,
                "hop_count": r.hop_count, "destination": r.destination.to_string(),
                "destination_seq": r.destination_seq, "originator": r.originator.to_string(),
                "lifetime_ms": r.lifetime_ms,
            }),
        ),
        Message::Rerr(r) => {
            let unreachable: Vec<Value> = r
                .unreachable
                .iter()
                .map(|u| json!({ "destination": u.destination.to_string(), "seq": u.seq }))
                .collect();
            ("rerr", json!({ "no_delete": r.no_delete, "unreachable": unreachable }))
        }
        Message::RrepAck => ("rrep_ack", json!({})),
    };
    DecodedMessage::whole(kind, value)
}

fn extensions(bytes: &[u8], cut: bool, out: &mut DecodedMessage) {
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
fn shortened(d: &Datagram<'_>) -> DecodedMessage {
    let Some(kind) = d.payload.first() else { return DecodedMessage::cut("unknown") };
    if let [3, flags, reserved, _, list @ ..] = d.payload
        && list.len() >= 8
    {
        let whole_ones = list.len() / 8;
        let mut copy = vec![3, *flags, *reserved, whole_ones.min(255) as u8];
        copy.extend_from_slice(&list[..whole_ones * 8]);
        if let Ok(m) = Message::parse(&copy) {
            return DecodedMessage { truncated: true, ..whole(&m, d) };
        }
    }
    DecodedMessage::cut(kind_name(*kind))
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
