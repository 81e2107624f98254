//! From the scenario's traffic entries to flows.

use wayhop_core::NodeId;
use wayhop_document::Error;
use wayhop_transport::{DEFAULT_PORT, FlowConfig, FlowKind};

use super::kind::{Flows, MAX_FLOWS, Network, TrafficEntry};
use crate::file::Scenario;
use crate::movement::Movement;
use crate::nodes::Placement;

/// How many ports there are from [`DEFAULT_PORT`] upwards.
const PORTS: usize = 65_536 - DEFAULT_PORT as usize;

/// A flow of an ns-2 traffic file; TCP's with this padding.
fn padded(flow: &FlowConfig, padding: u8) -> FlowConfig {
    let mut flow = flow.clone();
    if let FlowKind::Tcp(config) = &mut flow.kind {
        config.padding = padding;
    }
    flow
}

pub(crate) fn flows(scenario: &Scenario, placed: &Placement, seed: u64) -> Result<Vec<FlowConfig>, Error> {
    let doc = &scenario.document;
    let tcp_padding = scenario.protocol.tcp_padding();
    let network = Network {
        nodes: placed.tracks.len(),
        find: &|node, key| placed.find(node, key, doc),
        has_ipv6: placed.ipv6.is_some(),
        moves_as_in_ns2: matches!(scenario.movement, Movement::Ns2 { .. }),
        tcp_padding,
        seed,
    };
    let from_files: Vec<FlowConfig> = placed.ns2_flows.iter().map(|f| padded(f, tcp_padding)).collect();
    let mut flows = Flows::new(&from_files);
    for (k, traffic) in scenario.traffic.iter().enumerate() {
        let entry = TrafficEntry::new(k, doc, &network);
        traffic.kind().flows(&entry, &mut flows)?;
        if flows.len() > MAX_FLOWS {
            return Err(doc.error(&entry.key, format!("more than {MAX_FLOWS} flows"), "reduce their number"));
        }
    }
    // A movement file may hold traffic lines as well.
    flows.add_ns2();
    let mut out = flows.into_made();
    // Each flow has its own port, so that it can be told apart in captures and in real networks.
    for (k, flow) in out.iter_mut().enumerate() {
        flow.src_port = DEFAULT_PORT + (k % PORTS) as u16;
        flow.dst_port = flow.src_port;
    }
    Ok(out)
}

/// A warning about flows that differ only in their number, probably duplicates.
pub(crate) fn twins(flows: &[FlowConfig], names: &[String]) -> Option<String> {
    /// The most flows with the same ends and times that are compared with each: a bound on the work.
    const NEAR: usize = 16;
    let same = |a: &FlowConfig, b: &FlowConfig| {
        FlowConfig { src_port: b.src_port, dst_port: b.dst_port, ..a.clone() } == *b
    };
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|&i| (flows[i].src, flows[i].dst, flows[i].start, flows[i].stop, i));
    let mut pairs = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        let earlier = order[k.saturating_sub(NEAR)..k].iter().find(|&&j| same(&flows[j], &flows[i]));
        pairs.extend(earlier.map(|&j| (j, i)));
    }
    let &(first, second) = pairs.iter().min_by_key(|p| p.1)?;
    // A flow to all has no node at its end.
    let name = |id: NodeId| names.get(id.index()).map_or("all nodes", String::as_str);
    Some(format!(
        "{} of {} flows duplicate another one, for example flow {second} (from {} to {}, like flow {first}); all are sent",
        pairs.len(),
        flows.len(),
        name(flows[first].src),
        name(flows[first].dst)
    ))
}
