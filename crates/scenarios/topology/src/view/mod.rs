//! A survey of a scenario for people and programs: text, JSON and CSV.

mod csv;
mod json;
mod text;

use wayhop_core::Time;
use wayhop_report::mean;
use wayhop_scenario::Resolved;

use crate::annotate::flow_pairs;
use crate::chains::ChainThroughput;
use crate::flow::{FlowTopology, Pair};
use crate::links::LinkSurvey;
use crate::media::survey_scenario;
use crate::survey::Survey;

/// A pair of nodes with its names in the scenario.
#[derive(Clone, Debug)]
pub struct SurveyedFlow {
    /// The flow's number; `None` for two nodes that are not the ends of a flow.
    id: Option<usize>,
    kind: &'static str,
    pair: Pair,
}

impl SurveyedFlow {
    /// A scenario's flows to one node each.
    pub fn of_scenario(r: &Resolved) -> Vec<Self> {
        let pairs = flow_pairs(&r.flows, r.duration).into_iter().enumerate();
        pairs
            .filter_map(|(id, pair)| Some(Self { id: Some(id), kind: r.flows[id].kind.name(), pair: pair? }))
            .collect()
    }

    /// Two nodes, from the beginning of a scenario to its end.
    pub fn between(r: &Resolved, src: u32, dst: u32) -> Self {
        Self { id: None, kind: "-", pair: Pair { src, dst, from: Time::ZERO, until: r.duration } }
    }
}

/// A scenario, the results, and the criteria.
#[derive(Debug)]
pub struct View<'a> {
    resolved: &'a Resolved,
    /// Each radio's name and range, metres.
    ranges_m: Vec<(&'a str, f64)>,
    chains: Option<&'a ChainThroughput>,
    flows: &'a [SurveyedFlow],
    found: Survey,
}

impl<'a> View<'a> {
    /// Surveys a scenario for these flows. `range_m` replaces the radios' own range; with `chains` each flow has an expected
    /// throughput.
    pub fn new(
        resolved: &'a Resolved,
        range_m: Option<f64>,
        chains: Option<&'a ChainThroughput>,
        flows: &'a [SurveyedFlow],
    ) -> Self {
        let pairs: Vec<Pair> = flows.iter().map(|f| f.pair).collect();
        let radios = resolved.interfaces.radios.iter();
        let range = |own: f64| range_m.unwrap_or(own);
        Self {
            resolved,
            ranges_m: radios.map(|r| (r.name.as_str(), range(r.config.nominal_range_m()))).collect(),
            chains,
            flows,
            found: survey_scenario(resolved, range_m, resolved.duration, &pairs),
        }
    }

    fn each(&self) -> impl Iterator<Item = (&SurveyedFlow, &FlowTopology)> {
        self.flows.iter().zip(&self.found.flows)
    }
}

/// The share of the time without neighbours, mean over all nodes.
fn isolated_share(links: &LinkSurvey) -> Option<f64> {
    mean(&links.nodes.iter().map(|n| n.isolated_share).collect::<Vec<_>>())
}
