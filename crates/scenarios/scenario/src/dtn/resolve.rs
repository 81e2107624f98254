//! Which nodes have an agent for bundles, and who sends bundles to whom.

use wayhop_core::{NodeId, Span};
use wayhop_document::{Document, Result, in_range};
use wayhop_dtn::Eid;
use wayhop_dtn::node::{BundleSeries, DtnRouting, Layer};
use wayhop_simulator_files::MAX_DURATION_S;

use super::{BundleFlow, Dtn, DtnRoute};
use crate::nodes::Placement;
use crate::traffic::{MAX_FLOWS, check_times};

/// The longest payload of a bundle, bytes.
const MAX_SIZE: u64 = 1 << 30;
/// The shortest fragment that has room for its headers and some payload, bytes.
const MIN_FRAGMENT: u64 = 256;

/// The longest bundle that fits with its headers into a packet of 1500 bytes (Ethernet), rounded down.
const UDPCL_FRAGMENT: u64 = 1_400;

/// The agents of a scenario, looked up and checked.
#[derive(Clone, Debug, PartialEq)]
pub struct DtnPlan {
    /// The nodes with an agent, in ascending order.
    pub nodes: Vec<NodeId>,
    /// The agents that get a copy of a bundle.
    pub routing: DtnRouting,
    /// Copies of each bundle with spray and wait.
    pub copies: u32,
    /// How bundles travel from agent to agent.
    pub convergence: Layer,
    /// What each store holds, octets.
    pub store_bytes: u64,
    /// The longest bundle that is sent, octets, if there is a limit.
    pub fragment_bytes: Option<u64>,
    /// How fast datagrams are sent, bits per second.
    pub rate_bps: f64,
    /// From beacon to beacon.
    pub beacon: Span,
    /// A contact ends after this time without a beacon.
    pub silence: Span,
    /// Static routes: node, destination, neighbour.
    pub routes: Vec<(NodeId, NodeId, NodeId)>,
    /// The flows.
    pub flows: Vec<BundleFlowPlan>,
}

/// Bundles from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub struct BundleFlowPlan {
    /// The source.
    pub src: NodeId,
    /// The destination.
    pub dst: NodeId,
    /// When they are made, and what they are like.
    pub series: BundleSeries,
}

pub(crate) fn resolve(placed: &Placement<'_>) -> Result<Option<DtnPlan>> {
    let Some(dtn) = &placed.scenario.dtn else { return Ok(None) };
    let doc = placed.doc();
    let nodes = nodes(dtn, placed)?;
    check(dtn, doc)?;
    let agent = |node: &crate::NodeRef, key: &str| {
        let found = placed.find(node, key)?;
        if nodes.binary_search(&found).is_ok() {
            return Ok(found);
        }
        let reason = format!("node {} has no agent", found.0);
        Err(doc.error(key, reason, "add it to dtn.nodes, or name another node"))
    };
    let route = |(k, r): (usize, &DtnRoute)| {
        let key = |field: &str| format!("dtn.routes[{k}].{field}");
        let node = agent(&r.node, &key("node"))?;
        Ok((node, agent(&r.destination, &key("destination"))?, agent(&r.via, &key("via"))?))
    };
    let flow = |(k, f): (usize, &BundleFlow)| {
        let key = |field: &str| format!("dtn.flows[{k}].{field}");
        let (src, dst) = (agent(&f.src, &key("src"))?, agent(&f.dst, &key("dst"))?);
        if src == dst {
            let remedy = "name another node";
            return Err(doc.error(&key("dst"), "source and destination are the same node", remedy));
        }
        flow_plan(f, (src, dst), key, doc)
    };
    Ok(Some(DtnPlan {
        routing: dtn.routing,
        copies: dtn.copies,
        convergence: dtn.convergence,
        store_bytes: dtn.store_bytes,
        fragment_bytes: dtn.fragment_bytes.or((dtn.convergence == Layer::Udpcl).then_some(UDPCL_FRAGMENT)),
        rate_bps: dtn.rate_bps,
        beacon: Span::from_secs_f64(dtn.beacon_s),
        silence: Span::from_secs_f64(dtn.silence_s),
        routes: dtn.routes.iter().enumerate().map(route).collect::<Result<_, _>>()?,
        flows: dtn.flows.iter().enumerate().map(flow).collect::<Result<_, _>>()?,
        nodes,
    }))
}

fn nodes(dtn: &Dtn, placed: &Placement<'_>) -> Result<Vec<NodeId>> {
    let Some(named) = &dtn.nodes else { return Ok(placed.all().collect()) };
    if named.is_empty() {
        let remedy = "name at least one node, or remove the key to give all nodes an agent";
        return Err(placed.doc().error("dtn.nodes", "the list is empty", remedy));
    }
    let mut nodes = placed.find_each(named, "dtn.nodes")?;
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

fn check(dtn: &Dtn, doc: &Document) -> Result<()> {
    in_range(doc, "dtn.copies", f64::from(dtn.copies), 1.0, 1e6)?;
    in_range(doc, "dtn.store_bytes", dtn.store_bytes as f64, MIN_FRAGMENT as f64, 1e12)?;
    let fragment = dtn.fragment_bytes.map(|octets| octets as f64);
    in_range(doc, "dtn.fragment_bytes", fragment, MIN_FRAGMENT as f64, MAX_SIZE as f64)?;
    in_range(doc, "dtn.rate_bps", dtn.rate_bps, 1e3, 1e12)?;
    in_range(doc, "dtn.beacon_s", dtn.beacon_s, 0.01, 1e6)?;
    in_range(doc, "dtn.silence_s", dtn.silence_s, 0.01, 1e6)?;
    if dtn.silence_s <= dtn.beacon_s {
        let (silence_s, beacon_s) = (dtn.silence_s, dtn.beacon_s);
        let reason =
            format!("{silence_s} s would end a contact between two beacons, which are {beacon_s} s apart");
        let remedy = "set it above dtn.beacon_s; three times as much tolerates two lost beacons";
        return Err(doc.error("dtn.silence_s", reason, remedy));
    }
    if dtn.routing != DtnRouting::Static && !dtn.routes.is_empty() {
        return Err(doc.error("dtn.routes", "routes require static routing", "set dtn.routing = \"static\""));
    }
    if dtn.flows.len() > MAX_FLOWS {
        return Err(doc.error("dtn.flows", format!("more than {MAX_FLOWS} flows"), "reduce their number"));
    }
    Ok(())
}

fn flow_plan(
    f: &BundleFlow,
    (src, dst): (NodeId, NodeId),
    key: impl Fn(&str) -> String,
    doc: &Document,
) -> Result<BundleFlowPlan> {
    check_times(doc, &key, f.start_s, f.stop_s)?;
    in_range(doc, &key("size_bytes"), f.size_bytes as f64, 1.0, MAX_SIZE as f64)?;
    in_range(doc, &key("interval_s"), f.interval_s, 1e-3, 1e9)?;
    in_range(doc, &key("lifetime_s"), f.lifetime_s, 1e-3, MAX_DURATION_S)?;
    let series = BundleSeries {
        start: Span::from_secs_f64(f.start_s),
        stop: f.stop_s.map(Span::from_secs_f64),
        size_bytes: f.size_bytes,
        interval: Span::from_secs_f64(f.interval_s),
        lifetime: Span::from_secs_f64(f.lifetime_s),
        custody: f.custody,
        max_bundles: f.max_bundles,
    };
    Ok(BundleFlowPlan { src, dst, series })
}

impl DtnPlan {
    /// The static routes of a node, as agents read them.
    pub fn routes_of(&self, node: NodeId) -> Vec<String> {
        let own = self.routes.iter().filter(|(at, ..)| *at == node);
        own.map(|(_, to, via)| format!("{}* via {}", Self::endpoint(*to), Self::endpoint(*via))).collect()
    }

    /// The endpoint of a node's agent.
    pub fn endpoint(node: NodeId) -> Eid {
        // A number in decimal digits is a node's name.
        Eid::dtn(&format!("mesh-{}", node.0), "").unwrap_or_default()
    }

    /// The node of an endpoint.
    pub fn node_of(endpoint: &Eid) -> Option<NodeId> {
        endpoint.node_name().strip_prefix("mesh-")?.parse().ok().map(NodeId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    const HEAD: &str = "nodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 100 }\n[dtn]\n";

    fn plan(keys: &str) -> Result<DtnPlan> {
        let scenario = Scenario::from_text(&format!("{HEAD}{keys}"), &[])?;
        Ok(scenario.resolve()?.dtn.expect("a section"))
    }

    #[test]
    fn agents_are_in_all_nodes_unless_some_are_named() {
        assert_eq!(plan("").unwrap().nodes, [0, 1, 2].map(NodeId));
        assert_eq!(plan("nodes = [2, 0, 2]").unwrap().nodes, [0, 2].map(NodeId));
    }

    #[test]
    fn nodes_are_found_by_their_endpoints() {
        let endpoint = DtnPlan::endpoint(NodeId(17));
        assert_eq!(endpoint.to_string(), "dtn://mesh-17/");
        assert_eq!(DtnPlan::node_of(&endpoint.service("flow-3")), Some(NodeId(17)));
        assert_eq!(DtnPlan::node_of(&Eid::None), None);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_key() {
        for (keys, key) in [
            ("nodes = []", "dtn.nodes"),
            ("nodes = [7]", "dtn.nodes[0]"),
            ("silence_s = 1\nbeacon_s = 1", "dtn.silence_s"),
            ("fragment_bytes = 10", "dtn.fragment_bytes"),
            ("[[dtn.routes]]\nnode = 0\ndestination = 2\nvia = 1", "dtn.routes"),
            ("nodes = [0, 1]\n[[dtn.flows]]\nsrc = 0\ndst = 2", "dtn.flows[0].dst"),
            ("[[dtn.flows]]\nsrc = 0\ndst = 0", "dtn.flows[0].dst"),
            ("[[dtn.flows]]\nsrc = 0\ndst = 1\ninterval_s = 0", "dtn.flows[0].interval_s"),
        ] {
            let e = plan(keys).expect_err(keys);
            assert_eq!(e.key.as_deref(), Some(key), "{keys}: {e}");
        }
    }
}
