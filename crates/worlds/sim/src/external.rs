//! The state of a run for external programs: packets on their way in and out.

use std::collections::VecDeque;

use wayhop_core::{Addr, DropReason, FlowTag, HopKind, Packet, PacketId, PacketMeta, Time};
use wayhop_wire::{ip, ipv4};

use crate::arrived::Arrived;
use crate::ethernet::EthernetHeader;
use crate::slab::Slab;
use crate::taps::{LONGEST_STAY, Taps};

/// A packet that leaves the simulated network. Give its buffer back by [`crate::Simulation::recycle`].
pub struct Egress {
    /// The node at which it leaves.
    pub node: u32,
    /// When, in the run's time.
    pub at: Time,
    /// Why.
    pub exit: Exit,
    /// The packet.
    pub packet: Packet,
}

/// Why a packet leaves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It arrived: for the node's programs.
    Deliver,
    /// A flow of the scenario sends it: for the node's network stack, to route it as a program's.
    Send,
    /// Its own node gave it up: the program that sent it is to hear of that.
    Refuse(DropReason),
    /// An Ethernet frame with it arrived: for the node's network stack, header and all.
    Frame,
}

/// Packets of programs.
#[derive(Default)]
pub(crate) struct Programs {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    /// In the order of [`DropReason::ALL`].
    pub(crate) dropped: [u64; DropReason::ALL.len()],
    /// Of those sent, how many are in no flow.
    pub(crate) without_flow: u64,
}

/// A packet whose event in the queue brings it in.
pub(crate) struct Entering {
    pub(crate) packet: Packet,
    /// The header of the frame in which the node's kernel sends it, and what it is to the kernel.
    pub(crate) by_tap: Option<(EthernetHeader, HopKind)>,
}

/// The door.
pub(crate) struct External {
    pub(crate) ingress: Slab<Entering>,
    pub(crate) egress: VecDeque<Egress>,
    /// By node: flows' packets that left to be sent and have not entered yet.
    expected: Vec<VecDeque<Expected>>,
    pub(crate) programs: Programs,
    arrived: Arrived,
    /// The nodes' TAPs, if their kernels send and receive frames.
    pub(crate) taps: Option<Taps>,
}

struct Expected {
    /// What tells the packet: IPv4's identification; over IPv6 the checksum of the datagram or message.
    mark: u16,
    destination: Addr,
    tag: FlowTag,
    born: Time,
    /// The packet, where its node's kernel may drop it after the driver handed it over.
    packet: Option<(PacketMeta, Box<[u8]>)>,
}

impl External {
    /// More do not wait in a network stack between sending and the TUN.
    const MAX_EXPECTED: usize = 1_024;

    pub(crate) fn new(nodes: usize) -> Self {
        Self {
            ingress: Slab::new(),
            egress: VecDeque::new(),
            expected: (0..nodes).map(|_| VecDeque::new()).collect(),
            programs: Programs::default(),
            arrived: Arrived::new(),
            taps: None,
        }
    }

    /// How many packets are on their way in or out, or with kernels.
    pub(crate) fn packets(&self) -> usize {
        let with_kernels = self.taps.as_ref().map_or(0, |taps| taps.staying().count());
        self.egress.len() + self.ingress.iter().count() + with_kernels
    }

    /// A program's packet arrives. A copy that took another route is no second delivery.
    pub(crate) fn deliver(&mut self, packet: PacketId) {
        self.programs.delivered += u64::from(self.arrived.first(packet));
    }

    /// A flow's packet leaves, to enter again.
    pub(crate) fn send(&mut self, at: Time, node: u32, packet: Packet) {
        if let (Some(tag), Ok(ip)) = (packet.meta.flow, ip::Packet::new_checked(packet.bytes())) {
            let waiting = &mut self.expected[node as usize];
            if waiting.len() == Self::MAX_EXPECTED {
                waiting.pop_front();
            }
            let born = packet.meta.born;
            let (mark, destination) = (mark(packet.bytes(), &ip), ip.dst);
            let kept = self.taps.as_ref().map(|_| (packet.meta, packet.bytes().into()));
            waiting.push_back(Expected { mark, destination, tag, born, packet: kept });
        }
        self.egress.push_back(Egress { node, at, exit: Exit::Send, packet });
    }

    /// The flow's packet that this one is, and when it was made.
    pub(crate) fn recognise(&mut self, node: u32, mark: u16, destination: Addr) -> Option<(FlowTag, Time)> {
        let waiting = &mut self.expected[node as usize];
        let at = waiting.iter().position(|e| e.mark == mark && e.destination == destination)?;
        // Those before it were lost on the way, unless their node's kernel asks for the link address of another destination.
        if self.taps.is_none() {
            waiting.drain(..at);
            return waiting.pop_front().map(|e| (e.tag, e.born));
        }
        waiting.remove(at).map(|e| (e.tag, e.born))
    }

    /// The next of the flows' packets that a node's kernel will not send any more.
    pub(crate) fn dropped_by_kernel(&mut self, now: Time, node: u32) -> Option<(PacketMeta, Box<[u8]>)> {
        let waiting = &mut self.expected[node as usize];
        let is_over = waiting.front()?.born + LONGEST_STAY < now;
        if is_over { waiting.pop_front()?.packet } else { None }
    }
}

/// What tells a flow's packet from the others of its node: IPv4's identification. IPv6 has none; there it is the checksum of
/// the datagram or echo request, whose number and time of sending differ.
pub(crate) fn mark(packet: &[u8], ip: &ip::Packet<'_>) -> u16 {
    let at = if ip.protocol == ipv4::protocol::UDP { 6 } else { 2 };
    let field = |bytes: &[u8], at: usize| {
        bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u16::from_be_bytes(*b))
    };
    if ip.src.is_v4() { field(packet, 4) } else { field(ip.payload, at) }
}
