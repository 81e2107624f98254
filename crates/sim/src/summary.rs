//! A run in numbers.

use wayhop_core::{IfaceId, NodeId, Time};
use wayhop_scenario::Resolved;
use wayhop_trace::{Counter, Summary, Totals};

use crate::audit::Audit;
use crate::simulation::Simulation;

impl Simulation {
    /// The summary of a run.
    pub(crate) fn summary(&self, scenario: &Resolved, audit: &Audit, wall_s: f64) -> Summary {
        let flows = self.net.common.flows.summaries(self.now, &audit.ends.flows);
        let ledger = &self.net.common.ledger;
        let counted = ledger.messages.by_name().into_iter();
        let mut totals = Totals {
            latency_ms: self.net.common.flows.latency(),
            round_trip_ms: self.net.common.flows.round_trip(),
            routing_packets: ledger.routing_packets,
            routing_bytes: ledger.routing_bytes,
            by_type: counted.map(|(name, n)| (name.to_owned(), n)).collect(),
            ..Totals::default()
        };
        totals.sum_flows(&flows);
        totals.set_drops(&audit.ends.dropped);
        let mut summary = Summary {
            wayhop: env!("CARGO_PKG_VERSION").to_owned(),
            scenario: scenario.name.clone(),
            seed: scenario.seed,
            world: "sim".to_owned(),
            protocol: scenario.protocol.name().to_owned(),
            simulated_s: self.now.since(Time::ZERO).as_secs_f64(),
            wall_s,
            events: self.events,
            trace_hash: self.net.common.recorder.hash().hex(),
            flows,
            totals,
            programs: self.net.common.external.as_ref().map(|o| wayhop_trace::Programs {
                sent: o.programs.sent,
                delivered: o.programs.delivered,
                drops: wayhop_trace::named_drops(&o.programs.dropped),
            }),
            lateness_us: None,
            capture_drops: None,
            origin: None,
            command_exit: None,
            program_exits: Vec::new(),
            outages: self.outages.summary(self.now),
        };
        summary.name_nodes(&scenario.names);
        summary
    }

    /// Writes what each node's MAC counted into the trace.
    pub(crate) fn record_counters(&mut self) {
        for i in 0..self.net.nodes.len() as u32 {
            let node = NodeId(i);
            for k in 0..self.net.common.ports.of(i).len() {
                let iface = IfaceId(k as u8);
                let mac = self.media.counters(i, self.net.common.ports.of(i)[k]);
                let queue = ("queue_drops", self.net.nodes[i as usize].queue_drops(iface));
                for (name, value) in mac.into_iter().chain([queue]) {
                    let counter = Counter { node, iface: Some(iface), layer: "mac", name, value };
                    self.net.common.recorder.counter(&counter);
                }
            }
        }
    }
}
