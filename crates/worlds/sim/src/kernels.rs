//! Nodes whose network layer is their host's kernel, which sends and receives Ethernet frames by a TAP.
//!
//! A frame crosses the medium as it is; the node looks into it for the record only. A packet on its way over several hops
//! leaves the simulation at each host and enters again when the kernel has forwarded it: it is recognised by the octets that
//! no router changes, and keeps its number.

use wayhop_core::{
    Addr, DropReason, Frame, HopKind, IfaceId, Mac, Packet, PacketMeta, Payload, Priority, Reporting, RxMeta,
    Time,
};
use wayhop_node::{Hop, World as _};
use wayhop_wire::{ip, ipv6};

use crate::classify::PacketFacts;
use crate::common::{Common, Receiver};
use crate::ethernet::EthernetHeader;
use crate::event::Event;
use crate::external::{Egress, Entering, Exit, mark};
use crate::net::Net;
use crate::simulation::Simulation;
use crate::taps::Taps;
use crate::world::SimulationWorld;

impl Common {
    /// The address of the node with this link address.
    fn address_of(&self, mac: Mac) -> Addr {
        let taps = self.external.as_ref().and_then(|external| external.taps.as_ref());
        let station = taps.and_then(|taps| taps.stations.get(&mac));
        station.map_or(Addr::UNSPECIFIED, |&node| self.addrs[node as usize].into())
    }

    /// A frame that a node's kernel sends enters; false if it is not the node's own, or no Ethernet frame.
    fn enter_frame(&mut self, at: Time, node: u32, bytes: &[u8]) -> bool {
        let Some((header, payload)) = EthernetHeader::split(bytes) else { return false };
        if header.source != self.mac_of(node, 0) {
            return false;
        }
        let (meta, kind) = self.frame_meta(at, node, payload);
        let packet = self.work.pool.packet(payload, meta);
        let Some(external) = &mut self.external else { return false };
        let handle = external.ingress.put(Entering { packet, by_tap: Some((header, kind)) });
        self.queue.push(at, node, Event::Ingress(handle));
        true
    }

    /// The number and the flow of what a node's kernel sends, and whether it is new there. A packet that the kernel forwards
    /// has both already.
    fn frame_meta(&mut self, at: Time, node: u32, payload: &[u8]) -> (PacketMeta, HopKind) {
        let is_data = self.facts_of(payload).control.is_none();
        let new = self.work.new_meta(at);
        let (Some(external), Ok(ip)) = (&mut self.external, ip::Packet::new_checked(payload)) else {
            return (new, HopKind::Send);
        };
        if !is_data {
            return (new, HopKind::Send);
        }
        if let Some(p) = external.taps.as_mut().and_then(|taps| taps.take(node, payload)) {
            let meta = p.meta;
            self.work.pool.recycle(p);
            return (meta, HopKind::Forward);
        }
        let known = external.recognise(node, mark(payload, &ip), ip.dst).or_else(|| {
            let tag = self.flows.answered(node, &ip, &self.stations)?;
            Some((tag, at))
        });
        if let Some((tag, born)) = known {
            return (PacketMeta { flow: Some(tag), born, ..new }, HopKind::Originate);
        }
        let to = self.stations.get(ip.dst);
        let flow = self.flows.of_programs.sent(at, node, payload, to);
        external.programs.sent += 1;
        external.programs.without_flow += u64::from(flow.is_none());
        (PacketMeta { flow, ..new }, HopKind::Originate)
    }

    /// A node's kernel sends a packet of its own. An address that no node had until now is that node's, as one that a routing
    /// daemon announces may be, and what waits for it there has arrived.
    fn sends_from(&mut self, at: Time, node: u32, packet: &[u8]) {
        let Ok(source) = ip::Packet::new_checked(packet).map(|ip| ip.src) else { return };
        let is_one = !source.is_unspecified() && !source.is_multicast();
        if !is_one || self.stations.contains(source) {
            return;
        }
        let learns = |common: &mut Self| Some(common.external.as_mut()?.taps.as_mut()?.learns_address());
        if learns(self) != Some(true) {
            return;
        }
        self.stations.insert(source, node);
        let next = |common: &mut Self| common.external.as_mut()?.taps.as_mut()?.take_for(node, source);
        while let Some(p) = next(self) {
            self.deliver_from_tap(at, node, p);
        }
    }

    /// Ends the packets that a node's kernel did not forward, and those of the node's own flows that it did not send.
    pub(crate) fn expire(&mut self, at: Time, node: u32) {
        let next = |common: &mut Self| common.external.as_mut()?.taps.as_mut()?.expired(at, node);
        while let Some(p) = next(self) {
            self.lose(at, node, &p, DropReason::NoRoute);
            self.work.pool.recycle(p);
        }
        let next = |common: &mut Self| common.external.as_mut()?.dropped_by_kernel(at, node);
        while let Some((meta, bytes)) = next(self) {
            let p = self.work.pool.packet(&bytes, meta);
            self.lose_at_source(at, node, p, DropReason::NoRoute);
        }
    }

    /// A flow's packet did not leave its own node's kernel.
    fn lose_at_source(&mut self, at: Time, node: u32, p: Packet, reason: DropReason) {
        self.originated(&p, true);
        self.lose(at, node, &p, reason);
        self.work.pool.recycle(p);
    }

    fn deliver_from_tap(&mut self, at: Time, node: u32, p: Packet) {
        let hop = Hop { kind: HopKind::Deliver, ..Hop::HERE };
        SimulationWorld { common: self, node }.record(at, &p, hop);
        self.deliver(at, node, p);
    }
}

impl Net {
    /// A frame of a node's kernel leaves by the node's radio.
    pub(crate) fn send_from_tap(
        &mut self,
        at: Time,
        node: u32,
        packet: Packet,
        header: EthernetHeader,
        kind: HopKind,
    ) {
        let common = &mut self.common;
        common.expire(at, node);
        let kind = if kind == HopKind::Originate {
            common.sends_from(at, node, packet.bytes());
            common.originated(&packet, true);
            SimulationWorld { common, node }.record(at, &packet, Hop { kind, ..Hop::HERE });
            HopKind::Send
        } else {
            kind
        };
        let is_group = header.destination.0[0] & 1 == 1;
        let frame = Frame {
            packet,
            payload: Payload::Ethernet(header.ether_type),
            iface: IfaceId(0),
            next_hop: if is_group { Addr::BROADCAST } else { common.address_of(header.destination) },
            receiver: header.destination,
            priority: Priority::Data,
            reporting: Reporting::Nobody,
            life: 0,
        };
        self.call(at, node, |n, w| n.send_frame(w, at, frame, kind));
    }

    /// A frame from the air goes to a node's kernel.
    pub(crate) fn receive_by_tap(
        &mut self,
        Receiver { node, at, rx }: Receiver,
        p: Packet,
        header: EthernetHeader,
    ) {
        let (common, is_up) = (&mut self.common, self.nodes[node as usize].is_up());
        if !is_up {
            common.lose(at, node, &p, DropReason::NodeDown);
            return common.work.pool.recycle(p);
        }
        let RxMeta { from: peer, iface, signal_dbm, .. } = rx;
        let hop = Hop { kind: HopKind::Receive, peer, iface, signal_dbm, reason: None };
        SimulationWorld { common, node }.record(at, &p, hop);
        let mut frame = common.work.pool.copy(&p);
        header.put_before(&mut frame);
        common.leave(at, node, frame, Exit::Frame);
        common.expire(at, node);
        let PacketFacts { destination, ttl, control, .. } = common.arrived;
        if control.is_some() {
            common.work.pool.recycle(p);
        } else if rx.broadcast || common.stations.get(destination) == Some(node) {
            common.deliver_from_tap(at, node, p);
        } else if ttl <= 1 {
            common.lose(at, node, &p, DropReason::TtlExpired);
            common.work.pool.recycle(p);
        } else if let Some(taps) = common.external.as_mut().and_then(|external| external.taps.as_mut()) {
            taps.keep(at, node, p);
        }
        self.send_answers(at);
    }
}

impl Simulation {
    /// Opens the network as [`Simulation::open`] does, to kernels that send and receive Ethernet frames: they do all that is
    /// above the link.
    pub fn open_to_frames(&mut self) {
        self.open();
        let Net { nodes, common } = &mut self.net;
        let macs: Vec<Mac> = nodes.active().map(|n| n.mac(IfaceId(0))).collect();
        let link_local = macs.iter().map(|mac| Addr::from(ipv6::link_local(*mac))).zip(0..);
        link_local.for_each(|(a, node)| common.stations.insert(a, node));
        if let Some(external) = &mut common.external {
            external.taps = Some(Taps::new(macs.into_iter()));
        }
    }

    /// A frame of a node's kernel enters at `at`, or now if that is past. One that is not the node's own is ignored; the
    /// answer says so.
    pub fn enter_frame(&mut self, at: Time, node: u32, frame: &[u8]) -> bool {
        self.net.common.enter_frame(at.max(self.now), node, frame)
    }

    /// A packet that left to be sent by its node's network stack was refused there.
    pub fn refuse(&mut self, Egress { node, packet, .. }: Egress, reason: DropReason) {
        self.net.common.lose_at_source(self.now, node, packet, reason);
    }
}
