//! The filter of a scenario: the nodes within range of each other, on each radio that both have.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use wayhop_core::{Mac, NodeId, Position, Time};
use wayhop_simulator_files::{Ignores, MacFilter};
use wayhop_world::Track;
use wayhop_world::links::{LinkChange, changes, neighbours};

use crate::Resolved;

/// The nodes that have a radio; `None` if all nodes have it.
type Members = Option<Vec<NodeId>>;

impl Resolved {
    /// The filter that connects nodes that are within range of each other as they move: on each radio that both have,
    /// within that radio's own range, or within `range_m`, metres, on all. Wires are not filtered.
    pub fn macfilter(&self, range_m: Option<f64>) -> MacFilter {
        let radios = &self.interfaces.radios;
        let members: Vec<Members> = radios.iter().map(|radio| radio.nodes.clone()).collect();
        let places: Vec<_> = self.tracks.iter().map(begin).collect();
        let mut near = Vec::with_capacity(radios.len());
        let mut all = Vec::new();
        for (k, radio) in radios.iter().enumerate() {
            let range_m = range_m.unwrap_or_else(|| radio.config.nominal_range_m());
            near.push(neighbours(&places, range_m));
            all.extend(changes(&self.tracks, range_m, self.duration).into_iter().map(|c| (k, c)));
        }
        all.sort_by_key(|(k, c)| (c.at, *k));
        of_links(&self.addresses, &members, &near, &all)
    }
}

/// The filter that connects linked nodes: at first those in `near` of each radio, then according to `changes`,
/// which are in order of time and name their radio.
fn of_links(
    addresses: &[Ipv4Addr],
    radios: &[Members],
    near: &[Vec<Vec<u32>>],
    changes: &[(usize, LinkChange)],
) -> MacFilter {
    let nodes = addresses.len() as u32;
    let mac = |radio: usize, node: u32| Mac::at_medium(addresses[node as usize], radio as u16);
    let mut deaf: Vec<BTreeSet<Mac>> = vec![BTreeSet::new(); addresses.len()];
    for (k, radio) in radios.iter().enumerate() {
        for a in (0..nodes).filter(|a| has(radio, *a)) {
            let near = &near[k][a as usize];
            let far = (0..nodes).filter(|b| *b != a && has(radio, *b) && !near.contains(b));
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
    for &(k, ref c) in changes {
        if c.at > now {
            lines.extend(std::mem::take(&mut pending).into_iter().map(|(node, at)| row(at, node, &deaf)));
            now = c.at;
        }
        if has(&radios[k], c.a) && has(&radios[k], c.b) {
            for (hears, from) in [(c.a, c.b), (c.b, c.a)] {
                let ignored = &mut deaf[hears as usize];
                let _ = if c.up { ignored.remove(&mac(k, from)) } else { ignored.insert(mac(k, from)) };
                pending.insert(hears, c.at);
            }
        }
    }
    lines.extend(pending.into_iter().map(|(node, at)| row(at, node, &deaf)));
    MacFilter::new(lines)
}

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
        let changes = [(0, change(3.0, 0, 2, true)), (0, change(5.0, 0, 1, false))];
        let f = of_links(&addresses, &[None], &[vec![vec![1], vec![0, 2], vec![1]]], &changes);
        let [m0, m1, m2] = [1, 2, 3].map(|i| Mac([2, 0, 10, 0, 0, i]));
        let line = |at, node, from: &[Mac]| Ignores { at: s(at), node, from: from.to_vec() };
        let expected = [
            line(0.0, 0, &[m2]),
            line(0.0, 1, &[]),
            line(0.0, 2, &[m0]),
            line(3.0, 0, &[]),
            line(3.0, 2, &[]),
            line(5.0, 0, &[m1]),
            line(5.0, 1, &[m0]),
        ];
        assert_eq!(f, MacFilter::new(expected.to_vec()));
        assert_eq!(MacFilter::parse(&f.to_string(), 3).unwrap(), f);
    }

    #[test]
    fn each_radio_has_its_own_range_unless_one_is_given_for_all() {
        let text = "nodes.count = 2\nduration_s = 1\nmovement = { kind = \"chain\", spacing_m = 300 }\n\
                    radio = { name = \"near\", preset = \"wavelan-914-cmu\" }\n\
                    radios = [{ name = \"far\", preset = \"80211b\", channel = 6 }]\n";
        let scenario = crate::Scenario::from_text(text, &[]).unwrap();
        let r = scenario.resolve().unwrap();
        let ranges: Vec<f64> = r.interfaces.radios.iter().map(|k| k.config.nominal_range_m()).collect();
        assert!(ranges[0] < 300.0 && ranges[1] > 300.0, "{ranges:?}");
        let at_first = |range_m| r.macfilter(range_m).of(0).next().unwrap().from.clone();
        let of_1 = |radio| Mac::at_medium(r.addresses[1], radio);
        assert_eq!(at_first(None), [of_1(0)]);
        assert_eq!(at_first(Some(299.0)), [of_1(0), of_1(1)]);
        assert_eq!(at_first(Some(301.0)), []);
    }
}
