//! The filter of a scenario with several radios.

use std::collections::{BTreeMap, BTreeSet};

use wayhop_core::{Mac, Time};
use wayhop_scenario::{RadioPlan, Resolved};
use wayhop_world::links::{changes, neighbours};

use super::{Ignores, MacFilter, begin};

/// The filter that lets those hear each other, on each radio that both have, who are within this range, metres.
pub(super) fn of_range(r: &Resolved, range_m: f64) -> MacFilter {
    let nodes = r.addresses.len();
    let places: Vec<_> = r.tracks.iter().map(begin).collect();
    let near = neighbours(&places, range_m);
    let mac = |radio: usize, node: u32| Mac::at_medium(r.addresses[node as usize], radio as u16);
    let mut deaf: Vec<BTreeSet<Mac>> = vec![BTreeSet::new(); nodes];
    for (k, radio) in r.interfaces.radios.iter().enumerate() {
        for a in (0..nodes as u32).filter(|a| has(radio, *a)) {
            let far =
                (0..nodes as u32).filter(|b| *b != a && has(radio, *b) && !near[a as usize].contains(b));
            deaf[a as usize].extend(far.map(|b| mac(k, b)));
        }
    }
    let row = |at, node: u32, deaf: &[BTreeSet<Mac>]| Ignores {
        at,
        node,
        from: deaf[node as usize].iter().copied().collect(),
    };
    let mut lines: Vec<Ignores> = (0..nodes as u32).map(|i| row(Time::ZERO, i, &deaf)).collect();
    let mut pending: BTreeMap<u32, Time> = BTreeMap::new();
    let mut now = Time::ZERO;
    for c in changes(&r.tracks, range_m, r.duration) {
        if c.at > now {
            lines.extend(std::mem::take(&mut pending).into_iter().map(|(node, at)| row(at, node, &deaf)));
            now = c.at;
        }
        for (k, _) in r.interfaces.radios.iter().enumerate().filter(|(_, p)| has(p, c.a) && has(p, c.b)) {
            for (hears, from) in [(c.a, c.b), (c.b, c.a)] {
                let ignored = &mut deaf[hears as usize];
                let _ = if c.up { ignored.remove(&mac(k, from)) } else { ignored.insert(mac(k, from)) };
                pending.insert(hears, c.at);
            }
        }
    }
    lines.extend(pending.into_iter().map(|(node, at)| row(at, node, &deaf)));
    MacFilter(lines)
}

/// Whether a node has a radio.
fn has(radio: &RadioPlan, node: u32) -> bool {
    radio.nodes.as_ref().is_none_or(|n| n.iter().any(|n| n.0 == node))
}
