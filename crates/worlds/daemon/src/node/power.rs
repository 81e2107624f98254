//! When the node is down, and how it comes back: past, current and coming outages.

use std::sync::Arc;

use wayhop_core::{Configured, NodeContext, NodeId, Span, Time};
use wayhop_scenario::Outage;
use wayhop_trace::NodeOutages;

use crate::config::number::NODE;

/// When the node is down, and how it comes back.
#[derive(Default)]
pub(crate) struct Power {
    /// The scenario's outages that are to come, the next one last.
    pub(crate) given: Vec<Outage>,
    /// The outage that goes on.
    pub(crate) now: Option<Outage>,
    pub(crate) over: Vec<Span>,
    /// The protocol of a node that has lost its tables.
    pub(crate) rebirth: Option<Rebirth>,
}

/// How a node reboots.
pub(crate) struct Rebirth {
    pub(crate) protocol: Arc<Configured>,
    pub(crate) context: NodeContext,
    /// How often it has.
    pub(crate) count: u64,
}

impl Power {
    /// With these outages, in order of time. A node that has lost its tables begins with `protocol`.
    pub(crate) fn new(outages: &[Outage], protocol: Configured, context: NodeContext) -> Self {
        let given = outages.iter().rev().copied().collect();
        let rebirth = Some(Rebirth { protocol: Arc::new(protocol), context, count: 0 });
        Self { given, rebirth, ..Self::default() }
    }

    /// When the node next goes down or comes back by itself.
    pub(crate) fn next(&self) -> Option<Time> {
        match &self.now {
            Some(outage) => Some(outage.until).filter(|at| *at < Time::NEVER),
            None => self.given.last().map(|o| o.from),
        }
    }

    /// The outages so far, for the summary.
    pub(crate) fn summary(&self, now: Time) -> Vec<NodeOutages> {
        let open = self.now.map(|o| o.length_until(now));
        NodeOutages::of(self.over.iter().copied().chain(open).map(|length| (NodeId(NODE), length)))
    }
}
