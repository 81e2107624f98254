//! Inputs and effects of a log in words. A classifier reads the routing messages in packets.

use serde_json::{Map, Value};
use wayhop_core::{Classifier, Packet, from_hex};
use wayhop_wire::{ipv4, ipv6};

/// An input: a heading, and below it what its packet is.
pub fn input(value: &Value, classifier: &dyn Classifier) -> Vec<String> {
    let Some((kind, body)) = variant(value) else { return vec![value.to_string()] };
    let mut lines = Vec::new();
    match kind {
        "start" => lines.push("start".to_owned()),
        "outbound" => {
            lines.push("outbound: a packet from above, or one without a route".to_owned());
            lines.push(packet(body, classifier));
        }
        "frame" => {
            lines.push(format!("frame {}", rx(&body[1])));
            lines.push(packet(&body[0], classifier));
        }
        "overheard" => {
            let to = text(&body["next_hop"]);
            lines.push(format!("overheard {}, for {to}", rx(&body["rx"])));
            lines.push(octets(text(&body["packet"]).as_str(), classifier));
        }
        "tx_status" => {
            let id = match &body["id"] {
                Value::Null => "a forwarded packet".to_owned(),
                id => format!("transmission {id}"),
            };
            let (to, status) = (text(&body["next_hop"]), plain(&body["status"]));
            lines.push(format!("tx status of {id} to {to}: {status}"));
            if !body["packet"].is_null() {
                lines.push(packet(&body["packet"], classifier));
            }
        }
        "timer" => lines.push(format!("timer {body}")),
        kind => lines.push(format!("{}: {}", kind.replace('_', " "), plain(body))),
    }
    lines
}

/// An effect, in one line.
pub fn effect(value: &Value, classifier: &dyn Classifier) -> String {
    let Some((kind, body)) = variant(value) else { return value.to_string() };
    match kind {
        "send" => format!("send {} {}", spec(&body[1]), packet(&body[0], classifier)),
        "deliver" | "consume" => format!("{kind} {}", packet(body, classifier)),
        "drop" => format!("drop ({}) {}", text(&body[1]), packet(&body[0], classifier)),
        "set_timer" => format!("set timer {} to {}", body[0], seconds(&body[1])),
        "clear_timer" => format!("clear timer {body}"),
        "note" => {
            format!("note {} about {}: {}", text(&body["what"]), text(&body["about"]), body["value"])
        }
        "recall" => format!("recall what waits for {}, interface {}", text(&body[1]), iface(&body[0])),
        kind => format!("{} {}", kind.replace('_', " "), plain(body)),
    }
}

/// Where two effects of the same kind have different packets: the offset of the first different octet, and both.
pub fn first_octet(a: &Value, b: &Value) -> Option<(usize, Option<u8>, Option<u8>)> {
    let of = |v: &Value| {
        let (kind, body) = variant(v)?;
        let packet = if matches!(kind, "send" | "drop") { &body[0] } else { body };
        Some((kind.to_owned(), from_hex(packet.get("octets")?.as_str()?)?))
    };
    let ((kind_a, a), (kind_b, b)) = (of(a)?, of(b)?);
    let at = (0..a.len().max(b.len())).find(|&i| a.get(i) != b.get(i))?;
    (kind_a == kind_b).then(|| (at, a.get(at).copied(), b.get(at).copied()))
}

/// The name of an enum's variant, and what is in it.
fn variant(value: &Value) -> Option<(&str, &Value)> {
    match value {
        Value::String(name) => Some((name, &Value::Null)),
        Value::Object(map) if map.len() == 1 => map.iter().next().map(|(k, v)| (k.as_str(), v)),
        _ => None,
    }
}

fn packet(value: &Value, classifier: &dyn Classifier) -> String {
    let Ok(p) = serde_json::from_value::<Packet>(value.clone()) else { return value.to_string() };
    let flow = p.meta.flow.map_or_else(String::new, |f| format!(" (flow {}, packet {})", f.flow, f.seq));
    format!("#{}{flow} {}", p.meta.id.0, ip(p.bytes(), classifier))
}

fn octets(hex: &str, classifier: &dyn Classifier) -> String {
    from_hex(hex).map_or_else(|| hex.to_owned(), |octets| ip(&octets, classifier))
}

/// What an IP packet is, with its routing messages.
fn ip(octets: &[u8], classifier: &dyn Classifier) -> String {
    let len = octets.len();
    let Ok(ip) = ipv4::Packet::new_checked(octets) else {
        return match ipv6::Packet::new_checked(octets) {
            Ok(ip) => {
                let (src, dst, hops) = (ip.src(), ip.dst(), ip.hop_limit());
                format!("{src} > {dst}, hop limit {hops}, {len} octets; next header {}", ip.next_header())
            }
            Err(_) => format!("{len} octets that are no IP packet"),
        };
    };
    let mut parts = vec![format!("{} > {}, ttl {}, {len} octets", ip.src(), ip.dst(), ip.ttl())];
    match classifier.decode(octets) {
        Some((protocol, messages)) => parts.extend(messages.into_iter().map(|m| {
            let how = m.malformed.map_or_else(String::new, |how| format!(" malformed: {how}"));
            format!("{} {} {}{how}", protocol.name, m.kind, fields(&m.fields))
        })),
        None => parts.push(format!("IP protocol {}", ip.protocol())),
    }
    parts.join("; ")
}

fn fields(fields: &Map<String, Value>) -> String {
    let one = |(k, v): (&String, &Value)| format!("{k} {}", plain(v));
    fields.iter().filter(|(_, v)| !v.is_null()).map(one).collect::<Vec<_>>().join(", ")
}

fn spec(spec: &Value) -> String {
    let to = match text(&spec["next_hop"]) {
        to if to == "255.255.255.255" => "to all".to_owned(),
        to => format!("to {to}"),
    };
    let mut parts = vec![format!("{to} as {}", text(&spec["priority"]))];
    if iface(&spec["iface"]) != "any" {
        parts.push(format!("interface {}", iface(&spec["iface"])));
    }
    if let Some(delay) = spec["delay"].as_u64().filter(|d| *d > 0) {
        parts.push(format!("after {} ms", delay as f64 / 1e6));
    }
    if !spec["report"].is_null() {
        parts.push(format!("report {}", spec["report"]));
    }
    parts.join(", ") + ":"
}

fn rx(rx: &Value) -> String {
    let to = if rx["broadcast"] == true { "all" } else { "this node" };
    let heard = format!("from {} to {to}, interface {}", text(&rx["from"]), iface(&rx["iface"]));
    if rx["signal_dbm"].is_null() { heard } else { format!("{heard}, {} dBm", rx["signal_dbm"]) }
}

fn iface(value: &Value) -> String {
    if value == 255 { "any".to_owned() } else { value.to_string() }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A value without the marks that only a parser needs.
fn plain(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let one = |(k, v): (&String, &Value)| format!("{k} {}", plain(v));
            map.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        Value::Array(all) => format!("[{}]", all.iter().map(plain).collect::<Vec<_>>().join(", ")),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

fn seconds(ns: &Value) -> String {
    ns.as_u64().map_or_else(|| ns.to_string(), |ns| format!("{:.9} s", ns as f64 / 1e9))
}
