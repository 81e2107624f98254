//! Notices for transport protocols: ICMP "host unreachable" from where a packet's way ends (RFC 1812, section 5.2.7.1).

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Packet, Span, Time, TxSpec};
use wayhop_wire::{host_unreachable, ipv4};

/// How much of a segment is returned: its ports and its sequence number.
const QUOTED: usize = 8;
/// At most one notice per source and destination in this time (RFC 1812, section 4.3.2.8).
const APART: Span = Span::from_millis(100);

/// Tells sources of packets that their ways end at this node.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    /// The last one: source, destination and time.
    last: Option<(Ipv4Addr, Ipv4Addr, Time)>,
}

impl Notices {
    /// Sends the notice about a packet, if there is a way back: by the next hop that `route` knows, or up to this node's own
    /// stack. `ip_id` is the identification of the last packet that this node made.
    pub fn tell_source(
        &mut self,
        cx: &mut Cx<'_>,
        about: &Packet,
        ip_id: &mut u16,
        route: impl FnOnce(Ipv4Addr) -> Option<Ipv4Addr>,
    ) {
        let Ok(ip) = ipv4::Packet::new_checked(about.bytes()) else { return };
        let (source, destination, now) = (ip.src(), ip.dst(), cx.now());
        let again =
            |(s, d, at): (Ipv4Addr, Ipv4Addr, Time)| (s, d) == (source, destination) && now.since(at) < APART;
        if self.last.is_some_and(again) {
            return;
        }
        let own = source == cx.addr();
        let next_hop = route(source);
        let Some(message) = host_unreachable(&ip, QUOTED) else { return };
        if !own && next_hop.is_none() {
            return;
        }
        self.last = Some((source, destination, now));
        let mut p = cx.alloc(ipv4::HEADER_LEN + message.buffer_len());
        *ip_id = ip_id.wrapping_add(1);
        let head = ipv4::Repr {
            id: *ip_id,
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
