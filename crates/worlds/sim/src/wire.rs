//! An Ethernet segment: full duplex, frames of each node one after the other, nothing acknowledged.
//!
//! A cable between two nodes is modelled exactly; a switch between several as one that forwards at once and never
//! queues: frames of two senders for one receiver do not wait for each other.

use rustc_hash::FxHashMap;
use wayhop_core::{
    Frame, IfaceId, LinkChange, Mac, Packet, Payload, Purpose, Rng, RxMeta, Span, Time, TxStatus, stream,
};
use wayhop_node::Hop;
use wayhop_radio::{EVERYONE, LinkOverride, NOBODY};
use wayhop_scenario::{Attachment, WirePlan};
use wayhop_trace::{Direction, FrameEvent, HopKind};

use crate::classify;
use crate::common::Common;
use crate::event::{Event, WireEvent};
use crate::frames;
use crate::net::Net;
use crate::slab::Slab;

/// Octets of a frame besides its packet (IEEE 802.3, clauses 3.1.1 and 4.4.2): preamble and delimiter 8, header 14, frame
/// check sequence 4, interpacket gap 12.
const OVERHEAD_BYTES: usize = 8 + 14 + 4 + 12;
/// A shorter packet is padded to this.
const MIN_PAYLOAD_BYTES: usize = 46;

/// The wire, and its nodes' ends of it.
pub(crate) struct Wire {
    number: u16,
    rate_mbps: f64,
    delay: Span,
    loss: f64,
    is_cut: bool,
    /// Whether its frames go by link address, which need not follow from the next hop's network address: who has the address of a mobile
    /// node is found by ARP.
    is_network: bool,
    /// In ascending order of their nodes.
    ports: Vec<Port>,
    /// Frames between the last bit sent and the last bit received.
    flights: Slab<Flight>,
    /// Lists of receivers, for reuse.
    spare: Vec<Vec<u32>>,
    /// Links changed by hand, by (sender, receiver).
    overrides: FxHashMap<(u32, u32), LinkOverride>,
}

/// A node's end.
struct Port {
    node: u32,
    is_stalled: bool,
    /// The node is not there.
    is_away: bool,
    /// The frame that is leaving, and when its last bit does.
    sending: Option<(Frame, Time)>,
    /// Draws its frames' losses.
    rng: Rng,
    unicasts: u64,
    broadcasts: u64,
    received: u64,
}

/// The head of a frame.
#[derive(Copy, Clone)]
struct Head {
    payload: Payload,
    from: u32,
    /// Its receiver, or [`EVERYONE`].
    to: u32,
    /// The link address that it is for.
    receiver: Mac,
}

/// A frame under way.
struct Flight {
    head: Head,
    packet: Packet,
    receivers: Vec<u32>,
}

impl Wire {
    pub(crate) fn new(number: u16, plan: &WirePlan, seed: u64) -> Self {
        let port = |node: u32| Port {
            node,
            is_stalled: false,
            is_away: false,
            sending: None,
            rng: stream(seed, Purpose::Wire, u64::from(number) << 32 | u64::from(node)),
            unicasts: 0,
            broadcasts: 0,
            received: 0,
        };
        Self {
            number,
            rate_mbps: plan.rate_mbps,
            delay: plan.delay,
            loss: plan.loss,
            is_cut: false,
            is_network: plan.network.is_some(),
            ports: plan.nodes.iter().map(|n| port(n.0)).collect(),
            flights: Slab::new(),
            spare: Vec::new(),
            overrides: FxHashMap::default(),
        }
    }

    fn place(&self) -> Attachment {
        Attachment::Wire(self.number)
    }
    fn index(&self, node: u32) -> Option<usize> {
        self.ports.binary_search_by_key(&node, |p| p.node).ok()
    }

    /// How long a packet of `octets` bytes occupies the cable, to the next frame.
    fn airtime(&self, octets: usize) -> Span {
        let bits = 8 * (octets.max(MIN_PAYLOAD_BYTES) + OVERHEAD_BYTES);
        Span::from_nanos((1e3 * bits as f64 / self.rate_mbps).round() as u64)
    }

    /// What was scheduled is due.
    pub(crate) fn due(&mut self, at: Time, node: u32, event: WireEvent, net: &mut Net) {
        match event {
            WireEvent::Sent => self.sent(at, node, net),
            WireEvent::Arrives(handle) => self.arrives(at, handle, net),
            WireEvent::Cut(is_cut) => self.cut(at, is_cut, net),
            WireEvent::Absent(is_away) => self.set_away(at, node, is_away, net),
        }
    }

    /// A packet entered a node's interface queue: it leaves at once if the cable is free.
    pub(crate) fn wake(&mut self, at: Time, node: u32, net: &mut Net) {
        let place = self.place();
        let (Some(i), Some(iface)) = (self.index(node), net.common.ports.iface(node, place)) else { return };
        if self.ports[i].sending.is_some() || self.ports[i].is_stalled {
            return;
        }
        let Some(frame) = net.nodes.get_mut(node).and_then(|n| n.pull(iface)) else { return };
        let common = &mut net.common;
        let to = self.station(common, &frame);
        let port = &mut self.ports[i];
        if to == EVERYONE {
            port.broadcasts += 1;
        } else {
            port.unicasts += 1;
        }
        if frame.payload.is_resolution() {
            common.ledger.frames.resolution += 1;
        } else {
            let facts = classify::read(frame.packet.bytes());
            common.ledger.on_air(&facts, false);
            let hop = Hop { peer: frame.next_hop, iface, ..Hop::HERE };
            common.record_facts(at, node, &frame.packet, &facts, HopKind::Transmit, &hop);
        }
        let head = Head { payload: frame.payload, from: node, to, receiver: frame.receiver };
        capture(at, node, head, &frame.packet, place, net);
        let airtime = self.airtime(frame.packet.len());
        self.ports[i].sending = Some((frame, at + airtime));
        net.common.queue.push(at + airtime, node, Event::Wire(self.number, WireEvent::Sent));
    }

    /// The last bit of a node's frame has left it.
    fn sent(&mut self, at: Time, node: u32, net: &mut Net) {
        let Some(i) = self.index(node) else { return };
        // A frame that a failing host took back has left its event behind.
        let Some((frame, _)) = self.ports[i].sending.take_if(|(_, until)| *until == at) else { return };
        if self.is_cut || self.ports[i].is_away {
            net.sent(at, node, frame, TxStatus::NoAck { tries: 0 });
            return;
        }
        let to = self.station(&net.common, &frame);
        let receivers = self.receivers(i, to);
        if receivers.is_empty() {
            self.spare.push(receivers);
        } else {
            let packet = net.common.work.pool.copy(&frame.packet);
            let head = Head { payload: frame.payload, from: node, to, receiver: frame.receiver };
            let flight = Flight { head, packet, receivers };
            let arrives = WireEvent::Arrives(self.flights.put(flight));
            net.common.queue.push(at + self.delay, node, Event::Wire(self.number, arrives));
        }
        net.sent(at, node, frame, TxStatus::Unknown);
        self.wake(at, node, net);
    }

    /// Whom a frame is for: its node at this wire, or all.
    fn station(&self, common: &Common, frame: &Frame) -> u32 {
        if !self.is_network || frame.receiver == Mac::BROADCAST {
            return common.station_at(frame.next_hop, self.place());
        }
        let segment = common.ports.segment(self.place());
        let has = |p: &&Port| common.mac_of(p.node, segment) == frame.receiver;
        self.ports.iter().find(has).map_or(NOBODY, |p| p.node)
    }

    /// Those whom the frame reaches that just left port `i`.
    fn receivers(&mut self, i: usize, to: u32) -> Vec<u32> {
        let from = self.ports[i].node;
        let mut reached = self.spare.pop().unwrap_or_default();
        let others = self.ports.iter().map(|p| p.node).filter(|&n| n != from);
        reached.extend(others.filter(|&n| to == EVERYONE || to == n));
        let (loss, overrides, rng) = (self.loss, &self.overrides, &mut self.ports[i].rng);
        reached.retain(|&n| {
            let share = match overrides.get(&(from, n)) {
                // A wire has no path loss: Simulation::set_link refuses one.
                None | Some(LinkOverride::PathLoss(_)) => loss,
                Some(LinkOverride::Up) => 0.0,
                Some(LinkOverride::Down) => 1.0,
                Some(LinkOverride::Loss(share)) => *share,
            };
            // One draw for each, so that a link that is changed leaves the others' draws untouched.
            rng.unit() >= share
        });
        reached
    }

    /// The last bit of a frame reaches the others.
    fn arrives(&mut self, at: Time, handle: u32, net: &mut Net) {
        let place = self.place();
        let Flight { head, packet, mut receivers } = self.flights.take(handle);
        let Head { payload, from, to, .. } = head;
        net.common.arrived = classify::read(packet.bytes());
        if self.is_cut {
            receivers.clear();
        }
        for node in receivers.drain(..) {
            let (Some(i), Some(iface)) = (self.index(node), net.common.ports.iface(node, place)) else {
                continue;
            };
            if !net.nodes[node as usize].is_up() || self.ports[i].is_away {
                continue;
            }
            self.ports[i].received += 1;
            capture(at, node, head, &packet, place, net);
            if payload.is_resolution() {
                net.call(at, node, |n, w| match payload {
                    Payload::Arp => n.receive_arp(w, at, iface, packet.bytes()),
                    _ => n.receive_discovery(w, at, iface, packet.bytes()),
                });
                if payload == Payload::Arp {
                    net.network_arp(at, node, iface, packet.bytes());
                }
                continue;
            }
            let source = net.common.source(from, payload);
            let rx = RxMeta { iface, ..RxMeta::from(source, to == EVERYONE) };
            let copy = net.common.work.pool.copy(&packet);
            net.call(at, node, |n, w| n.receive(w, at, copy, rx));
        }
        net.common.work.pool.recycle(packet);
        self.spare.push(receivers);
    }

    /// The wire is cut, or whole again: the interfaces at it go down, or come up.
    fn cut(&mut self, at: Time, is_cut: bool, net: &mut Net) {
        self.is_cut = is_cut;
        for i in 0..self.ports.len() {
            let node = self.ports[i].node;
            if let Some(iface) = net.common.ports.iface(node, self.place()) {
                self.tell_link(at, node, iface, net);
            }
        }
    }

    /// A node leaves, or is there again: its interface goes down, or comes up.
    fn set_away(&mut self, at: Time, node: u32, is_away: bool, net: &mut Net) {
        let (Some(i), Some(iface)) = (self.index(node), net.common.ports.iface(node, self.place())) else {
            return;
        };
        self.ports[i].is_away = is_away;
        self.tell_link(at, node, iface, net);
    }

    /// A node's interface is up or down.
    fn tell_link(&self, at: Time, node: u32, iface: IfaceId, net: &mut Net) {
        let is_away = self.index(node).is_some_and(|i| self.ports[i].is_away);
        let is_up = !self.is_cut && !is_away;
        let change = if is_up { LinkChange::Up } else { LinkChange::Down };
        net.call(at, node, |n, w| n.link(w, at, iface, change));
        net.network_link(at, node, iface, is_up);
    }

    /// A node's host goes off: the frame that is leaving is lost.
    pub(crate) fn switch_off(&mut self, at: Time, node: u32, net: &mut Net) {
        let Some(i) = self.index(node) else { return };
        if let Some((frame, _)) = self.ports[i].sending.take() {
            net.sent(at, node, frame, TxStatus::NoAck { tries: 0 });
        }
    }

    /// A node's driver stops serving its queue, or goes on.
    pub(crate) fn set_stalled(&mut self, at: Time, node: u32, is_stalled: bool, net: &mut Net) {
        let Some(i) = self.index(node) else { return };
        self.ports[i].is_stalled = is_stalled;
        self.wake(at, node, net);
    }

    /// Overrides a link one way, or leaves it as it was.
    pub(crate) fn set_link(&mut self, from: u32, to: u32, state: Option<LinkOverride>) {
        match state {
            Some(state) => drop(self.overrides.insert((from, to), state)),
            None => drop(self.overrides.remove(&(from, to))),
        }
    }
    /// The overridden links, as (sender, receiver, state).
    pub(crate) fn links(&self) -> impl Iterator<Item = (u32, u32, LinkOverride)> {
        self.overrides.iter().map(|(&(from, to), &state)| (from, to, state))
    }

    /// What a node's end counted.
    pub(crate) fn counters(&self, node: u32) -> Vec<(&'static str, u64)> {
        let counted =
            |p: &Port| vec![("data", p.unicasts), ("broadcast", p.broadcasts), ("received", p.received)];
        self.index(node).map_or_else(Vec::new, |i| counted(&self.ports[i]))
    }

    pub(crate) fn held(&self) -> impl Iterator<Item = &Packet> {
        let sending = self.ports.iter().filter_map(|p| p.sending.as_ref().map(|(f, _)| &f.packet));
        sending.chain(self.flights.iter().map(|f| &f.packet))
    }
}

/// Writes a frame into the capture of `node`.
fn capture(at: Time, node: u32, head: Head, packet: &Packet, place: Attachment, net: &mut Net) {
    let common = &mut net.common;
    if !common.is_captured(node) {
        return;
    }
    let mut bytes = std::mem::take(&mut common.frame);
    let sender = common.mac_of(head.from, common.ports.segment(place));
    frames::write_ethernet(sender, head.receiver, head.payload, packet, &mut bytes);
    common.captured(&FrameEvent {
        time: at,
        node: wayhop_core::NodeId(node),
        iface: common.ports.iface(node, place).unwrap_or_default(),
        direction: if head.from == node { Direction::Tx } else { Direction::Rx },
        bytes: &bytes,
        original_len: bytes.len() as u32,
        signal_dbm: f32::NAN,
        noise_dbm: f32::NAN,
        rate_100kbps: 0,
        channel_mhz: 0,
        retries: 0,
        bad_fcs: false,
        comment: "",
    });
    common.frame = bytes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gigabit_wire_carries_the_frames_a_second_that_ethernet_is_known_for() {
        let plan = WirePlan {
            name: "w".to_owned(),
            nodes: Vec::new(),
            rate_mbps: 1000.0,
            delay: Span::ZERO,
            loss: 0.0,
            queue_packets: 1,
            leads_out: false,
            cuts: Vec::new(),
            network: None,
            absences: Vec::new(),
        };
        let wire = Wire::new(0, &plan, 1);
        let per_second = |octets| (1e9 / wire.airtime(octets).as_nanos() as f64) as u32;
        // RFC 2544, appendix B, has them for 10 Mb/s: 14,880 frames of 64 octets, 812 of 1,518 (header and check included).
        assert_eq!((per_second(46), per_second(1500), per_second(0)), (1_488_095, 81_274, 1_488_095));
    }
}
