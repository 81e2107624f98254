//! When nodes go down and come back, and which are down.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_core::{Configured, NodeId, Time};
use wayhop_scenario::{EdgePlan, Outage, Resolved};
use wayhop_trace::NodeOutages;

/// The outages of a run.
pub(crate) struct Outages {
    pub(crate) seed: u64,
    /// The scenario's, in order of time, and then those that were ordered, in order of the orders. One that never began, because
    /// its node was down, ends when it begins.
    pub(crate) list: Vec<Outage>,
    /// How many of them are the scenario's.
    given: u32,
    /// The protocol of a node that has lost its tables.
    pub(crate) protocol: Arc<Configured>,
    /// The edge of the mesh: nodes outside have no routing protocol.
    pub(crate) edge: Option<EdgePlan>,
    /// The nodes that are down: by which of the outages, none for an empty battery.
    pub(crate) down: FxHashMap<u32, Option<u32>>,
    /// The nodes whose battery is empty, and since when.
    pub(crate) exhausted: FxHashMap<u32, Time>,
    /// How often each node has begun with new engines.
    pub(crate) reboots: FxHashMap<u32, u64>,
}

impl Outages {
    pub(crate) fn new(scenario: &Resolved) -> Self {
        Self {
            seed: scenario.seed,
            list: scenario.outages.clone(),
            given: scenario.outages.len() as u32,
            protocol: Arc::new(scenario.protocol_after_reboot.clone()),
            edge: scenario.edge.clone(),
            down: FxHashMap::default(),
            exhausted: FxHashMap::default(),
            reboots: FxHashMap::default(),
        }
    }

    /// The scenario's outage of this number.
    pub(crate) fn given(&self, number: u32) -> Option<&Outage> {
        self.list[..self.given as usize].get(number as usize)
    }

    /// Until when a node is down; [`Time::NEVER`] where nobody knows.
    pub(crate) fn down_until(&self, node: u32) -> Option<Time> {
        let by = self.down.get(&node)?;
        Some(by.map_or(Time::NEVER, |number| self.list[number as usize].until))
    }

    /// Each node's outages that have begun by `now`: how many, and how long it was down.
    pub(crate) fn summary(&self, now: Time) -> Vec<NodeOutages> {
        // One whose battery is empty has no outages from then on but that one.
        let end = |node: NodeId| self.exhausted.get(&node.0).copied().unwrap_or(now);
        let given = self.list.iter().filter(|o| o.from <= end(o.node) && o.from < o.until);
        let empty = self.exhausted.iter().map(|(node, at)| (NodeId(*node), now.since(*at)));
        NodeOutages::of(given.map(|o| (o.node, o.length_until(end(o.node)))).chain(empty))
    }
}
