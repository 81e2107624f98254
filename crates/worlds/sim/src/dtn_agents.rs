//! The bundle agents of a run, and what is kept of each while its node is down.

use std::num::NonZeroU64;

use wayhop_bundle_node::{Node, Settings};
use wayhop_core::{NodeId, Purpose, Span, Time, stream};
use wayhop_dtn::{Eid, MemoryStore, Store, Table};
use wayhop_scenario::{DtnPlan, Resolved};
use wayhop_trace::BundleBooks;

/// DTN time at the start of every run: 2026-01-01, in milliseconds since 2000-01-01.
const START_MS: u64 = 820_540_800_000;
/// Octets of a datagram's data: what is left of 1500 octets, with room for a source route's header.
const DATAGRAM: usize = 1_400;

/// The agents of a run.
pub(crate) struct Agents {
    pub(crate) plan: DtnPlan,
    /// By node.
    pub(crate) all: Vec<Option<Agent>>,
    pub(crate) books: BundleBooks,
    /// Bundles that each flow's application has made.
    pub(crate) made: Vec<u64>,
    /// By flow: the highest number of a delivery that its application has got.
    pub(crate) got: Vec<u64>,
}

/// One of them, and what the host keeps for it.
pub(crate) struct Agent {
    pub(crate) settings: Settings,
    pub(crate) state: State,
    /// When its event comes up; later ones put themselves off.
    pub(crate) queued: Option<Time>,
}

pub(crate) enum State {
    Up(Box<Node<MemoryStore>>),
    /// The node is down, and its agent lost; this is its disk.
    Down(Box<MemoryStore>),
    /// Between the two.
    Changing,
}

impl Agents {
    /// Those of a scenario, none of which has begun.
    pub(crate) fn new(scenario: &Resolved) -> Option<Box<Self>> {
        let plan = scenario.dtn.clone()?;
        let mut all: Vec<Option<Agent>> = scenario.addresses.iter().map(|_| None).collect();
        for node in &plan.nodes {
            all[node.index()] = Some(Agent {
                settings: settings(&plan, *node, scenario.seed),
                state: State::Down(Box::default()),
                queued: None,
            });
        }
        let (made, got) = (vec![0; plan.flows.len()], vec![0; plan.flows.len()]);
        Some(Box::new(Self { books: books(&plan), plan, all, made, got }))
    }

    pub(crate) fn up(&mut self, node: u32) -> Option<&mut Node<MemoryStore>> {
        match self.all.get_mut(node as usize)?.as_mut()? {
            Agent { state: State::Up(agent), .. } => Some(agent),
            _ => None,
        }
    }

    /// How many bundles a node's store has, how many of them in custody, and to how many neighbours it can give some now. The
    /// store of a node that is down keeps its bundles.
    pub(crate) fn sizes(&self, node: u32) -> Vec<(&'static str, u64)> {
        let Some(Some(agent)) = self.all.get(node as usize) else { return Vec::new() };
        match &agent.state {
            State::Up(node) => {
                let held = node.statistics();
                let contacts = node.contacts().len();
                let counts = [held.bundles, held.in_custody, contacts].map(|n| n as u64);
                ["bundles", "bundles_in_custody", "bundle_contacts"].into_iter().zip(counts).collect()
            }
            State::Down(store) => {
                let mut bundles = 0;
                let read = store.scan(Table::Bundles, &mut |_, _| bundles += 1);
                debug_assert!(read.is_ok(), "a store in memory can be read");
                vec![("bundles", bundles)]
            }
            State::Changing => Vec::new(),
        }
    }

    /// When an event of this agent's is to be queued, if it needs a new one.
    pub(crate) fn next_event(&mut self, node: u32, now: Time) -> Option<Time> {
        let agent = self.all[node as usize].as_mut()?;
        let State::Up(node) = &agent.state else { return None };
        // Time goes on: an agent that is never done must not stop the run.
        let due = node.next_timer()?.max(now + Span::from_micros(1));
        if agent.queued.is_some_and(|q| q <= due) {
            return None;
        }
        agent.queued = Some(due);
        Some(due)
    }
}

/// The sums of a scenario's bundles.
fn books(plan: &DtnPlan) -> BundleBooks {
    let flows: Vec<(NodeId, NodeId)> = plan.flows.iter().map(|f| (f.src, f.dst)).collect();
    BundleBooks::new(plan.routing.name(), plan.convergence.name(), plan.nodes.len() as u32, &flows)
}

pub(crate) fn eid(node: NodeId) -> Eid {
    // A number in decimal digits is a node's name.
    Eid::dtn(&format!("mesh-{}", node.0), "").unwrap_or_default()
}

/// The node of an agent's endpoint.
pub(crate) fn node_of(endpoint: &Eid) -> Option<NodeId> {
    endpoint.node_name().strip_prefix("mesh-")?.parse().ok().map(NodeId)
}

fn settings(plan: &DtnPlan, node: NodeId, seed: u64) -> Settings {
    let mut s = Settings::new(eid(node));
    s.agent.dtn_time_at_zero_ms = Some(START_MS);
    s.agent.limits.octets = plan.store_bytes;
    s.routing = plan.routing.plan(plan.copies, plan.routes_of(node));
    s.layer = plan.convergence;
    s.listens = vec![plan.convergence];
    s.largest = plan.fragment_bytes.map(|n| n as usize);
    s.datagram = DATAGRAM;
    s.beacon = Some(plan.beacon);
    let mut rng = stream(seed, Purpose::Bundles, u64::from(node.0));
    s.first_beacon = plan.beacon.mul_f64(rng.unit());
    s.silence = plan.silence;
    s.rate_bps = NonZeroU64::new(plan.rate_bps as u64).unwrap_or(NonZeroU64::MIN);
    s.engine = u64::from(node.0) + 1;
    s.life = 0;
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_found_by_their_endpoints() {
        assert_eq!(node_of(&eid(NodeId(17)).service("flow-3")), Some(NodeId(17)));
        assert_eq!(node_of(&Eid::None), None);
        // From 2000 to 2026 there are 9,497 days.
        assert_eq!(START_MS, 9_497 * 86_400 * 1_000);
    }
}
