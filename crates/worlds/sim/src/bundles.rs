//! The bundle agents of a scenario: their settings and records.
//!
//! An agent is an application (`applications`), whose datagrams are packets of no flow. A flow of bundles is its own traffic.

use std::num::NonZeroU64;
use std::sync::Arc;

use wayhop_core::{BundleEventKind, NodeId, Time};
use wayhop_dtn::MemoryStore;
use wayhop_dtn::node::{BundleRecord, ContactRecord, Node, Record, Settings, Source, flow_of, flow_service};
use wayhop_scenario::{BundleFlowPlan, DtnPlan};
use wayhop_trace::{BundleBooks, BundleEvent, ContactEvent, Recorder};

/// DTN time at the start of every run: 2026-01-01, in milliseconds since 2000-01-01.
const START_MS: u64 = 820_540_800_000;
/// Octets of a datagram's data: what is left of 1500 octets, with room for a source route's header.
const DATAGRAM: usize = 1_400;

/// A node's agent, with an empty store.
pub(crate) fn agent(plan: &DtnPlan, node: NodeId) -> Node<MemoryStore> {
    Node::new(settings(plan, node), MemoryStore::default())
}

/// The settings of a node's agent.
pub(crate) fn settings(plan: &DtnPlan, node: NodeId) -> Settings {
    let mut s = Settings::new(DtnPlan::endpoint(node));
    s.agent.dtn_time_at_zero_ms = Some(START_MS);
    s.agent.limits.octets = plan.store_bytes;
    s.routing = plan.routing.plan(plan.copies, plan.routes_of(node));
    s.layer = plan.convergence;
    s.listens = vec![plan.convergence];
    s.largest = plan.fragment_bytes.map(|n| n as usize);
    s.datagram = DATAGRAM;
    s.beacon = Some(plan.beacon);
    s.silence = plan.silence;
    s.rate_bps = NonZeroU64::new(plan.rate_bps as u64).unwrap_or(NonZeroU64::MIN);
    s.engine = u64::from(node.0) + 1;
    let end = |node, flow| DtnPlan::endpoint(node).service(&flow_service(flow));
    let flows = || (0..).zip(&plan.flows);
    let source = |(k, f): (u32, &BundleFlowPlan)| Source {
        from: end(f.src, k),
        to: end(f.dst, k),
        series: f.series.clone(),
    };
    s.sources = flows().filter(|(_, f)| f.src == node).map(source).collect();
    s.sinks = flows().filter(|(_, f)| f.dst == node).map(|(k, _)| end(node, k)).collect();
    s
}

/// The sums of a scenario's bundles.
pub fn bundle_books(plan: &DtnPlan) -> BundleBooks {
    let flows: Vec<(NodeId, NodeId)> = plan.flows.iter().map(|f| (f.src, f.dst)).collect();
    BundleBooks::new(plan.routing.name(), plan.convergence.name(), plan.nodes.len() as u32, &flows)
}

/// Adds what a node's agent wrote down to the run's tables and sums.
pub(crate) fn record(books: &mut BundleBooks, recorder: &mut Recorder, node: NodeId, record: &Record) {
    match record {
        Record::Bundle(b) => {
            let event = bundle_event(node, b.at, b);
            books.add(&event);
            recorder.bundle(&event);
        }
        Record::Contact(c) => {
            let Some(event) = contact_event(node, (c.from, c.until), c) else { return };
            books.add_contact(&event);
            recorder.contact(&event);
        }
    }
}

/// The row of the table `bundles`.
pub fn bundle_event(node: NodeId, time: Time, b: &BundleRecord) -> BundleEvent {
    BundleEvent {
        time,
        node,
        kind: b.event,
        bundle: Arc::from(&*b.bundle),
        offset: b.offset,
        flow: if b.event == BundleEventKind::Originate { flow_of(&b.source) } else { None },
        bytes: b.bytes,
        peer: DtnPlan::node_of(&b.peer),
        // Causes are words.
        reason: b.reason.and_then(|cause| Some(serde_json::to_value(cause).ok()?.as_str()?.into())),
    }
}

/// The row of the table `contacts`; none of a contact with a stranger.
pub fn contact_event(node: NodeId, (from, time): (Time, Time), c: &ContactRecord) -> Option<ContactEvent> {
    let ContactRecord { sent, sent_bytes, received, received_bytes, .. } = *c;
    let peer = DtnPlan::node_of(&c.peer)?;
    Some(ContactEvent { time, from, node, peer, sent, sent_bytes, received, received_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_begin_with_the_year_2026() {
        // From 2000 to 2026 there are 9,497 days.
        assert_eq!(START_MS, 9_497 * 86_400 * 1_000);
    }
}
