//! Every routing message of a capture, as JSON.

mod dissect;
mod link;
mod link_type;
mod passed_over;
mod radio;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::Read;

use serde_json::{Map, Value, json};
use wayhop_core::{Addr, Classifier, DecodedMessage};
use wayhop_wire::{ipv4, ipv6};

use crate::capture::{CaptureError, CaptureReader, CapturedFrame};
pub use dissect::dissect;
pub use link::{DecodedFrame, LINKTYPE_IEEE802_11, NoPacket, network};
pub use passed_over::PassedOver;

/// The routing messages of a capture, in order, each as a JSON object: frame number and time, link addresses, IP header,
/// protocol and type, and every field of the message. A frame with several messages yields several objects.
///
/// A message whose end was not captured is decoded as far as it goes and has `"truncated": true`; one that contradicts its
/// format has `"malformed"` with the reason. Frames without a routing message, or with a bad FCS, are passed over;
/// [`Decoder::passed_over`] has counted those without an IP packet.
pub struct Decoder<R> {
    classifier: &'static dyn Classifier,
    reader: CaptureReader<R>,
    frame: CapturedFrame,
    passed_over: PassedOver,
    ready: VecDeque<Value>,
    failed: bool,
}

impl<R: Read> Decoder<R> {
    /// Decodes this capture.
    pub fn new(input: R, classifier: &'static dyn Classifier) -> Result<Self, CaptureError> {
        let (frame, ready) = (CapturedFrame::default(), VecDeque::new());
        let passed_over = PassedOver::default();
        let reader = CaptureReader::new(input)?;
        Ok(Self { classifier, reader, frame, passed_over, ready, failed: false })
    }

    /// The number of frames that were read.
    pub fn frames(&self) -> u64 {
        self.frame.number
    }

    /// Those in which there was no IP packet.
    pub fn passed_over(&self) -> &PassedOver {
        &self.passed_over
    }
}

impl<R: Read> Iterator for Decoder<R> {
    type Item = Result<Value, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(v) = self.ready.pop_front() {
                return Some(Ok(v));
            }
            if self.failed {
                return None;
            }
            match self.reader.next_into(&mut self.frame) {
                Ok(true) => match network(self.frame.link_type, &self.frame.bytes) {
                    Ok(link) => self.ready.extend(messages(&self.frame, &link, self.classifier)),
                    Err(why) => self.passed_over.add(why),
                },
                Ok(false) => return None,
                Err(e) => {
                    self.failed = true;
                    return Some(Err(e));
                }
            }
        }
    }
}

fn messages(frame: &CapturedFrame, link: &DecodedFrame<'_>, classifier: &dyn Classifier) -> Vec<Value> {
    let Some(ip) = ip_header(link.ip) else { return Vec::new() };
    let Some((protocol, messages)) = classifier.decode(link.ip) else { return Vec::new() };
    let value = |m: DecodedMessage| {
        let mut v = Map::new();
        let mut put = |key: &str, value: Value| {
            if !value.is_null() {
                v.insert(key.to_owned(), value);
            }
        };
        put("frame", json!(frame.number));
        put("time_ns", json!(frame.time_ns));
        put("sent", json!(frame.sent));
        put("transmitter", json!(link.transmitter.map(|m| m.to_string())));
        put("receiver", json!(link.receiver.map(|m| m.to_string())));
        put("retry", if link.retry { json!(true) } else { Value::Null });
        put("signal_dbm", json!(link.signal_dbm));
        put("src", json!(ip.src.to_string()));
        put("dst", json!(ip.dst.to_string()));
        put("ttl", json!(ip.ttl));
        put("ip_id", json!(ip.id));
        put("ip_bytes", json!(ip.total_len));
        put("protocol", json!(protocol.name));
        put("type", json!(m.kind));
        put("truncated", if m.truncated { json!(true) } else { Value::Null });
        put("malformed", json!(m.malformed));
        v.extend(m.fields);
        Value::Object(v)
    };
    messages.into_iter().map(value).collect()
}

/// What the header of a packet of either version says.
struct IpHeader {
    src: Addr,
    dst: Addr,
    /// How many more hops it may make.
    ttl: u8,
    /// IPv6 has none.
    id: Option<u16>,
    /// Octets, as stated.
    total_len: usize,
}

fn ip_header(packet: &[u8]) -> Option<IpHeader> {
    if let Ok(p) = ipv4::Packet::new_snapped(packet) {
        let (src, dst) = (p.src().into(), p.dst().into());
        return Some(IpHeader { src, dst, ttl: p.ttl(), id: Some(p.id()), total_len: p.total_len() });
    }
    let p = ipv6::Packet::new_snapped(packet).ok()?;
    let (src, dst) = (p.src().into(), p.dst().into());
    Some(IpHeader { src, dst, ttl: p.hop_limit(), id: None, total_len: p.total_len() })
}
