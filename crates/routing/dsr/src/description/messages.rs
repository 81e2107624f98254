//! The contents of a DSR packet, for counting, tracing and decoding.

use std::fmt::Write as _;

use wayhop_core::{Addr, Classified, Datagram, Ns2Packet, ends};
use wayhop_wire::dsr::{self, DsrOption};
use wayhop_wire::ipv4::protocol;

/// The type of the ICMP message Destination Unreachable.
const ICMP_UNREACHABLE: u8 = 3;

// Types of messages, as bits.
const RREQ: u16 = 1;
const RREP: u16 = 1 << 1;
const RERR: u16 = 1 << 2;
const ACK: u16 = 1 << 3;
const ACK_REQUEST: u16 = 1 << 4;

/// The types with their names.
pub(crate) const TYPES: &[(u8, &str)] =
    &[(0, "rreq"), (1, "rrep"), (2, "rerr"), (3, "ack"), (4, "ack_request")];

/// The classes: Route Request (RFC 4728, section 6.2), Route Reply (6.3), Route Error (6.4), an Acknowledgement or a request
/// for one without data (6.5 and 6.6), any other packet without data.
pub(crate) const CLASSES: &[&str] = &["rreq", "rrep", "rerr", "ack", "other"];

/// Route Requests, Route Replies and Route Errors. Acknowledgements come as often as data goes.
pub(crate) const LIMITED: u16 = 0b111;

/// The class of a packet with messages of several types is the first of these.
const BY_WEIGHT: [(u16, u8); 5] = [(RREQ, 0), (RREP, 1), (RERR, 2), (ACK, 3), (ACK_REQUEST, 3)];
const OTHER: u8 = 4;

/// A packet may carry several messages (a Route Error on a Route Request), and one with data may carry some too.
pub(crate) fn classify(d: &Datagram<'_>) -> Classified {
    let payload = match d.payload {
        // The options follow a Flow State header (section 8.6.2).
        [protocol::DSR, flags, _, _, options @ ..] if flags & 0x80 != 0 => options,
        other => other,
    };
    let [next_header, flags, a, b, behind @ ..] = payload else { return Classified::default() };
    let mut types = 0;
    if flags & 0x80 == 0 {
        let len = usize::from(u16::from_be_bytes([*a, *b])).min(behind.len());
        for option in dsr::options(&behind[..len]).flatten() {
            types |= match option {
                DsrOption::RouteRequest(_) => RREQ,
                DsrOption::RouteReply(_) => RREP,
                DsrOption::RouteError(_) => RERR,
                DsrOption::Ack { .. } => ACK,
                DsrOption::AckRequest { .. } => ACK_REQUEST,
                _ => 0,
            };
        }
    }
    // A notice of a lost route that rides on a Route Error makes no data packet of it.
    let notice = *next_header == protocol::ICMP
        && types & RERR != 0
        && behind.get(usize::from(u16::from_be_bytes([*a, *b]))) == Some(&ICMP_UNREACHABLE);
    if *next_header != protocol::NO_NEXT_HEADER && !notice {
        return Classified { class: None, types };
    }
    let class = BY_WEIGHT.iter().find(|(t, _)| types & t != 0).map_or(OTHER, |(_, class)| *class);
    Classified { class: Some(class), types }
}

/// The hop that a packet makes: by its Source Route (section 8.1.5), a Route Request's record (section 8.2.2), or, without
/// either, its ends.
pub(crate) fn hop(d: &Datagram<'_>) -> Option<(Addr, Addr)> {
    let Ok(header) = dsr::Packet::new_checked(d.payload) else { return ends(d) };
    for option in header.options() {
        match option.ok()? {
            DsrOption::RouteRequest(r) => {
                return Some((r.addresses.last().map_or(d.source, Addr::from), d.destination));
            }
            DsrOption::SourceRoute(s) => {
                let n = s.addresses.len();
                let next = n.checked_sub(usize::from(s.segments_left))?;
                let from = match next.checked_sub(1) {
                    Some(i) => s.addresses.at(i)?.into(),
                    None => d.source,
                };
                return Some((from, s.addresses.at(next).map_or(d.destination, Addr::from)));
            }
            _ => {}
        }
    }
    // A flow's packet names no hops once it is under way (section 8.6.2).
    if header.flow_state().is_some_and(|f| f.hop_count > 0) {
        return None;
    }
    ends(d)
}

/// The DSR header, which each node on the way changes.
pub(crate) fn route_header(payload: &[u8]) -> Option<&[u8]> {
    dsr::Packet::new_checked(payload).ok().map(|p| p.header())
}

/// ns-2's `format_dsr`: whether there are a Route Request, a Route Reply and a Route Error; what it says of routes is left 0.
pub(crate) fn ns2_tail(p: &Ns2Packet, out: &mut String) {
    let has = |t| u8::from(p.types & t != 0);
    // Writing into a string cannot fail.
    let _ = write!(out, "0 [{} 0] [{} 0 0 0->0] [{} 0 0 0->0]", has(RREQ), has(RREP), has(RERR));
}
