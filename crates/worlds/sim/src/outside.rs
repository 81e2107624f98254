//! Hosts outside of the mesh, behind gateways: they take no part in routing.
//!
//! Such a host stands for the world beyond the gateways. What it sends to a node of the mesh goes to the gateway by which that node's
//! last packet came, as with address translation, or with a routing protocol outside that follows; to the first gateway if none has
//! come.

use std::net::Ipv4Addr;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_core::{
    Addr, Configured, Cx, DataPlane, DropReason, IfaceId, Inspect, Interests, NodeId, Packet, Protocol, Rng,
    RouteUse, RxMeta, Time, TimerKey, TxReport, TxSpec,
};
use wayhop_node::{Edge, Engine, OnDemand};
use wayhop_scenario::{EdgePlan, OutsidePlan, Resolved};
use wayhop_wire::ipv4;

use crate::attackers::{self, Attackers};
use crate::net::Node;

/// The most nodes of the mesh whose gateways a host remembers: sources can be forged.
const MAX_SOURCES: usize = 4_096;

/// The engine of a node.
pub(crate) fn engine(
    protocol: &Arc<Configured>,
    attackers: Option<&Attackers>,
    (edge, node): (Option<&EdgePlan>, u32),
    rng: Rng,
) -> Engine<OnDemand> {
    match edge.and_then(|e| e.outside.iter().find(|o| o.node.0 == node)) {
        Some(plan) => Engine::new(OnDemand::made(Box::new(Host::new(plan))), rng),
        None => attackers::engine(protocol, attackers, node, rng),
    }
}

/// Tells the nodes of the mesh what is outside, and the gateways their ways there.
pub(crate) fn set_edges(nodes: &mut [Node], scenario: &Resolved) {
    let Some(plan) = &scenario.edge else { return };
    for (node, n) in (0..).zip(nodes) {
        if let Some((outside, routes)) = plan.of(NodeId(node)) {
            n.set_edge(Edge { outside, routes });
        }
    }
}

struct Host {
    gateways: Vec<(Ipv4Addr, IfaceId)>,
    others: Vec<(Ipv4Addr, IfaceId)>,
    /// By source: the neighbour and the interface by which its last packet came.
    came_by: FxHashMap<Addr, (Addr, IfaceId)>,
}

impl Host {
    fn new(plan: &OutsidePlan) -> Self {
        Self { gateways: plan.gateways.clone(), others: plan.others.clone(), came_by: FxHashMap::default() }
    }

    fn way_to(&self, to: Ipv4Addr) -> Option<(Addr, IfaceId)> {
        let as_addr = |&(a, iface): &(Ipv4Addr, IfaceId)| (Addr::from(a), iface);
        let near = self.others.iter().chain(&self.gateways).find(|(a, _)| *a == to).map(as_addr);
        near.or_else(|| self.came_by.get(&to.into()).copied()).or_else(|| self.gateways.first().map(as_addr))
    }
}

impl Protocol for Host {
    fn data_plane(&self) -> DataPlane {
        DataPlane::Forwarding
    }
    fn interests(&self) -> Interests {
        Interests { arrivals: true, ..Interests::default() }
    }
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let Some((from, to)) = ipv4::ends(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        match self.way_to(to).filter(|_| from == cx.addr()) {
            Some((next_hop, iface)) => cx.send(p, TxSpec::unicast(next_hop).on(iface)),
            None => cx.drop(p, DropReason::NoRoute),
        }
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        cx.drop(p, DropReason::NoListener);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        if let Some(p) = report.packet {
            cx.drop(p, DropReason::MacRetries);
        }
    }
    fn on_route_used(&mut self, _: &mut Cx<'_>, used: &RouteUse) {
        let Some(previous) = used.previous_hop.filter(|_| used.iface != IfaceId::ANY) else { return };
        if self.came_by.len() < MAX_SOURCES || self.came_by.contains_key(&used.source) {
            self.came_by.insert(used.source, (previous, used.iface));
        }
    }
    fn on_timer(&mut self, _: &mut Cx<'_>, _: TimerKey) {}
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}
