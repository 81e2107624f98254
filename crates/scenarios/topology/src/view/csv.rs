//! Tables as CSV (RFC 4180).

use std::fmt::Write as _;

use wayhop_core::Time;

use super::View;
use crate::annotate::of_flow;
use crate::flow::Pair;

impl View<'_> {
    /// A node's name as a cell of a table (RFC 4180).
    fn name(&self, node: u32) -> String {
        let name = &self.resolved.names[node as usize];
        if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.clone() }
    }

    /// A line a flow.
    pub fn flows_csv(&self) -> String {
        let most = self.found.flows.iter().map(|f| f.hop_share().len()).max().unwrap_or(0);
        let mut out = "flow,kind,src,dst,from_s,until_s,path_changes,hop_changes,partitions,unreachable_share,hops_mean,expected_bps".to_owned();
        (1..=most).for_each(|k| _ = write!(out, ",share_{k}"));
        out.push_str(",src_name,dst_name\n");
        for (flow, topology) in self.each() {
            let number = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
            let Pair { src, dst, from, until } = flow.pair;
            let id = flow.id.map_or_else(String::new, |id| id.to_string());
            let kind = if flow.id.is_some() { flow.kind } else { "" };
            _ = write!(out, "{id},{kind},{src},{dst},{},{}", from.as_secs_f64(), until.as_secs_f64());
            let t = of_flow(topology, self.chains);
            _ = write!(out, ",{},{},{}", t.path_changes, t.hop_changes, t.partitions);
            for v in [t.unreachable_share, topology.mean_hops(), t.expected_bps] {
                _ = write!(out, ",{}", number(v));
            }
            let shared = |k| t.unreachable_share.map(|_| t.hop_share.get(k).copied().unwrap_or(0.0));
            (0..most).for_each(|k| _ = write!(out, ",{}", number(shared(k))));
            _ = writeln!(out, ",{},{}", self.name(src), self.name(dst));
        }
        out
    }

    /// A line for each time between two changes of a path.
    pub fn profile_csv(&self) -> String {
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

    /// A line a link, from the moment that it comes to the one that it goes.
    pub fn links_csv(&self) -> String {
        let mut out = "a,b,up_s,down_s,a_name,b_name\n".to_owned();
        let moment = |t: Option<Time>| t.map_or_else(String::new, |t| t.as_secs_f64().to_string());
        for c in &self.found.links.contacts {
            let names = format!("{},{}", self.name(c.a), self.name(c.b));
            _ = writeln!(out, "{},{},{},{},{names}", c.a, c.b, moment(c.up), moment(c.down));
        }
        out
    }

    /// A line a node.
    pub fn nodes_csv(&self) -> String {
        let head =
            "node,neighbours_mean,neighbours_min,neighbours_max,isolated_share,link_changes,node_name\n";
        let mut out = head.to_owned();
        for (i, n) in self.found.links.nodes.iter().enumerate() {
            let (min, max, isolated) = (n.neighbours_min, n.neighbours_max, n.isolated_share);
            let name = self.name(i as u32);
            _ = writeln!(out, "{i},{},{min},{max},{isolated},{},{name}", n.neighbours_mean, n.changes);
        }
        out
    }
}
