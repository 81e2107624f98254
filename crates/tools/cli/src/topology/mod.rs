//! `wayhop topology`, and what `--topology` adds to a run.

pub(crate) mod args;

use std::path::Path;

use wayhop_report::Document;
use wayhop_scenario::Resolved;
use wayhop_topology::{ChainThroughput, SurveyedFlow, View, annotate};
use wayhop_trace::Summary;

use crate::failure::{Failure, put, usage, warn};
use crate::run::args::RunArgs;
use args::CsvTable;
pub(crate) use args::{EXAMPLES, TopologyArgs};

pub(crate) fn topology(a: &TopologyArgs) -> Result<(), Failure> {
    let resolved = a.source.load()?.resolve()?;
    let range_m = a.geometry.range;
    let chains = match a.geometry.chains.as_deref() {
        Some(path) => Some(chains(path)?),
        None => a.measure.measure(&resolved, range_m)?,
    };
    let flows = match (&a.src, &a.dst) {
        (Some(src), Some(dst)) => vec![between(&resolved, src, dst)?],
        _ => SurveyedFlow::of_scenario(&resolved),
    };
    let view = View::new(&resolved, range_m, chains.as_ref(), &flows);
    let text = match a.csv {
        Some(CsvTable::Flows) => view.flows_csv(),
        Some(CsvTable::Profile) => view.profile_csv(),
        Some(CsvTable::Links) => view.links_csv(),
        Some(CsvTable::Nodes) => view.nodes_csv(),
        None if a.json => format!("{}\n", Document::from(view.json())),
        None => {
            warn(&resolved.warnings);
            view.text()
        }
    };
    put(text)
}

/// The parameters of `--topology`.
pub(crate) struct Geometry {
    range_m: Option<f64>,
    chains: Option<ChainThroughput>,
}

impl RunArgs {
    pub(crate) fn geometry(&self) -> Result<Option<Geometry>, Failure> {
        let g = &self.geometry;
        if !self.topology {
            let alone = [("--range", g.range.is_some()), ("--chains", g.chains.is_some())];
            return alone.into_iter().find(|(_, given)| *given).map_or(Ok(None), |(option, _)| {
                Err(usage!("{option} has no effect without --topology; add --topology"))
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

pub(crate) fn chains(path: &Path) -> Result<ChainThroughput, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| {
        usage!("cannot read {shown}: {e}; --chains needs a CSV file with the columns hops,kbps")
    })?;
    ChainThroughput::parse(&text).map_err(|e| Failure::usage(e.in_file(path)))
}

fn between(r: &Resolved, src: &str, dst: &str) -> Result<SurveyedFlow, Failure> {
    let node = |option: &str, name: &str| {
        wayhop_core::node_named(&r.names, name).map(|i| i as u32).ok_or_else(|| {
            let last = r.names.len() - 1;
            usage!("{option} {name}: no such node; give a number from 0 to {last}, or a name")
        })
    };
    let (src, dst) = (node("--src", src)?, node("--dst", dst)?);
    if src == dst {
        return Err(usage!("--dst {dst} is the same node as --src; give another one"));
    }
    Ok(SurveyedFlow::between(r, src, dst))
}
