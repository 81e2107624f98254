//! Into a run's summary.

use wayhop_core::Time;
use wayhop_scenario::{FlowConfig, Resolved};
use wayhop_trace::{Summary, Topology};
use wayhop_transport::EVERYONE;

use crate::chains::ChainThroughput;
use crate::flow::{FlowTopology, Pair};
use crate::media::survey_scenario;
use crate::survey::Survey;

/// The pairs and times of flows, up to `end`; none for a flow to all nodes.
pub fn flow_pairs(flows: &[FlowConfig], end: Time) -> Vec<Option<Pair>> {
    let pair = |f: &FlowConfig| {
        let until = f.stop.unwrap_or(end).min(end);
        (f.dst != EVERYONE).then(|| Pair { src: f.src.0, dst: f.dst.0, from: f.start.min(until), until })
    };
    flows.iter().map(pair).collect()
}

/// A flow's entry in a summary.
pub fn of_flow(flow: &FlowTopology, chains: Option<&ChainThroughput>) -> Topology {
    Topology {
        path_changes: flow.path_changes(),
        hop_changes: flow.hop_changes(),
        partitions: flow.partitions(),
        hop_share: flow.hop_share(),
        unreachable_share: flow.unreachable_share(),
        expected_bps: chains.and_then(|c| c.expected_bps(flow)),
    }
}

/// Adds to each flow in the summary of a run what the geometry allowed, up to the time that the run reached, and
/// returns the result. `range_m` replaces the radios' own range.
pub fn annotate(
    summary: &mut Summary,
    scenario: &Resolved,
    range_m: Option<f64>,
    chains: Option<&ChainThroughput>,
) -> Survey {
    let end = Time::from_secs_f64(summary.simulated_s).min(scenario.duration);
    let pairs = flow_pairs(&scenario.flows, end);
    let asked: Vec<Pair> = pairs.iter().flatten().copied().collect();
    let found = survey_scenario(scenario, range_m, end, &asked);
    let mut flows = found.flows.iter();
    for (entry, pair) in summary.flows.iter_mut().zip(&pairs) {
        if pair.is_some() {
            entry.topology = flows.next().map(|f| of_flow(f, chains));
        }
    }
    found
}
