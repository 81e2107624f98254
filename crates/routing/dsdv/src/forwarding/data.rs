//! Data packets: without a route, and returned by the link layer.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, TxStatus, WaitingPacket};
use wayhop_wire::ipv4;

use crate::engine::state::Engine;

impl Engine {
    /// Sends a packet by its route, keeps it until there is one, or ends it, with `why` where it may not wait.
    pub(crate) fn route_or_wait(&mut self, cx: &mut Cx<'_>, p: Packet, why: DropReason) {
        let Some((source, destination)) = ipv4::ends(p.bytes()) else {
            return cx.drop(p, DropReason::Malformed);
        };
        if !ipv4::is_host(destination) || destination == cx.addr() {
            return cx.drop(p, DropReason::NoRoute);
        }
        if self.exits.leads_to(destination) {
            // The host sends it on.
            return cx.deliver(p);
        }
        let next_hop = self.table.valid(destination).map(|e| e.next_hop);
        if let Some(next_hop) = next_hop.or_else(|| self.way_out(cx, destination)) {
            Self::send_data(cx, p, next_hop);
        } else if self.exits.is_answerable(cx.addr(), source) || self.params.buffer_transit {
            self.wait(cx, p, destination);
        } else {
            self.end_unreachable(cx, p, why);
        }
    }

    /// Ends a data packet that has no route, with a notice to its source if the protocol is told to and there is a way back.
    pub(crate) fn end_unreachable(&mut self, cx: &mut Cx<'_>, p: Packet, why: DropReason) {
        if self.params.failure_notices {
            let next_hop = |to| self.table.valid(to).map(|e| e.next_hop);
            self.notices.tell_source(cx, &p, &mut self.ip_id, next_hop);
        }
        cx.drop(p, why);
    }

    fn wait(&mut self, cx: &mut Cx<'_>, p: Packet, destination: Ipv4Addr) {
        let now = cx.now();
        self.buffer.push(WaitingPacket { packet: p, destination, since: now, state: () });
        self.drop_excess(cx, destination);
        self.check_at(cx, now + self.params.buffer_timeout());
    }

    /// Drops what is too much for this destination, or in all.
    pub(crate) fn drop_excess(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let limit = self.params.buffer_per_destination;
        while let Some(p) =
            self.buffer.take_excess_for(destination, limit).or_else(|| self.buffer.take_excess())
        {
            cx.drop(p, DropReason::BufferFull);
        }
    }

    /// There is a route: sends all that waits for it.
    pub(crate) fn release(&mut self, cx: &mut Cx<'_>, destination: Ipv4Addr) {
        let Some(next_hop) = self.table.valid(destination).map(|e| e.next_hop) else { return };
        while let Some(p) = self.buffer.take(destination) {
            Self::send_data(cx, p, next_hop);
        }
    }

    /// A transmission of a data packet ended. Without link-layer feedback its loss says nothing.
    pub(crate) fn sent(&mut self, cx: &mut Cx<'_>, next_hop: Ipv4Addr, status: TxStatus, p: Option<Packet>) {
        let is_broken = matches!(status, TxStatus::NoAck { .. }) && self.params.link_feedback;
        if is_broken {
            cx.recall(next_hop);
            self.link_broken(cx, next_hop);
        }
        let Some(p) = p else { return };
        match status {
            TxStatus::Acked | TxStatus::Unknown => cx.consume(p),
            TxStatus::QueueFull => cx.drop(p, DropReason::QueueFull),
            TxStatus::NoAck { .. } if !is_broken => cx.drop(p, DropReason::MacRetries),
            TxStatus::NoAck { .. } => self.route_or_wait(cx, p, DropReason::MacRetries),
            TxStatus::Recalled => self.route_or_wait(cx, p, DropReason::NoRoute),
        }
    }
}
