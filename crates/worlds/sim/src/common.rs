//! What the nodes of a run share: the event queue, packet buffers, flows, and the record of it all.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Ipv6Addr};

use wayhop_core::{
    Addr, AddrMap, BROADCAST, DropReason, FlowTag, Frame, Mac, Packet, Payload, RxMeta, Span, Time,
};
use wayhop_node::Workspace;
use wayhop_protocols::CLASSIFIER;
use wayhop_radio::{EVERYONE, NOBODY};
use wayhop_replay::Logs;
use wayhop_scenario::Attachment;
use wayhop_trace::{BundleBooks, FrameEvent, HopEvent, HopKind, Identity, NoteEvent, Recorder, SendEvent};

use crate::attackers::Attackers;
use crate::classify::{self, PacketFacts, ReadPackets};
use crate::ethernet::EthernetHeader;
use crate::event::Event;
use crate::external::{Egress, Exit, External};
use crate::fates::Watched;
use crate::flows::{Delivery, Flows};
use crate::hosted_applications::Applications;
use crate::hosted_streams::Streams;
use crate::ledger::Ledger;
use crate::motion::Movers;
use crate::outgoing::Outgoing;
use crate::ports::Ports;
use crate::queue::EventQueue;
use crate::row_order::{Row, RowOrder};
use crate::slab::Slab;
use crate::watchers::{Happening, PACKET_HEAD, Watchers};

/// A run without its nodes and its radio.
pub(crate) struct Common {
    pub(crate) queue: EventQueue<Event>,
    pub(crate) movers: Movers,
    pub(crate) stations: AddrMap<u32>,
    /// By node.
    pub(crate) addrs: Vec<Ipv4Addr>,
    /// The same of IPv6; empty if nodes have none.
    pub(crate) addrs6: Vec<Ipv6Addr>,
    pub(crate) work: Workspace,
    pub(crate) flows: Flows,
    pub(crate) ledger: Ledger,
    pub(crate) recorder: Recorder,
    /// What is yet to be recorded; `None` in a run with one thread.
    pub(crate) row_order: Option<Box<RowOrder>>,
    /// Frames on their way down to an interface queue.
    pub(crate) tx_pending: Slab<Frame>,
    /// Packets on their way up from the radio.
    pub(crate) rx_pending: Slab<Arrivals>,
    /// The packet that is being received just now, and by whom.
    pub(crate) arriving: Option<Arrivals>,
    /// What the packet is that nodes are receiving.
    pub(crate) arrived: PacketFacts,
    pub(crate) read: ReadPackets,
    /// Lists of receivers for reuse.
    pub(crate) spare_receivers: Vec<Vec<Receiver>>,
    /// What applications send in answer to what they got, by node.
    pub(crate) answers: VecDeque<(u32, Outgoing)>,
    /// By radio.
    pub(crate) channels: Vec<Channel>,
    pub(crate) ports: Ports,
    /// Which nodes write a capture.
    pub(crate) captures: Vec<bool>,
    /// Frames of which it is recorded what becomes of them.
    pub(crate) watched: Watched,
    /// For the octets of a frame, for reuse.
    pub(crate) frame: Vec<u8>,
    /// The way to programs outside of the simulator, on a real clock.
    pub(crate) external: Option<External>,
    pub(crate) watchers: Option<Watchers>,
    /// Logs of what goes into engines, if they are wanted.
    pub(crate) inputs: Option<Box<Logs>>,
    /// `None` in runs without any.
    pub(crate) attackers: Option<Box<Attackers>>,
    /// The sums of bundles, in scenarios with agents.
    pub(crate) bundles: Option<Box<BundleBooks>>,
    /// The scenario's applications and bundle agents, if it has any.
    pub(crate) applications: Option<Box<Applications>>,
    /// The TCP of hosts and of flows' ends, for applications.
    pub(crate) streams: Streams,
}

/// A radio, as the network layer and captures know it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) link_delay: Span,
    pub(crate) mhz: u16,
}

/// A packet that one transmission brought to some nodes. One event takes it to the network layers of all of them.
pub(crate) struct Arrivals {
    pub(crate) packet: Packet,
    pub(crate) sender: u32,
    /// Of a packet in a frame of its host.
    pub(crate) header: Option<EthernetHeader>,
    pub(crate) receivers: Vec<Receiver>,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) node: u32,
    /// When the packet reaches its network layer.
    pub(crate) at: Time,
    pub(crate) rx: RxMeta,
}

impl Common {
    /// Whether anybody wants the frames that a node sends and hears: ask before building a frame's octets.
    #[inline]
    pub(crate) fn is_captured(&self, node: u32) -> bool {
        let tapped = || self.watchers.as_ref().is_some_and(|w| w.is_tapped(node));
        self.captures[node as usize] && self.recorder.wants_frames() || tapped()
    }

    /// A node sent or heard a frame.
    pub(crate) fn captured(&mut self, f: &FrameEvent<'_>) {
        if self.captures[f.node.index()] {
            self.recorder.frame(f);
        }
        if let Some(w) = &mut self.watchers {
            w.captured(f);
        }
    }

    /// A flow's packet was made; `counted` by the flow, or not.
    pub(crate) fn originated(&mut self, p: &Packet, counted: bool) {
        if let Some(tag) = p.meta.flow {
            self.ledger.originated(tag, counted);
        }
    }

    /// The node with an address, as a destination at a medium.
    #[inline]
    pub(crate) fn station_at(&self, addr: Addr, place: Attachment) -> u32 {
        if addr == BROADCAST {
            return EVERYONE;
        }
        match self.stations.get(addr) {
            Some(node) if self.ports.iface(node, place).is_some() => node,
            _ => NOBODY,
        }
    }

    /// The link address of a destination at the medium of this number.
    pub(crate) fn mac_of(&self, station: u32, segment: u16) -> Mac {
        self.addrs.get(station as usize).map_or(Mac::BROADCAST, |&addr| Mac::at_medium(addr, segment))
    }

    /// A node's IPv6 address; its IPv4 address if it has none.
    pub(crate) fn addr6(&self, node: u32) -> Addr {
        let i = node as usize;
        self.addrs6.get(i).map_or_else(|| self.addrs[i].into(), |a| (*a).into())
    }

    /// The address by which a node sends frames with this payload.
    pub(crate) fn source(&self, node: u32, payload: Payload) -> Addr {
        if payload.is_v6() { self.addr6(node) } else { self.addrs[node as usize].into() }
    }

    /// Tells those who watch from outside.
    pub(crate) fn happened(&mut self, at: Time, node: u32, what: impl FnOnce() -> Happening) {
        if let Some(watchers) = self.watchers.as_mut().filter(|w| w.watched) {
            watchers.happened(at, node, what());
        }
    }

    /// What the trace says of a packet.
    #[inline]
    pub(crate) fn facts(&mut self, packet: &Packet) -> PacketFacts {
        if self.has_taps() { classify::of_host(packet.bytes()) } else { self.read.facts(packet) }
    }

    /// The same of octets that are no packet yet.
    pub(crate) fn facts_of(&self, octets: &[u8]) -> PacketFacts {
        if self.has_taps() { classify::of_host(octets) } else { classify::read(octets) }
    }

    #[inline]
    fn has_taps(&self) -> bool {
        self.external.as_ref().is_some_and(|external| external.taps.is_some())
    }

    /// Hands a packet to the programs outside. Where they have TAPs, it left in a frame, or never entered.
    pub(crate) fn leave(&mut self, at: Time, node: u32, packet: Packet, exit: Exit) {
        match &mut self.external {
            Some(external) if external.taps.is_none() || matches!(exit, Exit::Frame | Exit::Send) => {
                external.egress.push_back(Egress { node, at, exit, packet });
            }
            _ => self.work.pool.recycle(packet),
        }
    }

    /// A packet reaches the applications of a node.
    pub(crate) fn deliver(&mut self, at: Time, node: u32, p: Packet) {
        if self.network_deliver(at, node, &p) {
            return self.work.pool.recycle(p);
        }
        let Some(tag) = p.meta.flow.filter(|tag| self.flows.is_own(tag.flow)) else {
            if let Some(external) = &mut self.external {
                external.deliver(p.meta.id);
            }
            self.deliver_to_program(at, node, &p);
            self.application_deliver(at, node, &p);
            self.stream_deliver(at, node, &p);
            return self.leave(at, node, p, Exit::Deliver);
        };
        if self.flows.is_tcp(tag.flow) {
            return self.segment_deliver(at, node, tag, p);
        }
        let delivery = self.flows.deliver(at, node, tag, &p, &mut self.work.pool, &mut self.work.next_id);
        self.source_deliver(at, node, tag, &p);
        self.leave(at, node, p, Exit::Deliver);
        match delivery {
            Delivery::Counted => self.ledger.delivered(tag, self.flows.is_to_all(tag.flow)),
            Delivery::Again => {}
            // External, the node's own network stack answers.
            Delivery::Answer(answer) if self.external.is_some() => self.work.pool.recycle(answer),
            Delivery::Answer(answer) => self.answers.push_back((node, Outgoing::Originate(answer))),
        }
    }

    /// Counts a packet of a program that arrived.
    pub(crate) fn deliver_to_program(&mut self, at: Time, node: u32, p: &Packet) {
        let Some(tag) = p.meta.flow else { return };
        let to_all = self.flows.is_to_all(tag.flow);
        if (to_all || !self.ledger.has_arrived(tag)) && self.flows.of_programs.delivered(at, node, tag, p) {
            self.ledger.delivered(tag, to_all);
        }
    }

    /// Writes down what happened to a packet.
    #[inline]
    pub(crate) fn hop(&mut self, row: &HopEvent) {
        match &mut self.row_order {
            None => self.recorder.hop(row),
            Some(order) => order.push(Row::Hop(*row), self.work.next_id),
        }
    }

    /// Writes down a remark.
    pub(crate) fn note(&mut self, row: NoteEvent) {
        match &mut self.row_order {
            None => self.recorder.note(&row),
            Some(order) => order.push(Row::Note(row), self.work.next_id),
        }
    }

    /// Writes down the state in which a packet was sent.
    pub(crate) fn sent(&mut self, row: SendEvent) {
        match &mut self.row_order {
            None => self.recorder.sent(&row),
            Some(order) => order.push(Row::Sent(row), self.work.next_id),
        }
    }

    /// A copy of a data packet ended.
    pub(crate) fn dropped(&mut self, tag: FlowTag, why: DropReason) {
        match &mut self.row_order {
            None => self.ledger.dropped(tag, why),
            Some(order) => order.push(Row::Dropped(tag, why), self.work.next_id),
        }
    }

    /// Writes a row about a packet.
    pub(crate) fn record_facts(
        &mut self,
        at: Time,
        node: u32,
        p: &Packet,
        facts: &classify::PacketFacts,
        kind: HopKind,
        hop: &wayhop_node::Hop,
    ) {
        let class = facts.control.unwrap_or_else(|| self.flows.class(p.meta.flow));
        let row = HopEvent { kind, ..facts.row(at, node, p, class, hop) };
        if self.recorder.wants_identities()
            && let Some(identity) = Identity::of(p.bytes(), CLASSIFIER)
        {
            self.recorder.identity(&row, identity);
        }
        self.hop(&row);
        if let Some(watchers) = self.watchers.as_mut().filter(|w| w.packets_watched) {
            let head = &p.bytes()[..p.len().min(PACKET_HEAD)];
            watchers.happened(at, node, Happening::Packet(Box::new(row), head.into()));
        }
    }
}
