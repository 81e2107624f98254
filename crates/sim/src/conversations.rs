//! What programs outside send, as flows behind the scenario's.

use wayhop_core::{FlowTag, NodeId, Packet, Time};
use wayhop_trace::{
    Conversations, Ends, FlowSummary, Identity, LatencyMs, PacketClass, is_for_all, is_for_neighbours, ratio,
};
use wayhop_transport::{Histogram, Latency};
use wayhop_wire::ip;

use crate::arrived::Arrived;
use crate::ledger::FlowEnds;

/// All conversations of a run.
pub(crate) struct Talks {
    numbers: Conversations,
    /// By place in `numbers`.
    list: Vec<Talk>,
    /// By node: which packets to all it has got.
    to_all: Vec<Option<Box<Arrived>>>,
}

/// What became of one, beside what the ledger knows.
struct Talk {
    from: u32,
    /// `None` for all nodes, or an address that no node has.
    to: Option<u32>,
    /// By packet: its time to live at its source.
    ttls: Vec<u8>,
    /// Octets behind the transport headers of what arrived.
    octets: u64,
    hops: u64,
    delay: Histogram,
}

impl Talks {
    /// Behind so many flows of the scenario.
    pub(crate) fn new(flows: usize, nodes: usize) -> Self {
        let to_all = (0..nodes).map(|_| None).collect();
        Self { numbers: Conversations::behind(flows as u32), list: Vec::new(), to_all }
    }

    /// The flow of a packet that a program of this node sends, whose destination is the node `to` if any has its address. `None` of
    /// packets that stay on the link, and of conversations beyond those that are told apart.
    pub(crate) fn sent(&mut self, now: Time, node: u32, packet: &[u8], to: Option<u32>) -> Option<FlowTag> {
        let ip = ip::Packet::new_checked(packet).ok().filter(|ip| !is_for_neighbours(ip.dst))?;
        let ends = Ends::new(ip.src, ip.dst, &Identity::of(packet)?);
        let tag = self.numbers.sent(ends, i128::from(now.as_nanos()))?;
        let place = self.numbers.place(tag.flow)?;
        if place == self.list.len() {
            let (ttls, delay) = (Vec::new(), Histogram::default());
            self.list.push(Talk { from: node, to, ttls, octets: 0, hops: 0, delay });
        }
        self.list[place].ttls.push(ip.ttl);
        Some(tag)
    }

    /// A packet arrives at a node for the first time. Whether it counts: of one to all, each node's first copy does.
    pub(crate) fn delivered(&mut self, now: Time, node: u32, tag: FlowTag, p: &Packet) -> bool {
        let Some(talk) = self.numbers.place(tag.flow).and_then(|place| self.list.get_mut(place)) else {
            return false;
        };
        let (Ok(ip), Some(identity)) = (ip::Packet::new_checked(p.bytes()), Identity::of(p.bytes())) else {
            return false;
        };
        if is_for_all(ip.dst) {
            let arrived = self.to_all[NodeId(node).index()].get_or_insert_with(|| Box::new(Arrived::new()));
            if node == talk.from || !arrived.first(p.meta.id) {
                return false;
            }
        }
        let ttl = talk.ttls.get(tag.seq as usize).copied().unwrap_or(ip.ttl);
        talk.octets += u64::from(identity.payload);
        talk.hops += u64::from(ttl.saturating_sub(ip.ttl)) + 1;
        talk.delay.record(now.since(p.meta.born));
        true
    }

    /// What packets of a flow are called.
    pub(crate) fn class(&self, flow: u32) -> PacketClass {
        self.numbers.of(flow).map_or(PacketClass::Data, |c| c.ends.class())
    }

    /// Whether its packets are for all nodes.
    pub(crate) fn is_to_all(&self, flow: u32) -> bool {
        self.numbers.of(flow).is_some_and(|c| is_for_all(c.ends.destination))
    }

    /// The latencies of all.
    pub(crate) fn delays(&self) -> impl Iterator<Item = &Histogram> {
        self.list.iter().map(|talk| &talk.delay)
    }

    /// The figures of each, which begin with the flow `first`; `ends` says how its packets did.
    pub(crate) fn summaries(&self, first: usize, ends: &[FlowEnds]) -> impl Iterator<Item = FlowSummary> {
        let receivers = |flow| if self.is_to_all(flow) { self.to_all.len() as u64 - 1 } else { 1 };
        self.numbers.list().iter().zip(&self.list).enumerate().map(move |(place, (c, talk))| {
            let id = (first + place) as u32;
            let ends = ends.get(first + place).copied().unwrap_or_default();
            let (sent, received) = (u64::from(c.packets) * receivers(id), ends.delivered);
            FlowSummary {
                sent: Some(sent),
                received: Some(received),
                dropped: Some(ends.dropped),
                held: Some(sent.saturating_sub(received + ends.dropped)),
                delivery_ratio: ratio(received, sent),
                received_bytes: Some(talk.octets),
                goodput_bps: c.bits_per_second(talk.octets),
                latency_ms: Latency::of(&talk.delay).map(latency_ms),
                hops_mean: ratio(talk.hops, received),
                ..c.summary(id, Some(talk.from), talk.to)
            }
        })
    }
}

/// As the summary has it.
pub(crate) fn latency_ms(l: Latency) -> LatencyMs {
    LatencyMs { mean: l.mean_ms, p50: l.p50_ms, p95: l.p95_ms, p99: l.p99_ms, max: l.max_ms }
}
