//! Notices for transport protocols: ICMP "host unreachable" from where a packet's way ends (RFC 1812, section 5.2.7.1).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Span, Time, TxSpec};
use wayhop_wire::{host_unreachable, ipv4};

use crate::state::Engine;

/// How much of a segment is returned: its ports and its sequence number.
const QUOTED: usize = 8;
/// The same source is told of the same destination only so often (RFC 1812, section 4.3.2.8).
const APART: Span = Span::from_millis(100);

/// The last notice: source, destination and time.
pub(crate) type LastNotice = Option<(Ipv4Addr, Ipv4Addr, Time)>;

impl Engine {
    /// Ends a data packet that has no route, with a notice to its source.
    pub(crate) fn end_unreachable(&mut self, cx: &mut Cx<'_>, p: Packet, why: DropReason) {
        self.tell_source(cx, &p);
        cx.drop(p, why);
    }

    /// Sends the notice about a packet, if the protocol is told to and there is a way back.
    pub(crate) fn tell_source(&mut self, cx: &mut Cx<'_>, about: &Packet) {
        if !self.params.failure_notices {
            return;
        }
        let Ok(ip) = ipv4::Packet::new_checked(about.bytes()) else { return };
        let (source, destination, now) = (ip.src(), ip.dst(), cx.now());
        let again =
            |(s, d, at): (Ipv4Addr, Ipv4Addr, Time)| (s, d) == (source, destination) && now.since(at) < APART;
        if self.last_notice.is_some_and(again) {
            return;
        }
        let own = source == cx.addr();
        let next_hop = self.table.valid(source).map(|e| e.next_hop);
        let Some(message) = host_unreachable(&ip, QUOTED) else { return };
        if !own && next_hop.is_none() {
            return;
        }
        self.last_notice = Some((source, destination, now));
        let mut p = cx.alloc(ipv4::HEADER_LEN + message.buffer_len());
        self.ip_id = self.ip_id.wrapping_add(1);
        let head = ipv4::Repr {
            id: self.ip_id,
            ..ipv4::Repr::new(cx.addr(), source, ipv4::protocol::ICMP, message.buffer_len() as u16)
        };
        head.emit(p.bytes_mut());
        message.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..]);
        match next_hop {
            _ if own => cx.deliver(p),
            Some(next_hop) => cx.send(p, TxSpec::unicast(next_hop)),
            None => cx.consume(p),
        }
    }
}
