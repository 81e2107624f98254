//! Building and sending messages: UDP port 654 in IPv4.

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, DropReason, Packet, Priority, Span, TxId, TxSpec};
use wayhop_wire::aodv::{self, Extension, Message, Rrep, Rreq};
use wayhop_wire::{ipv4, udp};

use crate::engine::state::Engine;

/// Octets in front of a message.
pub(crate) const OVERHEAD: usize = ipv4::HEADER_LEN + udp::HEADER_LEN;

/// A reply to a request by the destination itself; other nodes add their distance.
pub(crate) const fn reply_to(m: &Rreq, destination_seq: u32, lifetime_ms: u32) -> Rrep {
    Rrep::new(m.destination, destination_seq, m.originator, lifetime_ms)
}

impl Engine {
    /// A packet with this message and perhaps an extension.
    pub(crate) fn new_message(
        &mut self,
        cx: &mut Cx<'_>,
        message: &Message<'_>,
        extension: Option<Extension<'_>>,
        to: Ipv4Addr,
        ttl: u8,
    ) -> Packet {
        let len = message.buffer_len();
        let mut p = cx.alloc(OVERHEAD + len + extension.map_or(0, |e| e.buffer_len()));
        self.write(cx.addr(), &mut p, message, to, ttl);
        if let Some(e) = extension {
            let written = e.emit(&mut p.bytes_mut()[OVERHEAD + len..]);
            debug_assert!(written.is_ok(), "the engine's extensions fit");
            self.write_headers(cx.addr(), &mut p, to, ttl);
        }
        p
    }

    /// Turns a received packet into the message to pass on; its extensions stay.
    pub(crate) fn rewrite(
        &mut self,
        cx: &mut Cx<'_>,
        p: &mut Packet,
        payload: core::ops::Range<usize>,
        message: &Message<'_>,
        to: Ipv4Addr,
        ttl: u8,
    ) {
        p.truncate(payload.end);
        p.remove(ipv4::HEADER_LEN, payload.start - OVERHEAD);
        self.write(cx.addr(), p, message, to, ttl);
    }

    fn write(&mut self, own: Ipv4Addr, p: &mut Packet, message: &Message<'_>, to: Ipv4Addr, ttl: u8) {
        let written = message.emit(&mut p.bytes_mut()[OVERHEAD..]);
        debug_assert!(written.is_ok(), "the engine's messages fit: {message:?}");
        self.write_headers(own, p, to, ttl);
    }

    fn write_headers(&mut self, own: Ipv4Addr, p: &mut Packet, to: Ipv4Addr, ttl: u8) {
        self.ip_id = self.ip_id.wrapping_add(1);
        let payload_len = (p.len() - OVERHEAD) as u16;
        let datagram = udp::Repr { src_port: aodv::PORT, dst_port: aodv::PORT, payload_len };
        let mut ip = ipv4::Repr::new(own, to, ipv4::protocol::UDP, payload_len + udp::HEADER_LEN as u16);
        ip.ttl = ttl;
        ip.id = self.ip_id;
        ip.emit(p.bytes_mut());
        datagram.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..], own, to);
    }

    /// To all neighbours, after a wait of up to `jitter`.
    pub(crate) fn broadcast(&mut self, cx: &mut Cx<'_>, p: Packet, jitter: Span) {
        let delay = if jitter == Span::ZERO { Span::ZERO } else { cx.rng().jitter(jitter) };
        self.neighbours.last_broadcast = Some(cx.now());
        cx.send(p, TxSpec::broadcast().after(delay));
    }

    /// To one neighbour, with a report.
    pub(crate) fn unicast(cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr, id: TxId) {
        debug_assert!(next_hop != BROADCAST);
        cx.send(p, TxSpec::unicast(next_hop).with_priority(Priority::Control).reported(id));
    }

    /// Ends everything that waits for a destination.
    pub(crate) fn drop_waiting(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr, why: DropReason) {
        while let Some(p) = self.buffer.take(destination) {
            cx.drop(p, why);
        }
    }
}
