//! Descriptions of a protocol's messages, for counting, tracing and decoding.

use serde_json::{Map, Value};

use crate::{Addr, Authentication};

/// Which packets carry a protocol's messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// IPv4 packets with this protocol number.
    IpProtocol(u8),
    /// UDP datagrams from or to this port.
    UdpPort(u16),
}

/// A packet of a protocol's [`Carrier`], as it was sent or captured.
#[derive(Copy, Clone, Debug)]
pub struct Datagram<'a> {
    /// IP source.
    pub source: Addr,
    /// IP destination.
    pub destination: Addr,
    /// What follows the IP header or, with [`Carrier::UdpPort`], the UDP header. A capture may have cut it.
    pub payload: &'a [u8],
    /// Length of the payload before it was cut, octets.
    pub complete_len: usize,
}

impl Datagram<'_> {
    /// Whether the end of the payload is missing.
    pub fn is_cut(&self) -> bool {
        self.complete_len > self.payload.len()
    }
}

/// Source and destination: the hop of a packet whose headers name no other, for [`MessageFormat::hop`].
#[allow(clippy::unnecessary_wraps, reason = "other protocols' headers may not tell the hop")]
pub fn ends(d: &Datagram<'_>) -> Option<(Addr, Addr)> {
    Some((d.source, d.destination))
}

/// What is in a packet of a protocol.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Classified {
    /// The index of its class in [`MessageFormat::classes`]; `None` for a packet with application data.
    pub class: Option<u8>,
    /// The messages in it: the bits of [`MessageFormat::types`].
    pub types: u16,
}

/// One message, as `wayhop decode` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedMessage {
    /// The value of `type`.
    pub kind: &'static str,
    /// Every field of the message.
    pub fields: Map<String, Value>,
    /// Whether its end was not captured.
    pub truncated: bool,
    /// How it contradicts its format.
    pub malformed: Option<String>,
}

impl DecodedMessage {
    /// A whole message with these fields, a JSON object.
    pub fn whole(kind: &'static str, fields: Value) -> Self {
        let fields = match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        Self { kind, fields, truncated: false, malformed: None }
    }
    /// A message of which the capture shows nothing but its type.
    pub fn cut(kind: &'static str) -> Self {
        Self { kind, fields: Map::new(), truncated: true, malformed: None }
    }
    /// A message that contradicts its format.
    pub fn malformed(kind: &'static str, how: impl Into<String>) -> Self {
        Self { kind, fields: Map::new(), truncated: false, malformed: Some(how.into()) }
    }
}

/// A protocol's messages.
///
/// The functions run on octets from strangers. They must not panic. `classify` and `hop` run for each packet: they must not
/// allocate.
#[derive(Debug)]
pub struct MessageFormat {
    /// Which packets carry them.
    pub carrier: Carrier,
    /// The classes of routing packets: names in tables. At most 16; trace hashes contain the index, so add new ones at the end.
    pub classes: &'static [&'static str],
    /// The classes, as bits, that a node accepts from each neighbour only at a limited rate
    /// ([`crate::Limits`]). Answers to data, such as acknowledgements, come at its rate and are not limited.
    pub limited: u16,
    /// The types of messages: a bit from 0 to 15, and the key under which summaries count them (`by_type`). Trace hashes
    /// contain the bit.
    pub types: &'static [(u8, &'static str)],
    /// What is in a packet.
    pub classify: fn(&Datagram<'_>) -> Classified,
    /// Every message of a packet, in order.
    pub decode: fn(&Datagram<'_>) -> Vec<DecodedMessage>,
    /// The node that transmitted the packet and the node that shall receive it, as far as its headers tell.
    pub hop: fn(&Datagram<'_>) -> Option<(Addr, Addr)>,
    /// The part of a packet that tells a forwarded copy from the original, for protocols that change packets on their way.
    pub route_header: Option<RouteHeader>,
    /// How they are authenticated; `None` if they cannot be: keys (`security.keys`) are refused then.
    pub authentication: Option<&'static Authentication>,
    /// How ns-2 writes them.
    pub ns2: Ns2Format,
}

/// Finds a part of a payload; `None` if it is cut.
pub type RouteHeader = fn(&[u8]) -> Option<&[u8]>;

/// A routing packet, for a line of an ns-2 trace.
#[derive(Copy, Clone, Debug)]
pub struct Ns2Packet {
    /// The index of its class in [`MessageFormat::classes`].
    pub class: u8,
    /// The messages in it: the bits of [`MessageFormat::types`].
    pub types: u16,
    /// The number of the node that is the IP source; -1 for none.
    pub source: i64,
    /// The number of the node that is the IP destination; -1 for all.
    pub destination: i64,
}

/// How ns-2 traces show a protocol's packets (`trace/cmu-trace.cc`).
#[derive(Debug)]
pub struct Ns2Format {
    /// The name of the packet type.
    pub tag: &'static str,
    /// Appends what follows the IP header in the line of a routing packet.
    pub tail: fn(&Ns2Packet, &mut String),
}
