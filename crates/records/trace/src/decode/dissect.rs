//! What is in a frame, layer by layer, for people.

use serde_json::{Value, json};
use wayhop_core::Classifier;
use wayhop_wire::dot11::{Frame, FrameType};
use wayhop_wire::{ipv4, radiotap, udp};

use super::link::{NoPacket, network};
use super::link_type::RADIOTAP;
use super::messages;
use super::radio::radio_frame;
use crate::CapturedFrame;

/// A frame as a JSON object: time and lengths, the link layer's header, IP header, ports, and its routing messages, each as
/// [`super::Decoder`] has it. What a layer is not there for, or was not captured, is null.
pub fn dissect(frame: &CapturedFrame, classifier: &dyn Classifier) -> Value {
    let link = network(frame.link_type, &frame.bytes);
    let kind = match link {
        Err(NoPacket::LinkType(t)) => format!("frame of unsupported link type {t}"),
        _ => "frame".to_owned(),
    };
    let link = link.ok();
    json!({
        "frame": frame.number,
        "time_ns": frame.time_ns,
        "sent": frame.sent,
        "bytes": frame.original_len,
        "captured_bytes": frame.bytes.len(),
        "comment": frame.comment,
        "radio": radio(frame),
        "link": match radio_frame(frame.link_type, &frame.bytes) {
            Some(radio) => dot11(radio.bytes),
            None => Some(json!({
                "kind": kind,
                "transmitter": link.as_ref().and_then(|l| l.transmitter).map(|m| m.to_string()),
                "receiver": link.as_ref().and_then(|l| l.receiver).map(|m| m.to_string()),
            })),
        },
        "ip": link.as_ref().and_then(|l| ip(l.ip, classifier)),
        "messages": link.map_or_else(Vec::new, |l| messages(frame, &l, classifier)),
    })
}

fn radio(frame: &CapturedFrame) -> Option<Value> {
    let (tap, rest) = (frame.link_type == RADIOTAP).then(|| radiotap::split(&frame.bytes).ok())??;
    Some(json!({
        "header_bytes": frame.bytes.len() - rest.len(),
        "bad_fcs": tap.flags.unwrap_or(0) & radiotap::flags::BAD_FCS != 0,
        "rate_mbps": tap.rate_500kbps.map(|r| f64::from(r) / 2.0),
        "channel_mhz": tap.channel.map(|c| c.mhz),
        "signal_dbm": tap.signal_dbm,
        "noise_dbm": tap.noise_dbm,
        "retries": tap.data_retries,
    }))
}

fn dot11(bytes: &[u8]) -> Option<Value> {
    let f = Frame::new_checked(bytes).ok()?;
    let kind = match f.kind() {
        FrameType::Management => "management",
        FrameType::Rts => "RTS",
        FrameType::Cts => "CTS",
        FrameType::Ack => "ACK",
        FrameType::OtherControl => "control",
        FrameType::Data => "data",
        // Its header has two octets for certain, and no address.
        FrameType::Extension => return Some(json!({"kind": "extension"})),
    };
    Some(json!({
        "kind": kind,
        "transmitter": f.transmitter().map(|m| m.to_string()),
        "receiver": f.receiver().to_string(),
        "retry": f.retry(),
        "duration_us": f.duration_us(),
        "sequence": f.sequence().map(|(sequence, _)| sequence),
    }))
}

fn ip(bytes: &[u8], classifier: &dyn Classifier) -> Option<Value> {
    const ICMP: u8 = 1;
    const TCP: u8 = 6;
    const UDP: u8 = 17;
    let ip = ipv4::Packet::new_snapped(bytes).ok()?;
    let ports = (ip.protocol() == UDP).then(|| udp::Packet::new_snapped(ip.payload()).ok()).flatten();
    let name = match ip.protocol() {
        ICMP => Some("ICMP".to_owned()),
        TCP => Some("TCP".to_owned()),
        UDP => Some("UDP".to_owned()),
        _ => classifier.decode(bytes).map(|(protocol, _)| protocol.name.to_uppercase()),
    };
    Some(json!({
        "src": ip.src().to_string(),
        "dst": ip.dst().to_string(),
        "ttl": ip.ttl(),
        "id": ip.id(),
        "bytes": ip.total_len(),
        "protocol": ip.protocol(),
        "protocol_name": name,
        "src_port": ports.as_ref().map(udp::Packet::src_port),
        "dst_port": ports.as_ref().map(udp::Packet::dst_port),
    }))
}
