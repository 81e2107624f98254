//! `wayhop topology`, and what `--topology` adds to a run.

pub(crate) mod args;

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use wayhop_core::Time;
use wayhop_report::{Document, columns, mean, percentile};
use wayhop_scenario::Resolved;
use wayhop_topology::{
    ChainThroughput, FlowTopology, LinkSurvey, Pair, Survey, annotate, flow_pairs, of_flow, survey_scenario,
};
use wayhop_trace::Summary;

use crate::failure::{Failure, output, warn};
use crate::run::args::RunArgs;
use args::Table;
pub(crate) use args::{EXAMPLES, TopologyArgs};

pub(crate) fn topology(a: &TopologyArgs) -> Result<ExitCode, Failure> {
    let resolved = a.source.load()?.resolve()?;
    let range_m = a.geometry.range;
    let chains = match a.geometry.chains.as_deref() {
        Some(path) => Some(chains(path)?),
        None => a.measure.measure(&resolved, range_m)?,
    };
    let flows = match (&a.src, &a.dst) {
        (Some(src), Some(dst)) => vec![between(&resolved, src, dst)?],
        _ => of_scenario(&resolved),
    };
    let pairs: Vec<Pair> = flows.iter().map(|f| f.pair).collect();
    let found = survey_scenario(&resolved, range_m, resolved.duration, &pairs);
    let ranges_m = ranges(&resolved, range_m);
    let view = View { resolved: &resolved, ranges_m, chains: chains.as_ref(), flows: &flows, found: &found };
    let text = match a.csv {
        Some(Table::Flows) => view.flows_csv(),
        Some(Table::Profile) => view.profile_csv(),
        Some(Table::Links) => view.links_csv(),
        Some(Table::Nodes) => view.nodes_csv(),
        None if a.json => format!("{}\n", view.json()),
        None => {
            warn(&resolved.warnings);
            view.text()
        }
    };
    output(stdout().write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// What `--topology` adds to the summary of a run.
pub(crate) struct Geometry {
    range_m: Option<f64>,
    chains: Option<ChainThroughput>,
}

impl RunArgs {
    /// If it was asked for.
    pub(crate) fn geometry(&self) -> Result<Option<Geometry>, Failure> {
        let g = &self.geometry;
        if !self.topology {
            let alone = [("--range", g.range.is_some()), ("--chains", g.chains.is_some())];
            return alone.into_iter().find(|(_, given)| *given).map_or(Ok(None), |(option, _)| {
                Err(Failure::Usage(format!(
                    "{option}: says how --topology judges the geometry; give that, too"
                )))
            });
        }
        let chains = g.chains.as_deref().map(chains).transpose()?;
        Ok(Some(Geometry { range_m: g.range, chains }))
    }
}

impl Geometry {
    pub(crate) fn annotate(&self, summary: &mut Summary, scenario: &Resolved) {
        annotate(summary, scenario, self.range_m, self.chains.as_ref());
    }
}

/// Each radio's name and range.
fn ranges(scenario: &Resolved, given: Option<f64>) -> Vec<(&str, f64)> {
    let radios = scenario.interfaces.radios.iter();
    radios.map(|r| (r.name.as_str(), given.unwrap_or_else(|| r.config.nominal_range_m()))).collect()
}

/// Reads a file of chain throughputs.
pub(crate) fn chains(path: &Path) -> Result<ChainThroughput, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| {
        Failure::Usage(format!("cannot read {shown}: {e}; --chains takes a file with the columns hops,kbps"))
    })?;
    ChainThroughput::parse(&text).map_err(|e| Failure::Usage(format!("{shown}:{e}")))
}

/// A pair with what the scenario calls it.
struct Flow {
    id: Option<usize>,
    kind: &'static str,
    pair: Pair,
}

fn of_scenario(r: &Resolved) -> Vec<Flow> {
    let pairs = flow_pairs(&r.flows, r.duration).into_iter().enumerate();
    pairs
        .filter_map(|(id, pair)| Some(Flow { id: Some(id), kind: r.flows[id].kind.name(), pair: pair? }))
        .collect()
}

fn between(r: &Resolved, src: &str, dst: &str) -> Result<Flow, Failure> {
    let node = |option: &str, name: &str| {
        wayhop_core::node_named(&r.names, name).map(|i| i as u32).ok_or_else(|| {
            let last = r.names.len() - 1;
            Failure::Usage(format!("{option} {name}: there is no such node; give 0 to {last}, or a name"))
        })
    };
    let (src, dst) = (node("--src", src)?, node("--dst", dst)?);
    if src == dst {
        return Err(Failure::Usage(format!("--dst {dst}: that is where the path begins; give another node")));
    }
    Ok(Flow { id: None, kind: "-", pair: Pair { src, dst, from: Time::ZERO, until: r.duration } })
}

/// All that is printed.
struct View<'a> {
    resolved: &'a Resolved,
    /// Each radio's name and range.
    ranges_m: Vec<(&'a str, f64)>,
    chains: Option<&'a ChainThroughput>,
    flows: &'a [Flow],
    found: &'a Survey,
}

impl View<'_> {
    fn each(&self) -> impl Iterator<Item = (&Flow, &FlowTopology)> {
        self.flows.iter().zip(&self.found.flows)
    }

    /// How far radios reach: "range 250 m", or "ranges wlan0 250 m, wlan1 120 m".
    fn ranges(&self) -> String {
        if let [(_, m)] = self.ranges_m[..] {
            return format!("range {m} m");
        }
        let each: Vec<String> = self.ranges_m.iter().map(|(name, m)| format!("{name} {m} m")).collect();
        format!("ranges {}", each.join(", "))
    }

    /// Columns for 1 to 6 hops, one for more if there is any.
    fn text(&self) -> String {
        let r = self.resolved;
        let name: String = r.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let (nodes, end) = (r.tracks.len(), r.duration.as_secs_f64());
        let mut out = format!("{name}  {nodes} nodes  {end} s  {}\n\n", self.ranges());
        let mut rows = vec![
            [
                "flow", "kind", "from", "to", "s", "paths", "hops", "parts", "1", "2", "3", "4", "5", "6",
                ">6", "none", "mean",
            ]
            .map(str::to_owned)
            .to_vec(),
        ];
        if self.chains.is_some() {
            rows[0].push("kb/s".to_owned());
        }
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
            out.push_str("no flow to one node; --src and --dst name two nodes to look at\n\n");
        } else {
            out.push_str(&columns(&rows, 4));
            out.push_str("paths, hops, parts: changes of the shortest path, of its hop count, and times that there was none any more;\n");
            out.push_str("1 to >6, none: per cent of the time at so many hops; mean: hops\n\n");
        }
        out.push_str(&links_text(&self.found.links));
        out
    }

    fn json(&self) -> Document {
        let r = self.resolved;
        let flow = |(flow, topology): (&Flow, &FlowTopology)| {
            let profile: Vec<_> =
                topology.steps.iter().map(|s| json!([s.from.as_secs_f64(), s.hops])).collect();
            json!({
                "id": flow.id,
                "kind": flow.id.map(|_| flow.kind),
                "src": flow.pair.src,
                "dst": flow.pair.dst,
                "src_name": r.names[flow.pair.src as usize],
                "dst_name": r.names[flow.pair.dst as usize],
                "from_s": flow.pair.from.as_secs_f64(),
                "until_s": flow.pair.until.as_secs_f64(),
                "topology": of_flow(topology, self.chains),
                "hops_mean": topology.mean_hops(),
                "profile": profile,
            })
        };
        let links = &self.found.links;
        let lifetimes = links.lifetimes_s();
        let rank = |p| percentile(&lifetimes, p);
        json!({
            "scenario": r.name,
            "seed": r.seed,
            "nodes": r.tracks.len(),
            "simulated_s": r.duration.as_secs_f64(),
            "range_m": match self.ranges_m[..] { [(_, m)] => Some(m), _ => None },
            "ranges_m": self.ranges_m.iter().map(|(name, m)| ((*name).to_owned(), json!(m))).collect::<serde_json::Map<_, _>>(),
            "flows": self.each().map(flow).collect::<Vec<_>>(),
            "links": {
                "mean": links.links_mean(),
                "ups": links.ups(),
                "downs": links.downs(),
                "neighbours_mean": links.neighbours_mean(),
                "isolated_share": mean(&isolated(links)),
                "lifetime_s": {
                    "mean": links.lifetime_mean_s(),
                    "complete": lifetimes.len(),
                    "p5": rank(0.05), "p50": rank(0.5), "p95": rank(0.95), "max": lifetimes.last(),
                },
            },
        })
        .into()
    }

    /// A node's name as a cell of a table (RFC 4180).
    fn name(&self, node: u32) -> String {
        let name = &self.resolved.names[node as usize];
        if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    }

    fn flows_csv(&self) -> String {
        let most = self.found.flows.iter().map(|f| f.hop_share().len()).max().unwrap_or(0);
        let mut out = "flow,kind,src,dst,from_s,until_s,path_changes,hop_changes,partitions,unreachable_share,hops_mean,expected_bps".to_owned();
        (1..=most).for_each(|k| _ = write!(out, ",share_{k}"));
        out.push_str(",src_name,dst_name\n");
        for (flow, topology) in self.each() {
            let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
            let p = &flow.pair;
            let id = flow.id.map_or_else(String::new, |id| id.to_string());
            let kind = if flow.id.is_some() { flow.kind } else { "" };
            _ = write!(
                out,
                "{id},{kind},{},{},{},{},{},{},{},{},{},{}",
                p.src,
                p.dst,
                p.from.as_secs_f64(),
                p.until.as_secs_f64(),
                topology.path_changes(),
                topology.hop_changes(),
                topology.partitions(),
                number(topology.unreachable_share()),
                number(topology.mean_hops()),
                number(self.chains.and_then(|c| c.expected_bps(topology))),
            );
            let share = topology.hop_share();
            let shared = |k| topology.unreachable_share().map(|_| share.get(k).copied().unwrap_or(0.0));
            (0..most).for_each(|k| _ = write!(out, ",{}", number(shared(k))));
            _ = writeln!(out, ",{},{}", self.name(p.src), self.name(p.dst));
        }
        out
    }

    fn profile_csv(&self) -> String {
        let mut out = "flow,src,dst,from_s,until_s,hops,src_name,dst_name\n".to_owned();
        for (flow, topology) in self.each() {
            let id = flow.id.map_or_else(String::new, |id| id.to_string());
            for (step, end) in topology.intervals() {
                let hops = step.hops.map_or_else(String::new, |h| h.to_string());
                let (from, until) = (step.from.as_secs_f64(), end.as_secs_f64());
                let Pair { src, dst, .. } = flow.pair;
                let names = format!("{},{}", self.name(src), self.name(dst));
                _ = writeln!(out, "{id},{src},{dst},{from},{until},{hops},{names}");
            }
        }
        out
    }

    fn links_csv(&self) -> String {
        let mut out = "a,b,up_s,down_s,a_name,b_name\n".to_owned();
        let moment = |t: Option<Time>| t.map_or_else(String::new, |t| t.as_secs_f64().to_string());
        for c in &self.found.links.contacts {
            let names = format!("{},{}", self.name(c.a), self.name(c.b));
            _ = writeln!(out, "{},{},{},{},{names}", c.a, c.b, moment(c.up), moment(c.down));
        }
        out
    }

    fn nodes_csv(&self) -> String {
        let mut out =
            "node,neighbours_mean,neighbours_min,neighbours_max,isolated_share,link_changes,node_name\n"
                .to_owned();
        for (i, n) in self.found.links.nodes.iter().enumerate() {
            _ = writeln!(
                out,
                "{i},{},{},{},{},{},{}",
                n.neighbours_mean,
                n.neighbours_min,
                n.neighbours_max,
                n.isolated_share,
                n.changes,
                self.name(i as u32)
            );
        }
        out
    }
}

fn isolated(links: &LinkSurvey) -> Vec<f64> {
    links.nodes.iter().map(|n| n.isolated_share).collect()
}

fn links_text(links: &LinkSurvey) -> String {
    let few = links.nodes.iter().map(|n| n.neighbours_min).min().unwrap_or(0);
    let many = links.nodes.iter().map(|n| n.neighbours_max).max().unwrap_or(0);
    let alone = mean(&isolated(links)).unwrap_or(0.0);
    let mut out = format!(
        "neighbours {:.2} of a node on average, {few} to {many}; a node has none {} % of the time\n",
        links.neighbours_mean(),
        percent(alone),
    );
    let (ups, downs, end) = (links.ups(), links.downs(), links.until.as_secs_f64());
    _ = writeln!(
        out,
        "links      {:.1} at a time; {ups} came and {downs} went, {:.3} changes a second",
        links.links_mean(),
        (ups + downs) as f64 / end.max(f64::MIN_POSITIVE)
    );
    let lifetimes = links.lifetimes_s();
    let Some(mean) = links.lifetime_mean_s() else { return out };
    _ = write!(out, "lifetime   {mean:.1} s on average");
    if let [Some(low), Some(half), Some(high)] = [0.05, 0.5, 0.95].map(|p| percentile(&lifetimes, p)) {
        let count = lifetimes.len();
        _ = write!(out, "; of the {count} that came and went p5 {low:.1}, p50 {half:.1}, p95 {high:.1} s");
    }
    out.push('\n');
    out
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}
