//! Hosts outside of the mesh, behind gateways: they take no part in routing.
//!
//! Such a host represents the world beyond the gateways. Its packets to a node of the mesh go to the gateway
//! that forwarded that node's last packet, as with address translation, or with a routing protocol outside;
//! or to the first gateway, if there was none. Between networks outside it is a router.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_core::{
    Addr, Configured, Cx, DataPlane, DropReason, IfaceId, Inspect, Interests, NodeContext, NodeId, Packet,
    Prefix, Protocol, Rng, Route, RouteUse, RxMeta, Time, TimerKey, TxReport, TxSpec,
};
use wayhop_node::{Edge, Engine, OnDemand};
use wayhop_scenario::{EdgePlan, OutsidePlan, Resolved};
use wayhop_wire::ipv4;

use crate::attackers::{self, Attackers};
use crate::nodes::Node;

/// The most nodes of the mesh whose gateways a host remembers: sources can be forged.
const MAX_SOURCES: usize = 4_096;

/// The engine of a node.
pub(crate) fn engine(
    protocol: &Arc<Configured>,
    attackers: Option<&Attackers>,
    (edge, at): (Option<&EdgePlan>, NodeContext),
    rng: Rng,
) -> Engine<OnDemand> {
    match edge.and_then(|e| Some((e.outside.iter().find(|o| o.node.0 == at.node)?, e.mesh))) {
        Some((plan, mesh)) => Engine::new(OnDemand::made(Box::new(Host::new(plan, mesh))), rng),
        None => attackers::engine(protocol, attackers, at, rng),
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
    mesh: Prefix,
    routes: Vec<Route>,
    gateway: Option<Route>,
    /// By source in the mesh: the neighbour and the interface by which its last packet came.
    came_by: FxHashMap<Addr, (Addr, IfaceId)>,
}

impl Host {
    fn new(plan: &OutsidePlan, mesh: Prefix) -> Self {
        Self { mesh, routes: plan.routes.clone(), gateway: plan.gateway, came_by: FxHashMap::default() }
    }

    /// The way to an address outside that it knows.
    fn route(&self, to: Addr) -> Option<(Addr, IfaceId)> {
        let route =
            self.routes.iter().filter(|r| r.destination.contains(to)).max_by_key(|r| r.destination.len)?;
        let next_hop = if route.next_hop.is_unspecified() { to } else { route.next_hop };
        Some((next_hop, route.iface))
    }

    fn way_to(&self, to: Addr) -> Option<(Addr, IfaceId)> {
        let known = self.route(to).or_else(|| self.came_by.get(&to).copied());
        known.or_else(|| self.gateway.map(|g| (g.next_hop, g.iface)))
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
        let to = Addr::from(to);
        // A router between the networks outside, and between them and the mesh.
        let forwards = self.route(to).is_some() || self.mesh.contains(to);
        match self.way_to(to).filter(|_| from == cx.addr() || forwards) {
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
