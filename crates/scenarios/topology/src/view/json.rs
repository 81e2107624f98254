//! One JSON object.

use serde_json::{Value, json};
use wayhop_report::percentile;

use super::{SurveyedFlow, View, isolated_share};
use crate::annotate::of_flow;
use crate::flow::FlowTopology;

impl View<'_> {
    /// One object.
    pub fn json(&self) -> Value {
        let r = self.resolved;
        let flow = |(flow, topology): (&SurveyedFlow, &FlowTopology)| {
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
                "isolated_share": isolated_share(links),
                "lifetime_s": {
                    "mean": links.lifetime_mean_s(),
                    "complete": lifetimes.len(),
                    "p5": rank(0.05), "p50": rank(0.5), "p95": rank(0.95), "max": lifetimes.last(),
                },
            },
        })
    }
}
