//! The receivers of one broadcast, for a thread.

use wayhop_core::{Mac, Packet, RxMeta};
use wayhop_node::Workspace;
use wayhop_trace::PacketClass;

use super::world::{Request, TaskWorld};
use crate::classify::PacketFacts;
use crate::common::Receiver;
use crate::nodes::Node;

/// A packet for all its receivers, whose nodes are nowhere else meanwhile.
pub(super) struct Task {
    /// Its event's key in the queue.
    pub(super) key: u128,
    pub(super) packet: Option<Packet>,
    pub(super) facts: PacketFacts,
    pub(super) class: PacketClass,
    /// Its transmitter's link address, for those who do not know it.
    pub(super) transmitter: Option<Mac>,
    pub(super) members: Vec<(Box<Node>, Receiver)>,
    /// What the nodes asked their world for, in order, with their numbers.
    pub(super) requests: Vec<(u32, Request)>,
    pub(super) work: Workspace,
    /// The number of the first packet that the nodes may make.
    pub(super) first_id: u64,
}

/// Numbers from this one on are those of packets that tasks made.
const OF_TASKS: u64 = 1 << 63;
/// A task makes fewer packets.
const MOST_PACKETS: u64 = 1 << 24;

impl Task {
    pub(super) fn new(facts: PacketFacts, class: PacketClass) -> Self {
        Self {
            key: 0,
            packet: None,
            facts,
            class,
            transmitter: None,
            members: Vec::new(),
            requests: Vec::new(),
            work: Workspace::new(),
            first_id: 0,
        }
    }

    /// The task of this number in its run.
    pub(super) fn set_number(&mut self, number: u64) {
        self.first_id = OF_TASKS + number * MOST_PACKETS;
        self.work.next_id = self.first_id;
    }

    /// How many packets it made.
    pub(super) fn made(&self) -> u64 {
        let made = self.work.next_id - self.first_id;
        debug_assert!(made < MOST_PACKETS);
        made
    }

    /// Has all members receive the packet, in order.
    pub(super) fn run(&mut self) {
        let Self { packet: Some(packet), members, requests, work, .. } = self else { return };
        look_ahead(members.iter().map(|(node, r)| (&**node, &r.rx)));
        for (node, Receiver { node: number, at, rx }) in members {
            let copy = work.pool.copy(packet);
            let mut w = TaskWorld {
                work,
                requests,
                node: *number,
                packet: packet.bytes(),
                facts: &self.facts,
                class: self.class,
            };
            if let Some(mac) = self.transmitter.filter(|_| node.lacks_mac_of(rx.iface, rx.from)) {
                node.learn(&mut w, *at, rx.iface, rx.from, mac);
            }
            node.receive(&mut w, *at, copy, *rx);
        }
    }
}

/// Has the memory of all nodes that are about to receive a packet fetched at once, instead of one after the other: first what
/// leads to the rest. Each loop reads what the one before it led to, so that the processor waits for several nodes at a time.
pub(crate) fn look_ahead<'a>(receivers: impl Iterator<Item = (&'a Node, &'a RxMeta)> + Clone) {
    std::hint::black_box(receivers.clone().fold(0, |all, (node, _)| all ^ node.touch()));
    std::hint::black_box(receivers.clone().fold(0, |all, (node, _)| all ^ node.touch_tables()));
    std::hint::black_box(receivers.fold(0, |all, (node, rx)| all ^ node.look_ahead(rx)));
}
