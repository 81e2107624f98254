//! A network on a real clock, with programs outside of it: packets enter that the simulator did not make, and packets
//! leave it.
//!
//! The scenario's own flows take the same way as a program's packets: at its departure a packet leaves ([`Exit::Send`]),
//! the host hands it to its node's network stack, and it comes back by [`crate::Simulation::enter`]. It is known again by
//! its IP identification or, over IPv6, its checksum, an echo reply by the flow's identifier, so that flows are counted as in simulation.

use std::collections::VecDeque;

use wayhop_core::{Addr, DropReason, FlowTag, Packet, PacketMeta, Span, Time};
use wayhop_wire::{ip, ipv4};

use crate::common::Common;
use crate::event::Event;
use crate::live::Happening;
use crate::net::Net;
use crate::simulation::Simulation;
use crate::slab::Slab;

/// A packet that leaves the simulated network. Give its buffer back by [`Simulation::recycle`].
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

/// A node went down, or came back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Power {
    /// Who.
    pub node: u32,
    /// It is up now.
    pub on: bool,
    /// It loses its tables, or has lost them.
    pub lost: bool,
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
}

/// Packets of programs, which no flow of the scenario counts.
#[derive(Default)]
pub(crate) struct Programs {
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    /// In the order of [`DropReason::ALL`].
    pub(crate) dropped: [u64; DropReason::ALL.len()],
}

/// The door.
pub(crate) struct External {
    /// Packets whose event in the queue brings them in.
    pub(crate) ingress: Slab<Packet>,
    pub(crate) egress: VecDeque<Egress>,
    /// By node: flows' packets that left to be sent and have not entered yet.
    expected: Vec<VecDeque<Expected>>,
    pub(crate) programs: Programs,
    /// Nodes that went down or came back, until the host has acted on it.
    pub(crate) powered: VecDeque<Power>,
    /// Whether anybody watches what happens.
    pub(crate) watched: bool,
    pub(crate) happenings: VecDeque<(Time, u32, Happening)>,
    /// What nobody fetched in time.
    pub(crate) missed: u64,
}

struct Expected {
    /// What tells the packet: IPv4's identification; over IPv6 the checksum of the datagram or message.
    mark: u16,
    destination: Addr,
    tag: FlowTag,
    born: Time,
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
            powered: VecDeque::new(),
            watched: false,
            happenings: VecDeque::new(),
            missed: 0,
        }
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
            waiting.push_back(Expected { mark, destination, tag, born });
        }
        self.egress.push_back(Egress { node, at, exit: Exit::Send, packet });
    }

    /// The flow's packet that this one is, and when it was made.
    pub(crate) fn recognise(&mut self, node: u32, mark: u16, destination: Addr) -> Option<(FlowTag, Time)> {
        let waiting = &mut self.expected[node as usize];
        let at = waiting.iter().position(|e| e.mark == mark && e.destination == destination)?;
        // Those before it were lost on the way.
        waiting.drain(..at);
        waiting.pop_front().map(|e| (e.tag, e.born))
    }
}

/// What tells a flow's packet from the others of its node: IPv4's identification. IPv6 has none; there it is the checksum of
/// the datagram or echo request, whose number and time of sending differ.
fn mark(packet: &[u8], ip: &ip::Packet<'_>) -> u16 {
    let at = if ip.protocol == ipv4::protocol::UDP { 6 } else { 2 };
    let field = |bytes: &[u8], at: usize| {
        bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u16::from_be_bytes(*b))
    };
    if ip.src.is_v4() { field(packet, 4) } else { field(ip.payload, at) }
}

impl Common {
    /// A packet of a program outside enters at its node; false if it is nothing that this network carries.
    fn enter(&mut self, at: Time, node: u32, bytes: &[u8]) -> bool {
        let Some(external) = &mut self.external else { return false };
        let Ok(ip) = ip::Packet::new_checked(bytes) else { return false };
        let own6 = self.addrs6.get(node as usize);
        if ip.src != self.addrs[node as usize] && own6.is_none_or(|own| ip.src.v6() != Some(*own)) {
            return false;
        }
        let known = external.recognise(node, mark(bytes, &ip), ip.dst).or_else(|| {
            let tag = self.flows.answered(node, &ip, &self.stations)?;
            Some((tag, at))
        });
        let (flow, born) = known.map_or((None, at), |(tag, born)| (Some(tag), born));
        let meta = PacketMeta { flow, born, ..self.work.new_meta(at) };
        let p = self.work.pool.packet(&bytes[..ip.total_len], meta);
        external.programs.sent += u64::from(flow.is_none());
        let handle = external.ingress.put(p);
        self.queue.push(at, node, Event::Ingress(handle));
        true
    }
}

impl Net {
    /// The event of such a packet came up.
    pub(crate) fn ingress(&mut self, at: Time, node: u32, handle: u32) {
        if let Some(external) = &mut self.common.external {
            let p = external.ingress.take(handle);
            self.start(at, node, p);
        }
    }
}

impl Simulation {
    /// Opens the network to the outside, before its first event.
    pub fn open(&mut self) {
        self.net.common.external = Some(External::new(self.net.nodes.len()));
    }

    /// A packet of a node's program enters at `at`, or now if that is past. One that is not IP, or not from this node, is
    /// ignored; the answer says so.
    pub fn enter(&mut self, at: Time, node: u32, bytes: &[u8]) -> bool {
        self.net.common.enter(at.max(self.now), node, bytes)
    }

    /// The next packet that leaves, in their order.
    pub fn leave(&mut self) -> Option<Egress> {
        self.net.common.external.as_mut()?.egress.pop_front()
    }
    /// Gives the buffer of a packet that left back.
    pub fn recycle(&mut self, p: Packet) {
        self.net.common.work.pool.recycle(p);
    }

    /// When the next event is due; `None` when nothing will ever happen.
    pub fn next_event(&self) -> Option<Time> {
        self.net.common.queue.next_time()
    }

    /// Runs at most `limit` events that are due by a clock, and tells how late each was. False when nothing more is due.
    pub fn run_due(&mut self, limit: u32, clock: impl Fn() -> Time, mut late: impl FnMut(Span)) -> bool {
        self.begin_once();
        for _ in 0..limit {
            let now = clock();
            let Some((at, node, event)) = self.net.common.queue.pop_until(now.min(self.end)) else {
                return false;
            };
            late(now.since(at));
            self.advance(at, node, event);
        }
        true
    }
}
