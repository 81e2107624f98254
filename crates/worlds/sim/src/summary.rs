//! A run in numbers.

use wayhop_core::{IfaceId, NodeId, Time};
use wayhop_radio::EnergyUsed;
use wayhop_scenario::Resolved;
use wayhop_trace::{Counter, NodeEnergy, OverheadFrames, Summary, Totals};

use crate::audit::Audit;
use crate::simulation::Simulation;

impl Simulation {
    /// What a node with a battery has used.
    fn energy(&self, node: u32) -> Option<NodeEnergy> {
        let used = self.media.energy(self.now, node)?;
        let (remaining_j, used_j) = (used.remaining_j(), used.used_j());
        let EnergyUsed { initial_j, tx_j, rx_j, idle_j, sleep_j, empty_at } = used;
        let empty_s = empty_at.map(Time::as_secs_f64);
        Some(NodeEnergy { node, initial_j, remaining_j, used_j, tx_j, rx_j, idle_j, sleep_j, empty_s })
    }

    /// Frames that carried no data packet.
    fn overhead_frames(&self) -> OverheadFrames {
        let mut frames = self.net.common.ledger.frames;
        for node in 0..self.net.nodes.len() as u32 {
            for at in self.net.common.ports.of(node) {
                for (name, n) in self.media.counters(node, *at) {
                    match name {
                        "rts" => frames.rts += n,
                        "cts" => frames.cts += n,
                        "ack" => frames.ack += n,
                        _ => {}
                    }
                }
            }
        }
        frames
    }

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
            routing_header_bytes: Some(ledger.routing_header_bytes),
            transmissions: Some(ledger.transmissions),
            overhead_frames: Some(self.overhead_frames()),
            by_type: counted.map(|(name, n)| (name.to_owned(), n)).collect(),
            ..Totals::default()
        };
        totals.sum_flows(&flows);
        totals.set_drops(&audit.ends.dropped);
        Summary {
            wayhop: wayhop_core::version::full().to_owned(),
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
                without_flow: o.programs.without_flow,
            }),
            applications: self.net.common.applications.as_ref().map_or_else(Vec::new, |a| a.summaries()),
            outages: self.outages.summary(self.now),
            attacks: self.net.common.attackers.as_ref().map_or_else(Vec::new, |a| a.summary()),
            energy: (0..self.net.nodes.len() as u32).filter_map(|i| self.energy(i)).collect(),
            ..Summary::default()
        }
    }

    /// Writes what each node's MAC counted into the trace.
    pub(crate) fn record_counters(&mut self) {
        for i in 0..self.net.nodes.len() as u32 {
            let mut rows = Vec::new();
            if let Some(used) = self.energy(i) {
                let joules = [
                    ("remaining_uj", used.remaining_j),
                    ("tx_uj", used.tx_j),
                    ("rx_uj", used.rx_j),
                    ("idle_uj", used.idle_j),
                    ("sleep_uj", used.sleep_j),
                ];
                rows.extend(joules.map(|(name, j)| (None, "energy", name, (j * 1e6).round() as u64)));
            }
            rows.extend(self.auth_counts(i).map(|(name, value)| (None, "auth", name, value)));
            for (iface, &place) in (0..).map(IfaceId).zip(self.net.common.ports.of(i)) {
                let queue = ("queue_drops", self.net.nodes[i as usize].queue_drops(iface));
                let mac = self.media.counters(i, place).into_iter().chain([queue]);
                rows.extend(mac.map(|(name, value)| (Some(iface), "mac", name, value)));
            }
            for (iface, layer, name, value) in rows {
                let counter = Counter { node: NodeId(i), iface, layer, name, value };
                self.net.common.recorder.counter(&counter);
            }
        }
    }
}
