//! The applications of a run, and what their host keeps for each.

use rustc_hash::FxHashMap;
use wayhop_core::{Application, ApplicationEffect, NodeId, Purpose, Rng, Time, TimerKey, stream};
use wayhop_scenario::{ApplicationPlan, DtnPlan, Resolved};
use wayhop_trace::ApplicationSummary;

use crate::bundles;

/// All applications of a run: bundle agents, then those of the scenario's list in its order.
#[derive(Default)]
pub(crate) struct Applications {
    pub(crate) all: Vec<Hosted>,
    /// Their numbers by node: every datagram that arrives asks.
    by_node: FxHashMap<u32, Vec<u32>>,
    /// For reuse.
    pub(crate) effects: Vec<ApplicationEffect>,
}

/// One of them, and what its host keeps for it.
pub(crate) struct Hosted {
    pub(crate) node: u32,
    /// Its number in logs of inputs: that in the scenario's list, and behind these those of bundle agents.
    pub(crate) number: u32,
    /// The name of one in the scenario's list. Its packets are in flows of programs, and it has a summary.
    pub(crate) listed: Option<&'static str>,
    pub(crate) engine: Box<dyn Application>,
    pub(crate) rng: Rng,
    /// Where it listens.
    pub(crate) ports: Vec<u16>,
    pub(crate) timers: Vec<(TimerKey, Time)>,
}

impl Applications {
    /// Those of a scenario, none of which has begun.
    pub(crate) fn new(scenario: &Resolved) -> Option<Box<Self>> {
        let seed = scenario.seed;
        let listed = |(number, p): (u32, &ApplicationPlan)| Hosted {
            node: p.node.0,
            number,
            listed: Some(p.application.description.name),
            engine: p.application.parameters.application(),
            rng: stream(seed, Purpose::Applications, number.into()),
            ports: Vec::new(),
            timers: Vec::new(),
        };
        let agent = |plan: &DtnPlan, number, node: NodeId| Hosted {
            node: node.0,
            number,
            listed: None,
            engine: Box::new(bundles::agent(plan, node)),
            rng: stream(seed, Purpose::Bundles, node.0.into()),
            ports: Vec::new(),
            timers: Vec::new(),
        };
        let behind = scenario.applications.len() as u32;
        let agents = scenario
            .dtn
            .iter()
            .flat_map(|plan| (behind..).zip(&plan.nodes).map(|(number, node)| agent(plan, number, *node)));
        let all: Vec<Hosted> = agents.chain((0..).zip(&scenario.applications).map(listed)).collect();
        let mut by_node: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (number, hosted) in (0..).zip(&all) {
            by_node.entry(hosted.node).or_default().push(number);
        }
        (!all.is_empty()).then(|| Box::new(Self { all, by_node, effects: Vec::new() }))
    }

    /// Which one at this node listens at this UDP port.
    pub(crate) fn at_port(&self, node: u32, port: u16) -> Option<u32> {
        self.of_node(node).iter().copied().find(|n| self.all[*n as usize].ports.contains(&port))
    }

    /// The numbers of those at a node.
    pub(crate) fn of_node(&self, node: u32) -> &[u32] {
        self.by_node.get(&node).map_or(&[], Vec::as_slice)
    }

    /// How long the lists of a node's applications are.
    pub(crate) fn sizes(&self, node: u32, mut tell: impl FnMut(&'static str, u64)) {
        self.of_node(node).iter().for_each(|n| self.all[*n as usize].engine.sizes(&mut tell));
    }

    /// What each of the scenario's list has counted.
    pub(crate) fn summaries(&self) -> Vec<ApplicationSummary> {
        let summary = |a: &Hosted| {
            let mut s = ApplicationSummary::new(a.node, a.listed?);
            a.engine.figures(&mut |name, value| s.add(name, value));
            Some(s)
        };
        self.all.iter().filter_map(summary).collect()
    }
}
