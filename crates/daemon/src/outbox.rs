//! Packets on their way to the interface.

use std::collections::VecDeque;

use wayhop_core::{Addr, Mac, Packet, Priority, TxId};
pub(crate) use wayhop_linux::packet_socket::ETHERNET;

/// The most packets of one class that wait when the interface does not take them.
const MAX_QUEUED: usize = 64;

/// A packet and where it goes.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) packet: Packet,
    pub(crate) next_hop: Addr,
    pub(crate) priority: Priority,
    pub(crate) report: Option<TxId>,
    /// How often it was sent in vain.
    pub(crate) tries: u8,
}

/// The interface queue: three classes, each in order of arrival. Packets in it have their Ethernet header.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    classes: [VecDeque<Outgoing>; 3],
}

impl Outbox {
    /// Puts a packet behind the others of its class, with an Ethernet header in front; gives it back as it was when there
    /// is no room.
    pub(crate) fn push(&mut self, mut out: Outgoing, to: Mac, from: Mac) -> Result<(), Outgoing> {
        let class = &mut self.classes[out.priority as usize];
        if class.len() >= MAX_QUEUED {
            return Err(out);
        }
        out.packet.insert(0, ETHERNET);
        let header = &mut out.packet.bytes_mut()[..ETHERNET];
        header[..6].copy_from_slice(&to.0);
        header[6..12].copy_from_slice(&from.0);
        header[12..].copy_from_slice(&0x0800_u16.to_be_bytes());
        class.push_back(out);
        Ok(())
    }

    /// What is sent next, in order.
    pub(crate) fn frames(&self) -> impl Iterator<Item = &[u8]> {
        self.classes.iter().flatten().map(|o| o.packet.bytes())
    }

    /// Takes out the first packet, without its Ethernet header.
    pub(crate) fn pop(&mut self) -> Option<Outgoing> {
        let mut out = self.classes.iter_mut().find_map(VecDeque::pop_front)?;
        out.packet.remove(0, ETHERNET);
        Some(out)
    }

    /// Takes out what waits for this neighbour.
    pub(crate) fn recall(&mut self, next_hop: Addr, taken: &mut Vec<Outgoing>) {
        for class in &mut self.classes {
            for _ in 0..class.len() {
                match class.pop_front() {
                    Some(mut out) if out.next_hop == next_hop => {
                        out.packet.remove(0, ETHERNET);
                        taken.push(out);
                    }
                    Some(out) => class.push_back(out),
                    None => {}
                }
            }
        }
    }

    /// Packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.classes.iter().map(VecDeque::len).sum()
    }

    /// Whether a class may be too full for one more burst: time to send.
    pub(crate) fn is_nearly_full(&self) -> bool {
        self.classes.iter().any(|c| c.len() >= MAX_QUEUED / 2)
    }
}
