//! DSR options as JSON.

use serde_json::{Map, Value, json};
use wayhop_core::{Carrier, Datagram, DecodedMessage, hex};
use wayhop_wire::auth;
use wayhop_wire::dsr::{self, AddrList, DsrOption, RouteErrorKind, error_type, option_type};
use wayhop_wire::ipv4::protocol;

/// The fixed portion of the header (RFC 4728, section 6.1), or the Flow State header (section 7.1).
const FIXED_LEN: usize = 4;

/// How packets carry what authenticates them.
const AUTHENTIC: auth::Format = auth::Format::new(Carrier::IpProtocol(protocol::DSR), &dsr::AUTHENTICATION);

/// Every option of a packet but padding and what authenticates it, and a Flow State header.
pub(crate) fn decode(d: &Datagram<'_>) -> Vec<DecodedMessage> {
    let mut messages = messages(d.payload, d.complete_len);
    if AUTHENTIC.of_datagram(d).is_some() {
        // It is shown as authentication.
        messages.retain(|m| m.fields.get("option_type").is_none_or(|t| *t != option_type::AUTHENTICATION));
    }
    messages
}

/// The messages in a payload whose length was `complete_len` before the capture cut it.
fn messages(payload: &[u8], complete_len: usize) -> Vec<DecodedMessage> {
    let [next_header, flags, a, b, behind @ ..] = payload else {
        return vec![DecodedMessage::cut("header")];
    };
    if flags & 0x80 != 0 {
        let state = DecodedMessage::whole(
            "flow_state",
            json!({
                "next_header": next_header, "hop_count": flags & 0x7f, "flow_id": u16::from_be_bytes([*a, *b]),
            }),
        );
        if *next_header != protocol::DSR {
            return vec![state];
        }
        // The options follow (section 8.6.2). A second Flow State header may not, so this goes no deeper.
        let rest = match behind {
            [_, flags, ..] if flags & 0x80 != 0 => {
                vec![DecodedMessage::malformed("flow_state", "second Flow State header")]
            }
            _ => messages(behind, complete_len.saturating_sub(FIXED_LEN)),
        };
        return [state].into_iter().chain(rest).collect();
    }
    let options_len = usize::from(u16::from_be_bytes([*a, *b]));
    let cut = options_len > behind.len() && complete_len > payload.len();
    let captured = &behind[..options_len.min(behind.len())];
    let mut messages = Vec::new();
    for (range, parsed) in dsr::options(captured).located() {
        match parsed {
            Ok(DsrOption::Pad1 | DsrOption::PadN(_)) => {}
            Ok(option) => messages.push(message(&option)),
            Err(_) if cut && range.end == captured.len() => messages.push(cut_message(&captured[range])),
            Err(e) => {
                let kind = captured.get(range.start).map_or("unknown", |k| kind_name(*k));
                messages.push(DecodedMessage::malformed(kind, e.to_string()));
            }
        }
    }
    if !cut && options_len > behind.len() {
        let what = format!("Payload Length is {options_len}, but {} octets follow", behind.len());
        messages.push(DecodedMessage::malformed("header", what));
    }
    for m in &mut messages {
        m.fields.insert("next_header".to_owned(), json!(next_header));
        m.fields.insert(
            "dsr_payload_len".to_owned(),
            json!(complete_len.saturating_sub(FIXED_LEN).min(options_len)),
        );
    }
    messages
}

fn message(option: &DsrOption<'_>) -> DecodedMessage {
    let value = match option {
        DsrOption::RouteRequest(r) => json!({
            "id": r.id, "target": r.target.to_string(), "addresses": list(&r.addresses),
        }),
        DsrOption::RouteReply(r) => json!({
            "last_hop_external": r.last_hop_external, "addresses": list(&r.addresses),
        }),
        DsrOption::RouteError(e) => {
            let (error_type, error, info) = error_fields(&e.kind);
            let mut f = fields(json!({
                "error_type": error_type, "error": error, "salvage": e.salvage,
                "error_source": e.source.to_string(), "error_destination": e.destination.to_string(),
            }));
            f.extend(fields(info));
            Value::Object(f)
        }
        DsrOption::AckRequest { id, source } => {
            json!({ "id": id, "ack_source": source.map(|s| s.to_string()) })
        }
        DsrOption::Ack { id, source, destination } => json!({
            "id": id, "ack_source": source.to_string(), "ack_destination": destination.to_string(),
        }),
        DsrOption::SourceRoute(s) => json!({
            "first_hop_external": s.first_hop_external, "last_hop_external": s.last_hop_external,
            "salvage": s.salvage, "segments_left": s.segments_left, "addresses": list(&s.addresses),
        }),
        DsrOption::Timeout { seconds } => json!({ "seconds": seconds }),
        DsrOption::FlowId { flow_id, destination } => json!({
            "flow_id": flow_id, "flow_destination": destination.to_string(),
        }),
        DsrOption::Location(l) => json!({
            "latitude_deg": l.latitude_ndeg as f64 * 1e-9, "longitude_deg": l.longitude_ndeg as f64 * 1e-9,
            "heading_deg": f64::from(l.heading_udeg) * 1e-6, "speed_m_per_s": f64::from(l.speed_mm_per_s) * 1e-3,
        }),
        DsrOption::Probe(p) => json!({
            "probes": p.entries().map(|(a, n)| json!({ "neighbour": a.to_string(), "heard": n })).collect::<Vec<_>>(),
        }),
        DsrOption::LinkMetrics(m) => json!({
            "etx": m.costs().map(|c| f64::from(c) / 1024.0).collect::<Vec<_>>(),
        }),
        DsrOption::Pad1 | DsrOption::PadN(_) => json!({}),
        DsrOption::Unknown { kind, data } => json!({ "option_type": kind, "data": hex(data) }),
    };
    let kind = match option {
        DsrOption::Location(_) => "location",
        DsrOption::Probe(_) => "probe",
        DsrOption::LinkMetrics(_) => "link_metrics",
        other => kind_name(other.kind()),
    };
    DecodedMessage::whole(kind, value)
}

/// An option whose end was not captured: what its beginning says. A list of addresses ends with the last whole one.
fn cut_message(captured: &[u8]) -> DecodedMessage {
    let [kind, _, data @ ..] = captured else {
        return DecodedMessage::cut(captured.first().map_or("unknown", |k| kind_name(*k)));
    };
    let before_list = match *kind {
        option_type::ROUTE_REQUEST => 6,
        option_type::ROUTE_REPLY => 1,
        option_type::SOURCE_ROUTE => 2,
        _ => return DecodedMessage::cut(kind_name(*kind)),
    };
    let Some(in_list) = data.len().checked_sub(before_list) else {
        return DecodedMessage::cut(kind_name(*kind));
    };
    let whole = before_list + in_list / 4 * 4;
    // The same option with a length that covers the whole addresses only; lengths are below 256 by the format.
    let mut shortened = vec![*kind, whole as u8];
    shortened.extend_from_slice(&data[..whole]);
    match dsr::options(&shortened).next() {
        Some(Ok(option)) => DecodedMessage { truncated: true, ..message(&option) },
        _ => DecodedMessage::cut(kind_name(*kind)),
    }
}

fn kind_name(kind: u8) -> &'static str {
    match kind {
        option_type::ROUTE_REQUEST => "rreq",
        option_type::ROUTE_REPLY => "rrep",
        option_type::ROUTE_ERROR => "rerr",
        option_type::ACK_REQUEST => "ack_request",
        option_type::ACK => "ack",
        option_type::SOURCE_ROUTE => "source_route",
        option_type::TIMEOUT => "timeout",
        option_type::FLOW_ID => "flow_id",
        _ => "unknown",
    }
}

/// Its type, the name of that, and the Type-Specific Information (section 6.4).
fn error_fields(kind: &RouteErrorKind<'_>) -> (u8, &'static str, Value) {
    match kind {
        RouteErrorKind::NodeUnreachable(a) => {
            (error_type::NODE_UNREACHABLE, "NODE_UNREACHABLE", json!({ "unreachable": a.to_string() }))
        }
        RouteErrorKind::FlowStateNotSupported => {
            (error_type::FLOW_STATE_NOT_SUPPORTED, "FLOW_STATE_NOT_SUPPORTED", json!({}))
        }
        RouteErrorKind::OptionNotSupported(t) => {
            (error_type::OPTION_NOT_SUPPORTED, "OPTION_NOT_SUPPORTED", json!({ "option_type": t }))
        }
        RouteErrorKind::UnknownFlow { destination, flow_id } => {
            let info = json!({ "flow_destination": destination.to_string(), "flow_id": flow_id });
            (error_type::UNKNOWN_FLOW, "UNKNOWN_FLOW", info)
        }
        RouteErrorKind::DefaultFlowUnknown { destination } => {
            let info = json!({ "flow_destination": destination.to_string() });
            (error_type::DEFAULT_FLOW_UNKNOWN, "DEFAULT_FLOW_UNKNOWN", info)
        }
        RouteErrorKind::Unknown { kind, info } => (*kind, "UNKNOWN", json!({ "info": hex(info) })),
    }
}

fn list(addresses: &AddrList<'_>) -> Vec<String> {
    addresses.iter().map(|a| a.to_string()).collect()
}

fn fields(v: Value) -> Map<String, Value> {
    match v {
        Value::Object(m) => m,
        _ => Map::new(),
    }
}
