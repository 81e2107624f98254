//! Conversations of programs in a lab, from the daemons' packet events.
//!
//! Each daemon numbers packets for itself. A program's packet is the same at two nodes if its
//! content is the same: it then gets one number, that of its origin, and a flow after the
//! scenario's. When each daemon's clock began is known to some tenths of a millisecond: a row of
//! an arrival may be older than that of the packet's origin.

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, DataPlane, FlowTag, PacketId, Time};
use wayhop_scenario::Resolved;
use wayhop_trace::{
    Conversation, ConversationEnds, Conversations, Echo, Echoes, FlowSummary, HopEvent, HopKind, Identity,
    LatencyMs, PacketClass, Recent, is_for_all, is_for_neighbours, ratio,
};

/// Packets that are remembered.
const MOST_REMEMBERED: usize = 1 << 16;

/// All conversations of a lab.
pub(super) struct ProgramFlows {
    all: Conversations<ConversationFacts>,
    mesh: Mesh,
    /// By what daemons call them.
    by_number: Recent<PacketId, FlowPacket>,
    /// By what they carry. DSR gives a packet another identification when its source sends it (RFC 4728, section 8.3.2): then it has two
    /// entries.
    by_content: Recent<u64, FlowPacket>,
    arrived: Recent<(FlowTag, u32), ()>,
    echoes: Echoes,
}

/// Whose conversations they are.
struct Mesh {
    /// Each node's addresses.
    nodes: FxHashMap<Addr, u32>,
    size: u64,
    /// Daemons see some of the packets only: nothing is counted then.
    kernels_forward: bool,
}

/// A packet under way.
#[derive(Copy, Clone)]
struct FlowPacket {
    packet: PacketId,
    tag: FlowTag,
    begun: Time,
    ttl: u8,
}

/// What became of a conversation.
struct ConversationFacts {
    from: u32,
    /// Payload of what arrived.
    bytes: u64,
    hops: u64,
    latencies_ns: Vec<u64>,
    /// Of echo requests that were answered; `None` of others.
    round_trips_ns: Option<Vec<u64>>,
}

impl ProgramFlows {
    pub(super) fn new(s: &Resolved) -> Self {
        let v4 = (0..).zip(&s.addresses).map(|(i, a)| (Addr::from(*a), i));
        let v6 = s.ipv6.iter().flat_map(|plan| (0..).zip(&plan.addresses).map(|(i, a)| (Addr::from(*a), i)));
        let mesh = Mesh {
            nodes: v4.chain(v6).collect(),
            size: s.addresses.len() as u64,
            kernels_forward: s.protocol.engine().data_plane() == DataPlane::Forwarding,
        };
        Self {
            all: Conversations::behind(s.flows.len() as u32),
            mesh,
            by_number: Recent::of(MOST_REMEMBERED),
            by_content: Recent::of(MOST_REMEMBERED),
            arrived: Recent::of(MOST_REMEMBERED),
            echoes: Echoes::default(),
        }
    }

    /// Takes note of a packet that begins, or is sent first, as soon as its row comes.
    pub(super) fn learn(&mut self, e: &HopEvent, identity: &Identity) {
        if !is_of_a_program(e) {
            return;
        }
        let known = match e.kind {
            HopKind::Originate => self.begin(e, identity),
            HopKind::Send => self.known(e, identity),
            _ => None,
        };
        if let Some(known) = known {
            self.by_number.put(e.packet, known);
            self.by_content.put(identity.end_to_end, known);
        }
    }

    fn known(&self, e: &HopEvent, identity: &Identity) -> Option<FlowPacket> {
        self.by_number.get(&e.packet).or_else(|| self.by_content.get(&identity.end_to_end))
    }

    /// The row with its packet's flow, and the number that the packet has at all nodes. Rows come in their order, those of origins have
    /// been learnt.
    pub(super) fn place(&mut self, e: HopEvent, identity: &Identity) -> HopEvent {
        let Some(known) = self.known(&e, identity).filter(|_| is_of_a_program(&e)) else { return e };
        self.by_number.put(e.packet, known);
        if e.kind == HopKind::Deliver {
            self.arrive(&e, identity, &known);
        }
        let class = self.all.of(known.tag.flow).map_or(e.class, |c| c.ends.class());
        HopEvent { packet: known.packet, flow: Some(known.tag), class, ..e }
    }

    /// The number of a packet that a daemon calls so.
    pub(super) fn number(&self, packet: PacketId) -> PacketId {
        self.by_number.get(&packet).map_or(packet, |known| known.packet)
    }

    fn begin(&mut self, e: &HopEvent, identity: &Identity) -> Option<FlowPacket> {
        let ends = ConversationEnds::new(e.source, e.destination, identity);
        let asks = matches!(identity.echo, Some(Echo::Request(_)));
        let facts = || ConversationFacts {
            from: e.node.0,
            bytes: 0,
            hops: 0,
            latencies_ns: Vec::new(),
            round_trips_ns: asks.then(Vec::new),
        };
        let at_ns = i128::from(e.time.as_nanos());
        let tag = self.all.sent(ends, at_ns, facts)?;
        self.echoes.sent(ends, identity, tag.flow, at_ns);
        Some(FlowPacket { packet: e.packet, tag, begun: e.time, ttl: e.ttl })
    }

    fn arrive(&mut self, e: &HopEvent, identity: &Identity, known: &FlowPacket) {
        let key = (known.tag, e.node.0);
        if self.arrived.get(&key).is_some() {
            return;
        }
        self.arrived.put(key, ());
        let Some(conversation) = self.all.of_mut(known.tag.flow).filter(|c| c.more.from != e.node.0) else {
            return;
        };
        let at_ns = i128::from(e.time.as_nanos());
        conversation.arrives(at_ns);
        let facts = &mut conversation.more;
        facts.bytes += u64::from(identity.payload);
        facts.hops += u64::from(known.ttl.saturating_sub(e.ttl)) + 1;
        facts.latencies_ns.push(e.time.since(known.begun).as_nanos());
        let answer = self.echoes.delivered((e.source, e.destination), identity, at_ns);
        let asked = answer
            .and_then(|a| Some((self.all.of_mut(a.flow)?.more.round_trips_ns.as_mut()?, a.round_trip_ns)));
        if let Some((round_trips_ns, ns)) = asked {
            round_trips_ns.push(ns);
        }
    }

    /// Those that have begun since the last call.
    pub(super) fn take_new(&mut self) -> impl Iterator<Item = FlowSummary> {
        let mesh = &self.mesh;
        self.all.take_new().map(move |(id, c)| mesh.summary(id, c))
    }

    /// Each in numbers, and the latencies of all, nanoseconds.
    pub(super) fn end(self) -> (Vec<FlowSummary>, Vec<u64>) {
        let flows = self.all.iter().map(|(id, c)| self.mesh.summary(id, c)).collect();
        let counted = self.all.iter().filter(|_| !self.mesh.kernels_forward);
        (flows, counted.flat_map(|(_, c)| &c.more.latencies_ns).copied().collect())
    }
}

impl Mesh {
    fn summary(&self, id: u32, c: &Conversation<ConversationFacts>) -> FlowSummary {
        let ConversationFacts { from, bytes, hops, latencies_ns, round_trips_ns } = &c.more;
        let base = c.summary(id, Some(*from), self.nodes.get(&c.ends.destination).copied());
        if self.kernels_forward {
            return base;
        }
        let receivers = if is_for_all(c.ends.destination) { self.size - 1 } else { 1 };
        let (sent, received) = (u64::from(c.packets) * receivers, latencies_ns.len() as u64);
        FlowSummary {
            sent: Some(sent),
            received: Some(received),
            delivery_ratio: ratio(received, sent),
            received_bytes: Some(*bytes),
            goodput_bps: c.bits_per_second(*bytes),
            latency_ms: LatencyMs::of(&mut latencies_ns.clone()),
            hops_mean: ratio(*hops, received),
            answered: round_trips_ns.as_ref().map(|all| all.len() as u64),
            round_trip_ms: round_trips_ns.clone().and_then(|mut all| LatencyMs::of(&mut all)),
            ..base
        }
    }
}

/// Whether it is about a packet that a program sent, and not for neighbours only.
fn is_of_a_program(e: &HopEvent) -> bool {
    e.flow.is_none() && e.class == PacketClass::Data && !is_for_neighbours(e.destination)
}
