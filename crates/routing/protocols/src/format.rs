//! What descriptions without an engine, or without messages, have in common.

use std::fmt::Display;

use serde_json::json;
use wayhop_core::{
    Carrier, Classified, Datagram, DecodedMessage, Description, HostNeeds, MessageFormat, Ns2Format, ends,
};

/// No datagram has port 0 (RFC 768): none is a message of this protocol.
pub(crate) const NO_CARRIER: Carrier = Carrier::UdpPort(0);

/// No parameters, because there is no engine.
pub(crate) const NO_ENGINE: Description = Description {
    name: "",
    full_name: "",
    specification: "",
    profiles: &[],
    schema: || json!({ "type": "object", "properties": {} }),
    profile: |_| None,
    read: |_| Err("Wayhop decodes the messages of this protocol, but does not run it".to_owned()),
    messages: NO_MESSAGES,
    host: HostNeeds::NONE,
    forger: None,
};

/// Each packet makes one hop.
pub(crate) const NO_MESSAGES: MessageFormat = MessageFormat {
    carrier: NO_CARRIER,
    classes: &[],
    limited: 0,
    types: &[],
    classify: |_| Classified::default(),
    decode: |_| Vec::new(),
    hop: ends,
    route_header: None,
    authentication: None,
    ns2: Ns2Format { tag: "", tail: |_, _| {} },
};

/// The class of a packet with several messages: that of the first type here that it has.
pub(crate) fn heaviest(types: u16, by_weight: &[(u16, u8)]) -> Option<u8> {
    by_weight.iter().find(|(of, _)| types & of != 0).map(|(_, class)| *class)
}

/// A message of a datagram that cannot be read: the capture ends in it, or it is malformed.
pub(crate) fn unreadable(
    d: &Datagram<'_>,
    message: &[u8],
    kind: &'static str,
    why: impl Display,
) -> DecodedMessage {
    if d.is_cut() && message.as_ptr_range().end == d.payload.as_ptr_range().end {
        DecodedMessage::cut(kind)
    } else {
        DecodedMessage::malformed(kind, why.to_string())
    }
}
