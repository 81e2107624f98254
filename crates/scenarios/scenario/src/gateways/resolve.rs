//! Gateways, and the nodes outside of the mesh: looked up and checked.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, Configured, IfaceId, NodeId, Outside, Prefix, Route};
use wayhop_document::{Document, Result, nearest_or};

use super::Gateway;
use crate::interfaces::{Attachment, Interfaces, WirePlan};
use crate::nodes::Placement;
use crate::nodes::ipv6::prefix;

/// The first address of nodes outside that have none of their own, less one: TEST-NET-2 (RFC 5737).
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 0);
/// The most nodes outside that get an address by themselves.
const MOST_OUTSIDE: usize = 254;
/// The longest prefix that is taken for the mesh's.
const LONGEST_MESH: u8 = 24;

/// The edge of the mesh, in a scenario with gateways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgePlan {
    /// The mesh's addresses: the longest prefix, of at most 24 bits, around those of its nodes.
    pub mesh: Prefix,
    /// In the order of the scenario.
    pub gateways: Vec<GatewayPlan>,
    /// The nodes outside, in ascending order.
    pub outside: Vec<OutsidePlan>,
}

/// A gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayPlan {
    /// The node.
    pub node: NodeId,
    /// What it reaches.
    pub reaches: Vec<Prefix>,
    /// Its ways out: to each node on its wire, and by the first of them to everything else.
    pub routes: Vec<Route>,
}

/// A node outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsidePlan {
    /// The node.
    pub node: NodeId,
    /// Its ways to gateways, to the other nodes outside, and to networks there. The next hop is unspecified where each address is a
    /// neighbour.
    pub routes: Vec<Route>,
    /// Its way to the first gateway, if it has one.
    pub gateway: Option<Route>,
}

impl EdgePlan {
    /// What a node of the mesh knows of the outside, and its ways there; `None` for a node that is outside itself.
    pub fn of(&self, node: NodeId) -> Option<(Outside, Vec<Route>)> {
        if self.is_outside(node) {
            return None;
        }
        let own = self.gateways.iter().find(|g| g.node == node);
        let reaches = own.map_or_else(Vec::new, |g| g.reaches.clone());
        Some((Outside { mesh: self.mesh, reaches }, own.map_or_else(Vec::new, |g| g.routes.clone())))
    }
    /// Whether a node is outside.
    pub fn is_outside(&self, node: NodeId) -> bool {
        self.outside.iter().any(|o| o.node == node)
    }
}

/// Looks up the gateways of a scenario. Marks their uplinks, and gives nodes outside their addresses.
pub(crate) fn resolve(
    placed: &mut Placement<'_>,
    interfaces: &mut Interfaces,
    protocol: &Configured,
) -> Result<Option<EdgePlan>> {
    let (scenario, doc) = (placed.scenario, placed.doc());
    if scenario.gateways.is_empty() {
        let Some(k) = interfaces.wires.iter().position(|w| w.network.is_some()) else { return Ok(None) };
        let reason = "a network outside of the mesh, and no gateway";
        let remedy = "add a section [[gateways]], or leave `network` out";
        return Err(doc.error(&format!("wires[{k}].network"), reason, remedy));
    }
    if protocol.name() == "none" {
        let remedy = "choose another protocol, or use static routes instead of gateways";
        return Err(doc.error("gateways", "nodes cannot find gateways without a routing protocol", remedy));
    }
    let mut found: Vec<(NodeId, u16, Vec<Prefix>)> = Vec::new();
    for (k, g) in scenario.gateways.iter().enumerate() {
        let key = |field: &str| format!("gateways[{k}].{field}");
        let node = placed.find(&g.node, &key("node"))?;
        if found.iter().any(|(other, ..)| *other == node) {
            return Err(doc.error(&key("node"), "this node is already a gateway", "list each node once"));
        }
        let wire = uplink(doc, interfaces, node, g, &key("uplink"))?;
        found.push((node, wire, reached(doc, g, &key("reaches"))?));
    }
    for (_, wire, _) in &found {
        interfaces.wires[usize::from(*wire)].leads_out = true;
    }
    let interfaces: &Interfaces = interfaces;
    let attached = interfaces.by_node(placed.tracks.len());
    let outside = outside_nodes(interfaces, &attached);
    check_members(placed, interfaces, &found, &outside)?;
    give_addresses(placed, &outside)?;
    let mesh = mesh_prefix(placed, &outside)?;
    let own_iface = |node: NodeId, wire: u16| {
        let at = attached[node.index()].iter().position(|a| *a == Attachment::Wire(wire));
        IfaceId(at.unwrap_or(0) as u8)
    };
    let on = |wire: u16| outside.iter().copied().filter(move |n| interfaces.has(Attachment::Wire(wire), *n));
    let gateways = found.iter().map(|(node, wire, reaches)| GatewayPlan {
        node: *node,
        reaches: reaches.clone(),
        routes: ways_out(on(*wire).map(|n| placed.addresses[n.index()]), own_iface(*node, *wire)),
    });
    let ways = OutsideWays { interfaces, outside: &outside, gateways: &found, addresses: &placed.addresses };
    let hosts = outside.iter().map(|&node| ways.of(node, &attached[node.index()]));
    Ok(Some(EdgePlan { mesh, gateways: gateways.collect(), outside: hosts.collect() }))
}

struct OutsideWays<'a> {
    interfaces: &'a Interfaces,
    outside: &'a [NodeId],
    gateways: &'a [(NodeId, u16, Vec<Prefix>)],
    addresses: &'a [Ipv4Addr],
}

impl OutsideWays<'_> {
    /// The routes of a node: by the fewest wires, of equals by the first.
    fn of(&self, node: NodeId, attached: &[Attachment]) -> OutsidePlan {
        let own: Vec<u16> = attached.iter().filter_map(|a| wire_of(*a)).collect();
        let iface = |k: u16| IfaceId(own.iter().position(|w| *w == k).unwrap_or(0) as u8);
        let mut routes: Vec<Route> = Vec::new();
        let add = |routes: &mut Vec<Route>, route: Route| {
            if routes.iter().all(|r| r.destination != route.destination) {
                routes.push(route);
            }
        };
        // The nodes whose wires are looked at next, each with the way to it; none is needed at the node itself.
        let mut next: Vec<(NodeId, Option<Route>)> = vec![(node, None)];
        let mut seen = vec![node];
        let mut metric = 1;
        while !next.is_empty() {
            let mut further = Vec::new();
            for (at, way) in next {
                for (k, w) in (0..).zip(&self.interfaces.wires).filter(|(_, w)| w.leads_out) {
                    if !w.nodes.contains(&at) {
                        continue;
                    }
                    // By the first hop on the way there, or straight to a neighbour.
                    let by = |neighbour: Addr| way.map_or((neighbour, iface(k)), |r| (r.next_hop, r.iface));
                    if let Some(destination) = w.network {
                        let (next_hop, iface) = by(Addr::UNSPECIFIED);
                        add(&mut routes, Route { destination, next_hop, iface, metric });
                    }
                    for n in w.nodes.iter().copied().filter(|n| *n != node) {
                        let is_outside = self.outside.contains(&n);
                        if !is_outside && !self.gateways.iter().any(|(g, wire, _)| (*g, *wire) == (n, k)) {
                            continue;
                        }
                        let addr = Addr::from(self.addresses[n.index()]);
                        let (next_hop, iface) = by(addr);
                        let route = Route { destination: Prefix::host(addr), next_hop, iface, metric };
                        add(&mut routes, route);
                        if is_outside && !seen.contains(&n) {
                            seen.push(n);
                            further.push((n, Some(route)));
                        }
                    }
                }
            }
            next = further;
            metric += 1;
        }
        let to = |(g, ..): &(NodeId, u16, Vec<Prefix>)| {
            let gateway = Prefix::host(self.addresses[g.index()]);
            routes.iter().find(|r| r.destination == gateway).copied()
        };
        let mut ways: Vec<Route> = self.gateways.iter().filter_map(to).collect();
        ways.sort_by_key(|r| r.metric);
        OutsidePlan { node, gateway: ways.first().copied(), routes }
    }
}

fn wire_of(a: Attachment) -> Option<u16> {
    match a {
        Attachment::Wire(k) => Some(k),
        Attachment::Radio(_) => None,
    }
}

fn uplink(doc: &Document, all: &Interfaces, node: NodeId, g: &Gateway, key: &str) -> Result<u16> {
    let own: Vec<(u16, &WirePlan)> = (0..).zip(&all.wires).filter(|(_, w)| w.nodes.contains(&node)).collect();
    let names = || own.iter().map(|(_, w)| w.name.as_str());
    let Some(name) = &g.uplink else {
        return match &own[..] {
            [(k, _)] => Ok(*k),
            [] => Err(doc.error(key, "the gateway has no wire", "add a wire from it to a node outside")),
            _ => {
                let all = names().collect::<Vec<_>>().join(", ");
                Err(doc.error(key, "the gateway has more than one wire", format!("name one of {all}")))
            }
        };
    };
    own.iter().find(|(_, w)| w.name == *name).map(|(k, _)| *k).ok_or_else(|| {
        let remedy = nearest_or(name, names(), "name a wire of the gateway; a radio cannot be an uplink");
        doc.error(key, format!("the gateway has no wire named {name:?}"), remedy)
    })
}

fn reached(doc: &Document, g: &Gateway, key: &str) -> Result<Vec<Prefix>> {
    if g.reaches.is_empty() {
        let remedy = "list prefixes such as \"0.0.0.0/0\", or remove the key";
        return Err(doc.error(key, "the list is empty", remedy));
    }
    let one = |(i, text): (usize, &String)| {
        prefix(text).filter(|p| p.addr.is_v4()).ok_or_else(|| {
            let remedy = "give an IPv4 address or prefix such as \"192.0.2.0/24\"";
            doc.error(&format!("{key}[{i}]"), format!("{text:?} is not a prefix"), remedy)
        })
    };
    g.reaches.iter().enumerate().map(one).collect()
}

/// The nodes that have only wires that lead out.
fn outside_nodes(all: &Interfaces, attached: &[Vec<Attachment>]) -> Vec<NodeId> {
    let leads_out = |a: &Attachment| wire_of(*a).is_some_and(|k| all.wires[usize::from(k)].leads_out);
    let outside = |own: &Vec<Attachment>| !own.is_empty() && own.iter().all(leads_out);
    (0..).zip(attached).filter(|(_, own)| outside(own)).map(|(n, _)| NodeId(n)).collect()
}

/// At an uplink are gateways that lead out by it, and nodes outside.
fn check_members(
    placed: &Placement<'_>,
    all: &Interfaces,
    gateways: &[(NodeId, u16, Vec<Prefix>)],
    outside: &[NodeId],
) -> Result<()> {
    let doc = placed.doc();
    for (k, w) in (0..).zip(&all.wires).filter(|(_, w)| w.leads_out) {
        let key = format!("wires[{k}].nodes");
        if !w.nodes.iter().any(|n| outside.contains(n)) {
            let remedy = "add a node to it that has neither a radio (`radio.nodes`) nor another wire";
            let reason = "this wire is an uplink, but no node outside the mesh is attached to it";
            return Err(doc.error(&key, reason, remedy));
        }
        for n in &w.nodes {
            // A host of the mesh may be at a network, too.
            let is_gateway = || gateways.iter().any(|(g, wire, _)| g == n && *wire == k);
            if w.network.is_none() && !outside.contains(n) && !is_gateway() {
                let reason =
                    format!("this wire is an uplink, but node {} is in the mesh", placed.names[n.index()]);
                let remedy =
                    "make it a gateway too, remove it from the wire, or remove it from `radio.nodes`";
                return Err(doc.error(&key, reason, remedy));
            }
        }
    }
    for (k, (node, ..)) in gateways.iter().enumerate() {
        if outside.contains(node) {
            let remedy = "add it to the `nodes` of a radio";
            return Err(doc.error(&format!("gateways[{k}].node"), "this gateway is not in the mesh", remedy));
        }
    }
    Ok(())
}

fn give_addresses(placed: &mut Placement<'_>, outside: &[NodeId]) -> Result<()> {
    let (doc, single) = (placed.doc(), &placed.scenario.nodes.single);
    let has_own = |n: &NodeId| single.iter().any(|own| own.id == n.0 && own.address.is_some());
    let without: Vec<NodeId> = outside.iter().copied().filter(|n| !has_own(n)).collect();
    if without.len() > MOST_OUTSIDE {
        let reason = format!("{} outside nodes have no address", without.len());
        let remedy = format!("give all but {MOST_OUTSIDE} of them addresses (`nodes.node.address`)");
        return Err(doc.error("gateways", reason, remedy));
    }
    for (k, n) in (1..).zip(&without) {
        let address = Ipv4Addr::from_bits(OUTSIDE.to_bits() + k);
        if placed.addresses.contains(&address) {
            let reason = format!("{address}, the default of an outside node, is another node's address");
            return Err(doc.error("gateways", reason, "set the outside node's address"));
        }
        placed.addresses[n.index()] = address;
    }
    Ok(())
}

/// The longest prefix around the addresses of all nodes of the mesh, and no address of a node outside in it.
fn mesh_prefix(placed: &Placement<'_>, outside: &[NodeId]) -> Result<Prefix> {
    let all = || (0..).zip(&placed.addresses);
    let mut inside = all().filter(|(n, _)| !outside.contains(&NodeId(*n))).map(|(_, a)| a.to_bits());
    let first = inside.next().unwrap_or(0);
    let differ = inside.fold(0, |differ, a| differ | (a ^ first));
    let mesh = Prefix::around(Ipv4Addr::from_bits(first), (differ.leading_zeros() as u8).min(LONGEST_MESH));
    match all().find(|(n, a)| outside.contains(&NodeId(*n)) && mesh.contains(**a)) {
        None => Ok(mesh),
        Some((n, a)) => {
            let name = &placed.names[n as usize];
            let reason = format!(
                "node {name} is outside the mesh, but its address {a} is in the mesh's prefix {mesh}"
            );
            Err(placed.doc().error("nodes.node", reason, "change or remove its address"))
        }
    }
}

/// To each node on the wire, and by the first to everything else.
fn ways_out(on_wire: impl Iterator<Item = Ipv4Addr> + Clone, iface: IfaceId) -> Vec<Route> {
    let direct = on_wire.clone().map(|a| Route::to_host(a, a, 1).on(iface));
    let by_first = on_wire.take(1).map(|a| Route {
        destination: Prefix::around(Addr::UNSPECIFIED, 0),
        next_hop: a.into(),
        iface,
        metric: 1,
    });
    direct.chain(by_first).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
