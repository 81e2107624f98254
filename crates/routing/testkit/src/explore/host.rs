//! One node of an explored world.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::Ipv4Addr;
use std::sync::{Arc, LazyLock};

use wayhop_core::{
    Addr, DropReason, Frame, IfaceId, Packet, PacketMeta, Pool, Prefix, Purpose, Route, SendState, Time,
    TimerKey, TraceNote, TxStatus, stream,
};
use wayhop_node::{
    Above, Below, Engine, Hop, IfaceConfig, InstalledRoute, Node, Stage, Workspace, World as NodeWorld,
};

use super::air::Air;
use super::checked::Explorable;
use super::tally::Tally;
use crate::packets::{TestPacket, addr, data_packet};

/// A node and how often it has rebooted.
#[derive(Clone, Debug)]
pub struct Host<P> {
    node: Node<P>,
    /// How often it has rebooted.
    pub life: u8,
    pub(crate) digest: u64,
}

/// A node with the calls that it is about to get.
pub(crate) struct Visit<'a, P> {
    pub(crate) host: &'a mut Host<P>,
    pub(crate) air: &'a mut Air,
    pub(crate) number: usize,
    pub(crate) tally: &'a Tally,
}

/// More frames than this in one moment are a storm that feeds itself.
const MOST_FRAMES: usize = 256;

/// The TTL of an application's packet.
pub const DATA_TTL: u8 = 16;

/// What every node's interface is: it acknowledges, and a packet reaches it at once.
static INTERFACE: LazyLock<Arc<IfaceConfig>> =
    LazyLock::new(|| Arc::new(IfaceConfig { acknowledges: true, ..IfaceConfig::default() }));

/// A data packet of an application.
pub(crate) fn data(from: usize, to: usize) -> Packet {
    let t = TestPacket { source: addr(from), destination: addr(to), ttl: DATA_TTL, ident: 0, port: 9_000 };
    Pool::new().packet(&data_packet(t, &[0; 4]), PacketMeta::default())
}

impl<P> Host<P> {
    /// The node's protocol.
    pub fn protocol(&self) -> &P {
        self.node.protocol(0)
    }
    /// The row of its forwarding table for a node.
    pub fn route(&self, to: Ipv4Addr) -> Option<Route> {
        self.node.table().get(to.into()).map(|row| row.route)
    }
    /// The timers that are due, by key.
    pub(crate) fn due(&self, now: Time) -> Vec<TimerKey> {
        let mut keys: Vec<TimerKey> =
            self.node.timers().filter(|&(_, _, at)| at <= now).map(|(_, key, _)| key).collect();
        keys.sort_unstable();
        keys
    }
    pub(crate) fn next_timer(&self) -> Option<Time> {
        self.node.timers().map(|(_, _, at)| at).min()
    }
}

impl<P: Explorable> Host<P> {
    pub(crate) fn new(number: usize, protocol: P, life: u8) -> Self {
        let engine = Engine::new(protocol, stream(1, Purpose::Protocol, 0));
        Self { node: Node::new(addr(number), engine, Arc::clone(&INTERFACE)), life, digest: 0 }
    }

    fn sum_up(&mut self) {
        let mut h = DefaultHasher::new();
        self.protocol().digest(&mut h);
        let mut timers: Vec<(TimerKey, Time)> = self.node.timers().map(|(_, key, at)| (key, at)).collect();
        timers.sort_unstable();
        timers.hash(&mut h);
        let mut rows: Vec<InstalledRoute> = self.node.table().rows().collect();
        rows.sort_unstable_by_key(|r| r.route.destination);
        for InstalledRoute { route: r, .. } in rows {
            (r.destination, r.next_hop, r.metric).hash(&mut h);
        }
        self.digest = h.finish();
    }
}

impl<P: Explorable> Visit<'_, P> {
    /// Makes one call and those that follow from it. Returns whether the node asked for packets in flight.
    pub(crate) fn call(&mut self, f: impl FnOnce(&mut Node<P>, &mut ExplorerWorld<'_, P>, Time)) -> bool {
        let now = self.air.now;
        let key = 1 + u64::from(self.host.life);
        self.host.node.set_rng(0, stream(key, Purpose::Protocol, self.number as u64));
        let mut w = ExplorerWorld {
            air: self.air,
            number: self.number,
            tally: self.tally,
            work: Workspace::new(),
            delayed: VecDeque::new(),
            recalled: false,
            protocol: std::marker::PhantomData,
        };
        let node = &mut self.host.node;
        f(node, &mut w, now);
        let mut frames = 0;
        // Delays of transmissions are ignored, and the queue empties at once.
        loop {
            if let Some(frame) = node.pull(IfaceId(0)) {
                if let Some(failed) = w.air.send::<P>(w.number, frame) {
                    w.tally.failed();
                    node.finished(&mut w, now, failed, TxStatus::NoAck { tries: 7 });
                }
            } else if let Some((stage, frame)) = w.delayed.pop_front() {
                node.frame_due(&mut w, now, stage, frame);
            } else {
                break;
            }
            frames += 1;
            assert!(frames < MOST_FRAMES, "node {} answers its own calls without end", w.number);
        }
        let recalled = w.recalled;
        self.host.sum_up();
        recalled
    }
}

/// What a node asks of the explored world around it.
pub(crate) struct ExplorerWorld<'a, P> {
    air: &'a mut Air,
    number: usize,
    tally: &'a Tally,
    work: Workspace,
    delayed: VecDeque<(Stage, Frame)>,
    recalled: bool,
    protocol: std::marker::PhantomData<P>,
}

impl<P: Explorable> Below for ExplorerWorld<'_, P> {
    fn ready(&mut self, _: Time, _: IfaceId) {}
    fn recall(&mut self, _: IfaceId, next_hop: Addr, taken: &mut Vec<Frame>) {
        self.recalled = true;
        taken.extend(next_hop.v4().into_iter().flat_map(|to| self.air.recall::<P>(self.number, to)));
    }
}

impl<P: Explorable> Above for ExplorerWorld<'_, P> {
    fn listens(&mut self, _: Time, _: &Packet) -> bool {
        true
    }
    fn deliver(&mut self, _: Time, packet: Packet) {
        self.tally.arrived();
        self.work.pool.recycle(packet);
    }
    fn unreachable(&mut self, _: Time, packet: Packet, _: DropReason) {
        self.work.pool.recycle(packet);
    }
}

impl<P: Explorable> NodeWorld for ExplorerWorld<'_, P> {
    fn workspace(&mut self) -> &mut Workspace {
        &mut self.work
    }
    fn schedule_timer(&mut self, _: Time, _: u8, _: TimerKey) {
        // The search looks at the node's timers itself.
    }
    fn schedule_frame(&mut self, _: Time, stage: Stage, frame: Frame) {
        self.delayed.push_back((stage, frame));
    }
    fn schedule_resolution(&mut self, _: Time, _: IfaceId) {}
    fn record(&mut self, _: Time, _: &Packet, _: Hop) {}
    fn note(&mut self, _: Time, _: TraceNote) {}
    fn state(&mut self, _: Time, _: SendState) {}
    fn route_installed(&mut self, _: Time, _: &InstalledRoute) {}
    fn route_removed(&mut self, _: Time, _: Prefix) {}
}
