//! Automatic route shortening for packets of flows (RFC 4728 sections 3.5.6, 5.2, 8.6.3 and 8.6.5).
//!
//! A packet of a flow does not list the nodes ahead, so a node that overhears one too early notes it. When the packet
//! comes by its route, the source is told that the nodes between can be left out.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Packet, RxMeta};
use wayhop_wire::dsr::FlowState;
use wayhop_wire::ipv4;

use crate::engine::Engine;
use crate::path::Path;
use crate::view::Way;

/// How many flows the table has room for, and how many packets of each.
const FLOWS: usize = 64;
const PACKETS: usize = 4;

/// (source, destination, flow identifier).
type Name = (Ipv4Addr, Ipv4Addr, u16);

/// What tells a packet of a flow from others: identification and fragment offset of its IP header, which no hop changes.
type Key = (u16, u16);

/// The Automatic Route Shortening Table: a ring of flows, each with a ring of packets.
#[derive(Clone, Default, Hash)]
pub(crate) struct ArsTable {
    rows: Vec<Row>,
    next: usize,
}

#[derive(Clone, Hash)]
struct Row {
    name: Name,
    heard: [Option<(Key, u8)>; PACKETS],
    next: usize,
}

impl ArsTable {
    /// Notes that a packet was overheard when it was due at the node with this Hop Count; the lowest counts.
    fn note(&mut self, name: Name, key: Key, hop_count: u8) {
        let at = self.rows.iter().position(|r| r.name == name).unwrap_or_else(|| {
            let row = Row { name, heard: [None; PACKETS], next: 0 };
            if self.rows.len() < FLOWS {
                self.rows.push(row);
                return self.rows.len() - 1;
            }
            let at = self.next;
            self.rows[at] = row;
            self.next = (at + 1) % FLOWS;
            at
        });
        let row = &mut self.rows[at];
        if let Some((_, lowest)) = row.heard.iter_mut().flatten().find(|(k, _)| *k == key) {
            *lowest = hop_count.min(*lowest);
            return;
        }
        row.heard[row.next] = Some((key, hop_count));
        row.next = (row.next + 1) % PACKETS;
    }

    /// The Hop Count noted for a packet, which is forgotten.
    fn take(&mut self, name: Name, key: Key) -> Option<u8> {
        let row = self.rows.iter_mut().find(|r| r.name == name)?;
        let noted = row.heard.iter_mut().find(|h| h.is_some_and(|(k, _)| k == key))?;
        noted.take().map(|(_, hop_count)| hop_count)
    }
}

fn key(ip: &ipv4::Packet<'_>) -> Key {
    (ip.id(), ip.fragment_offset())
}

impl Engine {
    /// A packet without source route for another node: is it one of a flow that will bring it here later?
    pub(crate) fn overhear_flow(
        &mut self,
        cx: &Cx<'_>,
        ip: &ipv4::Packet<'_>,
        state: Option<FlowState>,
        rx: &RxMeta,
    ) {
        if !self.params.flow_state || !self.params.flow_shortening || rx.broadcast {
            return;
        }
        let (from, to) = (ip.src(), ip.dst());
        let Some(f) = self.flows.named_or_default(from, to, state.map(|s| s.flow_id), cx.now()) else {
            return;
        };
        // The place on the route of the node that it was sent to. Without Hop Count the TTL tells it.
        let due_at = match state {
            Some(s) => Some(s.hop_count.saturating_add(1)),
            None => ip.ttl().checked_sub(f.ttl).and_then(|ahead| f.hop_count.checked_sub(ahead)),
        };
        let Some(due_at) = due_at.filter(|&n| n > 0 && n < f.hop_count) else { return };
        // A frame from another node than the one before that place proves nothing.
        if f.route.nodes().get(usize::from(due_at) - 1) == Some(&rx.neighbour4()) {
            let name = (from, to, f.id);
            self.ars.note(name, key(ip), due_at);
        }
    }

    /// A packet of a flow has come by its route. If it was overheard before, its source is told of the shorter route.
    /// `(route, hop_count, id)` are those of the flow.
    pub(crate) fn shorten_flow(
        &mut self,
        cx: &mut Cx<'_>,
        p: &Packet,
        (route, hop_count, id): (Path, u8, u16),
    ) {
        if !self.params.flow_shortening || !self.params.gratuitous_replies {
            return;
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return };
        let Some(due_at) = self.ars.take((ip.src(), ip.dst(), id), key(&ip)) else { return };
        if due_at < hop_count {
            // As if its source route had been seen when it was overheard.
            self.shorten(cx, &Way { nodes: route, receiver: due_at.into() });
        }
    }

    /// A packet has reached its destination by a flow.
    pub(crate) fn end_of_flow(&mut self, cx: &mut Cx<'_>, p: &Packet, state: Option<FlowState>) {
        if !self.params.flow_state || !self.params.flow_shortening {
            return;
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return };
        let id = state.map(|s| s.flow_id);
        if let Some(f) = self.flows.named_or_default(ip.src(), ip.dst(), id, cx.now()) {
            let flow = (f.route, f.hop_count, f.id);
            self.shorten_flow(cx, p, flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn the_lowest_hop_count_of_a_packet_counts_and_is_told_once() {
        let mut t = ArsTable::default();
        for n in [3, 2, 4] {
            t.note((A, B, 1), (7, 0), n);
        }
        assert_eq!(t.take((A, B, 3), (7, 0)), None);
        assert_eq!(t.take((A, B, 1), (8, 0)), None);
        assert_eq!(t.take((A, B, 1), (7, 0)), Some(2));
        assert_eq!(t.take((A, B, 1), (7, 0)), None);
    }

    #[test]
    fn packets_give_way_before_flows_do() {
        let mut t = ArsTable::default();
        for id in 0..1_000 {
            t.note((A, B, 1), (id, 0), 1);
        }
        assert_eq!(t.rows.len(), 1);
        assert_eq!((995..1_000).filter(|&id| t.take((A, B, 1), (id, 0)).is_some()).count(), 4);
        for flow in 0..200 {
            t.note((A, B, flow), (1, 0), 1);
        }
        assert_eq!(t.rows.len(), FLOWS, "bounded");
        assert_eq!(t.take((A, B, 199), (1, 0)), Some(1));
    }
}
