//! The event loop.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::mem;

use wayhop_core::{
    Addr, BROADCAST, Command, Cx, DataPlane, DropReason, Effect, Fix, FlowTag, Interface, NodeId, Packet,
    PacketId, PacketMeta, Pool, Protocol, Purpose, Refused, Rng, RouteUse, RxMeta, Span, Time, TimerKey,
    TxId, TxSpec, TxStatus, stream,
};
use wayhop_wire::ipv4;

use crate::host::{Host, Queued};
use crate::links::{Link, Links};
use crate::packets::{TestPacket, addr, data_packet, read_ip};
use crate::record::{Record, What};

/// How the hosts behave. Set before the run begins.
#[derive(Copy, Clone, Debug)]
pub struct Config {
    /// Seed of every random stream.
    pub seed: u64,
    /// How long one transmission takes, with all its tries.
    pub airtime: Span,
    /// How often a unicast frame is tried.
    pub tries: u8,
    /// Packets that an interface queue holds.
    pub queue_limit: usize,
    /// Whether unicast frames are acknowledged. If not, their status is `Unknown` (a wire or radio without
    /// acknowledgements) and one try is all they get.
    pub acknowledged: bool,
    /// Where nothing is acknowledged: whether the host notices a next hop that is not there, as by ARP. What the protocol
    /// sent comes back; of what a `DataPlane::Forwarding` host forwards by itself the protocol hears that it is lost.
    pub resolves: bool,
    /// Octets of payload in test packets.
    pub payload: usize,
    /// IP time to live of test packets.
    pub ttl: u8,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            seed: 1,
            airtime: Span::from_millis(1),
            tries: 7,
            queue_limit: 50,
            acknowledged: true,
            resolves: false,
            payload: 64,
            ttl: 64,
        }
    }
}

/// N nodes on scripted links.
pub struct Net {
    /// Behaviour of the hosts.
    pub config: Config,
    /// Everything that happened so far.
    pub record: Vec<Record>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) links: Links,
    pub(crate) pool: Pool,
    pub(crate) events: BinaryHeap<Reverse<Event>>,
    now: Time,
    next_event: u64,
    next_packet: u64,
    loss: Rng,
    flow_seq: std::collections::BTreeMap<u32, u32>,
    calls: VecDeque<(usize, Call)>,
    effects: Vec<Effect>,
    started: bool,
}

/// A handler call that an effect provoked; made as soon as the effects before it are applied.
pub(crate) enum Call {
    Status(TxId, Addr, TxStatus, Option<Packet>),
    Miss(Packet),
}

pub(crate) struct Event {
    at: Time,
    number: u64,
    pub(crate) what: Happening,
}

pub(crate) enum Happening {
    Start(usize),
    Timer(usize, TimerKey),
    /// A delayed packet enters the interface queue.
    Enter {
        node: usize,
        life: u32,
        queued: Queued,
    },
    AirEnd {
        node: usize,
        life: u32,
    },
    Receive {
        to: usize,
        packet: Packet,
        rx: RxMeta,
    },
    Overhear {
        to: usize,
        next_hop: Addr,
        bytes: Vec<u8>,
        rx: RxMeta,
    },
    Originate {
        node: usize,
        to: Addr,
        flow: u32,
    },
    SetLink {
        from: usize,
        to: usize,
        link: Link,
    },
}

impl Ord for Event {
    fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(o.at, o.number))
    }
}
impl PartialOrd for Event {
    fn partial_cmp(&self, o: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(o))
    }
}
impl PartialEq for Event {
    fn eq(&self, o: &Self) -> bool {
        self.number == o.number
    }
}
impl Eq for Event {}

impl Net {
    /// `n` nodes, numbered from 0 and addressed 10.0.0.1 upwards, with all links down. The factory makes each node's
    /// protocol.
    pub fn new(n: usize, mut factory: impl FnMut(NodeId) -> Box<dyn Protocol>) -> Self {
        let config = Config::default();
        let hosts = (0..n)
            .map(|i| {
                let rng = stream(config.seed, Purpose::Protocol, i as u64);
                Host::new(factory(NodeId(i as u32)), addr(i), rng)
            })
            .collect();
        Self {
            config,
            record: Vec::new(),
            hosts,
            links: Links::new(n),
            pool: Pool::new(),
            events: BinaryHeap::new(),
            now: Time::ZERO,
            next_event: 0,
            next_packet: 1,
            loss: stream(config.seed, Purpose::FrameError, 0),
            flow_seq: std::collections::BTreeMap::new(),
            calls: VecDeque::new(),
            effects: Vec::new(),
            started: false,
        }
    }

    /// The virtual clock.
    pub fn now(&self) -> Time {
        self.now
    }

    // ---- links -------------------------------------------------------------------------------------------------

    /// Sets one direction of a link, now.
    pub fn set_link(&mut self, from: usize, to: usize, link: Link) {
        self.links.set(from, to, link);
    }
    /// Sets one direction of a link at a later time.
    pub fn set_link_at(&mut self, at: Time, from: usize, to: usize, link: Link) {
        self.schedule(at, Happening::SetLink { from, to, link });
    }
    /// Brings both directions up, now.
    pub fn up(&mut self, a: usize, b: usize) {
        self.set_link(a, b, Link::UP);
        self.set_link(b, a, Link::UP);
    }
    /// Takes both directions down, now.
    pub fn down(&mut self, a: usize, b: usize) {
        self.set_link(a, b, Link::DOWN);
        self.set_link(b, a, Link::DOWN);
    }
    /// Brings both directions up at a later time.
    pub fn up_at(&mut self, at: Time, a: usize, b: usize) {
        self.set_link_at(at, a, b, Link::UP);
        self.set_link_at(at, b, a, Link::UP);
    }
    /// Takes both directions down at a later time.
    pub fn down_at(&mut self, at: Time, a: usize, b: usize) {
        self.set_link_at(at, a, b, Link::DOWN);
        self.set_link_at(at, b, a, Link::DOWN);
    }
    /// Brings up 0 - 1 - 2 - ... - (n - 1).
    pub fn line(&mut self) {
        (1..self.hosts.len()).for_each(|i| self.up(i - 1, i));
    }
    /// Brings every link up.
    pub fn full(&mut self) {
        for a in 0..self.hosts.len() {
            (0..a).for_each(|b| self.up(a, b));
        }
    }

    // ---- traffic -----------------------------------------------------------------------------------------------

    /// Hands one test packet of a flow to `node` at a time. Its number in the flow is counted from 0.
    pub fn send_at(&mut self, at: Time, node: usize, to: usize, flow: u32) {
        self.schedule(at, Happening::Originate { node, to: addr(to), flow });
    }
    /// Hands `count` test packets of a flow to `node`, the first at `start`.
    pub fn send_every(&mut self, start: Time, interval: Span, count: u32, node: usize, to: usize, flow: u32) {
        for i in 0..count {
            self.send_at(start + interval * u64::from(i), node, to, flow);
        }
    }
    /// Hands a test packet for any address to `node`, now.
    pub fn send_to(&mut self, node: usize, to: Addr, flow: u32) {
        let at = self.now;
        self.schedule(at, Happening::Originate { node, to, flow });
    }
    /// Lets `node` receive these bytes at the current time, as a frame from the neighbour `from`.
    pub fn inject(&mut self, node: usize, from: Addr, broadcast: bool, bytes: &[u8]) {
        let packet = self.pool.packet(bytes, self.fresh_meta());
        self.next_packet += 1;
        let rx = RxMeta { from, broadcast, signal_dbm: -60.0 };
        let at = self.now;
        self.schedule(at, Happening::Receive { to: node, packet, rx });
    }

    /// Tells a node where it is, now, as its GPS receiver would.
    pub fn tell_position(&mut self, node: usize, fix: &Fix) {
        self.call(node, |protocol, cx| protocol.on_position(cx, fix));
    }

    /// Gives a node an order, now, as the control interface would.
    pub fn command(&mut self, node: usize, command: &Command) -> Result<(), Refused> {
        let mut done = Ok(());
        self.call(node, |protocol, cx| done = protocol.on_command(cx, command));
        done
    }

    // ---- running -----------------------------------------------------------------------------------------------

    /// Runs everything up to and including this time.
    pub fn run_until(&mut self, end: Time) {
        if !mem::replace(&mut self.started, true) {
            for i in 0..self.hosts.len() {
                self.hosts[i].rng = stream(self.config.seed, Purpose::Protocol, i as u64);
                self.call(i, |p, cx| p.start(cx));
            }
            self.loss = stream(self.config.seed, Purpose::FrameError, 0);
        }
        while self.events.peek().is_some_and(|Reverse(e)| e.at <= end) {
            let Some(Reverse(e)) = self.events.pop() else { break };
            assert!(e.at >= self.now, "time went backwards");
            self.now = e.at;
            self.happen(e);
        }
        self.now = end;
    }
    /// Runs for this long.
    pub fn run_for(&mut self, d: Span) {
        self.run_until(self.now + d);
    }
    /// Takes the node down: its protocol, tables and packets are gone (`NodeDown`).
    pub fn stop(&mut self, node: usize) {
        let h = &mut self.hosts[node];
        h.up = false;
        h.life += 1;
        h.timers.clear();
        h.table.clear();
        let lost: Vec<Queued> = h.queue.drain(..).chain(h.on_air.take()).collect();
        for q in lost {
            self.end(node, q.packet, DropReason::NodeDown);
        }
        let delayed = |e: &Event| matches!(e.what, Happening::Enter { node: n, .. } if n == node);
        let (dead, alive): (Vec<_>, Vec<_>) =
            mem::take(&mut self.events).into_iter().partition(|Reverse(e)| delayed(e));
        self.events = alive.into();
        for Reverse(e) in dead {
            if let Happening::Enter { queued, .. } = e.what {
                self.end(node, queued.packet, DropReason::NodeDown);
            }
        }
    }
    /// Brings a stopped node up again with a new protocol instance. What the old instance held inside is counted as
    /// dropped with the node, so that conservation still adds up.
    pub fn restart(&mut self, node: usize, protocol: Box<dyn Protocol>) {
        let mut held = wayhop_core::HeldPackets::default();
        self.hosts[node].protocol.inspect(self.now, &mut held);
        // The packets are inside the old instance, which ends here: their buffers go with it.
        for (_, id) in &held.0 {
            let what = What::Dropped { id: *id, flow: self.flow_of(*id), reason: DropReason::NodeDown };
            self.log(node, what);
        }
        self.gone_with_nodes(held.0.len() as u64);
        let h = &mut self.hosts[node];
        h.protocol = protocol;
        h.up = true;
        let at = self.now;
        self.schedule(at, Happening::Start(node));
    }

    // ---- inside ------------------------------------------------------------------------------------------------

    fn gone_with_nodes(&mut self, n: u64) {
        // Recycling an equal number of empty buffers keeps the pool's count honest: the lost ones cannot come back.
        for _ in 0..n {
            let p = Pool::new().packet(&[], PacketMeta::default());
            self.pool.recycle(p);
        }
    }

    fn flow_of(&self, wanted: PacketId) -> Option<FlowTag> {
        self.record.iter().find_map(|r| match r.what {
            What::Originated { id, flow } if id == wanted => Some(flow),
            _ => None,
        })
    }

    fn fresh_meta(&self) -> PacketMeta {
        PacketMeta { id: PacketId(self.next_packet), flow: None, born: self.now }
    }

    fn schedule(&mut self, at: Time, what: Happening) -> u64 {
        let number = self.next_event;
        self.next_event += 1;
        self.events.push(Reverse(Event { at: at.max(self.now), number, what }));
        number
    }

    fn log(&mut self, node: usize, what: What) {
        self.record.push(Record { at: self.now, node: NodeId(node as u32), what });
    }

    fn end(&mut self, node: usize, p: Packet, reason: DropReason) {
        self.log(node, What::Dropped { id: p.meta.id, flow: p.meta.flow, reason });
        self.pool.recycle(p);
    }

    fn happen(&mut self, e: Event) {
        match e.what {
            Happening::Start(n) => self.call(n, |p, cx| p.start(cx)),
            Happening::Timer(n, key) => {
                if self.hosts[n].timers.get(&key) == Some(&e.number) {
                    self.hosts[n].timers.remove(&key);
                    self.call(n, |p, cx| p.on_timer(cx, key));
                }
            }
            Happening::Enter { node, life, queued } => {
                debug_assert_eq!(life, self.hosts[node].life, "stop() removes what is delayed");
                self.enter_queue(node, queued);
                self.make_calls();
            }
            Happening::AirEnd { node, life } => {
                if life == self.hosts[node].life {
                    self.air_end(node);
                }
            }
            Happening::Receive { to, packet, rx } => self.receive(to, packet, rx),
            Happening::Overhear { to, next_hop, bytes, rx } => {
                if self.hosts[to].up {
                    self.call(to, |p, cx| p.on_overheard(cx, &bytes, next_hop, &rx));
                }
            }
            Happening::Originate { node, to, flow } => self.originate(node, to, flow),
            Happening::SetLink { from, to, link } => self.links.set(from, to, link),
        }
    }

    fn originate(&mut self, node: usize, to: Addr, flow: u32) {
        if !self.hosts[node].up {
            return;
        }
        let next = self.flow_seq.entry(flow).or_default();
        let tag = FlowTag { flow, seq: *next };
        *next += 1;
        let h = &mut self.hosts[node];
        let t = TestPacket {
            source: h.addr,
            destination: to,
            ttl: self.config.ttl,
            ident: h.next_ident,
            port: 9_000,
        };
        h.next_ident = h.next_ident.wrapping_add(1);
        let mut payload = vec![0; self.config.payload];
        payload.iter_mut().zip(tag.seq.to_be_bytes()).for_each(|(p, s)| *p = s);
        let mut meta = self.fresh_meta();
        self.next_packet += 1;
        meta.flow = Some(tag);
        let p = self.pool.packet(&data_packet(t, &payload), meta);
        self.log(node, What::Originated { id: meta.id, flow: tag });
        match self.hosts[node].protocol.data_plane() {
            DataPlane::PerPacket => self.call(node, |protocol, cx| protocol.on_outbound(cx, p)),
            DataPlane::Forwarding => {
                self.look_up(node, p, t.source, to, None);
                self.make_calls();
            }
        }
    }

    /// The forwarding table of a `DataPlane::Forwarding` host, for a packet whose TTL is already counted.
    fn look_up(&mut self, node: usize, p: Packet, source: Addr, to: Addr, previous_hop: Option<Addr>) {
        if to == BROADCAST {
            self.enter_queue(node, Queued { packet: p, spec: TxSpec::unicast(BROADCAST) });
            return;
        }
        let Some(&row) = self.hosts[node].table.get(&to) else {
            self.calls.push_back((node, Call::Miss(p)));
            return;
        };
        let spec = TxSpec::unicast(row.next_hop).reported(TxId(0));
        self.enter_queue(node, Queued { packet: p, spec });
        if self.hosts[node].protocol.interests().route_used {
            let used = RouteUse { source, destination: to, next_hop: row.next_hop, previous_hop };
            self.call_only(node, |protocol, cx| protocol.on_route_used(cx, &used));
        }
    }

    fn receive(&mut self, node: usize, mut p: Packet, rx: RxMeta) {
        if !self.hosts[node].up {
            self.end(node, p, DropReason::NodeDown);
            return;
        }
        if self.hosts[node].protocol.data_plane() == DataPlane::PerPacket {
            self.call(node, |protocol, cx| protocol.on_frame(cx, p, &rx));
            return;
        }
        let Some(head) = read_ip(p.bytes()) else {
            self.end(node, p, DropReason::Malformed);
            return;
        };
        let own = self.hosts[node].addr;
        let port = self.hosts[node].protocol.interests().udp_port;
        let for_us = head.destination == own || head.destination == BROADCAST;
        if (for_us || rx.broadcast) && port.is_some() && head.udp_port == port {
            self.call(node, |protocol, cx| protocol.on_frame(cx, p, &rx));
        } else if for_us {
            self.deliver(node, p);
        } else if rx.broadcast {
            // RFC 1812 5.3.4: what came as a link broadcast is not forwarded as a unicast.
            self.end(node, p, DropReason::Policy);
        } else if head.source == own {
            self.end(node, p, DropReason::Loop);
        } else if head.ttl <= 1 {
            self.end(node, p, DropReason::TtlExpired);
        } else {
            ipv4::decrement_ttl(p.bytes_mut()).expect("the header was read");
            self.look_up(node, p, head.source, head.destination, Some(rx.from));
            self.make_calls();
        }
    }

    fn deliver(&mut self, node: usize, p: Packet) {
        let what = What::Delivered { id: p.meta.id, flow: p.meta.flow, bytes: p.bytes().to_vec() };
        self.log(node, what);
        self.pool.recycle(p);
    }

    fn enter_queue(&mut self, node: usize, q: Queued) {
        match self.hosts[node].enqueue(q, self.config.queue_limit) {
            Ok(()) => self.next_on_air(node),
            Err(q) => self.status(node, q, TxStatus::QueueFull),
        }
    }

    /// Reports a transmission that ended, with the packet; or ends the packet where nobody asked.
    fn status(&mut self, node: usize, q: Queued, status: TxStatus) {
        self.log(node, What::Status { next_hop: q.spec.next_hop, status });
        match (q.spec.report, status) {
            (Some(id), _) => {
                self.calls.push_back((node, Call::Status(id, q.spec.next_hop, status, Some(q.packet))));
            }
            (None, TxStatus::Recalled) => {
                self.calls.push_back((node, Call::Status(TxId(0), q.spec.next_hop, status, Some(q.packet))));
            }
            (None, TxStatus::QueueFull) => self.end(node, q.packet, DropReason::QueueFull),
            (None, _) => self.end(node, q.packet, DropReason::MacRetries),
        }
    }

    fn next_on_air(&mut self, node: usize) {
        let h = &mut self.hosts[node];
        if h.on_air.is_some() {
            return;
        }
        let Some(q) = h.queue.pop_front() else { return };
        let life = h.life;
        let what = What::Sent {
            id: q.packet.meta.id,
            flow: q.packet.meta.flow,
            next_hop: q.spec.next_hop,
            priority: q.spec.priority,
            bytes: q.packet.bytes().to_vec(),
        };
        h.on_air = Some(q);
        self.log(node, what);
        let end = self.now + self.config.airtime;
        self.schedule(end, Happening::AirEnd { node, life });
    }

    fn air_end(&mut self, node: usize) {
        let Some(q) = self.hosts[node].on_air.take() else { return };
        if q.spec.next_hop == BROADCAST {
            self.broadcast_arrives(node, q);
        } else {
            self.unicast_arrives(node, q);
        }
        // The protocol hears of the failure, and may recall, before the next packet leaves the queue.
        self.make_calls();
        self.next_on_air(node);
    }

    fn broadcast_arrives(&mut self, node: usize, q: Queued) {
        let from = self.hosts[node].addr;
        for to in (0..self.hosts.len()).filter(|&to| to != node) {
            let link = self.links.get(node, to);
            if link.up && !self.is_lost(link) {
                let packet = self.pool.copy(&q.packet);
                let rx = RxMeta { from, broadcast: true, signal_dbm: link.signal_dbm };
                self.schedule(self.now + link.delay, Happening::Receive { to, packet, rx });
            }
        }
        self.pool.recycle(q.packet);
        if let Some(id) = q.spec.report {
            self.calls.push_back((node, Call::Status(id, BROADCAST, TxStatus::Unknown, None)));
        }
    }

    fn unicast_arrives(&mut self, node: usize, q: Queued) {
        let from = self.hosts[node].addr;
        let to = self.hosts.iter().position(|h| h.addr == q.spec.next_hop && h.up && h.addr != from);
        let tries = if self.config.acknowledged { self.config.tries } else { 1 };
        let arrived = to.filter(|&to| {
            let (there, back) = (self.links.get(node, to), self.links.get(to, node));
            there.up && (back.up || !self.config.acknowledged) && (0..tries).any(|_| !self.is_lost(there))
        });
        let next_hop = q.spec.next_hop;
        self.overhear(node, to, &q);
        match arrived {
            Some(to) => {
                let link = self.links.get(node, to);
                let rx = RxMeta { from, broadcast: false, signal_dbm: link.signal_dbm };
                self.schedule(self.now + link.delay, Happening::Receive { to, packet: q.packet, rx });
                if let Some(id) = q.spec.report {
                    let status = if self.config.acknowledged { TxStatus::Acked } else { TxStatus::Unknown };
                    self.calls.push_back((node, Call::Status(id, next_hop, status, None)));
                }
            }
            None if self.config.acknowledged => self.status(node, q, TxStatus::NoAck { tries }),
            None if self.config.resolves && !to.is_some_and(|to| self.links.get(node, to).up) => {
                let unresolved = TxStatus::NoAck { tries: 0 };
                if q.spec.report != Some(TxId(0)) {
                    return self.status(node, q, unresolved);
                }
                self.log(node, What::LostOnAir { id: q.packet.meta.id, flow: q.packet.meta.flow });
                self.pool.recycle(q.packet);
                self.calls.push_back((node, Call::Status(TxId(0), next_hop, unresolved, None)));
            }
            None => {
                self.log(node, What::LostOnAir { id: q.packet.meta.id, flow: q.packet.meta.flow });
                self.pool.recycle(q.packet);
                if let Some(id) = q.spec.report {
                    self.calls.push_back((node, Call::Status(id, next_hop, TxStatus::Unknown, None)));
                }
            }
        }
    }

    /// Gives the bytes to every neighbour that listens in and is not the receiver.
    fn overhear(&mut self, node: usize, receiver: Option<usize>, q: &Queued) {
        let from = self.hosts[node].addr;
        for to in (0..self.hosts.len()).filter(|&to| to != node && Some(to) != receiver) {
            let link = self.links.get(node, to);
            if self.hosts[to].protocol.interests().overhear && link.up && !self.is_lost(link) {
                let rx = RxMeta { from, broadcast: false, signal_dbm: link.signal_dbm };
                let bytes = q.packet.bytes().to_vec();
                let next_hop = q.spec.next_hop;
                self.schedule(self.now + link.delay, Happening::Overhear { to, next_hop, bytes, rx });
            }
        }
    }

    fn is_lost(&mut self, link: Link) -> bool {
        link.loss > 0.0 && self.loss.unit() < link.loss
    }

    /// Calls a handler, applies its effects, and makes the calls that these provoke.
    fn call(&mut self, node: usize, f: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        self.call_only(node, f);
        self.make_calls();
    }

    fn call_only(&mut self, node: usize, f: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        let mut effects = mem::take(&mut self.effects);
        let h = &mut self.hosts[node];
        let interface = Interface { queued: h.queue.len() as u32, acknowledges: self.config.acknowledged };
        let mut cx = Cx::new(
            self.now,
            h.addr,
            interface,
            &mut h.rng,
            &mut self.pool,
            &mut self.next_packet,
            &mut effects,
        );
        f(h.protocol.as_mut(), &mut cx);
        for e in effects.drain(..) {
            self.apply(node, e);
        }
        self.effects = effects;
    }

    fn make_calls(&mut self) {
        while let Some((node, call)) = self.calls.pop_front() {
            match call {
                Call::Status(id, next_hop, status, p) => {
                    self.call_only(node, |protocol, cx| protocol.on_tx_status(cx, id, next_hop, status, p));
                }
                Call::Miss(p) => self.call_only(node, |protocol, cx| protocol.on_outbound(cx, p)),
            }
        }
    }

    fn apply(&mut self, node: usize, e: Effect) {
        match e {
            Effect::Send(packet, spec) => {
                let queued = Queued { packet, spec };
                if spec.delay == Span::ZERO {
                    self.enter_queue(node, queued);
                } else {
                    let life = self.hosts[node].life;
                    self.schedule(self.now + spec.delay, Happening::Enter { node, life, queued });
                }
            }
            Effect::Deliver(p) => self.deliver(node, p),
            Effect::Drop(p, why) => self.end(node, p, why),
            Effect::Consume(p) => self.pool.recycle(p),
            Effect::SetTimer(key, at) => {
                let number = self.schedule(at, Happening::Timer(node, key));
                self.hosts[node].timers.insert(key, number);
            }
            Effect::ClearTimer(key) => {
                self.hosts[node].timers.remove(&key);
            }
            Effect::Install(r) => {
                self.log(node, What::Installed(r));
                self.hosts[node].table.insert(r.destination, r);
            }
            Effect::Uninstall(to) => {
                if self.hosts[node].table.remove(&to).is_some() {
                    self.log(node, What::Uninstalled(to));
                }
            }
            Effect::Recall(next_hop) => {
                for q in self.hosts[node].recall(next_hop) {
                    self.status(node, q, TxStatus::Recalled);
                }
            }
            Effect::Note(n) => self.log(node, What::Note(n)),
            Effect::State(s) => self.log(node, What::State(s)),
        }
    }
}
