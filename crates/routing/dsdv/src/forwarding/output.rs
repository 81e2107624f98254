//! Building and sending messages, UDP port 269 in IPv4, and the host's routes.

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Cx, Packet, Route, Span, TxId, TxSpec};
use wayhop_wire::dsdv::{self, Update};
use wayhop_wire::{ipv4, udp};

use crate::engine::state::Engine;
use crate::gateway::exits::is_exit;
use crate::params::OVERHEAD;

impl Engine {
    /// Broadcasts the entries in as many packets as they need.
    pub(crate) fn send_entries(&mut self, cx: &mut Cx<'_>) {
        self.last_sent = Some(cx.now());
        let delay = jitter(cx, self.params.broadcast_jitter_ms);
        let entries = core::mem::take(&mut self.entries);
        for some in entries.chunks(self.params.entries_per_packet()) {
            let p = self.new_update(cx, &some.into());
            cx.send(p, TxSpec::broadcast().after(delay));
        }
        self.entries = entries;
    }

    fn new_update(&mut self, cx: &mut Cx<'_>, update: &Update<'_>) -> Packet {
        let len = update.buffer_len() as u16;
        let mut p = cx.alloc(OVERHEAD + usize::from(len));
        let written = update.emit(&mut p.bytes_mut()[OVERHEAD..]);
        debug_assert!(written.is_ok(), "an update has entries");
        let datagram = udp::Repr { src_port: dsdv::PORT, dst_port: dsdv::PORT, payload_len: len };
        let mut ip = ipv4::Repr::new(cx.addr(), BROADCAST, ipv4::protocol::UDP, udp::HEADER_LEN as u16 + len);
        self.ip_id = self.ip_id.wrapping_add(1);
        ip.ttl = 1;
        ip.id = self.ip_id;
        ip.emit(p.bytes_mut());
        datagram.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..], cx.addr(), BROADCAST);
        p
    }

    /// Sends a data packet, with a report. (What the host forwards has a report without an identifier.)
    pub(crate) fn send_data(cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr) {
        cx.send(p, TxSpec::unicast(next_hop).reported(TxId(1)));
    }

    /// Brings the host's row for a destination in line with the table.
    pub(crate) fn publish(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        match self.table.valid(destination) {
            _ if is_exit(destination) => self.publish_exits(cx),
            Some(e) => cx.install(Route::to_host(destination, e.next_hop, e.hops.into())),
            None => cx.uninstall(destination),
        }
    }
}

/// A random time up to this; none is drawn where it is 0.
pub(crate) fn jitter(cx: &mut Cx<'_>, most_ms: u64) -> Span {
    if most_ms == 0 { Span::ZERO } else { cx.rng().jitter(Span::from_millis(most_ms)) }
}
