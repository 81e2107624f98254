//! The settings for IPv6 and static routes.

use std::net::{Ipv4Addr, Ipv6Addr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{Addr, Configured, DataPlane, IfaceId, Prefix, Route};
use wayhop_document::{Document, Error};
use wayhop_scenario::parse_prefix;

/// A longer prefix has no room for many nodes; a shorter one is no prefix of a link.
const PREFIX_BITS: std::ops::RangeInclusive<u8> = 1..=126;
/// The most static routes of a node.
const MOST_ROUTES: usize = 4_096;

/// A route that the node has from the start, whatever the routing protocol finds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticRoute {
    /// Where to: an address, or for IPv6 a prefix such as `fd00:99::/64`.
    pub destination: String,
    /// The address of the neighbour that packets go to.
    pub via: String,
    /// The interface that they leave by. Without it: the one on which the neighbour was heard last, or the first.
    pub interface: Option<String>,
}

/// `fd00:77::3/64`: a host's IPv6 address with the length of its network's prefix.
fn parse(text: &str) -> Option<(Ipv6Addr, u8)> {
    let (addr, len) = text.split_once('/')?;
    let (addr, len): (Ipv6Addr, u8) = (addr.parse().ok()?, len.parse().ok()?);
    let usable = Addr::from(addr).is_usable() && addr.to_ipv4_mapped().is_none() && !addr.is_loopback();
    (usable && !addr.is_unicast_link_local() && PREFIX_BITS.contains(&len)).then_some((addr, len))
}

/// Checks the node's IPv6 address.
pub(crate) fn address(text: Option<&str>, doc: &Document) -> Result<Option<(Ipv6Addr, u8)>, Error> {
    let Some(text) = text else { return Ok(None) };
    parse(text).map(Some).ok_or_else(|| {
        let what = format!("{text:?} is not an IPv6 address of a host with a prefix length");
        doc.error("address6", what, "give one such as fd00:77::3/64, that is neither link-local nor a group")
    })
}

/// What static routes are checked against.
pub(crate) struct Surroundings<'a> {
    pub(crate) interfaces: Vec<&'a str>,
    pub(crate) mesh: wayhop_linux::Prefix,
    pub(crate) address: Ipv4Addr,
    pub(crate) address6: Option<(Ipv6Addr, u8)>,
    pub(crate) protocol: &'a Configured,
}

/// Checks the static routes.
pub(crate) fn routes(
    given: &[StaticRoute],
    around: &Surroundings<'_>,
    doc: &Document,
) -> Result<Vec<Route>, Error> {
    if given.len() > MOST_ROUTES {
        let many = format!("{} routes are too many", given.len());
        return Err(doc.error("routes", many, format!("give at most {MOST_ROUTES}")));
    }
    let mut out: Vec<Route> = Vec::with_capacity(given.len());
    for (k, r) in given.iter().enumerate() {
        let wrong = |field: &str, what: String, remedy: &str| {
            Err(doc.error(&format!("routes[{k}].{field}"), what, remedy.to_owned()))
        };
        let Some(destination) = parse_prefix(&r.destination) else {
            let what = format!("{:?} is neither an address nor a prefix", r.destination);
            return wrong("destination", what, "give one such as fd00:77::4 or fd00:99::/64");
        };
        let next_hop: Option<Addr> = r.via.parse().ok();
        let is_neighbour = |a: &Addr| a.is_usable() && a.is_v4() == destination.addr.is_v4();
        let Some(next_hop) = next_hop.filter(is_neighbour) else {
            let what = format!("{:?} is not a neighbour's address of the destination's family", r.via);
            return wrong("via", what, "give the neighbour's address");
        };
        let own6 = around.address6.map(|(a, _)| Addr::from(a));
        if next_hop == around.address || Some(next_hop) == own6 {
            return wrong("via", format!("{next_hop} is this node itself"), "give a neighbour's address");
        }
        if let Err((what, remedy)) = possible(destination, next_hop, around) {
            return wrong("destination", what, remedy);
        }
        if out.iter().any(|other| other.destination == destination) {
            let what = format!("there is already a route to {destination}");
            return wrong("destination", what, "remove one of them");
        }
        let position = |name: &String| around.interfaces.iter().position(|n| n == name);
        let iface = match r.interface.as_ref().map(|name| (name, position(name))) {
            None => IfaceId::ANY,
            Some((_, Some(i))) => IfaceId(i as u8),
            Some((name, None)) => {
                let what = format!("{name} is not an interface of this node");
                return wrong("interface", what, "give one of `interface` and `interfaces`");
            }
        };
        out.push(Route { destination, next_hop, iface, metric: 1 });
    }
    Ok(out)
}

/// Whether the node can have such a route, or why not and what to do.
fn possible(
    destination: Prefix,
    next_hop: Addr,
    around: &Surroundings<'_>,
) -> Result<(), (String, &'static str)> {
    if !destination.addr.is_v4() {
        let Some((own, _)) = around.address6 else {
            return Err(("an IPv6 route needs an IPv6 address of this node".to_owned(), "set `address6`"));
        };
        return match destination.as_host() {
            Some(a) if a == Addr::from(own) => {
                Err(("it is this node itself".to_owned(), "give another destination"))
            }
            Some(a) if !a.is_usable() => {
                Err((format!("{a} is not the address of a host"), "give another destination"))
            }
            _ => Ok(()),
        };
    }
    if around.protocol.engine().data_plane() == DataPlane::PerPacket {
        let what = format!("{} handles every IPv4 packet itself", around.protocol.name());
        return Err((what, "choose another protocol, or remove the route"));
    }
    let in_mesh = |a: Addr| a.v4().is_some_and(|a| around.mesh.has_host(a));
    match destination.as_host() {
        Some(to) if in_mesh(to) && in_mesh(next_hop) && to != around.address => Ok(()),
        _ => Err((
            format!("{destination} by {next_hop} is not a route to another host of the mesh"),
            "give a host's address: routes for IPv4 stay within the mesh",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_hosts_are_taken_and_others_are_not() {
        assert_eq!(parse("fd00:77::3/64"), Some(("fd00:77::3".parse().unwrap(), 64)));
        for wrong in [
            "fd00:77::3",
            "fd00:77::3/0",
            "fd00:77::3/128",
            "fe80::1/64",
            "ff02::1/64",
            "::1/64",
            "::/64",
            "::ffff:10.0.0.1/64",
            "10.0.0.1/24",
            "x/64",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
