//! Traffic of external programs, as flows after the scenario's.

use wayhop_core::{FlowTag, NodeId, Packet, Span, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    Conversation, ConversationEnds, Conversations, Echo, Echoes, FlowSummary, Identity, LatencyMs,
    PacketClass, is_for_all, is_for_neighbours, ratio,
};
use wayhop_transport::{Histogram, Latency};
use wayhop_wire::ip;

use crate::arrived::Arrived;
use crate::ledger::FlowEnds;

/// All conversations of a run.
pub(crate) struct ProgramFlows {
    all: Conversations<ConversationFacts>,
    /// By node: which packets to all it has got.
    to_all: Vec<Option<Box<Arrived>>>,
    echoes: Echoes,
}

/// What became of one, beside what the ledger knows.
struct ConversationFacts {
    from: u32,
    /// `None` for all nodes, or an address that no node has.
    to: Option<u32>,
    /// By packet: its time to live at its source.
    ttls: Vec<u8>,
    /// Payload of what arrived.
    bytes: u64,
    hops: u64,
    delay: Histogram,
    /// Of echo requests that were answered; `None` of others.
    round_trips: Option<Histogram>,
}

impl ProgramFlows {
    /// After `flows` flows of the scenario.
    pub(crate) fn new(flows: usize, nodes: usize) -> Self {
        let to_all = (0..nodes).map(|_| None).collect();
        Self { all: Conversations::behind(flows as u32), to_all, echoes: Echoes::default() }
    }

    /// The flow of a packet that a program of this node sends, whose destination is the node `to` if any has its address. `None` of
    /// packets that stay on the link, and of conversations beyond those that are told apart.
    pub(crate) fn sent(&mut self, now: Time, node: u32, packet: &[u8], to: Option<u32>) -> Option<FlowTag> {
        let ip = ip::Packet::new_checked(packet).ok().filter(|ip| !is_for_neighbours(ip.dst))?;
        let identity = Identity::of(packet, CLASSIFIER)?;
        let ends = ConversationEnds::new(ip.src, ip.dst, &identity);
        let asks = matches!(identity.echo, Some(Echo::Request(_)));
        let facts = || ConversationFacts {
            from: node,
            to,
            ttls: Vec::new(),
            bytes: 0,
            hops: 0,
            delay: Histogram::default(),
            round_trips: asks.then(Histogram::default),
        };
        let at_ns = i128::from(now.as_nanos());
        let tag = self.all.sent(ends, at_ns, facts)?;
        self.echoes.sent(ends, &identity, tag.flow, at_ns);
        self.all.of_mut(tag.flow)?.more.ttls.push(ip.ttl);
        Some(tag)
    }

    /// A packet arrives at a node for the first time. Whether it counts: of one to all, each node's first copy does.
    pub(crate) fn delivered(&mut self, now: Time, node: u32, tag: FlowTag, p: &Packet) -> bool {
        let Some(conversation) = self.all.of_mut(tag.flow) else { return false };
        let (Ok(ip), Some(identity)) =
            (ip::Packet::new_checked(p.bytes()), Identity::of(p.bytes(), CLASSIFIER))
        else {
            return false;
        };
        if is_for_all(ip.dst) {
            let arrived = self.to_all[NodeId(node).index()].get_or_insert_with(|| Box::new(Arrived::new()));
            if node == conversation.more.from || !arrived.first(p.meta.id) {
                return false;
            }
        }
        conversation.arrives(i128::from(now.as_nanos()));
        let facts = &mut conversation.more;
        let ttl = facts.ttls.get(tag.seq as usize).copied().unwrap_or(ip.ttl);
        facts.bytes += u64::from(identity.payload);
        facts.hops += u64::from(ttl.saturating_sub(ip.ttl)) + 1;
        facts.delay.record(now.since(p.meta.born));
        let answer = self.echoes.delivered((ip.src, ip.dst), &identity, i128::from(now.as_nanos()));
        let asked =
            answer.and_then(|a| Some((self.all.of_mut(a.flow)?.more.round_trips.as_mut()?, a.round_trip_ns)));
        if let Some((round_trips, ns)) = asked {
            round_trips.record(Span::from_nanos(ns));
        }
        true
    }

    /// What packets of a flow are called.
    pub(crate) fn class(&self, flow: u32) -> PacketClass {
        self.all.of(flow).map_or(PacketClass::Data, |c| c.ends.class())
    }

    /// Whether its packets are for all nodes.
    pub(crate) fn is_to_all(&self, flow: u32) -> bool {
        self.all.of(flow).is_some_and(|c| is_for_all(c.ends.destination))
    }

    /// The latencies of all.
    pub(crate) fn delays(&self) -> impl Iterator<Item = &Histogram> {
        self.all.iter().map(|(_, c)| &c.more.delay)
    }

    /// The figures of each; `ends` says how its packets did, by flow.
    pub(crate) fn summaries(&self, ends: &[FlowEnds]) -> impl Iterator<Item = FlowSummary> {
        let nodes = self.to_all.len();
        self.all.iter().map(move |(id, c)| summary(id, c, nodes, ends.get(id as usize).copied()))
    }

    /// Those that have begun since the last call.
    pub(crate) fn take_new(&mut self) -> impl Iterator<Item = FlowSummary> {
        let nodes = self.to_all.len();
        self.all.take_new().map(move |(id, c)| summary(id, c, nodes, None))
    }
}

fn summary(
    id: u32,
    c: &Conversation<ConversationFacts>,
    nodes: usize,
    ends: Option<FlowEnds>,
) -> FlowSummary {
    let receivers = if is_for_all(c.ends.destination) { nodes as u64 - 1 } else { 1 };
    let FlowEnds { delivered, dropped, .. } = ends.unwrap_or_default();
    let sent = u64::from(c.packets) * receivers;
    FlowSummary {
        sent: Some(sent),
        received: Some(delivered),
        dropped: Some(dropped),
        held: Some(sent.saturating_sub(delivered + dropped)),
        delivery_ratio: ratio(delivered, sent),
        received_bytes: Some(c.more.bytes),
        goodput_bps: c.bits_per_second(c.more.bytes),
        latency_ms: Latency::of(&c.more.delay).map(latency_ms),
        hops_mean: ratio(c.more.hops, delivered),
        answered: c.more.round_trips.as_ref().map(Histogram::samples),
        round_trip_ms: c.more.round_trips.as_ref().and_then(Latency::of).map(latency_ms),
        ..c.summary(id, Some(c.more.from), c.more.to)
    }
}

/// As the summary has it.
pub(crate) fn latency_ms(l: Latency) -> LatencyMs {
    LatencyMs { mean: l.mean_ms, p50: l.p50_ms, p95: l.p95_ms, p99: l.p99_ms, max: l.max_ms }
}
