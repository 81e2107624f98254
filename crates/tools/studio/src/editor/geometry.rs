//! What movement and range alone allow: links, partitions, hops, over the time of a run that has not been started yet.

use serde::Deserialize;
use serde_json::{Value as Json, json};
use wayhop_core::Time;
use wayhop_scenario::Resolved;
use wayhop_topology::{Contact, Oracle, Pair, ScenarioLinks, count_parts};

/// The most nodes whose links are followed while somebody drags one of them.
const MAX_NODES: usize = 2_000;
/// The most times that links come and go: 64 MB of them are kept.
const MAX_CHANGES: usize = 2_000_000;
/// The limit on nodes times changes for the exact answer; above it, the network is examined at single moments.
const MAX_EXACT: usize = 12_000_000;
/// Moments: one for each pixel of the page's strips.
const MOMENTS: u32 = 300;
/// The most pairs whose hops are followed.
const MAX_PAIRS: usize = 20;

/// Two nodes whose distance in hops the page shows.
#[derive(Copy, Clone, Debug, Deserialize)]
pub(crate) struct NodePair(pub(crate) u32, pub(crate) u32);

/// What the page shows of the geometry.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct GeometryQuery<'a> {
    /// Pairs whose hops are followed.
    pub(crate) pairs: &'a [NodePair],
    /// The moment that the map shows, seconds.
    pub(crate) at_s: f64,
}

/// Links with their times, the number of partitions over time, and the hops of the pairs over time. `without` says why
/// there is nothing. For a large network with many changes: the links of one moment (`links.at_s`), and the results at a number of
/// `moments`.
pub(crate) fn geometry(oracle: &mut Oracle, r: &Resolved, asked: GeometryQuery<'_>) -> Json {
    let count = r.tracks.len();
    if count > MAX_NODES {
        return json!({"without": format!("more than {MAX_NODES} nodes: use wayhop topology SCENARIO")});
    }
    let Some(links) = oracle.links(r, MAX_CHANGES) else {
        return json!({"without": format!("more than {MAX_CHANGES} link changes: use wayhop topology SCENARIO")});
    };
    let exists = |p: &&NodePair| p.0 != p.1 && (p.0 as usize) < count && (p.1 as usize) < count;
    let pair = |p: &NodePair| Pair { src: p.0, dst: p.1, from: Time::ZERO, until: r.duration };
    let pairs: Vec<Pair> = asked.pairs.iter().filter(exists).take(MAX_PAIRS).map(pair).collect();
    if links.changes().saturating_mul(count) > MAX_EXACT {
        return by_moments(&links, &pairs, asked.at_s, r.duration);
    }
    exactly(links, count, r.duration, &pairs)
}

fn seconds(t: Time) -> f64 {
    t.as_secs_f64()
}

fn exactly(links: ScenarioLinks, count: usize, until: Time, pairs: &[Pair]) -> Json {
    let found = links.survey(pairs);
    let contacts = &found.links.contacts;
    let hops = found.flows.iter().map(|f| {
        let mut steps: Vec<(f64, Option<u16>)> = f.steps.iter().map(|s| (seconds(s.from), s.hops)).collect();
        steps.dedup_by_key(|s| s.1);
        json!({"src": f.pair.src, "dst": f.pair.dst, "steps": steps, "unreachable_share": f.unreachable_share()})
    });
    json!({
        "links": {
            "a": contacts.iter().map(|c| c.a).collect::<Vec<_>>(),
            "b": contacts.iter().map(|c| c.b).collect::<Vec<_>>(),
            "up": contacts.iter().map(|c| c.up.map_or(0.0, seconds)).collect::<Vec<_>>(),
            "down": contacts.iter().map(|c| c.down.map(seconds)).collect::<Vec<_>>(),
        },
        "parts": parts(count, contacts, until),
        "hops": hops.collect::<Vec<_>>(),
    })
}

fn by_moments(links: &ScenarioLinks, pairs: &[Pair], at_s: f64, until: Time) -> Json {
    let glance = links.glance(pairs, MOMENTS);
    let at_s = if at_s.is_finite() { at_s.clamp(0.0, seconds(until)) } else { 0.0 };
    let now = links.at(Time::from_secs_f64(at_s));
    let over_time = || glance.moments.iter().copied().map(seconds);
    let mut parts: Vec<(f64, usize)> = over_time().zip(glance.parts.iter().copied()).collect();
    parts.dedup_by_key(|p| p.1);
    let hops = pairs.iter().zip(&glance.hops).map(|(pair, hops)| {
        let mut steps: Vec<(f64, Option<u16>)> = over_time().zip(hops.iter().copied()).collect();
        steps.dedup_by_key(|s| s.1);
        let none = hops.iter().filter(|h| h.is_none()).count();
        let share = (!hops.is_empty()).then(|| none as f64 / hops.len() as f64);
        json!({"src": pair.src, "dst": pair.dst, "steps": steps, "unreachable_share": share})
    });
    json!({
        "moments": MOMENTS,
        "links": {
            "at_s": at_s,
            "a": now.iter().map(|(a, _)| a.0).collect::<Vec<_>>(),
            "b": now.iter().map(|(_, b)| b.0).collect::<Vec<_>>(),
        },
        "parts": parts,
        "hops": hops.collect::<Vec<_>>(),
    })
}

/// In how many parts the network is, from each moment at which that changes. A lone node is a part.
fn parts(nodes: usize, contacts: &[Contact], until: Time) -> Vec<(f64, usize)> {
    let mut changes: Vec<(Time, u32, u32, bool)> = Vec::new();
    for c in contacts {
        changes.push((c.up.unwrap_or(Time::ZERO), c.a, c.b, true));
        changes.extend(c.down.map(|t| (t, c.a, c.b, false)));
    }
    // What breaks at a moment breaks before anything comes.
    changes.sort_unstable_by_key(|&(t, a, b, up)| (t, up, a, b));
    let mut near: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    let mut out = Vec::new();
    let mut rest = &changes[..];
    let mut now = Time::ZERO;
    loop {
        let (batch, later) = rest.split_at(rest.partition_point(|c| c.0 <= now));
        rest = later;
        for &(_, a, b, up) in batch {
            for (from, to) in [(a, b), (b, a)] {
                let list = &mut near[from as usize];
                if up { list.push(to) } else { list.retain(|n| *n != to) }
            }
        }
        let count = count_parts(nodes, |node| &near[node as usize]);
        if out.last().is_none_or(|&(_, was)| was != count) {
            out.push((now.as_secs_f64(), count));
        }
        match rest.first() {
            Some(next) if next.0 <= until => now = next.0,
            _ => return out,
        }
    }
}

#[cfg(test)]
mod tests {
    use wayhop_scenario::Scenario;

    use super::*;

    /// Nodes 0 and 1 stand 150 m apart. Node 2 leaves node 1 for good: it is 250 m away, the range, after 20 s.
    #[test]
    fn links_parts_and_hops_follow_a_node_that_leaves() {
        let text = "duration_s = 60\nradio.preset = \"wavelan-914-cmu\"\n[movement]\nkind = \"waypoints\"\n\
            [[movement.tracks]]\nstart = { x = 0, y = 0 }\n[[movement.tracks]]\nstart = { x = 150, y = 0 }\n\
            [[movement.tracks]]\nstart = { x = 300, y = 0 }\nwaypoints = [{ at = { x = 1000, y = 0 }, speed_mps = 5 }]\n";
        let r = Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap();
        let range = r.radio().nominal_range_m();
        let leaves = (range - 150.0) / 5.0;
        let pairs = [NodePair(0, 2), NodePair(0, 0), NodePair(0, 9)];
        let g = geometry(&mut Oracle::default(), &r, GeometryQuery { pairs: &pairs, at_s: 0.0 });
        assert_eq!(g["links"]["a"], json!([0, 1]));
        assert_eq!(g["links"]["b"], json!([1, 2]));
        assert_eq!(g["links"]["down"][0], Json::Null);
        assert!((g["links"]["down"][1].as_f64().unwrap() - leaves).abs() < 1e-6);
        assert_eq!(g["parts"][0], json!([0.0, 1]));
        assert_eq!(g["parts"][1][1], 2);
        assert!((g["parts"][1][0].as_f64().unwrap() - leaves).abs() < 1e-6);
        assert_eq!(g["hops"].as_array().unwrap().len(), 1);
        assert_eq!(g["hops"][0]["steps"][0], json!([0.0, 2]));
        assert_eq!(g["hops"][0]["steps"][1][1], Json::Null);
    }

    #[test]
    fn a_large_network_says_why_its_links_are_not_followed() {
        let text = "nodes.count = 2001\nmovement = { kind = \"chain\", spacing_m = 100 }\n";
        let r = Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap();
        let g = geometry(&mut Oracle::default(), &r, GeometryQuery::default());
        assert!(g["without"].as_str().unwrap().contains("wayhop topology"));
    }

    #[test]
    fn a_network_that_changes_much_is_looked_at_by_moments() {
        let text = "duration_s = 300\nseed = 2\nnodes.count = 400\narea = { x_m = 2500, y_m = 2500 }\n\
            movement = { kind = \"random-waypoint\", speed_min_mps = 10, speed_max_mps = 20 }\n";
        let r = Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap();
        let mut oracle = Oracle::default();
        let pairs = [NodePair(0, 399)];
        let g = geometry(&mut oracle, &r, GeometryQuery { pairs: &pairs, at_s: 7.5 });
        assert_eq!(g["moments"], MOMENTS, "{}", g["without"]);
        assert_eq!(g["links"]["at_s"], 7.5);
        let range = r.radio().nominal_range_m();
        let places: Vec<_> = r.tracks.iter().map(|t| t.position(Time::from_secs_f64(7.5))).collect();
        let near: usize =
            (0..400).map(|a| (a + 1..400).filter(|&b| places[a].distance(places[b]) < range).count()).sum();
        assert_eq!(g["links"]["a"].as_array().unwrap().len(), near);
        assert_eq!(g["hops"][0]["steps"][0][0], 0.0);
    }
}
