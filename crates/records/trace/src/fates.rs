//! What became of the packets of flows, by the table `packets`: of runs that did not get to write it down.

use rustc_hash::{FxHashMap, FxHashSet};
use wayhop_core::{DropReason, FlowTag, IfaceId, NodeId, PacketId};

use crate::tables::{Tables, addresses};
use crate::{
    Error, FlowSummary, HopEvent, HopKind, LatencyMs, MessageCounts, Messages, Outcome, PacketClass,
    PacketOutcome, RunDir, Summary, Totals, ratio,
};

/// More packets are not followed: their records would take gigabytes.
const MOST_PACKETS: usize = 1 << 24;

struct Fate {
    made_ns: u64,
    ttl: u8,
    /// At how many of the nodes that it is for.
    arrived: u32,
    /// Of its last drop.
    reason: Option<DropReason>,
}

/// What the tables of a run say about its packets.
#[derive(Default)]
pub(crate) struct Fates {
    /// Those of the run, in their order.
    flows: Vec<FlowSummary>,
    /// Nodes that packets to all are for.
    others: u32,
    packets: FxHashMap<FlowTag, Fate>,
    /// Arrivals of packets to all.
    arrivals: FxHashSet<(FlowTag, NodeId)>,
    /// By flow: latencies in nanoseconds, and hops of all packets that arrived.
    latencies_ns: Vec<Vec<u64>>,
    hops: Vec<u64>,
    routing_packets: u64,
    routing_bytes: u64,
    messages: MessageCounts,
    /// Packets with routing messages that wait for their first attempt, by interface.
    queued: FxHashSet<(NodeId, PacketId, IfaceId)>,
    /// Drops of data packets, in the order of [`DropReason::ALL`].
    drops: [u64; DropReason::ALL.len()],
}

impl Fates {
    /// Reads the packets of a run; `known` is its summary as it was at its begin.
    pub(crate) fn read(run: &RunDir, known: &Summary) -> Result<Self, Error> {
        let flows = known.flows.clone();
        let mut fates = Self {
            others: (addresses(run)?.len() as u32).saturating_sub(1),
            latencies_ns: vec![Vec::new(); flows.len()],
            hops: vec![0; flows.len()],
            flows,
            ..Self::default()
        };
        let has_attempts = !known.is_of_hosts();
        Tables::of(run, known.protocol.clone()).packets(&mut |e| {
            fates.count(&e, has_attempts);
            if fates.packets.len() + fates.arrivals.len() + fates.queued.len() > MOST_PACKETS {
                return Err(format!(
                    "more than {MOST_PACKETS} packets of flows are too many to count again; after `wayhop recover`, other \
                     programs can read the tables"
                ));
            }
            Ok(())
        })?;
        Ok(fates)
    }

    fn count(&mut self, e: &HopEvent, has_attempts: bool) {
        let is_queued = matches!(e.kind, HopKind::Send | HopKind::Forward);
        if is_queued && e.class.is_control() {
            self.routing_packets += 1;
            self.routing_bytes += u64::from(e.bytes);
        }
        // A packet goes out when it is first tried: further attempts count no more.
        let (who, waits) = ((e.node, e.packet, e.iface), is_queued && e.messages != Messages::NONE);
        if waits && has_attempts {
            self.queued.insert(who);
        }
        let goes_out =
            if has_attempts { e.kind == HopKind::Transmit && self.queued.remove(&who) } else { waits };
        if goes_out {
            self.messages.add(e.messages);
        }
        if let (HopKind::Drop, Some(reason), false) = (e.kind, e.reason, e.class.is_control()) {
            self.drops[reason as usize] += 1;
        }
        let Some(tag) = e.flow.filter(|t| (t.flow as usize) < self.flows.len()) else { return };
        match e.kind {
            HopKind::Originate if self.counts(tag, e) => {
                let fate = || Fate { made_ns: e.time.as_nanos(), ttl: e.ttl, arrived: 0, reason: None };
                // A ping's answer has its request's number.
                self.packets.entry(tag).or_insert_with(fate);
            }
            HopKind::Deliver => self.delivered(tag, e),
            HopKind::Drop => {
                if let Some(fate) = self.packets.get_mut(&tag) {
                    fate.reason = e.reason;
                }
            }
            _ => {}
        }
    }

    /// Whether the flow counts a packet that was made: of a scenario's TCP only segments with data from the source.
    fn counts(&self, tag: FlowTag, e: &HopEvent) -> bool {
        if self.flows[tag.flow as usize].is_of_programs() {
            return true;
        }
        // The longest headers of IP and TCP.
        let headers = if e.source.is_v4() { 60 } else { 80 };
        e.class != PacketClass::Tcp || e.node.0 == self.flows[tag.flow as usize].src && e.bytes > headers
    }

    fn delivered(&mut self, tag: FlowTag, e: &HopEvent) {
        let flow = &self.flows[tag.flow as usize];
        let known = if flow.is_of_programs() {
            // A lab's row of an arrival may be some milliseconds before that of the packet's origin.
            let fate = || Fate { made_ns: e.time.as_nanos(), ttl: e.ttl, arrived: 0, reason: None };
            Some(self.packets.entry(tag).or_insert_with(fate))
        } else {
            self.packets.get_mut(&tag)
        };
        let Some(fate) = known else { return };
        let is_first = if flow.is_to_all() {
            e.node.0 != flow.src && self.arrivals.insert((tag, e.node))
        } else {
            // A ping arrives when its answer does; what has an address that no node has, wherever it is given to a program.
            let end = if e.class == PacketClass::Ping { flow.src } else { flow.dst };
            (e.node.0 == end || end == u32::MAX) && fate.arrived == 0
        };
        if !is_first {
            return;
        }
        fate.arrived += 1;
        let flow = tag.flow as usize;
        self.latencies_ns[flow].push(e.time.as_nanos().saturating_sub(fate.made_ns));
        self.hops[flow] += u64::from(fate.ttl.saturating_sub(e.ttl)) + 1;
    }

    pub(crate) fn outcomes(&self) -> Vec<PacketOutcome> {
        let mut tags: Vec<&FlowTag> = self.packets.keys().collect();
        tags.sort_unstable();
        let mut all = Vec::with_capacity(tags.len());
        for &packet in tags {
            let fate = &self.packets[&packet];
            let is_to_all = self.flows[packet.flow as usize].is_to_all();
            let arrived = fate.arrived;
            let rest = (if is_to_all { self.others } else { 1 }).saturating_sub(arrived);
            let other = fate.reason.map_or(Outcome::Held, Outcome::Dropped);
            for (outcome, nodes) in [(Outcome::Delivered, arrived), (other, rest)] {
                if nodes > 0 {
                    all.push(PacketOutcome { packet, outcome, nodes });
                }
            }
        }
        all
    }

    /// Puts what follows into the summary that was known at the begin. What does not is null.
    pub(crate) fn tell(mut self, summary: &mut Summary) {
        let mut counts = vec![[0; 3]; self.flows.len()];
        let mut drops = [0; DropReason::ALL.len()];
        for o in self.outcomes() {
            let of_flow = &mut counts[o.packet.flow as usize];
            let nodes = u64::from(o.nodes);
            match o.outcome {
                Outcome::Delivered => of_flow[0] += nodes,
                Outcome::Dropped(why) => {
                    of_flow[1] += nodes;
                    drops[why as usize] += nodes;
                }
                Outcome::Held => of_flow[2] += nodes,
            }
        }
        let (mut one_way, mut both_ways) = (Vec::new(), Vec::new());
        // A lab's kernels do not tell what becomes of packets between the nodes.
        let sees_all = self.flows.iter().all(|f| f.dropped.is_some());
        for (i, f) in self.flows.iter_mut().enumerate() {
            let [received, dropped, held] = counts[i];
            let latencies = &mut self.latencies_ns[i];
            let sent = received + dropped + held;
            (f.goodput_bps, f.tcp) = (None, None);
            if f.sent.is_none() {
                // Where kernels forward, the table does not have all packets of programs.
                continue;
            }
            (f.sent, f.received) = (Some(sent), Some(received));
            (f.dropped, f.held) = if sees_all { (Some(dropped), Some(held)) } else { (None, None) };
            f.delivery_ratio = ratio(received, sent);
            f.hops_mean = ratio(self.hops[i], received);
            if f.kind == PacketClass::Ping.name() { &mut both_ways } else { &mut one_way }
                .extend_from_slice(latencies);
            f.latency_ms = LatencyMs::of(latencies);
        }
        let mut totals = Totals {
            latency_ms: LatencyMs::of(&mut one_way),
            round_trip_ms: LatencyMs::of(&mut both_ways),
            routing_packets: self.routing_packets,
            routing_bytes: self.routing_bytes,
            by_type: self.messages.by_name().into_iter().map(|(name, n)| (name.to_owned(), n)).collect(),
            ..Totals::default()
        };
        totals.sum_flows(&self.flows);
        totals.goodput_bps = None;
        totals.set_drops(if sees_all { &drops } else { &self.drops });
        summary.totals = totals;
        summary.flows = self.flows;
        // They are known at the end only.
        (summary.programs, summary.bundles) = (None, None);
        summary.outages.clear();
        summary.energy.clear();
    }
}
