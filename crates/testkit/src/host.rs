//! One node: its protocol, interface queue, timers and forwarding table.

use std::collections::{BTreeMap, VecDeque};

use wayhop_core::{Addr, Packet, Protocol, Rng, Route, TimerKey, TxSpec};

/// A packet in the interface queue.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) packet: Packet,
    pub(crate) spec: TxSpec,
}

pub(crate) struct Host {
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) addr: Addr,
    pub(crate) rng: Rng,
    pub(crate) up: bool,
    /// Grows with every reboot: events of an earlier life are stale.
    pub(crate) life: u32,
    /// The event that a timer waits for; an event with another number is stale.
    pub(crate) timers: BTreeMap<TimerKey, u64>,
    pub(crate) table: BTreeMap<Addr, Route>,
    pub(crate) queue: VecDeque<Queued>,
    pub(crate) on_air: Option<Queued>,
    /// Numbers this node's test packets (IP identification).
    pub(crate) next_ident: u16,
}

impl Host {
    pub(crate) fn new(protocol: Box<dyn Protocol>, addr: Addr, rng: Rng) -> Self {
        Self {
            protocol,
            addr,
            rng,
            up: true,
            life: 0,
            timers: BTreeMap::new(),
            table: BTreeMap::new(),
            queue: VecDeque::new(),
            on_air: None,
            next_ident: 1,
        }
    }

    /// Puts a packet behind the others of its class; gives it back when there is no room.
    pub(crate) fn enqueue(&mut self, q: Queued, limit: usize) -> Result<(), Queued> {
        if self.queue.len() >= limit {
            return Err(q);
        }
        let at = self.queue.partition_point(|o| o.spec.priority <= q.spec.priority);
        self.queue.insert(at, q);
        Ok(())
    }

    /// Takes out what waits for this neighbour, in order.
    pub(crate) fn recall(&mut self, next_hop: Addr) -> Vec<Queued> {
        let (taken, kept) = self.queue.drain(..).partition(|q| q.spec.next_hop == next_hop);
        self.queue = kept;
        Vec::from_iter::<VecDeque<Queued>>(taken)
    }
}
