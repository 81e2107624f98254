//! Nodes that are down have no links.

use wayhop_core::Time;
use wayhop_scenario::Outage;
use wayhop_world::Adjacency;
use wayhop_world::links::LinkChange;

/// The links between nodes that are up: at time zero, and how they change before `until`. `in_range` and `changes` say the
/// same of the nodes in range.
pub(crate) fn of_nodes_up(
    mut in_range: Adjacency,
    changes: Vec<LinkChange>,
    outages: &[Outage],
    until: Time,
) -> (Adjacency, Vec<LinkChange>) {
    if outages.is_empty() {
        return (in_range, changes);
    }
    let mut switches: Vec<(Time, u32, bool)> = outages
        .iter()
        .flat_map(|o| [(o.from, o.node.0, false), (o.until, o.node.0, true)])
        .filter(|(at, ..)| *at < until)
        .collect();
    switches.sort_unstable();
    let mut now = Now { links: in_range.clone(), up: vec![true; in_range.len()], changes: Vec::new() };
    let mut moves = changes.into_iter().peekable();
    for (at, node, up) in switches {
        while let Some(c) = moves.next_if(|c| c.at <= at) {
            in_range.apply(&c);
            now.change(c);
        }
        // Its own state is what changes; the other end's decides.
        now.up[node as usize] = true;
        for &other in in_range.near(node) {
            now.change(LinkChange { at, a: node.min(other), b: node.max(other), up });
        }
        now.up[node as usize] = up;
    }
    moves.for_each(|c| now.change(c));
    (now.links, now.changes)
}

/// The links of nodes that are up, so far.
struct Now {
    /// At time zero.
    links: Adjacency,
    up: Vec<bool>,
    changes: Vec<LinkChange>,
}

impl Now {
    /// A change of the range, or of one end's state while the other end is up.
    fn change(&mut self, c: LinkChange) {
        if !self.up[c.a as usize] || !self.up[c.b as usize] {
            return;
        }
        if c.at == Time::ZERO {
            self.links.apply(&c);
        } else {
            self.changes.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::NodeId;
    use wayhop_scenario::Tables;
    use wayhop_world::Track;

    use crate::flow::Pair;
    use crate::survey::survey;

    fn secs(s: f64) -> Time {
        Time::from_secs_f64(s)
    }
    fn outage(node: u32, from: f64, until: Option<f64>) -> Outage {
        let until = until.map_or(Time::NEVER, secs);
        Outage { node: NodeId(node), from: secs(from), until, tables: Tables::Lost }
    }

    #[test]
    fn a_path_is_gone_while_a_node_of_it_is_down() {
        // 0 - 1 - 2 - 3 in a row.
        let at = |x: f64, y: f64| Track::fixed(wayhop_core::Position::new(x, y, 0.0));
        let tracks = [at(0.0, 0.0), at(200.0, 0.0), at(400.0, 0.0), at(600.0, 0.0)];
        let pair = Pair { src: 0, dst: 3, from: Time::ZERO, until: secs(100.0) };
        let outages = [
            outage(2, 0.0, Some(10.0)),
            outage(1, 20.0, Some(30.0)),
            // Both at once count once, from the first to the last.
            outage(1, 40.0, Some(50.0)),
            outage(2, 45.0, Some(55.0)),
            outage(0, 90.0, None),
        ];
        let found = survey(&tracks, &outages, 250.0, secs(100.0), &[pair]);
        let flow = &found.flows[0];
        let unreachable = flow.unreachable_share().unwrap();
        assert!((unreachable - 0.45).abs() < 1e-9, "{unreachable}");
        // That it is gone at the beginning is not a change.
        assert_eq!(flow.partitions(), 3);
        let shares = flow.hop_share();
        assert!((shares[2] - 0.55).abs() < 1e-9 && shares[..2] == [0.0, 0.0], "{shares:?}");
        // 0 has its one neighbour but while that or itself is down.
        assert!((found.links.nodes[0].isolated_share - 0.30).abs() < 1e-9, "{:?}", found.links.nodes[0]);
    }

    #[test]
    fn who_comes_into_range_while_down_is_linked_when_it_is_up() {
        let still = Track::fixed(wayhop_core::Position::new(0.0, 0.0, 0.0));
        // In range (250 m) from 25 to 75 s.
        let mut builder = wayhop_world::TrackBuilder::new(wayhop_core::Position::new(-500.0, 0.0, 0.0));
        builder.set_destination(Time::ZERO, 500.0, 0.0, 10.0);
        let tracks = [still, builder.finish()];
        for (from, until, ups) in [(20.0, 30.0, 1), (40.0, 50.0, 2), (70.0, 80.0, 1), (10.0, 90.0, 0)] {
            let outages = [outage(1, from, Some(until))];
            let found = survey(&tracks, &outages, 250.0, secs(100.0), &[]);
            assert_eq!(found.links.ups(), ups, "{from}");
            let seen: f64 = found.links.contacts.iter().map(|c| c.seen(secs(100.0)).as_secs_f64()).sum();
            let expected = 50.0 - (until.min(75.0) - f64::max(from, 25.0));
            assert!((seen - expected).abs() < 1e-6, "{from}: {seen}");
        }
    }
}
