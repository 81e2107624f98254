//! What must hold in every state.

use core::any::Any;
use std::net::Ipv4Addr;

use wayhop_testkit::addr;
use wayhop_testkit::explore::{DATA_TTL, Explorable, Names, World};
use wayhop_wire::dsr::DsrOption;

use super::faults::Dsr;
use crate::cache::path::Path;
use crate::cache::{PathCache, Purpose};
use crate::forwarding::view::View;
use crate::params::{Maintenance, Params};

/// No route in a frame - that it travels by, that a request records, that a reply tells - visits a node twice.
pub(super) fn no_frame_visits_twice<P: Explorable>(w: &World<P>, names: Names) -> Option<String> {
    for f in w.flights() {
        let Ok(v) = View::new(f.packet.bytes()) else { continue };
        for o in v.dsr.options() {
            let nodes: Vec<Ipv4Addr> = match o {
                Ok(DsrOption::SourceRoute(s)) => {
                    // Section 8.3.6: after a salvage the list begins with the node that salvaged, and the source may be on it.
                    let first = (s.salvage == 0).then_some(v.ip.src());
                    first.into_iter().chain(s.addresses.iter()).chain([v.ip.dst()]).collect()
                }
                Ok(DsrOption::RouteRequest(r)) => {
                    [v.ip.src()].into_iter().chain(r.addresses.iter()).collect()
                }
                Ok(DsrOption::RouteReply(r)) => {
                    [v.destination()].into_iter().chain(r.addresses.iter()).collect()
                }
                _ => continue,
            };
            if let Some(twice) = repeated(&nodes) {
                let what = P::describe(f.packet.bytes(), names);
                return Some(format!("{} is twice on a route: {what}", names.of(twice)));
            }
        }
    }
    None
}

fn repeated(nodes: &[Ipv4Addr]) -> Option<Ipv4Addr> {
    nodes.iter().enumerate().find(|(i, a)| nodes[..*i].contains(a)).map(|(_, a)| *a)
}

/// No route that a node would send by visits a node twice, and each begins at that node.
pub(super) fn no_cached_path_visits_twice<P: Dsr>(w: &World<P>, names: Names) -> Option<String> {
    for (i, host) in w.nodes.iter().enumerate() {
        let mut cache = host.protocol().engine().cache.clone();
        let mut way = Path::EMPTY;
        for to in 0..w.nodes.len() {
            let known = cache.find(addr(to), Purpose::Check, w.now(), &mut way);
            let wrong = way.repeats() || way.first() != Some(addr(i)) || way.last() != Some(addr(to));
            if known && wrong {
                return Some(format!("{} has a wrong route to {}", names.node(i), names.node(to)));
            }
        }
        let any: &dyn Any = &*host.protocol().engine().cache;
        let mut paths = any.downcast_ref::<PathCache>().into_iter().flat_map(PathCache::paths);
        if let Some(p) = paths.find(Path::repeats) {
            return Some(format!("{} keeps the path {p}", names.node(i)));
        }
    }
    None
}

/// Every route has at most one hop less than there are nodes, and a packet gets a new one only where it is salvaged, which it counts: its
/// TTL, which every forwarding node counts down, tells how far it has come. With 15 salvages (MAX_SALVAGE_COUNT, RFC 4728 section 9) no
/// packet goes further than 16 times the longest route, whatever happens.
pub(super) fn the_salvage_count_bounds_the_way<P: Dsr>(w: &World<P>, names: Names) -> Option<String> {
    let longest = w.nodes.len() - 1;
    for f in w.flights() {
        let Ok(v) = View::new(f.packet.bytes()) else { continue };
        let Some(s) = v.source_route else { continue };
        let params: &Params = &w.nodes[f.from].protocol().engine().params;
        let first = if v.is_control() { params.control_ttl } else { DATA_TTL };
        let hops = usize::from(first - v.ip.ttl()) + 1;
        if hops > longest * (usize::from(s.salvage) + 1) {
            let what = P::describe(f.packet.bytes(), names);
            return Some(format!("hop {hops} of a packet salvaged {} times: {what}", s.salvage));
        }
        if s.salvage > params.max_salvage_count {
            return Some(format!("salvaged {} times", s.salvage));
        }
    }
    None
}

/// A packet is transmitted at most once for each hop of each route that it gets, and gets another route only where a transmission failed;
/// a Route Request, at most once by each node in each of its lives. A node that sees to its packets itself transmits each of them
/// several times.
///
/// Transmissions are counted along all paths and are part of the state. So no circle of states has one in it, and a finite search of
/// everything that can happen shows that what moves comes to its end.
pub(super) fn transmissions_are_bounded<P: Dsr>(w: &World<P>, names: Names) -> Option<String> {
    let longest = w.nodes.len() - 1;
    let lives: usize = w.nodes.iter().map(|n| 1 + usize::from(n.life)).sum();
    for c in w.transmissions() {
        let (times, failed) = (usize::from(c.times), usize::from(c.failed));
        let tries = tries(&w.nodes[0].protocol().engine().params);
        let most = if c.to_all { lives } else { longest * (1 + failed) * tries };
        if times > most {
            let source = names.of(Ipv4Addr::from_bits((c.name >> 16) as u32));
            return Some(format!(
                "a packet of {source} was transmitted {times} times with {failed} failures: more than {most}"
            ));
        }
    }
    None
}

/// How often a node transmits a packet to one neighbour, at most (section 8.3).
fn tries(p: &Params) -> usize {
    match p.maintenance {
        Maintenance::Network => 1 + usize::from(p.try_passive_acks) + usize::from(p.max_maint_rexmt),
        Maintenance::Auto | Maintenance::Link => 1,
    }
}
