//! What happened at nodes and on links since the last question, taken from the records of the run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, HopKind, PacketId, Time};
use wayhop_trace::{HopEvent, Observer, PacketClass};

/// Packets of applications whose delivery is waited for; older ones count as lost.
const MOST_WAITING: usize = 65_536;

/// What happened at a node since the last question.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct NodeCounts {
    /// Packets that its applications sent.
    pub(crate) sent: u32,
    /// Of packets that its applications sent, at any time, those that arrived, each once.
    pub(crate) delivered: u32,
    /// Seconds from sending to delivery, of all of these.
    pub(crate) delay_s: f64,
    /// Packets of applications that ended here undelivered.
    pub(crate) dropped: u32,
    /// Routing packets that it sent or forwarded.
    pub(crate) routing_packets: u32,
    /// Frames with packets that its MAC sent, repetitions included.
    pub(crate) transmissions: u32,
}

/// What happened from one node to another.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct LinkCounts {
    /// Unicast frames that the first sent to the second since the last question, repetitions included.
    pub(crate) attempts: u32,
    /// Unicast packets that arrived at the second since the last question.
    pub(crate) arrivals: u32,
    /// When the second last received a frame of the first.
    pub(crate) heard: Option<Time>,
    /// Power with which it did, dBm.
    pub(crate) signal_dbm: f32,
}

/// All of it.
pub(crate) struct Counts {
    stations: FxHashMap<Addr, u32>,
    pub(crate) nodes: Vec<NodeCounts>,
    /// By first node, then by second.
    pub(crate) links: Vec<LinkCounts>,
    /// When packets of applications were sent that have not arrived, and by whom.
    waiting: BTreeMap<PacketId, (Time, u32)>,
}

impl Counts {
    pub(crate) fn new(addresses: impl Iterator<Item = Addr>) -> Self {
        let stations: FxHashMap<Addr, u32> = addresses.zip(0..).collect();
        let n = stations.len();
        Self {
            stations,
            nodes: vec![NodeCounts::default(); n],
            links: vec![LinkCounts::default(); n * n],
            waiting: BTreeMap::new(),
        }
    }

    /// Forgets what is counted since the last question.
    pub(crate) fn begin_step(&mut self) {
        self.nodes.fill(NodeCounts::default());
        for link in &mut self.links {
            (link.attempts, link.arrivals) = (0, 0);
        }
    }

    fn link(&mut self, from: u32, to: u32) -> &mut LinkCounts {
        let n = self.nodes.len();
        &mut self.links[from as usize * n + to as usize]
    }

    fn hop(&mut self, e: &HopEvent) {
        let node = e.node.0;
        let at_node = &mut self.nodes[node as usize];
        let is_data = e.flow.is_some();
        match e.kind {
            HopKind::Originate if is_data => {
                at_node.sent += 1;
                if self.waiting.len() == MOST_WAITING {
                    self.waiting.pop_first();
                }
                self.waiting.insert(e.packet, (e.time, node));
            }
            HopKind::Send | HopKind::Forward if matches!(e.class, PacketClass::Control(_)) => {
                at_node.routing_packets += 1;
            }
            HopKind::Transmit => {
                at_node.transmissions += 1;
                if let Some(&to) = self.stations.get(&e.peer) {
                    self.link(node, to).attempts += 1;
                }
            }
            HopKind::Receive => {
                let is_unicast = !e.destination.is_multicast() && e.destination != Addr::BROADCAST;
                if let Some(&from) = self.stations.get(&e.peer) {
                    let link = self.link(from, node);
                    link.arrivals += u32::from(is_unicast);
                    (link.heard, link.signal_dbm) = (Some(e.time), e.signal_dbm);
                }
            }
            HopKind::Deliver => {
                if let Some((born, source)) = self.waiting.remove(&e.packet) {
                    let at_source = &mut self.nodes[source as usize];
                    at_source.delivered += 1;
                    at_source.delay_s += (e.time - born).as_secs_f64();
                }
            }
            HopKind::Drop if is_data => at_node.dropped += 1,
            _ => {}
        }
    }
}

/// The counts, shared by the run's recorder and its observer in Python.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<Counts>>);

impl Shared {
    pub(crate) fn new(counts: Counts) -> Self {
        Self(Arc::new(Mutex::new(counts)))
    }
    pub(crate) fn lock(&self) -> MutexGuard<'_, Counts> {
        // Each number is right by itself: a panic elsewhere cannot leave one half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Shared {
    fn hop(&mut self, e: &HopEvent) {
        self.lock().hop(e);
    }
    fn wants_receptions(&self) -> bool {
        false
    }
}
