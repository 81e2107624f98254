//! The scripted medium: one frame at a time from each node, over links that are up or down.

use wayhop_core::{BROADCAST, Frame, IfaceId, Reporting, RxMeta, TxStatus};

use crate::event::Happening;
use crate::links::Link;
use crate::net::Net;
use crate::record::EventKind;

impl Net {
    /// Lets a node that is not sending begin with the next frame of its queue.
    pub(crate) fn next_on_air(&mut self, node: usize) {
        if self.common.air[node].on_air.is_none()
            && let Some(frame) = self.hosts[node].node.pull(IfaceId(0))
        {
            self.common.transmit(node, frame);
        }
    }

    /// A node's transmission is over. The node hears how it ended, and may recall, before the next frame leaves its queue.
    pub(crate) fn air_end(&mut self, node: usize) {
        let Some(frame) = self.common.air[node].on_air.take() else { return };
        let status = if frame.next_hop == BROADCAST {
            self.broadcast_arrives(node, &frame);
            TxStatus::Unknown
        } else {
            match self.unicast_arrives(node, &frame) {
                Some(status) => status,
                None => return self.lost_unresolved(node, frame),
            }
        };
        self.call(node, |n, w, now| n.finished(w, now, frame, status));
    }

    fn broadcast_arrives(&mut self, node: usize, frame: &Frame) {
        let from = self.hosts[node].node.addr();
        for to in (0..self.hosts.len()).filter(|&to| to != node) {
            let link = self.links.get(node, to);
            if link.up && !self.is_lost(link) {
                let packet = self.common.work.pool.copy(&frame.packet);
                let rx = RxMeta::from(from, true).with_signal(link.signal_dbm);
                self.common.schedule(self.now() + link.delay, Happening::Receive { to, packet, rx });
            }
        }
    }

    /// Takes a unicast to its receiver and to those who listen in. Returns how its transmission ended; `None` where the
    /// link acknowledges nothing but a kernel that forwards finds that the next hop's link address does not resolve.
    fn unicast_arrives(&mut self, node: usize, frame: &Frame) -> Option<TxStatus> {
        let from = self.hosts[node].node.addr();
        let is_next_hop = |n: &wayhop_node::Node| n.addr() == frame.next_hop && n.is_up() && n.addr() != from;
        let to = self.hosts.iter().position(|h| is_next_hop(&h.node));
        let tries = if self.config.acknowledged { self.config.tries } else { 1 };
        let arrived = to.filter(|&to| {
            let (there, back) = (self.links.get(node, to), self.links.get(to, node));
            there.up && (back.up || !self.config.acknowledged) && (0..tries).any(|_| !self.is_lost(there))
        });
        self.overhear(node, to, frame);
        if let Some(to) = arrived {
            let link = self.links.get(node, to);
            let rx = RxMeta::from(from, false).with_signal(link.signal_dbm);
            let packet = self.common.work.pool.copy(&frame.packet);
            self.common.schedule(self.now() + link.delay, Happening::Receive { to, packet, rx });
            return Some(if self.config.acknowledged { TxStatus::Acked } else { TxStatus::Unknown });
        }
        if self.config.acknowledged {
            return Some(TxStatus::NoAck { tries });
        }
        if self.config.resolves && !to.is_some_and(|to| self.links.get(node, to).up) {
            let is_forwarded = matches!(frame.reporting, Reporting::Route(_));
            return if is_forwarded { None } else { Some(TxStatus::NoAck { tries: 0 }) };
        }
        self.log_lost(node, frame);
        Some(TxStatus::Unknown)
    }

    /// What a kernel had for a neighbour that does not answer is lost, and its protocol hears of the neighbour.
    fn lost_unresolved(&mut self, node: usize, frame: Frame) {
        self.log_lost(node, &frame);
        let next_hop = frame.next_hop;
        self.common.work.pool.recycle(frame.packet);
        self.call(node, |n, w, now| n.unresolved(w, now, IfaceId(0), next_hop));
    }

    fn log_lost(&mut self, node: usize, frame: &Frame) {
        let meta = frame.packet.meta;
        self.common.log(node, EventKind::LostOnAir { id: meta.id, flow: meta.flow });
    }

    /// Gives the bytes to every neighbour that listens in and is not the receiver.
    fn overhear(&mut self, node: usize, receiver: Option<usize>, frame: &Frame) {
        let from = self.hosts[node].node.addr();
        for to in (0..self.hosts.len()).filter(|&to| to != node && Some(to) != receiver) {
            let link = self.links.get(node, to);
            if self.hosts[to].node.overhears() && link.up && !self.is_lost(link) {
                let rx = RxMeta::from(from, false).with_signal(link.signal_dbm);
                let bytes = frame.packet.bytes().to_vec();
                let next_hop = frame.next_hop;
                self.common
                    .schedule(self.now() + link.delay, Happening::Overhear { to, next_hop, bytes, rx });
            }
        }
    }

    fn is_lost(&mut self, link: Link) -> bool {
        link.loss > 0.0 && self.loss.unit() < link.loss
    }
}
