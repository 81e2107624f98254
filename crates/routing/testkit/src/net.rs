//! The event loop.

use std::collections::BTreeMap;
use std::mem;
use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{
    Command, Fix, FlowTag, IfaceId, NodeId, Packet, Protocol, Purpose, Refused, Rng, RxMeta, Span, Time,
    TxStatus, stream,
};
use wayhop_node::{Due, Engine, IfaceConfig, Node};

use crate::config::Config;
use crate::event::Happening;
use crate::host::Host;
use crate::links::{Link, LinkTable};
use crate::packets::{TestPacket, addr, data_packet};
use crate::record::{EventKind, Record};
use crate::world::{Common, NodeWorld, Transmitter};

/// N nodes on scripted links.
pub struct Net {
    /// Behaviour of nodes and frames.
    pub config: Config,
    pub(crate) hosts: Vec<Host>,
    pub(crate) links: LinkTable,
    pub(crate) common: Common,
    pub(crate) loss: Rng,
    flow_seq: BTreeMap<u32, u32>,
    started: bool,
}

impl Net {
    /// `n` nodes, numbered from 0 and addressed 10.0.0.1 upwards, with all links down. The factory makes each node's
    /// protocol.
    pub fn new(n: usize, mut factory: impl FnMut(NodeId) -> Box<dyn Protocol>) -> Self {
        let config = Config::default();
        let interface = Arc::new(IfaceConfig::default());
        let host = |i: usize| {
            let rng = stream(config.seed, Purpose::Protocol, i as u64);
            let engine = Engine::new(factory(NodeId(i as u32)), rng);
            Host::new(Node::new(addr(i), engine, Arc::clone(&interface)))
        };
        let mut common = Common::default();
        common.air.resize_with(n, Transmitter::default);
        common.work.next_id = 1;
        Self {
            hosts: (0..n).map(host).collect(),
            links: LinkTable::new(n),
            common,
            loss: stream(config.seed, Purpose::FrameError, 0),
            flow_seq: BTreeMap::new(),
            started: false,
            config,
        }
    }

    /// Everything that happened so far.
    pub fn record(&self) -> &[Record] {
        &self.common.record
    }
    /// Forgets what happened so far.
    pub fn clear_record(&mut self) {
        self.common.record.clear();
    }

    /// The virtual clock.
    pub fn now(&self) -> Time {
        self.common.now
    }

    // ---- links -------------------------------------------------------------------------------------------------

    /// Sets one direction of a link, now.
    pub fn set_link(&mut self, from: usize, to: usize, link: Link) {
        self.links.set(from, to, link);
    }
    /// Sets one direction of a link at a later time.
    pub fn set_link_at(&mut self, at: Time, from: usize, to: usize, link: Link) {
        self.common.schedule(at, Happening::SetLink { from, to, link });
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
        self.common.schedule(at, Happening::Originate { node, to: addr(to), flow });
    }
    /// Hands `count` test packets of a flow to `node`, the first at `start`.
    pub fn send_every(&mut self, start: Time, interval: Span, count: u32, node: usize, to: usize, flow: u32) {
        for i in 0..count {
            self.send_at(start + interval * u64::from(i), node, to, flow);
        }
    }
    /// Hands a test packet for any address to `node`, now.
    pub fn send_to(&mut self, node: usize, to: Ipv4Addr, flow: u32) {
        let at = self.now();
        self.common.schedule(at, Happening::Originate { node, to, flow });
    }
    /// Lets `node` receive these bytes at the current time, as a frame from the neighbour `from`.
    pub fn inject(&mut self, node: usize, from: Ipv4Addr, broadcast: bool, bytes: &[u8]) {
        let meta = self.common.work.new_meta(self.now());
        let packet = self.common.work.pool.packet(bytes, meta);
        let rx = RxMeta::from(from, broadcast).with_signal(-60.0);
        let at = self.now();
        self.common.schedule(at, Happening::Receive { to: node, packet, rx });
    }

    /// A packet of a flow comes to `node` from somebody outside of the mesh, now: its host has no route for it.
    pub fn enter(&mut self, node: usize, source: Ipv4Addr, to: usize, flow: u32) {
        let tag = self.next_of(flow);
        let p = self.test_packet(node, source, addr(to), 100 + tag.seq as u16, tag);
        self.call(node, |n, w, now| n.missed(w, now, p));
    }

    /// A node, to set up what its host would.
    pub fn node_mut(&mut self, node: usize) -> &mut Node<Box<dyn Protocol>> {
        &mut self.hosts[node].node
    }

    /// Tells a node where it is, now, as its GPS receiver would.
    pub fn tell_position(&mut self, node: usize, fix: &Fix) {
        self.call(node, |n, w, now| n.position(w, now, fix));
    }

    /// Gives a node an order, now, as the control interface would.
    pub fn command(&mut self, node: usize, command: &Command) -> Result<(), Refused> {
        self.call(node, |n, w, now| n.command(w, now, 0, command))
    }

    // ---- running -----------------------------------------------------------------------------------------------

    /// Runs everything up to and including this time.
    pub fn run_until(&mut self, end: Time) {
        if !mem::replace(&mut self.started, true) {
            self.begin();
        }
        while let Some(next) = self.common.events.first_entry().filter(|e| e.key().0 <= end) {
            let ((at, _), what) = next.remove_entry();
            assert!(at >= self.common.now, "time went backwards");
            self.common.now = at;
            self.happen(what);
        }
        self.common.now = end;
    }
    /// Runs for this long.
    pub fn run_for(&mut self, d: Span) {
        self.run_until(self.now() + d);
    }

    /// Takes the node down: what its queue holds ends as `NodeDown`, and nothing reaches it.
    pub fn stop(&mut self, node: usize) {
        self.common.air[node].life += 1;
        self.call(node, |n, w, now| n.go_down(w, now));
        if let Some(frame) = self.common.air[node].on_air.take() {
            self.call(node, |n, w, now| n.finished(w, now, frame, TxStatus::NoAck { tries: 0 }));
        }
    }
    /// Brings a stopped node up again with a new protocol instance. What the old instance held inside is counted as
    /// dropped with the node, so that conservation still adds up.
    pub fn restart(&mut self, node: usize, protocol: Box<dyn Protocol>) {
        let key = node as u64 | u64::from(self.common.air[node].life) << 32;
        let engine = Engine::new(protocol, stream(self.config.seed, Purpose::Protocol, key));
        self.call(node, |n, w, now| n.reboot(w, now, vec![engine]));
    }

    // ---- inside ------------------------------------------------------------------------------------------------

    fn begin(&mut self) {
        let interface = Arc::new(IfaceConfig {
            mtu: usize::from(u16::MAX),
            queue_packets: self.config.queue_limit,
            acknowledges: self.config.acknowledged,
            ..IfaceConfig::default()
        });
        self.loss = stream(self.config.seed, Purpose::FrameError, 0);
        for i in 0..self.hosts.len() {
            let n = &mut self.hosts[i].node;
            n.configure(IfaceId(0), Arc::clone(&interface));
            n.set_rng(0, stream(self.config.seed, Purpose::Protocol, i as u64));
            self.call(i, |n, w, now| n.start(w, now));
        }
    }

    /// Calls a node, and lets its transmitter send what is in the queue then.
    pub(crate) fn call<R>(
        &mut self,
        node: usize,
        f: impl FnOnce(&mut Node<Box<dyn Protocol>>, &mut NodeWorld<'_>, Time) -> R,
    ) -> R {
        let now = self.common.now;
        self.common.airtime = self.config.airtime;
        let answer = f(&mut self.hosts[node].node, &mut NodeWorld { common: &mut self.common, node }, now);
        self.next_on_air(node);
        answer
    }

    fn happen(&mut self, what: Happening) {
        let now = self.common.now;
        match what {
            Happening::Due { node, due: Due::Timer(engine, key) } => {
                self.call(node, |n, w, _| n.timer(w, now, engine, key));
            }
            Happening::Due { node, due: Due::Frame(stage, frame) } => {
                self.call(node, |n, w, _| n.frame_due(w, now, stage, frame));
            }
            Happening::Due { node, due: Due::Resolution(iface) } => {
                self.call(node, |n, w, _| n.resolve_due(w, now, iface));
            }
            Happening::AirEnd { node, life } => {
                if life == self.common.air[node].life {
                    self.air_end(node);
                }
            }
            Happening::Receive { to, packet, rx } => self.call(to, |n, w, _| n.receive(w, now, packet, rx)),
            Happening::Overhear { to, next_hop, bytes, rx } => {
                self.call(to, |n, w, _| n.overhear(w, now, &bytes, next_hop, rx));
            }
            Happening::Originate { node, to, flow } => self.originate(node, to, flow),
            Happening::SetLink { from, to, link } => self.links.set(from, to, link),
        }
    }

    fn originate(&mut self, node: usize, to: Ipv4Addr, flow: u32) {
        if !self.hosts[node].node.is_up() {
            return;
        }
        let tag = self.next_of(flow);
        let h = &mut self.hosts[node];
        let (source, ident) = (h.node.addr(), h.next_ident);
        h.next_ident = ident.wrapping_add(1);
        let p = self.test_packet(node, source, to, ident, tag);
        self.call(node, |n, w, now| n.originate(w, now, p));
    }

    /// The next packet of a flow, counted from 0.
    fn next_of(&mut self, flow: u32) -> FlowTag {
        let next = self.flow_seq.entry(flow).or_default();
        let tag = FlowTag { flow, seq: *next };
        *next += 1;
        tag
    }

    /// A packet that comes into the network at `node`. Its payload begins with its number in the flow.
    fn test_packet(
        &mut self,
        node: usize,
        source: Ipv4Addr,
        destination: Ipv4Addr,
        ident: u16,
        tag: FlowTag,
    ) -> Packet {
        let t = TestPacket { source, destination, ttl: self.config.ttl, ident, port: 9_000 };
        let mut payload = vec![0; self.config.payload];
        payload.iter_mut().zip(tag.seq.to_be_bytes()).for_each(|(p, s)| *p = s);
        let mut meta = self.common.work.new_meta(self.common.now);
        meta.flow = Some(tag);
        self.common.log(node, EventKind::Originated { id: meta.id, flow: tag });
        self.common.work.pool.packet(&data_packet(t, &payload), meta)
    }
}
