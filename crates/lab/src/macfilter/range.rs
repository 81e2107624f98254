//! The filter of a scenario: who is within range of whom, on each radio that both have.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use wayhop_core::{Mac, NodeId, Position, Time};
use wayhop_scenario::Resolved;
use wayhop_world::Track;
use wayhop_world::links::{LinkChange, changes, neighbours};

use super::{Ignores, MacFilter};

/// Who has a radio; `None` if all nodes have it.
type Members = Option<Vec<NodeId>>;

impl MacFilter {
    /// The filter that lets those hear each other who are within this range, metres, as they move: on each radio that both
    /// have. Wires are not filtered.
    pub fn of_range(r: &Resolved, range_m: f64) -> Self {
        let radios: Vec<Members> = r.interfaces.radios.iter().map(|radio| radio.nodes.clone()).collect();
        let places: Vec<_> = r.tracks.iter().map(begin).collect();
        let changes = changes(&r.tracks, range_m, r.duration);
        Self::of_links(&r.addresses, &radios, &neighbours(&places, range_m), &changes)
    }

    /// The filter that lets those hear each other who are linked: at first those in `near`, and then as `changes`, in order
    /// of time, have it.
    fn of_links(
        addresses: &[Ipv4Addr],
        radios: &[Members],
        near: &[Vec<u32>],
        changes: &[LinkChange],
    ) -> Self {
        let nodes = addresses.len() as u32;
        let mac = |radio: usize, node: u32| Mac::at_medium(addresses[node as usize], radio as u16);
        let mut deaf: Vec<BTreeSet<Mac>> = vec![BTreeSet::new(); addresses.len()];
        for (k, radio) in radios.iter().enumerate() {
            for a in (0..nodes).filter(|a| has(radio, *a)) {
                let far = (0..nodes).filter(|b| *b != a && has(radio, *b) && !near[a as usize].contains(b));
                deaf[a as usize].extend(far.map(|b| mac(k, b)));
            }
        }
        let row = |at, node: u32, deaf: &[BTreeSet<Mac>]| Ignores {
            at,
            node,
            from: deaf[node as usize].iter().copied().collect(),
        };
        let mut lines: Vec<Ignores> = (0..nodes).map(|i| row(Time::ZERO, i, &deaf)).collect();
        let mut pending: BTreeMap<u32, Time> = BTreeMap::new();
        let mut now = Time::ZERO;
        for c in changes {
            if c.at > now {
                lines.extend(std::mem::take(&mut pending).into_iter().map(|(node, at)| row(at, node, &deaf)));
                now = c.at;
            }
            for (k, _) in radios.iter().enumerate().filter(|(_, p)| has(p, c.a) && has(p, c.b)) {
                for (hears, from) in [(c.a, c.b), (c.b, c.a)] {
                    let ignored = &mut deaf[hears as usize];
                    let _ = if c.up { ignored.remove(&mac(k, from)) } else { ignored.insert(mac(k, from)) };
                    pending.insert(hears, c.at);
                }
            }
        }
        lines.extend(pending.into_iter().map(|(node, at)| row(at, node, &deaf)));
        Self(lines)
    }
}

/// Whether a node has a radio.
fn has(radio: &Members, node: u32) -> bool {
    radio.as_ref().is_none_or(|n| n.contains(&NodeId(node)))
}

/// Where a node is at first.
fn begin(t: &Track) -> Position {
    let leg = t.legs().iter().find(|l| l.until > Time::ZERO).or(t.legs().last());
    leg.map_or_else(Default::default, |l| l.position(Time::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_change_become_lines_of_both_ends() {
        // 0 - 1 - 2; then 0 and 2 meet at 3 s, and 0 and 1 part at 5 s.
        let addresses: Vec<Ipv4Addr> = (1..=3).map(|i| Ipv4Addr::new(10, 0, 0, i)).collect();
        let s = Time::from_secs_f64;
        let change = |at, a, b, up| LinkChange { at: s(at), a, b, up };
        let changes = [change(3.0, 0, 2, true), change(5.0, 0, 1, false)];
        let f = MacFilter::of_links(&addresses, &[None], &[vec![1], vec![0, 2], vec![1]], &changes);
        let [m0, m1, m2] = [1, 2, 3].map(|i| Mac([2, 0, 10, 0, 0, i]));
        let line = |at, node, from: &[Mac]| Ignores { at: s(at), node, from: from.to_vec() };
        assert_eq!(
            f.0,
            [
                line(0.0, 0, &[m2]),
                line(0.0, 1, &[]),
                line(0.0, 2, &[m0]),
                line(3.0, 0, &[]),
                line(3.0, 2, &[]),
                line(5.0, 0, &[m1]),
                line(5.0, 1, &[m0]),
            ]
        );
        assert_eq!(MacFilter::parse(&f.to_string(), 3).unwrap(), f);
    }
}
