//! A large network at single moments: reachability and partitions.

use wayhop_core::Time;

use crate::flow::{Pair, source_rows};
use crate::oracle::ScenarioLinks;

/// The results at evenly spaced moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    /// The moments; the first is time zero.
    pub moments: Vec<Time>,
    /// The number of parts of the network at each of them. A lone node is a part.
    pub parts: Vec<usize>,
    /// For each requested pair: the shortest hop count at each moment; `None` without a path.
    pub hops: Vec<Vec<Option<u16>>>,
}

impl ScenarioLinks {
    /// Looks at this number of moments. The pairs' own times do not count.
    pub fn glance(&self, pairs: &[Pair], moments: u32) -> Glance {
        let step = self.until.as_nanos() / u64::from(moments.max(1));
        let moments: Vec<Time> = (0..u64::from(moments)).map(|k| Time::from_nanos(k * step)).collect();
        let mut net = self.begin.clone();
        let (mut rows, row_of) = source_rows(pairs, &net);
        let (mut queue, mut parts, mut hops) = (Vec::new(), Vec::new(), vec![Vec::new(); pairs.len()]);
        let mut rest = &self.changes[..];
        for (k, &moment) in moments.iter().enumerate() {
            let (batch, later) = rest.split_at(rest.partition_point(|c| c.at <= moment));
            rest = later;
            let mut is_other = k == 0;
            for c in batch {
                is_other |= net.apply(c);
            }
            if is_other {
                parts.push(count_parts(net.len(), |node| net.near(node)));
                for row in &mut rows {
                    // A change that another of the same batch undoes touches the counts no more than the two do.
                    row.update(&net, batch, &mut queue);
                }
            } else {
                parts.push(parts.last().copied().unwrap_or_default());
            }
            for ((pair, &row), hops) in pairs.iter().zip(&row_of).zip(&mut hops) {
                hops.push(rows[row].hops_to(pair.dst));
            }
        }
        Glance { moments, parts, hops }
    }
}

/// The number of parts of a network with this number of nodes; `near` gives each one's neighbours.
pub fn count_parts<'a>(nodes: usize, near: impl Fn(u32) -> &'a [u32]) -> usize {
    let mut seen = vec![false; nodes];
    let (mut parts, mut queue) = (0, Vec::new());
    for start in 0..nodes as u32 {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        parts += 1;
        queue.push(start);
        while let Some(node) = queue.pop() {
            for &next in near(node) {
                if !std::mem::replace(&mut seen[next as usize], true) {
                    queue.push(next);
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use wayhop_scenario::Scenario;

    use super::*;
    use crate::Oracle;

    #[test]
    fn a_glance_is_the_survey_at_its_moments() {
        let text = "duration_s = 100\nnodes.count = 60\narea = { x_m = 1500, y_m = 1500 }\nmovement = { kind = \"random-waypoint\", speed_max_mps = 20 }\n\
            [[outages]]\nnode = 3\nstart_s = 20\nlength_s = 30\n";
        let r = Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap();
        let links = Oracle::default().links(&r, usize::MAX).unwrap();
        let pair = |src, dst| Pair { src, dst, from: Time::ZERO, until: r.duration };
        let pairs = [pair(0, 59), pair(3, 40), pair(3, 7)];
        let glance = links.glance(&pairs, 37);
        assert_eq!(glance.moments.len(), 37);
        let survey = links.clone().survey(&pairs);
        let mut seen_none = false;
        for (k, &t) in glance.moments.iter().enumerate() {
            for (flow, hops) in survey.flows.iter().zip(&glance.hops) {
                let exact = flow.steps.iter().rfind(|s| s.from <= t).unwrap().hops;
                seen_none |= exact.is_none();
                assert_eq!(hops[k], exact, "{:?} at {t}", flow.pair);
            }
            let joined = links.at(t);
            // Parts by the definition: labels that spread until nothing changes.
            let mut label: Vec<u32> = (0..60).collect();
            loop {
                let before = label.clone();
                for (a, b) in &joined {
                    let low = label[a.index()].min(label[b.index()]);
                    (label[a.index()], label[b.index()]) = (low, low);
                }
                if label == before {
                    break;
                }
            }
            label.sort_unstable();
            label.dedup();
            assert_eq!(glance.parts[k], label.len(), "at {t}");
        }
        assert!(seen_none, "a pair is separated at some moment");
    }
}
