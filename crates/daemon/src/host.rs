//! The host of one protocol on the real clock: what the simulator's node does, without its radio.
//!
//! It does no I/O. The event loop brings packets and the time, and takes what is in `outbox`, `deliveries`,
//! `route_changes` and `questions`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_control::ParameterSet;
use wayhop_core::{
    Addr, BROADCAST, Cx, DataPlane, DropReason, Effect, Interests, Interface, Mac, Packet, PacketId,
    PacketMeta, Pool, Protocol, Rng, Route, RouteUse, RxMeta, Time, TxId, TxSpec, TxStatus,
};
use wayhop_linux::Prefix;
use wayhop_trace::HopKind;
use wayhop_wire::{had_no_route, ipv4, unreachable_for};

use crate::counters::Counters;
use crate::events::Events;
use crate::fate::Fates;
use crate::neighbours::{Due, Neighbours, hop_of};
use crate::outbox::{ETHERNET, Outbox, Outgoing};
use crate::run_dir::{NOBODY, Run};
use crate::signals::Map;
use crate::station::Whereabouts;
use crate::timers::Timers;
use crate::timing::Timing;

/// The most packets that wait for their jitter to pass: a flood of requests must not fill the memory.
const MAX_DELAYED: usize = 1024;

/// One node.
pub(crate) struct Host {
    pub(crate) addr: Addr,
    mesh: Prefix,
    /// The frame that the protocol is looking at.
    arrived: Option<PacketId>,
    pub(crate) mac: Mac,
    pub(crate) mtu: usize,
    pub(crate) interests: Interests,
    pub(crate) plane: DataPlane,
    pub(crate) counters: Counters,
    /// How long frames take, if that is wanted.
    pub(crate) timing: Option<Timing>,
    /// For subscribers.
    pub(crate) events: Events,
    /// Frames for the interface.
    pub(crate) outbox: Outbox,
    /// Packets for this host's programs.
    pub(crate) deliveries: VecDeque<Packet>,
    /// Rows of the forwarding table that changed: the row, or the destination that has none any more.
    pub(crate) route_changes: Vec<Result<Route, Addr>>,
    /// Neighbours to ask for their link addresses.
    pub(crate) questions: Vec<Addr>,
    pub(crate) routes: FxHashMap<Addr, Route>,
    pub(crate) pool: Pool,
    pub(crate) whereabouts: Whereabouts,
    /// The run directory, if there is one.
    pub(crate) run: Option<Run>,
    /// What the protocol runs with.
    pub(crate) parameters: ParameterSet,
    protocol: Box<dyn Protocol>,
    neighbours: Neighbours,
    /// What became of unicasts, where the driver tells.
    pub(crate) fates: Fates,
    /// With which power neighbours are received, where anybody tells.
    pub(crate) signals: Arc<Map>,
    rng: Rng,
    next_id: u64,
    now: Time,
    timers: Timers,
    /// Packets that wait for their jitter to pass.
    delayed: BinaryHeap<Reverse<Delayed>>,
    delayed_count: u64,
    effects: Vec<Effect>,
    /// What became of packets, to be told when the handler at work has returned.
    statuses: VecDeque<(TxId, Addr, TxStatus, Option<Packet>)>,
    recalled: Vec<Outgoing>,
}

struct Delayed {
    at: Time,
    number: u64,
    out: Outgoing,
}

impl Ord for Delayed {
    fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(o.at, o.number))
    }
}
impl PartialOrd for Delayed {
    fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}
impl PartialEq for Delayed {
    fn eq(&self, o: &Self) -> bool {
        self.number == o.number
    }
}
impl Eq for Delayed {}

/// What the interface is.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Port {
    pub(crate) mac: Mac,
    /// Longest IP packet, octets.
    pub(crate) mtu: usize,
}

impl Host {
    pub(crate) fn new(protocol: Box<dyn Protocol>, addr: Addr, mesh: Prefix, port: Port, rng: Rng) -> Self {
        Self {
            addr,
            mesh,
            arrived: None,
            mac: port.mac,
            mtu: port.mtu,
            interests: protocol.interests(),
            plane: protocol.data_plane(),
            counters: Counters::default(),
            timing: None,
            events: Events::default(),
            outbox: Outbox::default(),
            deliveries: VecDeque::new(),
            route_changes: Vec::new(),
            questions: Vec::new(),
            routes: FxHashMap::default(),
            pool: Pool::new(),
            whereabouts: Whereabouts::default(),
            run: None,
            parameters: ParameterSet::default(),
            protocol,
            neighbours: Neighbours::default(),
            fates: Fates::default(),
            signals: Arc::default(),
            rng,
            next_id: 0,
            now: Time::ZERO,
            timers: Timers::default(),
            delayed: BinaryHeap::new(),
            delayed_count: 0,
            effects: Vec::new(),
            statuses: VecDeque::new(),
            recalled: Vec::new(),
        }
    }

    /// The clock goes on. It never goes back.
    pub(crate) fn at(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// The protocol begins.
    pub(crate) fn start(&mut self) {
        self.call(|p, cx| p.start(cx));
    }

    /// Calls the protocol, and carries out what it asks.
    pub(crate) fn call(&mut self, handler: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        self.call_once(handler);
        while let Some((id, next_hop, status, p)) = self.statuses.pop_front() {
            self.call_once(|proto, cx| proto.on_tx_status(cx, id, next_hop, status, p));
        }
    }

    fn call_once(&mut self, handler: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        let mut effects = std::mem::take(&mut self.effects);
        let queued = (self.outbox.len() + self.neighbours.waiting()) as u32;
        let interface = Interface { queued, acknowledges: self.fates.is_trusted() };
        let mut cx = Cx::new(
            self.now,
            self.addr,
            interface,
            &mut self.rng,
            &mut self.pool,
            &mut self.next_id,
            &mut effects,
        );
        handler(&mut *self.protocol, &mut cx);
        for e in effects.drain(..) {
            self.apply(e);
        }
        self.effects = effects;
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Send(packet, spec) => self.send(packet, spec),
            Effect::Deliver(p) => self.deliver(p),
            Effect::Drop(p, why) => self.drop_packet(p, why),
            Effect::Consume(p) => self.pool.recycle(p),
            Effect::SetTimer(key, at) => self.timers.set(key, at.max(self.now)),
            Effect::ClearTimer(key) => self.timers.clear(key),
            // A stranger on the air must not lead this host's other traffic astray.
            Effect::Install(r)
                if r.destination == self.addr
                    || !self.mesh.has_host(r.destination)
                    || !self.mesh.has_host(r.next_hop) =>
            {
                self.counters.refused_routes += 1;
            }
            Effect::Install(route) => {
                let old = self.routes.insert(route.destination, route);
                if old.is_none_or(|old| old.next_hop != route.next_hop) {
                    self.route_changes.push(Ok(route));
                }
                if old.is_none_or(|old| (old.next_hop, old.hops) != (route.next_hop, route.hops)) {
                    self.events.route(self.now, route.destination, Some(&route));
                }
            }
            Effect::Uninstall(destination) => {
                if self.routes.remove(&destination).is_some() {
                    self.events.route(self.now, destination, None);
                    self.route_changes.push(Err(destination));
                }
            }
            Effect::Recall(next_hop) => {
                let mut taken = std::mem::take(&mut self.recalled);
                self.outbox.recall(next_hop, &mut taken);
                taken.extend(self.neighbours.recall(next_hop));
                for out in taken.drain(..) {
                    self.ended(out, TxStatus::Recalled);
                }
                self.recalled = taken;
            }
            Effect::Note(note) => {
                self.events.note(self.now, note);
                if let Some(run) = &mut self.run {
                    run.note(self.now, note);
                }
            }
            Effect::State(_) => {}
        }
    }

    fn send(&mut self, packet: Packet, spec: TxSpec) {
        let TxSpec { next_hop, priority, report, .. } = spec;
        let out = Outgoing { packet, next_hop, priority, report, tries: 0 };
        if spec.delay == wayhop_core::Span::ZERO {
            self.enqueue(out);
        } else if self.delayed.len() >= MAX_DELAYED {
            self.ended(out, TxStatus::QueueFull);
        } else {
            self.delayed_count += 1;
            let number = self.delayed_count;
            self.delayed.push(Reverse(Delayed { at: self.now + spec.delay, number, out }));
        }
    }

    /// A packet goes to the interface queue, or waits for its next hop's link address.
    pub(crate) fn enqueue(&mut self, out: Outgoing) {
        if out.packet.len() > self.mtu {
            return self.drop_packet(out.packet, DropReason::TooLong);
        }
        let to = if out.next_hop == BROADCAST {
            Mac::BROADCAST
        } else if let Some(mac) = self.neighbours.mac(out.next_hop) {
            mac
        } else {
            let asked = out.next_hop;
            let (ask, pushed_out) = self.neighbours.wait(self.now, out);
            if ask {
                self.questions.push(asked);
            }
            if let Some(old) = pushed_out {
                self.drop_packet(old.packet, DropReason::ArpFull);
            }
            return;
        };
        if let Err(out) = self.outbox.push(out, to, self.mac) {
            self.ended(out, TxStatus::QueueFull);
        }
    }

    /// A neighbour showed itself.
    pub(crate) fn learn(&mut self, addr: Addr, mac: Mac) {
        if self.neighbours.mac(addr) != Some(mac) {
            self.events.neighbour(self.now, addr, mac);
        }
        for out in self.neighbours.learn(addr, mac).into_iter().flatten() {
            self.enqueue(out);
        }
    }

    /// The interface took the first packet of the outbox.
    pub(crate) fn sent(&mut self) {
        let Some(out) = self.outbox.pop() else { return };
        let bytes = out.packet.bytes();
        let (class, messages) = wayhop_trace::classify(bytes);
        if out.tries == 0
            && class.is_none()
            && ipv4::Packet::new_checked(bytes).is_ok_and(|ip| ip.src() != self.addr)
        {
            self.counters.forwarded += 1;
        }
        self.counters.sent(bytes.len(), class, messages);
        if self.run.is_some() {
            let own = ipv4::Packet::new_checked(bytes).is_ok_and(|ip| ip.src() == self.addr);
            let kind = if own { HopKind::Send } else { HopKind::Forward };
            self.hop(kind, &out.packet, (out.next_hop, f32::NAN), None);
        }
        self.taken(out);
    }

    /// A packet went, and does not come back.
    pub(crate) fn gone(&mut self, out: Outgoing, status: TxStatus) {
        self.pool.recycle(out.packet);
        if let Some(id) = out.report {
            self.statuses.push_back((id, out.next_hop, status, None));
        }
    }

    /// The interface refused the first packet of the outbox for good.
    pub(crate) fn refused(&mut self) {
        self.counters.send_errors += 1;
        if let Some(out) = self.outbox.pop() {
            self.ended(out, TxStatus::QueueFull);
        }
    }

    /// Tells the protocol what became of the packets since the last call.
    pub(crate) fn settle(&mut self) {
        if !self.statuses.is_empty() {
            self.call(|_, _| {});
        }
    }

    /// A packet was not sent.
    pub(crate) fn ended(&mut self, out: Outgoing, status: TxStatus) {
        if let Some(id) = out.report {
            self.statuses.push_back((id, out.next_hop, status, Some(out.packet)));
        } else {
            let why = match status {
                TxStatus::NoAck { tries: 0 } => DropReason::ArpFailed,
                TxStatus::NoAck { .. } => DropReason::MacRetries,
                _ => DropReason::QueueFull,
            };
            self.drop_packet(out.packet, why);
        }
    }

    fn deliver(&mut self, p: Packet) {
        // What came by air is from the mesh and to it; the stack trusts addresses of its own as a source, and others.
        if self.arrived == Some(p.meta.id)
            && !ipv4::Packet::new_checked(p.bytes()).is_ok_and(|ip| self.is_from_mesh(&ip))
        {
            return self.drop_packet(p, DropReason::Policy);
        }
        self.counters.delivered += 1;
        self.hop(HopKind::Deliver, &p, NOBODY, None);
        self.deliveries.push_back(p);
    }

    fn is_from_mesh(&self, ip: &ipv4::Packet<'_>) -> bool {
        let to_us = ip.dst() == self.addr || self.mesh.is_for_all(ip.dst());
        to_us && ip.src() != self.addr && self.mesh.has_host(ip.src())
    }

    fn drop_packet(&mut self, p: Packet, why: DropReason) {
        self.counters.dropped(why);
        self.events.dropped(self.now, &p, why);
        self.hop(HopKind::Drop, &p, NOBODY, Some(why));
        let own = ipv4::Packet::new_checked(p.bytes()).is_ok_and(|ip| ip.src() == self.addr);
        if own
            && had_no_route(why)
            && wayhop_trace::classify(p.bytes()).0.is_none()
            && let Some(answer) = unreachable_for(p.bytes(), self.addr)
        {
            let answer = self.packet(&answer);
            self.deliveries.push_back(answer);
        }
        self.pool.recycle(p);
    }

    /// A new packet with these octets.
    fn packet(&mut self, bytes: &[u8]) -> Packet {
        self.next_id += 1;
        let meta = PacketMeta { id: PacketId(self.next_id), flow: None, born: self.now };
        self.pool.packet(bytes, meta)
    }

    /// A packet from this host's stack: a program's, or (with kernel routes) one that the kernel found no route for.
    pub(crate) fn packet_in(&mut self, bytes: &[u8]) {
        let Ok(ip) = ipv4::Packet::new_checked(bytes) else { return };
        let own = ip.src() == self.addr;
        if own {
            self.counters.originated += 1;
        } else if self.plane == DataPlane::PerPacket {
            // Only the mesh's own addresses travel: a packet of another of this host's addresses could not be answered.
            self.counters.dropped(DropReason::Policy);
            return;
        }
        let len = ip.total_len();
        let p = self.packet(&bytes[..len]);
        if own {
            self.hop(HopKind::Originate, &p, NOBODY, None);
        }
        self.call(|proto, cx| proto.on_outbound(cx, p));
    }

    /// A frame of the protocol from the interface.
    pub(crate) fn frame_in(&mut self, frame: &[u8], for_other: bool, signal_dbm: f32) {
        let Some((header, body)) = frame.split_at_checked(ETHERNET) else {
            self.counters.strange_frames += 1;
            return;
        };
        let (to, from_mac) = (mac_at(header, 0), mac_at(header, 6));
        let Ok(ip) = ipv4::Packet::new_checked(body) else {
            self.counters.strange_frames += 1;
            return;
        };
        if from_mac == self.mac || from_mac.is_group() {
            self.counters.strange_frames += 1;
            return;
        }
        let body = &body[..ip.total_len()];
        let broadcast = to.is_group();
        // A broadcast is a routing message and names its transmitter; what follows it comes from the same link address.
        let told = if broadcast || self.neighbours.addr(from_mac).is_none() { hop_of(body) } else { None };
        let Some(from) = told.map(|(from, _)| from).or_else(|| self.neighbours.addr(from_mac)) else {
            self.counters.strange_frames += 1;
            return;
        };
        if told.is_some() {
            // Somebody uses this node's address, or returns what it sent; or an address that no host has. The kernel takes the
            // network's own address for everybody, so that a route over it would never be found broken.
            if from == self.addr || !self.mesh.has_host(from) {
                self.counters.strange_frames += 1;
                return;
            }
            self.learn(from, from_mac);
        }
        let rx = RxMeta { from, broadcast, signal_dbm };
        if for_other {
            self.counters.overheard_frames += 1;
            let next = self.neighbours.addr(to).or_else(|| hop_of(body).map(|(_, next)| next));
            if let Some(next_hop) = next {
                self.call(|proto, cx| proto.on_overheard(cx, body, next_hop, &rx));
            }
            return;
        }
        self.counters.received_frames += 1;
        let p = self.packet(body);
        self.arrived = Some(p.meta.id);
        self.hop(HopKind::Receive, &p, (from, signal_dbm), None);
        self.call(|proto, cx| proto.on_frame(cx, p, &rx));
        self.arrived = None;
    }

    /// With which power the transmitter of this frame is received, dBm; NaN if nobody tells.
    pub(crate) fn signal_of(&self, frame: &[u8]) -> f32 {
        if self.signals.is_empty() || frame.len() < ETHERNET {
            return f32::NAN;
        }
        self.signals.get(&mac_at(frame, 6)).copied().unwrap_or(f32::NAN)
    }

    /// A row of the forwarding table was used.
    pub(crate) fn route_used(&mut self, source: Addr, destination: Addr, transmitter: Mac) {
        let Some(route) = self.routes.get(&destination) else { return };
        let previous_hop = self.neighbours.addr(transmitter);
        let used = RouteUse { source, destination, next_hop: route.next_hop, previous_hop };
        self.call(|proto, cx| proto.on_route_used(cx, &used));
    }

    /// The kernel forwards to a neighbour that does not answer: what it had for it is lost.
    pub(crate) fn not_found(&mut self, next_hop: Addr) {
        if self.routes.values().any(|r| r.next_hop == next_hop) {
            let status = TxStatus::NoAck { tries: 0 };
            self.call(|proto, cx| proto.on_tx_status(cx, TxId(0), next_hop, status, None));
        }
    }

    /// When something is due.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        let delayed = self.delayed.peek().map(|Reverse(d)| d.at);
        [self.timers.next(), delayed, self.neighbours.next(), self.fates.next()].into_iter().flatten().min()
    }

    /// Does what is due.
    pub(crate) fn run_due(&mut self) {
        while self.delayed.peek().is_some_and(|Reverse(d)| d.at <= self.now) {
            if let Some(Reverse(d)) = self.delayed.pop() {
                self.enqueue(d.out);
            }
        }
        while let Some(due) = self.neighbours.due(self.now) {
            match due {
                Due::Ask(addr) => self.questions.push(addr),
                Due::Failed(packets) => {
                    for out in packets {
                        self.ended(out, TxStatus::NoAck { tries: 0 });
                    }
                }
            }
        }
        while let Some(out) = self.fates.untold(self.now) {
            self.gone(out, TxStatus::Unknown);
        }
        self.settle();
        // A timer that sets itself to the same moment must not keep the packets waiting.
        for _ in 0..64 {
            let Some(key) = self.timers.due(self.now) else { break };
            self.call(|proto, cx| proto.on_timer(cx, key));
        }
    }

    /// The protocol, to look into, and the time.
    pub(crate) fn protocol(&self) -> (&dyn Protocol, Time) {
        (&*self.protocol, self.now)
    }
    /// The clock, as the last event set it.
    pub(crate) fn now(&self) -> Time {
        self.now
    }
    /// Who has which link address.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = (Addr, Mac)> + '_ {
        self.neighbours.iter()
    }
}

/// The link address at this offset of an Ethernet header.
fn mac_at(header: &[u8], at: usize) -> Mac {
    let mut m = [0; 6];
    m.copy_from_slice(&header[at..at + 6]);
    Mac(m)
}
