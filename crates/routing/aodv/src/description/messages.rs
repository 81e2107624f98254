//! The contents of an AODV datagram, for counting, tracing and decoding.

use std::fmt::Write as _;

use wayhop_core::{Addr, Classified, Datagram, Ns2Packet};
use wayhop_wire::aodv::{Message, Rrep};

/// The types of messages. Bits 3 and 4 are free: trace hashes contain the others as they are.
pub(crate) const TYPES: &[(u8, &str)] =
    &[(0, "rreq"), (1, "rrep"), (2, "rerr"), (HELLO_BIT, "hello"), (RREP_ACK_BIT, "rrep_ack")];
const HELLO_BIT: u8 = 5;
const RREP_ACK_BIT: u8 = 6;

/// The classes: Route Request (RFC 3561, section 5.1), Route Reply (5.2), Route Error (5.3), Hello (6.9), Route Reply
/// Acknowledgement (5.4).
pub(crate) const CLASSES: &[&str] = &["rreq", "rrep", "rerr", "hello", "rrep_ack"];

pub(crate) const LIMITED: u16 = (1 << CLASSES.len()) - 1;

// The indices of the classes.
const RREQ: u8 = 0;
const RREP: u8 = 1;
const RERR: u8 = 2;
const HELLO: u8 = 3;
const RREP_ACK: u8 = 4;

/// A datagram is one message.
pub(crate) fn classify(d: &Datagram<'_>) -> Classified {
    let class = match Message::parse(d.payload) {
        Ok(Message::Rreq(_)) => RREQ,
        Ok(Message::Rrep(r)) if is_hello(&r, d) => HELLO,
        Ok(Message::Rrep(_)) => RREP,
        Ok(Message::Rerr(_)) => RERR,
        Ok(Message::RrepAck) => RREP_ACK,
        Err(_) => return Classified::default(),
    };
    Classified { class: Some(class), types: 1 << TYPES[usize::from(class)].0 }
}

/// Whether a Route Reply is a Hello (section 6.9): no hop made, for the sender itself, and for all neighbours or at least
/// for nobody else.
pub(crate) fn is_hello(r: &Rrep, d: &Datagram<'_>) -> bool {
    r.hop_count == 0
        && r.destination == d.source
        && (r.originator == d.source || d.destination == Addr::BROADCAST)
}

/// ns-2's `format_aodv`: the type of the message; numbers of its fields are left 0.
pub(crate) fn ns2_tail(p: &Ns2Packet, out: &mut String) {
    let (source, destination) = (p.source, p.destination);
    // Writing into a string cannot fail.
    let _ = match p.class {
        RREQ => write!(out, "[0x2 0 0 [0 0] [{source} 0]] (REQUEST)"),
        RREP => write!(out, "[0x4 0 [{source} 0] 0.000000] (REPLY)"),
        HELLO => write!(out, "[0x1 0 [{source} 0] 0.000000] (HELLO)"),
        RERR => write!(out, "[0x8 0 [0 0] 0.000000] (ERROR)"),
        _ => write!(out, "[0x10 0 [{destination} 0] 0.000000] (RREP_ACK)"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_one_type_of_message() {
        let types: Vec<&str> = TYPES.iter().map(|(_, name)| *name).collect();
        assert_eq!(types, CLASSES);
    }
}
