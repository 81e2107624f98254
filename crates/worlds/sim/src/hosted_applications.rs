//! The applications of a run, and what their host keeps for each.

use rustc_hash::FxHashMap;
use wayhop_core::{Application, ApplicationEffect, Purpose, Rng, Time, TimerKey, stream};
use wayhop_scenario::{ApplicationPlan, Resolved};
use wayhop_trace::ApplicationSummary;

/// All applications of a run, in the scenario's order.
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
    pub(crate) name: &'static str,
    pub(crate) engine: Box<dyn Application>,
    pub(crate) rng: Rng,
    /// Where it listens.
    pub(crate) ports: Vec<u16>,
    pub(crate) timers: Vec<(TimerKey, Time)>,
}

impl Applications {
    /// Those of a scenario, none of which has begun.
    pub(crate) fn new(scenario: &Resolved) -> Option<Box<Self>> {
        let hosted = |(i, p): (usize, &ApplicationPlan)| Hosted {
            node: p.node.0,
            name: p.application.description.name,
            engine: p.application.parameters.application(),
            rng: stream(scenario.seed, Purpose::Applications, i as u64),
            ports: Vec::new(),
            timers: Vec::new(),
        };
        let all: Vec<Hosted> = scenario.applications.iter().enumerate().map(hosted).collect();
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

    /// What each has counted.
    pub(crate) fn summaries(&self) -> Vec<ApplicationSummary> {
        let summary = |a: &Hosted| {
            let mut s = ApplicationSummary::new(a.node, a.name);
            a.engine.figures(&mut |name, value| s.add(name, value));
            s
        };
        self.all.iter().map(summary).collect()
    }
}
