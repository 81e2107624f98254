//! The effects of attackers on a network: other addresses become theirs, and frames go through wormholes.

use wayhop_core::{Addr, DropReason, Frame, IfaceId};
use wayhop_node::Stage;
use wayhop_radio::{EVERYONE, FrameAt, Outgoing};

use crate::event::Event;
use crate::net::Net;

impl Net {
    /// Makes the nodes what attackers are.
    pub(crate) fn introduce_attackers(&mut self) {
        let Some(attackers) = &self.common.attackers else { return };
        for (node, identities) in attackers.identities() {
            if let Some(n) = self.nodes.get_mut(node) {
                n.set_aliases(identities);
            }
            for a in identities {
                self.common.stations.insert(Addr::from(*a), node);
            }
        }
    }

    /// A frame reached a node. If that is the end of a wormhole, the other end sends it again, and true is returned.
    pub(crate) fn tunnel(&mut self, f: &FrameAt<'_>) -> bool {
        let Some(attackers) = &mut self.common.attackers else { return false };
        let end = f.station;
        let Some((other, delay)) = attackers.other_end(end, f.at) else { return false };
        let from = f.head.from;
        if attackers.is_wormhole(from) {
            return true;
        }
        attackers.heard.insert((end, from), f.at);
        if f.head.to == end {
            return false;
        }
        let is_for_here = f.head.to != EVERYONE && !attackers.stands_in(f.at, end, from, f.head.to);
        let Some(Outgoing { frame, .. }) = f.body.filter(|_| !is_for_here) else { return true };
        if !self.nodes[other.index()].is_up() {
            // It has been acknowledged, and goes nowhere.
            self.common.lose(f.at, end, &frame.packet, DropReason::Attack);
            return true;
        }
        let sender = attackers.sender(from, frame);
        let packet = self.common.work.pool.copy(&frame.packet);
        let sender = sender.unwrap_or_else(|| self.common.source(from, frame.payload));
        if let Some(attackers) = &mut self.common.attackers {
            attackers.senders.insert((other.0, packet.meta.id), sender);
        }
        let &Frame { payload, next_hop, receiver, priority, .. } = frame;
        let (iface, reporting) = (IfaceId(0), wayhop_core::Reporting::Nobody);
        let life = self.nodes[other.index()].life();
        let again = Frame { packet, payload, iface, next_hop, receiver, priority, reporting, life };
        let handle = self.common.tx_pending.put(again);
        self.common.queue.push(f.at + delay, other.0, Event::Down(Stage::Enqueue, handle));
        true
    }
}
