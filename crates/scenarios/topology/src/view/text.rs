//! Tables for people.

use std::fmt::Write as _;

use wayhop_report::{columns, percentile};

use super::{View, isolated_share};
use crate::links::LinkSurvey;

impl View<'_> {
    /// How far radios reach: "range 250 m", or "ranges wlan0 250 m, wlan1 120 m".
    fn ranges(&self) -> String {
        if let [(_, m)] = self.ranges_m[..] {
            return format!("range {m} m");
        }
        let each: Vec<String> = self.ranges_m.iter().map(|(name, m)| format!("{name} {m} m")).collect();
        format!("ranges {}", each.join(", "))
    }

    /// Tables for people: columns for 1 to 6 hops, and one for more.
    pub fn text(&self) -> String {
        let r = self.resolved;
        let name: String = r.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (nodes, end) = (r.tracks.len(), r.duration.as_secs_f64());
        let mut out = format!("{name}  {nodes} nodes  {end} s  {}\n\n", self.ranges());
        let mut head = "flow kind from to s paths hops parts 1 2 3 4 5 6 >6 none mean".to_owned();
        if self.chains.is_some() {
            head += " kb/s";
        }
        let mut rows: Vec<Vec<String>> = vec![head.split(' ').map(str::to_owned).collect()];
        for (flow, topology) in self.each() {
            let share = topology.hop_share();
            let at = |k: usize| share.get(k).copied().unwrap_or(0.0);
            let mut row = vec![
                flow.id.map_or_else(|| "-".to_owned(), |id| id.to_string()),
                flow.kind.to_owned(),
                r.names[flow.pair.src as usize].clone(),
                r.names[flow.pair.dst as usize].clone(),
                format!("{:.0}", topology.observed().as_secs_f64()),
                topology.path_changes().to_string(),
                topology.hop_changes().to_string(),
                topology.partitions().to_string(),
            ];
            let shown = |s: f64| topology.unreachable_share().map_or_else(|| "-".to_owned(), |_| percent(s));
            row.extend((0..6).map(|k| shown(at(k))));
            row.push(shown(share.iter().skip(6).fold(0.0, |sum, s| sum + s)));
            row.push(shown(topology.unreachable_share().unwrap_or(0.0)));
            row.push(topology.mean_hops().map_or_else(|| "-".to_owned(), |h| format!("{h:.2}")));
            if let Some(chains) = self.chains {
                let expected = chains.expected_bps(topology);
                row.push(expected.map_or_else(|| "-".to_owned(), |b| format!("{:.1}", b / 1e3)));
            }
            rows.push(row);
        }
        if self.flows.is_empty() {
            out.push_str("no unicast flow; select two nodes with --src and --dst\n\n");
        } else {
            out.push_str(&columns(&rows, 4));
            out.push_str("paths, hops, parts: changes of the shortest path, changes of its hop count, and losses of the last path;\n");
            out.push_str("1 to >6, none: percentage of time at that hop count; mean: hops\n\n");
        }
        out.push_str(&links_text(&self.found.links));
        out
    }
}

fn links_text(links: &LinkSurvey) -> String {
    let few = links.nodes.iter().map(|n| n.neighbours_min).min().unwrap_or(0);
    let many = links.nodes.iter().map(|n| n.neighbours_max).max().unwrap_or(0);
    let alone = isolated_share(links).unwrap_or(0.0);
    let mut out = format!(
        "neighbours per node: mean {:.2}, range {few} to {many}; isolated {} % of the time\n",
        links.neighbours_mean(),
        percent(alone),
    );
    let (ups, downs, end) = (links.ups(), links.downs(), links.until.as_secs_f64());
    _ = writeln!(
        out,
        "links: mean {:.1}; {ups} up, {downs} down, {:.3} changes/s",
        links.links_mean(),
        (ups + downs) as f64 / end.max(f64::MIN_POSITIVE)
    );
    let lifetimes = links.lifetimes_s();
    let Some(mean) = links.lifetime_mean_s() else { return out };
    _ = write!(out, "lifetime: mean {mean:.1} s");
    if let [Some(low), Some(half), Some(high)] = [0.05, 0.5, 0.95].map(|p| percentile(&lifetimes, p)) {
        let count = lifetimes.len();
        _ = write!(
            out,
            "; of {count} observed from start to end: p5 {low:.1}, p50 {half:.1}, p95 {high:.1} s"
        );
    }
    out.push('\n');
    out
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}
