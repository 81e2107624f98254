//! Everything of a run except its media: nodes, their shared state, and the calls between them.
//!
//! What happens to a packet inside of a node is in `wayhop_node`; a node's effects are handled in `world`.

use wayhop_core::{Frame, HopKind, Mac, NetworkInput, Packet, RxMeta, Time, TimerKey, TxStatus};
use wayhop_node::{Hop, Stage, World as _};
use wayhop_protocols::hop;
use wayhop_wire::check_sums;

use crate::common::{Arrivals, Common, Receiver};
use crate::event::Event;
use crate::nodes::{Node, Nodes};
use crate::outgoing::{HostRoute, Outgoing};
use crate::threads::look_ahead;
use crate::world::SimulationWorld;

/// The state of fewer nodes is in the processor's caches when they receive something.
const MANY_NODES: usize = 4_096;

/// A run without its media.
pub(crate) struct Net {
    pub(crate) nodes: Nodes,
    pub(crate) common: Common,
}

impl Net {
    /// Calls a node, and then lets applications send what the call led to.
    #[inline]
    pub(crate) fn call<R>(
        &mut self,
        at: Time,
        node: u32,
        f: impl FnOnce(&mut Node, &mut SimulationWorld<'_>) -> R,
    ) -> R {
        let (n, mut w) = self.awake(node);
        let answer = f(n, &mut w);
        self.send_answers(at);
        answer
    }

    /// A node, and what is around it.
    #[inline]
    fn awake(&mut self, node: u32) -> (&mut Node, SimulationWorld<'_>) {
        self.ensure_awake(node);
        let n = self.nodes.get_mut(node).expect("it was woken");
        (n, SimulationWorld { common: &mut self.common, node })
    }

    /// Creates a node that is idle.
    #[inline]
    pub(crate) fn ensure_awake(&mut self, node: u32) {
        if self.nodes.is_idle(node) {
            self.wake(node);
        }
    }

    /// Creates an idle node as it was when the run began.
    #[cold]
    fn wake(&mut self, node: u32) {
        self.nodes.create(node, self.common.addrs[node as usize]);
        if self.nodes.has_started(node)
            && let Some(n) = self.nodes.get_mut(node)
        {
            n.start(&mut SimulationWorld { common: &mut self.common, node }, Time::ZERO);
        }
    }

    /// Starts all nodes.
    pub(crate) fn start_nodes(&mut self) {
        for node in 0..self.nodes.len() as u32 {
            self.nodes.create(node, self.common.addrs[node as usize]);
            self.call(Time::ZERO, node, |n, w| n.start(w, Time::ZERO));
            self.nodes.started(node);
        }
    }

    /// A host sends something.
    pub(crate) fn send_out(&mut self, at: Time, node: u32, what: Outgoing) {
        let (n, mut w) = self.awake(node);
        let w = &mut w;
        let (p, is_new) = match what {
            Outgoing::Originate(p) => (p, true),
            Outgoing::Forward(p) => (p, false),
            Outgoing::By(p, iface, next_hop) => return n.send_to_neighbour(w, at, p, (iface, next_hop)),
            Outgoing::Arp(iface, to, message) => return n.send_arp(w, at, iface, to, message),
            Outgoing::Address(iface, addr) => return n.set_interface_address(iface, addr),
        };
        let route = w.common.host_route(node, p.bytes());
        if matches!(route, HostRoute::Node) || !n.is_up() {
            return if is_new { n.originate(w, at, p) } else { n.forward(w, at, p) };
        }
        if is_new {
            w.record(at, &p, Hop { kind: HopKind::Originate, ..Hop::HERE });
        }
        match route {
            HostRoute::By(iface, next_hop) => n.send_to_neighbour(w, at, p, (iface, next_hop)),
            HostRoute::Tunnel(number) => {
                w.common.network_input(at, number, NetworkInput::Outbound(p.bytes().into()), Some(&p));
                w.common.work.pool.recycle(p);
            }
            HostRoute::Here | HostRoute::Node => n.hand_up(w, at, p),
        }
    }

    /// What hosts send in answer.
    #[inline]
    pub(crate) fn send_answers(&mut self, at: Time) {
        while let Some((node, what)) = self.common.answers.pop_front() {
            self.send_out(at, node, what);
        }
    }

    /// A flow's packet enters the network layer of its own node.
    pub(crate) fn start(&mut self, at: Time, node: u32, p: Packet) {
        self.common.originated(&p, true);
        self.send_out(at, node, Outgoing::Originate(p));
        self.send_answers(at);
    }

    /// A timer's event came up.
    pub(crate) fn timer(&mut self, at: Time, node: u32, engine: u8, key: TimerKey) {
        self.call(at, node, |n, w| n.timer(w, at, engine, key));
    }

    /// The event of a frame on its way down came up.
    pub(crate) fn frame_due(&mut self, at: Time, node: u32, stage: Stage, handle: u32) {
        let frame = self.common.tx_pending.take(handle);
        self.call(at, node, |n, w| n.frame_due(w, at, stage, frame));
    }

    /// After the radio has handled an event: sends what was received on its way up.
    pub(crate) fn lift(&mut self) {
        let common = &mut self.common;
        // The nearest receiver is first: what it and the others do comes after the event.
        if let Some(mut arrivals) = common.arriving.take()
            && let Some(&Receiver { node, at, .. }) = arrivals.receivers.iter().min_by_key(|r| r.at)
        {
            if arrivals.receivers.len() > 1 {
                check_sums(&mut arrivals.packet);
            }
            let handle = common.rx_pending.put(arrivals);
            common.queue.push(at, node, Event::Up(handle));
        }
    }

    /// A transmission's packet reaches the network layers of those who received it.
    pub(crate) fn arrive(&mut self, handle: u32) {
        let Arrivals { packet, header, mut receivers, .. } = self.common.rx_pending.take(handle);
        self.common.arrived = self.common.facts(&packet);
        if self.nodes.len() >= MANY_NODES {
            look_ahead(receivers.iter().map(|r| (&self.nodes[r.node as usize], &r.rx)));
            if let Some(applications) = &self.common.applications {
                applications.look_ahead(&receivers.iter().map(|r| r.node));
            }
        }
        for Receiver { node, at, rx } in receivers.drain(..) {
            let copy = self.common.work.pool.copy(&packet);
            if let Some(header) = header {
                self.receive_by_tap(Receiver { node, at, rx }, copy, header);
                continue;
            }
            self.see(at, node, packet.bytes(), &rx);
            self.call(at, node, |n, w| n.receive(w, at, copy, rx));
        }
        self.common.work.pool.recycle(packet);
        self.common.spare_receivers.push(receivers);
    }

    /// A frame whose headers name its transmitter tells a node with a host's ARP that neighbour's link address, as it tells a
    /// real node (`daemon/src/node/host.rs`).
    pub(crate) fn see(&mut self, at: Time, node: u32, packet: &[u8], rx: &RxMeta) {
        if self.nodes[node as usize].lacks_mac_of(rx.iface, rx.from)
            && let Some(mac) = self.transmitter(node, packet, rx)
        {
            self.call(at, node, |n, w| n.learn(w, at, rx.iface, rx.from, mac));
        }
    }

    /// The link address of a packet's transmitter, if the packet's headers name it.
    pub(crate) fn transmitter(&self, receiver: u32, packet: &[u8], rx: &RxMeta) -> Option<Mac> {
        // A link address is made of an IPv4 address: a neighbour that has none keeps to neighbour discovery.
        let from = rx.from.v4()?;
        hop(packet).filter(|(from, _)| *from == rx.from)?;
        let ports = &self.common.ports;
        Some(Mac::at_medium(from, ports.segment(ports.of(receiver)[rx.iface.index()])))
    }

    /// A medium is done with a node's frame.
    pub(crate) fn sent(&mut self, at: Time, node: u32, frame: Frame, status: TxStatus) {
        self.call(at, node, |n, w| n.finished(w, at, frame, status));
    }
}
