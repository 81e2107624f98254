//! The nodes' static routes.

use wayhop_core::{Configured, DataPlane, IfaceId, NodeId, Prefix, Route};
use wayhop_document::Result;

use super::StaticRoute;
use crate::interfaces::{self, Interfaces};
use crate::nodes::ipv6::prefix;
use crate::nodes::{NodeRef, Placement};
use crate::traffic::IpVersion;

pub(crate) fn resolve(
    placed: &Placement<'_>,
    protocol: &Configured,
    interfaces: &Interfaces,
) -> Result<Vec<(NodeId, Route)>> {
    let (doc, mut out) = (placed.doc(), Vec::<(NodeId, Route)>::new());
    for (k, r) in placed.scenario.routes.iter().enumerate() {
        let (node, mut route) = one(placed, k, r)?;
        if let Some(name) = &r.interface {
            let key = format!("routes[{k}].interface");
            let at = interfaces::find(doc, interfaces, node, name, &key)?;
            let own = &interfaces.by_node(placed.tracks.len())[node.index()];
            route.iface = own.iter().position(|a| *a == at).map_or(IfaceId::ANY, |i| IfaceId(i as u8));
        }
        let key = format!("routes[{k}].destination");
        if out.iter().any(|(n, other)| *n == node && other.destination == route.destination) {
            let reason = format!("node {node} already has a static route to {}", route.destination);
            return Err(doc.error(&key, reason, "remove one of them"));
        }
        if route.destination.addr.is_v4() && protocol.engine().data_plane() == DataPlane::PerPacket {
            let why = "handles every IPv4 packet itself, so IPv4 static routes have no effect";
            let reason = format!("protocol {:?} {why}", protocol.name());
            return Err(doc.error(&key, reason, "choose another protocol, or remove the route"));
        }
        out.push((node, route));
    }
    Ok(out)
}

fn one(placed: &Placement<'_>, k: usize, r: &StaticRoute) -> Result<(NodeId, Route)> {
    let doc = placed.doc();
    let key = |field: &str| format!("routes[{k}].{field}");
    let node = placed.find(&r.node, &key("node"))?;
    let via = placed.find(&r.via, &key("via"))?;
    if via == node {
        let remedy = "name the neighbour that is the next hop";
        return Err(doc.error(&key("via"), "this is the node itself", remedy));
    }
    let named = match &r.destination {
        NodeRef::Name(text) if !placed.index.contains_key(text) => prefix(text),
        _ => None,
    };
    let addr6 = |n: NodeId, field: &str| match &placed.ipv6 {
        Some(plan) => Ok(plan.addresses[n.index()]),
        None => Err(doc.error(
            &key(field),
            "this is an IPv6 route, but the nodes have no IPv6 addresses",
            "add nodes.ipv6 = true",
        )),
    };
    let destination = match (named, r.ip) {
        (Some(_), Some(_)) => {
            let remedy = "remove the key, or use a node as the destination";
            return Err(doc.error(&key("ip"), "the destination already determines the IP version", remedy));
        }
        (Some(prefix), None) => prefix,
        (None, ip) => {
            let to = placed.find(&r.destination, &key("destination"))?;
            if to == node {
                let remedy = "choose another destination";
                return Err(doc.error(&key("destination"), "this is the node itself", remedy));
            }
            match ip.unwrap_or_default() {
                IpVersion::V4 => Prefix::host(placed.addresses[to.index()]),
                IpVersion::V6 => Prefix::host(addr6(to, "ip")?),
            }
        }
    };
    let next_hop = if destination.addr.is_v4() {
        placed.addresses[via.index()].into()
    } else {
        addr6(via, "destination")?.into()
    };
    Ok((node, Route { destination, next_hop, iface: IfaceId::ANY, metric: 1 }))
}
