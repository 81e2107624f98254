//! Conversations of programs in a lab, from what the daemons tell of packets.
//!
//! Each daemon numbers packets for itself. A program's packet is the same at two nodes if it carries the same: then it gets one number,
//! the one that it has where it begins, and a flow behind the scenario's. All nodes have one clock, but a daemon that is busy reads it some
//! milliseconds before it takes a packet: a row of an arrival may be older than that of the packet's origin.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, FlowTag, PacketId, Time};
use wayhop_scenario::Resolved;
use wayhop_trace::{
    Conversations, Ends, FlowSummary, HopEvent, HopKind, Identity, LatencyMs, PacketClass, is_for_all,
    is_for_neighbours, ratio,
};

/// Packets that are remembered.
const MOST_REMEMBERED: usize = 1 << 16;

/// All conversations of a lab.
pub(super) struct Talks {
    numbers: Conversations,
    /// By place in `numbers`.
    list: Vec<Talk>,
    first: u32,
    nodes: FxHashMap<Addr, u32>,
    /// By what daemons call them.
    by_number: Recent<PacketId, Known>,
    /// By what they carry. DSR gives a packet another identification when its source sends it (RFC 4728, section 8.3.2): then it has two
    /// entries.
    by_content: Recent<u64, Known>,
    arrived: Recent<(FlowTag, u32), ()>,
}

/// A packet under way.
#[derive(Copy, Clone)]
struct Known {
    packet: PacketId,
    tag: FlowTag,
    begun: Time,
    ttl: u8,
}

/// What became of a conversation.
struct Talk {
    from: u32,
    octets: u64,
    hops: u64,
    latencies_ns: Vec<u64>,
}

impl Talks {
    pub(super) fn new(s: &Resolved) -> Self {
        let v4 = (0..).zip(&s.addresses).map(|(i, a)| (Addr::from(*a), i));
        let v6 = s.ipv6.iter().flat_map(|plan| (0..).zip(&plan.addresses).map(|(i, a)| (Addr::from(*a), i)));
        let first = s.flows.len() as u32;
        Self {
            numbers: Conversations::behind(first),
            list: Vec::new(),
            first,
            nodes: v4.chain(v6).collect(),
            by_number: Recent::new(),
            by_content: Recent::new(),
            arrived: Recent::new(),
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

    fn known(&self, e: &HopEvent, identity: &Identity) -> Option<Known> {
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
        let class = self.numbers.of(known.tag.flow).map_or(e.class, |c| c.ends.class());
        HopEvent { packet: known.packet, flow: Some(known.tag), class, ..e }
    }

    /// The number of a packet that a daemon calls so.
    pub(super) fn number(&self, packet: PacketId) -> PacketId {
        self.by_number.get(&packet).map_or(packet, |known| known.packet)
    }

    fn begin(&mut self, e: &HopEvent, identity: &Identity) -> Option<Known> {
        let ends = Ends::new(e.source, e.destination, identity);
        let tag = self.numbers.sent(ends, i128::from(e.time.as_nanos()))?;
        if self.numbers.place(tag.flow)? == self.list.len() {
            self.list.push(Talk { from: e.node.0, octets: 0, hops: 0, latencies_ns: Vec::new() });
        }
        Some(Known { packet: e.packet, tag, begun: e.time, ttl: e.ttl })
    }

    fn arrive(&mut self, e: &HopEvent, identity: &Identity, known: &Known) {
        let key = (known.tag, e.node.0);
        let Some(place) = self.numbers.place(known.tag.flow).filter(|_| self.arrived.get(&key).is_none())
        else {
            return;
        };
        self.arrived.put(key, ());
        let talk = &mut self.list[place];
        if talk.from == e.node.0 {
            return;
        }
        talk.octets += u64::from(identity.payload);
        talk.hops += u64::from(known.ttl.saturating_sub(e.ttl)) + 1;
        talk.latencies_ns.push(e.time.since(known.begun).as_nanos());
    }

    /// Each in numbers, and the latencies of all. Where kernels forward, daemons see some of the packets only: nothing is counted then.
    pub(super) fn end(mut self, nodes: usize, kernels_forward: bool) -> (Vec<FlowSummary>, Vec<u64>) {
        let mut all_ns = Vec::new();
        let mut flows = Vec::new();
        for ((id, c), talk) in (self.first..).zip(self.numbers.list()).zip(&mut self.list) {
            let to = self.nodes.get(&c.ends.destination).copied();
            let base = c.summary(id, Some(talk.from), to);
            if kernels_forward {
                flows.push(base);
                continue;
            }
            let receivers = if is_for_all(c.ends.destination) { nodes as u64 - 1 } else { 1 };
            let (sent, received) = (u64::from(c.packets) * receivers, talk.latencies_ns.len() as u64);
            all_ns.extend_from_slice(&talk.latencies_ns);
            flows.push(FlowSummary {
                sent: Some(sent),
                received: Some(received),
                delivery_ratio: ratio(received, sent),
                received_bytes: Some(talk.octets),
                goodput_bps: c.bits_per_second(talk.octets),
                latency_ms: LatencyMs::of(&mut talk.latencies_ns),
                hops_mean: ratio(talk.hops, received),
                ..base
            });
        }
        (flows, all_ns)
    }
}

/// Whether it is about a packet that a program sent, and not for neighbours only.
fn is_of_a_program(e: &HopEvent) -> bool {
    e.flow.is_none() && e.class == PacketClass::Data && !is_for_neighbours(e.destination)
}

/// The last so many entries.
struct Recent<K, V> {
    entries: FxHashMap<K, V>,
    order: VecDeque<K>,
}

impl<K: Copy + Eq + Hash, V: Copy> Recent<K, V> {
    fn new() -> Self {
        Self { entries: FxHashMap::default(), order: VecDeque::new() }
    }

    fn get(&self, key: &K) -> Option<V> {
        self.entries.get(key).copied()
    }

    fn put(&mut self, key: K, value: V) {
        if self.entries.insert(key, value).is_none() {
            self.order.push_back(key);
            if self.order.len() > MOST_REMEMBERED
                && let Some(oldest) = self.order.pop_front()
            {
                self.entries.remove(&oldest);
            }
        }
    }
}
