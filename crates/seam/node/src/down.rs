//! The way down: delay, link address, queue, transmission.

use std::net::IpAddr;

use crate::config::Resolution;
use crate::ipv6_state::is_v6;
use crate::node::Node;
use crate::resolver::{Due, HOST_WAIT, Lookup};
use crate::table::InstalledRoute;
use crate::world::{Hop, Stage, World};
use wayhop_core::{
    Addr, BROADCAST, DropReason, Frame, HopKind, IfaceId, Mac, Packet, Payload, Protocol, Reporting, Span,
    Time, TxId, TxReport, TxSpec, TxStatus,
};

impl<P: Protocol> Node<P> {
    /// A packet leaves the network layer.
    pub(crate) fn send_down<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        packet: Packet,
        spec: &TxSpec,
        reporting: Reporting,
    ) {
        if self.withholds && self.is_withheld(at, &packet) {
            return self.keep(w, at, packet, spec, reporting);
        }
        let payload = if is_v6(packet.bytes()) { Payload::Ip6 } else { Payload::Ip };
        let TxSpec { iface, next_hop, priority, .. } = *spec;
        let (receiver, life) = (Mac::BROADCAST, self.life);
        let frame = Frame { packet, payload, iface, next_hop, receiver, priority, reporting, life };
        if self.interfaces.len() == 1 {
            return self.schedule(w, at, spec.delay, Frame { iface: IfaceId(0), ..frame });
        }
        if spec.iface == IfaceId::ANY && spec.next_hop == BROADCAST {
            return self.send_on_all(w, at, spec.delay, frame);
        }
        let iface = match spec.iface {
            IfaceId::ANY => self.interface_to(spec.next_hop),
            given if given.index() < self.interfaces.len() => given,
            _ => return self.failed(w, at, frame, TxStatus::NoAck { tries: 0 }),
        };
        self.schedule(w, at, spec.delay, Frame { iface, ..frame });
    }

    /// Whether an engine keeps a packet of another node.
    #[cold]
    fn is_withheld(&mut self, at: Time, packet: &Packet) -> bool {
        !self.is_from_here(packet.bytes())
            && self
                .engines
                .iter_mut()
                .any(|e| e.interests.withholds && e.protocol.withholds(at, packet.bytes()))
    }

    /// Ends a packet that an engine keeps. To its sender it counts as sent.
    fn keep<W: World>(&mut self, w: &mut W, at: Time, packet: Packet, spec: &TxSpec, reporting: Reporting) {
        self.drop_packet(w, at, packet, DropReason::Attack);
        let Some((engine, id)) = receiver(reporting) else { return };
        let TxSpec { next_hop, iface, .. } = *spec;
        Self::provoke(w, engine, TxReport { id, next_hop, iface, status: TxStatus::Acked, packet: None });
    }

    /// A broadcast leaves by every interface in the mesh that is up. The report comes from the first one.
    fn send_on_all<W: World>(&mut self, w: &mut W, at: Time, delay: Span, frame: Frame) {
        let first = self.first_up();
        for i in first.index() + 1..self.interfaces.len() {
            if !self.interfaces[i].is_up || self.interfaces[i].config.leads_out {
                continue;
            }
            let packet = w.workspace().pool.copy(&frame.packet);
            let iface = crate::interface::id(i);
            let copy = Frame { packet, iface, reporting: Reporting::Nobody, ..frame };
            self.schedule(w, at, delay, copy);
        }
        self.schedule(w, at, delay, Frame { iface: first, ..frame });
    }

    fn schedule<W: World>(&mut self, w: &mut W, at: Time, delay: Span, frame: Frame) {
        match self.interfaces[frame.iface.index()].config.link_delay {
            None if delay == Span::ZERO => self.resolve(w, at, frame),
            _ if !w.may_wait() => self.failed(w, at, frame, TxStatus::QueueFull),
            link_delay => {
                w.schedule_frame(at + delay + link_delay.unwrap_or(Span::ZERO), Stage::Resolve, frame);
            }
        }
    }

    /// A call that [`World::schedule_frame`] asked for.
    pub fn frame_due<W: World>(&mut self, w: &mut W, at: Time, stage: Stage, frame: Frame) {
        if !self.is_up || frame.life != self.life {
            return self.end_with_node(w, at, frame);
        }
        match stage {
            Stage::Resolve => {
                if let Some(frame) = self.exchange_due(w, at, frame) {
                    self.resolve(w, at, frame);
                }
            }
            Stage::Enqueue => self.enqueue(w, at, frame),
        }
        self.settle(w, at);
    }

    /// Finds the link address of a frame's next hop.
    fn resolve<W: World>(&mut self, w: &mut W, at: Time, frame: Frame) {
        let iface = &self.interfaces[frame.iface.index()];
        if frame.packet.len() + self.seal_len(frame.packet.bytes()) > iface.config.mtu {
            let mtu = iface.config.mtu.saturating_sub(self.seal_len(frame.packet.bytes()));
            self.too_big(w, at, &frame.packet, mtu);
            return self.drop_packet(w, at, frame.packet, DropReason::TooLong);
        }
        let kind = if self.is_from_here(frame.packet.bytes()) { HopKind::Send } else { HopKind::Forward };
        w.record(at, &frame.packet, Hop { kind, peer: frame.next_hop, iface: frame.iface, ..Hop::HERE });
        let (target, id) = (frame.next_hop, frame.iface);
        let iface = &mut self.interfaces[id.index()];
        if !iface.is_up {
            return self.failed(w, at, frame, TxStatus::NoAck { tries: 0 });
        }
        if iface.config.resolution == Resolution::Derived
            && let Some(neighbour) = frame.next_hop.v6()
        {
            return match w.link_address(id, neighbour) {
                Some(receiver) => self.enqueue(w, at, Frame { receiver, ..frame }),
                None => self.failed(w, at, frame, TxStatus::NoAck { tries: 0 }),
            };
        }
        match iface.look_up(at, frame) {
            Lookup::Known(frame) => self.enqueue(w, at, frame),
            Lookup::Waits { ask, pushed_out } => {
                if let Some(old) = pushed_out {
                    self.drop_packet(w, at, old.packet, DropReason::ArpFull);
                }
                if ask {
                    // Only a host repeats its questions for link addresses.
                    if self.interfaces[id.index()].config.resolution == Resolution::Host {
                        w.schedule_resolution(at + HOST_WAIT, id);
                    }
                    let request = self.request(w, at, id, target);
                    self.enqueue(w, at, request);
                }
            }
            Lookup::Failed(held, last) => {
                for f in held.into_iter().chain([last]) {
                    self.failed(w, at, f, TxStatus::NoAck { tries: 0 });
                }
            }
        }
    }

    /// A question for a neighbour's link address.
    fn request<W: World>(&self, w: &mut W, at: Time, iface: IfaceId, target: Addr) -> Frame {
        match target.ip() {
            IpAddr::V4(target) => self.arp_request(w, at, iface, target),
            IpAddr::V6(target) => self.solicitation(w, at, iface, target),
        }
    }

    /// A call that [`World::schedule_resolution`] asked for.
    pub fn resolve_due<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId) {
        while let Some(due) = self.interfaces[iface.index()].resolution_due(at) {
            match due {
                Due::Ask(addr, again) => {
                    w.schedule_resolution(again, iface);
                    let request = self.request(w, at, iface, addr);
                    self.enqueue(w, at, request);
                }
                Due::Failed(frames) => {
                    for f in frames {
                        self.failed(w, at, f, TxStatus::NoAck { tries: 0 });
                    }
                }
            }
        }
        self.settle(w, at);
    }

    /// A frame enters its interface's queue.
    pub(crate) fn enqueue<W: World>(&mut self, w: &mut W, at: Time, mut frame: Frame) {
        let iface = frame.iface;
        if self.interfaces[iface.index()].queue.is_empty() && !self.is_empty_exchange(frame.packet.bytes()) {
            self.seal(&mut frame);
            match w.offer(at, frame) {
                Some(refused) => frame = refused,
                None => return,
            }
        }
        match self.interfaces[iface.index()].push(frame) {
            Ok(()) => w.ready(at, iface),
            Err(frame) => self.failed(w, at, frame, TxStatus::QueueFull),
        }
    }

    /// The medium takes the next frame of an interface.
    #[inline]
    pub fn pull(&mut self, iface: IfaceId) -> Option<Frame> {
        let i = &mut self.interfaces[iface.index()];
        let mut frame = if i.is_up { i.queue.pop()? } else { return None };
        self.seal(&mut frame);
        Some(frame)
    }

    /// The transmission of a frame ended.
    pub fn finished<W: World>(&mut self, w: &mut W, at: Time, frame: Frame, status: TxStatus) {
        if !self.is_up || frame.life != self.life {
            return match status {
                TxStatus::Acked | TxStatus::Unknown => w.workspace().pool.recycle(frame.packet),
                _ => self.end_with_node(w, at, frame),
            };
        }
        match status {
            TxStatus::Acked | TxStatus::Unknown => {
                if self.authentic.is_some() {
                    self.exchange_sent(w, at, &frame);
                }
                if self.interfaces.len() > 1 && status == TxStatus::Acked {
                    self.heard.acknowledged(frame.next_hop, frame.iface);
                }
                Self::sent(w, frame, status);
            }
            _ => self.failed(w, at, frame, status),
        }
        self.settle(w, at);
    }

    /// A frame was sent well, or as well as can be known.
    fn sent<W: World>(w: &mut W, frame: Frame, status: TxStatus) {
        let Frame { packet, next_hop, iface, reporting, .. } = frame;
        w.workspace().pool.recycle(packet);
        let Some((engine, id)) = receiver(reporting) else { return };
        Self::provoke(w, engine, TxReport { id, next_hop, iface, status, packet: None });
    }

    /// A frame could not be sent: back to its engine if that wants to know, dropped if not.
    pub(crate) fn failed<W: World>(&mut self, w: &mut W, at: Time, mut frame: Frame, status: TxStatus) {
        self.unseal(&mut frame.packet);
        if self.interfaces.len() > 1
            && matches!(status, TxStatus::NoAck { .. })
            && !frame.payload.is_resolution()
        {
            match self.elsewhere(w, at, frame) {
                Some(same) => frame = same,
                None => return,
            }
        }
        self.exchange_failed(w, at, &frame, status);
        let Frame { packet, payload, next_hop, iface, reporting, .. } = frame;
        if payload.is_resolution() {
            return w.workspace().pool.recycle(packet);
        }
        let Some((engine, id)) = receiver(reporting) else {
            let why = match status {
                TxStatus::QueueFull => DropReason::QueueFull,
                TxStatus::NoAck { tries: 0 } => DropReason::ArpFailed,
                _ => DropReason::MacRetries,
            };
            return self.drop_packet(w, at, packet, why);
        };
        Self::provoke(w, engine, TxReport { id, next_hop, iface, status, packet: Some(packet) });
    }

    /// A neighbour did not acknowledge a frame on one of several interfaces. If it is heard on
    /// another, the frame goes there and no engine is notified, since the link still works.
    /// Otherwise the frame comes back.
    #[cold]
    fn elsewhere<W: World>(&mut self, w: &mut W, at: Time, frame: Frame) -> Option<Frame> {
        self.heard.failed(at, frame.next_hop, frame.iface);
        self.review_acknowledgement(frame.next_hop);
        let other = self.another_to(frame.next_hop).filter(|other| *other != frame.iface);
        let Some(iface) = other else { return Some(frame) };
        self.resolve(w, at, Frame { iface, receiver: Mac::BROADCAST, ..frame });
        None
    }

    /// A kernel that forwards by itself found that a neighbour does not answer: what it had for it is lost.
    pub fn unresolved<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, next_hop: Addr) {
        let lost = |r: &InstalledRoute| r.route.next_hop == next_hop && r.owner != InstalledRoute::STATIC;
        let mut owners: Vec<u8> = self.table.rows().filter(lost).map(|r| r.owner).collect();
        owners.sort_unstable();
        owners.dedup();
        for engine in owners {
            let status = TxStatus::NoAck { tries: 0 };
            Self::provoke(w, engine, TxReport { id: None, next_hop, iface, status, packet: None });
        }
        self.settle(w, at);
    }
}

/// The engine that gets a report, and the number under which it sent the packet.
fn receiver(reporting: Reporting) -> Option<(u8, Option<TxId>)> {
    match reporting {
        Reporting::Nobody => None,
        Reporting::Engine(engine, id) => Some((engine, Some(id))),
        Reporting::Route(engine) => Some((engine, None)),
    }
}
