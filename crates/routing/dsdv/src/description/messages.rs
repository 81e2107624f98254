//! The contents of a DSDV datagram, for counting and tracing.

use wayhop_core::{Classified, Datagram, Ns2Packet};
use wayhop_wire::dsdv::Update;

/// The types of messages: there is one. Its bit is the one that no other protocol's trace hashes use.
pub(crate) const TYPES: &[(u8, &str)] = &[(UPDATE_BIT, "update")];
const UPDATE_BIT: u8 = 7;

/// The classes of packets.
pub(crate) const CLASSES: &[&str] = &["update"];

/// The only one.
pub(crate) const LIMITED: u16 = 1;

/// A datagram is one update, full or incremental.
pub(crate) fn classify(d: &Datagram<'_>) -> Classified {
    match Update::parse(d.payload) {
        Ok(_) => Classified { class: Some(0), types: 1 << UPDATE_BIT },
        Err(_) => Classified::default(),
    }
}

/// ns-2 traces a DSDV packet as any message, without fields of its own.
pub(crate) fn ns2_tail(_: &Ns2Packet, _: &mut String) {}
