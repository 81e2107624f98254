//! When nodes go down and come back, and which are down.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_core::{Configured, NodeId, Time};
use wayhop_scenario::{Outage, Resolved};
use wayhop_trace::NodeOutages;

/// The outages of a run.
pub(crate) struct Outages {
    pub(crate) seed: u64,
    /// In order of time.
    pub(crate) list: Vec<Outage>,
    /// The protocol of a node that has lost its tables.
    pub(crate) protocol: Arc<Configured>,
    /// The nodes that are down, and until when.
    pub(crate) down: FxHashMap<u32, Time>,
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
            protocol: Arc::new(scenario.protocol_after_reboot.clone()),
            down: FxHashMap::default(),
            exhausted: FxHashMap::default(),
            reboots: FxHashMap::default(),
        }
    }

    /// Each node's outages that have begun by `now`: how many, and how long it was down.
    pub(crate) fn summary(&self, now: Time) -> Vec<NodeOutages> {
        // One whose battery is empty has no outages from then on but that one.
        let end = |node: NodeId| self.exhausted.get(&node.0).copied().unwrap_or(now);
        let given = self.list.iter().filter(|o| o.from <= end(o.node));
        let empty = self.exhausted.iter().map(|(node, at)| (NodeId(*node), now.since(*at)));
        NodeOutages::of(given.map(|o| (o.node, o.length_until(end(o.node)))).chain(empty))
    }
}
