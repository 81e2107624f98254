//! The links of a scenario whose nodes have several interfaces: those of all radios and wires together.

use std::collections::BTreeMap;

use wayhop_core::{NodeId, Position, Time};
use wayhop_scenario::{Interfaces, Outage, RadioPlan, Resolved};
use wayhop_world::links::{self, LinkChange};
use wayhop_world::{Adjacency, Track};

use crate::flow::Pair;
use crate::outages::of_nodes_up;
use crate::survey::{Survey, follow, survey};

/// [`survey`] of a scenario: nodes are linked while a radio that both have reaches from one to the other, or while a
/// wire between them is intact. `range_m` replaces every radio's own range.
pub fn survey_scenario(scenario: &Resolved, range_m: Option<f64>, until: Time, pairs: &[Pair]) -> Survey {
    if scenario.interfaces.is_single() {
        let range_m = range_m.unwrap_or_else(|| scenario.radio().nominal_range_m());
        return survey(&scenario.tracks, &scenario.outages, range_m, until, pairs);
    }
    let of_radio = |_, own: &[Track], range_m| links::changes(own, range_m, until);
    let (net, changes) =
        of_media(&scenario.interfaces, &scenario.tracks, &scenario.outages, range_m, until, of_radio);
    follow(net, &changes, until, pairs)
}

/// The links of nodes that are up at the beginning, and all their changes in order. `of_radio` returns those of the radio
/// with a number, whose nodes have these tracks, with its range.
pub(crate) fn of_media(
    interfaces: &Interfaces,
    tracks: &[Track],
    outages: &[Outage],
    range_m: Option<f64>,
    until: Time,
    mut of_radio: impl FnMut(usize, &[Track], f64) -> Vec<LinkChange>,
) -> (Adjacency, Vec<LinkChange>) {
    // How many radios and wires join each pair.
    let mut joined: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut changes = Vec::new();
    for (number, radio) in interfaces.radios.iter().enumerate() {
        let range_m = range_m.unwrap_or_else(|| radio.config.nominal_range_m());
        let members = members(radio, tracks.len());
        let own: Vec<Track> = members.iter().map(|n| tracks[n.index()].clone()).collect();
        let places: Vec<Position> = own.iter().map(|t| t.position(Time::ZERO)).collect();
        for (a, near) in (0usize..).zip(links::neighbours(&places, range_m)) {
            for b in near.into_iter().filter(|&b| b as usize > a) {
                *joined.entry((members[a].0, members[b as usize].0)).or_default() += 1;
            }
        }
        let real = |c: LinkChange| LinkChange { a: members[c.a as usize].0, b: members[c.b as usize].0, ..c };
        changes.extend(of_radio(number, &own, range_m).into_iter().map(real));
    }
    for wire in &interfaces.wires {
        for (i, a) in wire.nodes.iter().enumerate() {
            for b in &wire.nodes[i + 1..] {
                *joined.entry((a.0, b.0)).or_default() += 1;
                for &(cut, whole) in &wire.cuts {
                    let change = |(at, up)| LinkChange { at, a: a.0, b: b.0, up };
                    let both = [Some((cut, false)), whole.map(|t| (t, true))];
                    changes.extend(both.into_iter().flatten().filter(|(at, _)| *at < until).map(change));
                }
            }
        }
    }
    changes.sort_unstable();
    let mut begin = vec![Vec::new(); tracks.len()];
    for &(a, b) in joined.keys() {
        begin[a as usize].push(b);
        begin[b as usize].push(a);
    }
    for near in &mut begin {
        near.sort_unstable();
    }
    // Only the first way between two nodes makes a link, and only the last one breaks it.
    changes.retain(|c| {
        let ways = joined.entry((c.a, c.b)).or_default();
        let before = *ways;
        *ways = if c.up { before + 1 } else { before.saturating_sub(1) };
        (before == 0) != (*ways == 0)
    });
    of_nodes_up(Adjacency::new(begin), changes, outages, until)
}

fn members(radio: &RadioPlan, nodes: usize) -> Vec<NodeId> {
    radio.nodes.clone().unwrap_or_else(|| (0..nodes as u32).map(NodeId).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_scenario::Scenario;

    /// Four nodes in a row, 200 m apart: radio 0 joins 0 and 1, radio 1 joins 2 and 3, a wire 1 and 2, which is cut from
    /// 10 s to 20 s.
    fn scenario(more: &str) -> Resolved {
        let text = format!(
            "duration_s = 60\nnodes.count = 4\nmovement = {{ kind = \"chain\", spacing_m = 200 }}\n\
             radio = {{ nodes = [0, 1] }}\n\
             [[radios]]\npreset = \"wavelan-914-cmu\"\nfrequency_mhz = 950\nnodes = [2, 3]\n\
             [[wires]]\nnodes = [1, 2]\ncuts = [{{ start_s = 10, length_s = 10 }}]\n{more}"
        );
        Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
    }

    fn hops(s: &Resolved) -> Vec<(f64, Option<u16>)> {
        let pair = Pair { src: 0, dst: 3, from: Time::ZERO, until: s.duration };
        let found = survey_scenario(s, None, s.duration, &[pair]);
        found.flows[0].steps.iter().map(|p| (p.from.as_secs_f64(), p.hops)).collect()
    }

    #[test]
    fn radios_and_wires_make_one_network_until_a_wire_is_cut() {
        assert_eq!(hops(&scenario("")), [(0.0, Some(3)), (10.0, None), (20.0, Some(3))]);
    }

    #[test]
    fn a_second_way_between_two_nodes_keeps_them_linked() {
        let second = "[[wires]]\nname = \"spare\"\nnodes = [1, 2]\ncuts = [{ start_s = 15 }]\n";
        assert_eq!(hops(&scenario(second)), [(0.0, Some(3)), (15.0, None), (20.0, Some(3))]);
    }
}
