//! Everything of a run but the radio: nodes, packets between the layers, flows, and the record of it all.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use wayhop_core::{
    Addr, BROADCAST, Cx, DataPlane, DropReason, Effect, NodeId, Packet, Pool, Priority, Protocol, RouteUse,
    RxMeta, Time, TimerKey, TxId, TxSpec, TxStatus,
};
use wayhop_radio::{Arp, EVERYONE, NOBODY, Outgoing, Payload};
use wayhop_trace::{HopEvent, HopKind, NoteEvent, Recorder, SendEvent};
use wayhop_wire::{had_no_route, ipv4, udp};

use crate::arp::Resolution;
use crate::classify;
use crate::event::Event;
use crate::flows::{Delivery, Flows};
use crate::ledger::Ledger;
use crate::live::Happening;
use crate::motion::Movers;
use crate::node::{Node, Timer};
use crate::outside::{Exit, Leaving, Outside};
use crate::queue::EventQueue;
use crate::slab::Slab;

/// A run without its radio.
pub(crate) struct Net {
    pub(crate) queue: EventQueue<Event>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) movers: Movers,
    pub(crate) stations: FxHashMap<Addr, u32>,
    pub(crate) pool: Pool,
    pub(crate) next_id: u64,
    pub(crate) flows: Flows,
    pub(crate) ledger: Ledger,
    pub(crate) recorder: Recorder,
    /// Packets on their way down.
    pub(crate) going: Slab<Outgoing>,
    /// Packets on their way up.
    pub(crate) coming: Slab<Arrivals>,
    /// The packet that is being received just now, and by whom.
    pub(crate) arriving: Option<Arrivals>,
    /// Lists of receivers for reuse.
    pub(crate) spare_receivers: Vec<Vec<Receiver>>,
    /// Neighbours whose packets a protocol wants back from the interface queue.
    pub(crate) recalls: VecDeque<(u32, Addr)>,
    pub(crate) link_delay: wayhop_core::Span,
    pub(crate) arp: Arp,
    pub(crate) channel_mhz: u16,
    pub(crate) data_rate_100kbps: u16,
    pub(crate) basic_rate_100kbps: u16,
    /// Which nodes write a capture.
    pub(crate) captures: Vec<bool>,
    /// For the octets of a frame, for reuse.
    pub(crate) frame: Vec<u8>,
    /// The way to programs outside of the simulator, on a real clock.
    pub(crate) outside: Option<Outside>,
    /// Effect lists for reuse; more than one when a handler's effects call another handler.
    pub(crate) spare_effects: Vec<Vec<Effect>>,
    /// Lists that connections use.
    pub(crate) tcp_spare: crate::tcp::Spare,
}

/// A packet that one transmission brought to some nodes. One event takes it to the network layers of all of them.
pub(crate) struct Arrivals {
    pub(crate) packet: Packet,
    pub(crate) receivers: Vec<Receiver>,
}

/// One of them.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Receiver {
    pub(crate) node: u32,
    /// When the packet reaches its network layer.
    pub(crate) at: Time,
    pub(crate) rx: RxMeta,
}

/// The longest packet that a frame carries: an MSDU of 2304 octets (IEEE 802.11 9.2.4.7) less LLC and SNAP. Longer ones
/// would need fragmentation, by IP or by the MAC, and neither is modelled.
const MTU_BYTES: usize = 2304 - wayhop_wire::llc::LEN;

/// Where a packet came from or goes to, for the record.
const NO_PEER: Addr = Addr::UNSPECIFIED;

impl Net {
    /// Calls a protocol and carries out what it asks.
    pub(crate) fn call(&mut self, at: Time, node: u32, handler: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        let mut effects = self.spare_effects.pop().unwrap_or_default();
        let n = &mut self.nodes[node as usize];
        let at = at.max(n.clock);
        n.clock = at;
        let mut cx =
            Cx::new(at, n.addr, n.interface, &mut n.rng, &mut self.pool, &mut self.next_id, &mut effects);
        handler(&mut *n.protocol, &mut cx);
        for e in effects.drain(..) {
            self.apply(at, node, e);
        }
        self.spare_effects.push(effects);
    }

    fn apply(&mut self, at: Time, node: u32, effect: Effect) {
        match effect {
            Effect::Send(p, spec) => self.send_down(at, node, p, spec, true),
            Effect::Deliver(p) => self.deliver(at, node, p),
            Effect::Drop(p, why) => self.drop_packet(at, node, p, why),
            Effect::Consume(p) => self.pool.recycle(p),
            Effect::SetTimer(key, when) => self.set_timer(node, key, when.max(at)),
            Effect::ClearTimer(key) => {
                if let Some(t) = self.nodes[node as usize].timers.get_mut(&key) {
                    t.due = Time::NEVER;
                }
            }
            Effect::Install(r) => {
                self.happened(at, node, || Happening::Route(r.destination, Some((r.next_hop, r.hops))));
                self.nodes[node as usize].routes.insert(r.destination, r.next_hop);
            }
            Effect::Uninstall(destination) => {
                self.happened(at, node, || Happening::Route(destination, None));
                self.nodes[node as usize].routes.remove(&destination);
            }
            Effect::Recall(next_hop) => self.recalls.push_back((node, next_hop)),
            Effect::Note(note) => {
                self.happened(at, node, || Happening::Note(note));
                self.recorder.note(&NoteEvent { time: at, node: NodeId(node), note });
            }
            Effect::State(state) => {
                self.recorder.sent(&SendEvent { time: at, node: NodeId(node), state });
            }
        }
    }

    /// Tells those who watch from outside.
    fn happened(&mut self, at: Time, node: u32, what: impl FnOnce() -> Happening) {
        if let Some(outside) = self.outside.as_mut().filter(|o| o.watched) {
            outside.happened(at, node, what());
        }
    }

    fn set_timer(&mut self, node: u32, key: TimerKey, due: Time) {
        match self.nodes[node as usize].timers.entry(key) {
            Entry::Occupied(mut o) if o.get().queued <= due => o.get_mut().due = due,
            entry => {
                entry.insert_entry(Timer { due, queued: due });
                self.queue.push(due, node, Event::Timer(key));
            }
        }
    }

    /// A timer's event came up.
    pub(crate) fn timer(&mut self, at: Time, node: u32, key: TimerKey) {
        let Entry::Occupied(mut timer) = self.nodes[node as usize].timers.entry(key) else { return };
        let Timer { due, queued } = *timer.get();
        if queued != at {
            // The timer was moved to an earlier time and has another event.
            return;
        }
        if due > at && due < Time::NEVER {
            timer.get_mut().queued = due;
            self.queue.push(due, node, Event::Timer(key));
            return;
        }
        timer.remove();
        if due <= at {
            self.call(at, node, |p, cx| p.on_timer(cx, key));
        }
    }

    /// A flow's packet enters the network layer of its own node.
    pub(crate) fn start(&mut self, at: Time, node: u32, p: Packet) {
        if let Some(tag) = p.meta.flow {
            self.ledger.originated(tag);
        }
        self.originate(at, node, p);
    }

    /// A packet that a node made goes on its way.
    fn originate(&mut self, at: Time, node: u32, p: Packet) {
        self.record(at, node, HopKind::Originate, &p, NO_PEER, None);
        let destination = classify::destination(p.bytes());
        if destination == self.nodes[node as usize].addr {
            self.deliver(at, node, p);
        } else {
            self.route(at, node, p, destination, None);
        }
    }

    /// A packet that is not for this node goes on: by the protocol, or by the forwarding table.
    fn route(&mut self, at: Time, node: u32, p: Packet, destination: Addr, previous_hop: Option<Addr>) {
        let n = &self.nodes[node as usize];
        if n.plane == DataPlane::PerPacket {
            self.call(at, node, |proto, cx| proto.on_outbound(cx, p));
            return;
        }
        let Some(&next_hop) = n.routes.get(&destination) else {
            self.call(at, node, |proto, cx| proto.on_outbound(cx, p));
            return;
        };
        if n.interests.route_used {
            let source = classify::source(p.bytes());
            let used = RouteUse { source, destination, next_hop, previous_hop };
            self.call(at, node, |proto, cx| proto.on_route_used(cx, &used));
        }
        self.send_down(at, node, p, TxSpec::unicast(next_hop).reported(TxId(0)), true);
    }

    /// After the radio has handled an event: sends what was received on its way up.
    pub(crate) fn lift(&mut self) {
        // The nearest receiver is first: what it and the others do comes after the event.
        if let Some(arrivals) = self.arriving.take()
            && let Some(&Receiver { node, at, .. }) = arrivals.receivers.iter().min_by_key(|r| r.at)
        {
            let handle = self.coming.put(arrivals);
            self.queue.push(at, node, Event::Up(handle));
        }
    }

    /// A transmission's packet reaches the network layers of those who received it.
    pub(crate) fn arrive(&mut self, handle: u32) {
        let Arrivals { packet, mut receivers } = self.coming.take(handle);
        let facts = classify::read(packet.bytes());
        for r in receivers.drain(..) {
            let copy = self.pool.copy(&packet);
            let Receiver { node, at, rx } = r;
            self.record_facts(at, node, HopKind::Receive, &copy, &facts, rx.from, rx.signal_dbm, None);
            self.up(at, node, copy, rx);
        }
        self.pool.recycle(packet);
        self.spare_receivers.push(receivers);
    }

    /// A packet from the air reaches the network layer.
    fn up(&mut self, at: Time, node: u32, mut p: Packet, rx: RxMeta) {
        let n = &self.nodes[node as usize];
        if n.plane == DataPlane::PerPacket {
            self.call(at, node, |proto, cx| proto.on_frame(cx, p, &rx));
            return;
        }
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else {
            self.drop_packet(at, node, p, DropReason::Malformed);
            return;
        };
        let (destination, own) = (ip.dst(), is_for_port(&ip, n.interests.udp_port));
        let returned = ip.src() == n.addr;
        let for_me = destination == n.addr || destination == BROADCAST;
        // A subnet's broadcast address is nobody's here; the link tells that the frame was one to all.
        if own && (for_me || rx.broadcast) {
            self.call(at, node, |proto, cx| proto.on_frame(cx, p, &rx));
        } else if for_me {
            self.deliver(at, node, p);
        } else if rx.broadcast {
            // RFC 1812 5.3.4: what came as a link broadcast is not forwarded as a unicast.
            self.drop_packet(at, node, p, DropReason::Policy);
        } else if returned {
            self.drop_packet(at, node, p, DropReason::Loop);
        } else if ip.ttl() <= 1 {
            self.drop_packet(at, node, p, DropReason::TtlExpired);
        } else {
            ipv4::decrement_ttl(p.bytes_mut()).expect("the header was checked");
            self.route(at, node, p, destination, Some(rx.from));
        }
    }

    /// A packet leaves the network layer for the interface queue.
    fn send_down(&mut self, at: Time, node: u32, packet: Packet, spec: TxSpec, wants_status: bool) {
        let out = Outgoing {
            packet,
            payload: Payload::Ip,
            next_hop: spec.next_hop,
            to: NOBODY,
            priority: spec.priority,
            report: spec.report,
            wants_status: wants_status && spec.report.is_some(),
        };
        let handle = self.going.put(out);
        self.queue.push(at + spec.delay + self.link_delay, node, Event::Down(handle));
    }

    /// A packet arrives at the link layer: resolves its next hop. Returns it if it may go on to the interface queue.
    pub(crate) fn resolve(&mut self, at: Time, node: u32, mut out: Outgoing) -> Option<Outgoing> {
        if out.packet.len() > MTU_BYTES {
            self.drop_packet(at, node, out.packet, DropReason::TooLong);
            return None;
        }
        let facts = classify::read(out.packet.bytes());
        if let Some(class) = facts.control {
            self.ledger.queued(class, out.packet.len());
        }
        let own = facts.source == self.nodes[node as usize].addr;
        let kind = if own { HopKind::Send } else { HopKind::Forward };
        self.record_facts(at, node, kind, &out.packet, &facts, out.next_hop, f32::NAN, None);
        if out.next_hop == BROADCAST {
            out.to = EVERYONE;
            return Some(out);
        }
        out.to = self.stations.get(&out.next_hop).copied().unwrap_or(NOBODY);
        if self.arp == Arp::None {
            return Some(out);
        }
        let target = out.next_hop;
        match self.nodes[node as usize].arp.resolve(out) {
            Resolution::Send(out) => Some(out),
            Resolution::Ask { pushed_out } => {
                if let Some(old) = pushed_out {
                    self.drop_packet(at, node, old.packet, DropReason::ArpFull);
                }
                Some(self.arp_request(at, node, target))
            }
            Resolution::GiveUp { held, packet } => {
                for out in held.into_iter().chain([packet]) {
                    self.failed(at, node, out, TxStatus::NoAck { tries: 0 });
                }
                None
            }
        }
    }

    /// A packet could not be sent: back to the protocol if it wants to know, dropped if not.
    pub(crate) fn failed(&mut self, at: Time, node: u32, out: Outgoing, status: TxStatus) {
        if out.payload == Payload::Arp {
            self.pool.recycle(out.packet);
        } else if out.wants_status {
            let id = out.report.unwrap_or_default();
            self.call(at, node, |p, cx| p.on_tx_status(cx, id, out.next_hop, status, Some(out.packet)));
        } else {
            let why = match status {
                TxStatus::QueueFull => DropReason::QueueFull,
                TxStatus::NoAck { tries: 0 } => DropReason::ArpFailed,
                _ => DropReason::MacRetries,
            };
            self.drop_packet(at, node, out.packet, why);
        }
    }

    /// A packet was sent well, or as well as can be known.
    pub(crate) fn sent(&mut self, at: Time, node: u32, out: Outgoing, status: TxStatus) {
        self.pool.recycle(out.packet);
        if out.wants_status {
            let id = out.report.unwrap_or_default();
            self.call(at, node, |p, cx| p.on_tx_status(cx, id, out.next_hop, status, None));
        }
    }

    /// A packet of a program outside enters at its node; false if it is nothing that this network carries.
    pub(crate) fn enter(&mut self, at: Time, node: u32, bytes: &[u8]) -> bool {
        let Some(outside) = &mut self.outside else { return false };
        let Ok(ip) = ipv4::Packet::new_checked(bytes) else { return false };
        if ip.src() != self.nodes[node as usize].addr {
            return false;
        }
        let known = outside.recognise(node, &ip).or_else(|| {
            let tag = self.flows.answered(node, &ip, &self.stations)?;
            Some((tag, at))
        });
        let (flow, born) = known.map_or((None, at), |(tag, born)| (Some(tag), born));
        let id = wayhop_core::PacketId(self.next_id);
        self.next_id += 1;
        let p = self.pool.packet(&bytes[..ip.total_len()], wayhop_core::PacketMeta { id, flow, born });
        outside.programs.sent += u64::from(flow.is_none());
        let handle = outside.entering.put(p);
        self.queue.push(at, node, Event::Enter(handle));
        true
    }

    /// Such a packet's event came up.
    pub(crate) fn entered(&mut self, at: Time, node: u32, handle: u32) {
        if let Some(outside) = &mut self.outside {
            let p = outside.entering.take(handle);
            self.start(at, node, p);
        }
    }

    /// Hands a packet to the programs outside.
    fn leave(&mut self, at: Time, node: u32, packet: Packet, exit: Exit) {
        match &mut self.outside {
            Some(outside) => outside.leaving.push_back(Leaving { node, at, exit, packet }),
            None => self.pool.recycle(packet),
        }
    }

    fn deliver(&mut self, at: Time, node: u32, p: Packet) {
        if p.meta.flow.is_none() && self.tcp_notice(at, node, p.bytes()) {
            self.record(at, node, HopKind::Deliver, &p, NO_PEER, None);
            return self.pool.recycle(p);
        }
        if let (None, Some(outside)) = (p.meta.flow, &mut self.outside) {
            outside.programs.delivered += 1;
            self.record(at, node, HopKind::Deliver, &p, NO_PEER, None);
            return self.leave(at, node, p, Exit::Deliver);
        }
        let Some(tag) = p.meta.flow else {
            // Nobody but the run's own flows listens.
            self.drop_packet(at, node, p, DropReason::NoListener);
            return;
        };
        self.record(at, node, HopKind::Deliver, &p, NO_PEER, None);
        if self.flows.is_tcp(tag.flow) {
            return self.tcp_deliver(at, node, tag, p);
        }
        let delivery = self.flows.deliver(at, node, tag, &p, &mut self.pool, &mut self.next_id);
        self.leave(at, node, p, Exit::Deliver);
        match delivery {
            Delivery::Counted => self.ledger.delivered(tag),
            Delivery::Again => {}
            // Outside, the node's own network stack answers.
            Delivery::Answer(answer) if self.outside.is_some() => self.pool.recycle(answer),
            Delivery::Answer(answer) => self.originate(at, node, answer),
        }
    }

    pub(crate) fn drop_packet(&mut self, at: Time, node: u32, p: Packet, why: DropReason) {
        self.record(at, node, HopKind::Drop, &p, NO_PEER, Some(why));
        self.happened(at, node, || {
            let facts = classify::read(p.bytes());
            Happening::Drop(why, facts.source, facts.destination, p.len() as u32)
        });
        match (p.meta.flow, &mut self.outside) {
            (Some(tag), _) => self.ledger.dropped(tag, why),
            (None, Some(outside)) if wayhop_trace::classify(p.bytes()).0.is_none() => {
                outside.programs.dropped[why as usize] += 1;
            }
            _ => {}
        }
        self.tcp_refused(at, node, &p, why);
        let is_own = |net: &Self| net.nodes[node as usize].addr == classify::source(p.bytes());
        if self.outside.is_some() && had_no_route(why) && is_own(self) {
            return self.leave(at, node, p, Exit::Refuse(why));
        }
        self.pool.recycle(p);
    }

    pub(crate) fn record(
        &mut self,
        at: Time,
        node: u32,
        kind: HopKind,
        p: &Packet,
        peer: Addr,
        reason: Option<DropReason>,
    ) {
        let facts = classify::read(p.bytes());
        self.record_facts(at, node, kind, p, &facts, peer, f32::NAN, reason);
    }

    #[allow(clippy::too_many_arguments, reason = "one row of a table")]
    pub(crate) fn record_facts(
        &mut self,
        at: Time,
        node: u32,
        kind: HopKind,
        p: &Packet,
        facts: &classify::Facts,
        peer: Addr,
        signal_dbm: f32,
        reason: Option<DropReason>,
    ) {
        self.recorder.hop(&HopEvent {
            time: at,
            packet: p.meta.id,
            flow: p.meta.flow,
            node: NodeId(node),
            bytes: p.len() as u32,
            source: facts.source,
            destination: facts.destination,
            peer,
            signal_dbm,
            kind,
            class: facts.control.unwrap_or_else(|| self.flows.class(p.meta.flow)),
            messages: facts.messages,
            ttl: facts.ttl,
            reason,
        });
    }

    fn arp_request(&mut self, at: Time, node: u32, target: Addr) -> Outgoing {
        use wayhop_wire::arp::{Operation, Repr};
        let sender = self.nodes[node as usize].addr;
        let repr = Repr {
            operation: Operation::Request,
            sender_mac: wayhop_core::Mac::from_addr(sender),
            sender,
            target_mac: wayhop_core::Mac([0; 6]),
            target,
        };
        self.arp_packet(at, repr, EVERYONE, BROADCAST)
    }

    fn arp_packet(&mut self, at: Time, repr: wayhop_wire::arp::Repr, to: u32, next_hop: Addr) -> Outgoing {
        let id = wayhop_core::PacketId(self.next_id);
        self.next_id += 1;
        let meta = wayhop_core::PacketMeta { id, flow: None, born: at };
        let mut packet = self.pool.zeroed(repr.buffer_len(), meta);
        repr.emit(packet.bytes_mut());
        Outgoing {
            packet,
            payload: Payload::Arp,
            next_hop,
            to,
            priority: Priority::Data,
            report: None,
            wants_status: false,
        }
    }

    /// An ARP packet arrived: everyone who hears it learns the sender's address (as BSD and ns-2 do), and the one who
    /// is asked answers.
    pub(crate) fn arp_input(&mut self, at: Time, node: u32, bytes: &[u8]) {
        use wayhop_wire::arp::{Operation, Repr};
        let Ok(heard) = Repr::parse(bytes) else { return };
        if let Some(waiting) = self.nodes[node as usize].arp.learn(heard.sender) {
            let handle = self.going.put(waiting);
            self.queue.push(at + self.link_delay, node, Event::Enqueue(handle));
        }
        let own = self.nodes[node as usize].addr;
        if heard.operation == Operation::Request && heard.target == own {
            let reply = Repr {
                operation: Operation::Reply,
                sender_mac: wayhop_core::Mac::from_addr(own),
                sender: own,
                target_mac: heard.sender_mac,
                target: heard.sender,
            };
            let to = self.stations.get(&heard.sender).copied().unwrap_or(NOBODY);
            let out = self.arp_packet(at, reply, to, heard.sender);
            let handle = self.going.put(out);
            self.queue.push(at + self.link_delay, node, Event::Enqueue(handle));
        }
    }
}

/// Whether a packet is a datagram to that UDP port.
fn is_for_port(ip: &ipv4::Packet<'_>, port: Option<u16>) -> bool {
    port.is_some_and(|port| {
        ip.protocol() == ipv4::protocol::UDP
            && udp::Packet::new_checked(ip.payload()).is_ok_and(|u| u.dst_port() == port)
    })
}
