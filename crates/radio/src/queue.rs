//! The interface queue: strict priority over three classes, each first come, first served.

use std::collections::VecDeque;

use wayhop_core::{Addr, Packet, Priority, TxId};

/// What a data frame carries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// An IPv4 packet.
    Ip,
    /// An ARP packet (RFC 826).
    Arp,
}

/// A packet on its way down to the air.
#[derive(Debug)]
pub struct Outgoing {
    /// Its bytes.
    pub packet: Packet,
    /// What they are.
    pub payload: Payload,
    /// The neighbour's network address; broadcast for all.
    pub next_hop: Addr,
    /// The neighbour's station: an index, [`crate::EVERYONE`], or [`crate::NOBODY`] for an address that is not there.
    pub to: u32,
    /// Its class.
    pub priority: Priority,
    /// The protocol's number for it.
    pub report: Option<TxId>,
    /// Whether its fate goes to the protocol.
    pub wants_status: bool,
}

/// One station's interface queue.
#[derive(Debug, Default)]
pub(crate) struct InterfaceQueue {
    classes: [VecDeque<Outgoing>; 3],
}

impl InterfaceQueue {
    /// Adds a packet, or gives it back when its class already holds `limit`.
    pub(crate) fn push(&mut self, out: Outgoing, limit: u32) -> Result<(), Outgoing> {
        let class = &mut self.classes[out.priority as usize];
        if class.len() >= limit as usize {
            return Err(out);
        }
        class.push_back(out);
        Ok(())
    }

    /// The next packet to send.
    pub(crate) fn pop(&mut self) -> Option<Outgoing> {
        self.classes.iter_mut().find_map(VecDeque::pop_front)
    }

    /// Takes out the packets for a neighbour, in order.
    pub(crate) fn recall(&mut self, next_hop: Addr, mut taken: impl FnMut(Outgoing)) {
        for class in &mut self.classes {
            let mut i = 0;
            while i < class.len() {
                if class[i].next_hop == next_hop && class[i].payload == Payload::Ip {
                    taken(class.remove(i).expect("i is in range"));
                } else {
                    i += 1;
                }
            }
        }
    }

    /// Packets in all classes.
    pub(crate) fn len(&self) -> usize {
        self.classes.iter().map(VecDeque::len).sum()
    }

    /// The packets in it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Outgoing> {
        self.classes.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{NodeId, PacketId, PacketMeta, Pool};

    fn out(pool: &mut Pool, id: u64, hop: u32, priority: Priority) -> Outgoing {
        let packet = pool.packet(&[0; 20], PacketMeta { id: PacketId(id), ..PacketMeta::default() });
        let next_hop = NodeId(hop).default_addr();
        Outgoing {
            packet,
            payload: Payload::Ip,
            next_hop,
            to: hop,
            priority,
            report: None,
            wants_status: true,
        }
    }

    #[test]
    fn control_leaves_before_data_and_order_holds_within_a_class() {
        let (mut pool, mut q) = (Pool::new(), InterfaceQueue::default());
        for (id, p) in
            [(1, Priority::Data), (2, Priority::Control), (3, Priority::High), (4, Priority::Control)]
        {
            q.push(out(&mut pool, id, 1, p), 50).unwrap();
        }
        let order: Vec<u64> = std::iter::from_fn(|| q.pop()).map(|o| o.packet.meta.id.0).collect();
        assert_eq!(order, [2, 4, 3, 1]);
    }

    #[test]
    fn a_full_class_refuses_and_others_do_not_suffer() {
        let (mut pool, mut q) = (Pool::new(), InterfaceQueue::default());
        q.push(out(&mut pool, 1, 1, Priority::Data), 1).unwrap();
        assert_eq!(q.push(out(&mut pool, 2, 1, Priority::Data), 1).unwrap_err().packet.meta.id.0, 2);
        assert!(q.push(out(&mut pool, 3, 1, Priority::Control), 1).is_ok());
    }

    #[test]
    fn recall_takes_one_neighbours_packets_only() {
        let (mut pool, mut q) = (Pool::new(), InterfaceQueue::default());
        for (id, hop) in [(1, 1), (2, 2), (3, 1), (4, 1)] {
            q.push(out(&mut pool, id, hop, Priority::Data), 50).unwrap();
        }
        let mut taken = vec![];
        q.recall(NodeId(1).default_addr(), |o| taken.push(o.packet.meta.id.0));
        assert_eq!((taken, q.len()), (vec![1, 3, 4], 1));
    }
}
