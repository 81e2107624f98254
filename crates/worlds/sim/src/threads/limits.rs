//! Where several threads are of no use.

use wayhop_scenario::{FlowKind, Resolved};

/// The state of fewer nodes is in one processor's caches, and too little happens far enough apart.
const LEAST_NODES: usize = 4_096;

/// Why a run of this scenario has one thread, if it has.
pub fn why_one_thread(scenario: &Resolved) -> Option<String> {
    let nodes = scenario.tracks.len();
    if nodes < LEAST_NODES {
        return Some(format!("one thread simulates {nodes} nodes; more gain from {LEAST_NODES} nodes on"));
    }
    unsupported(scenario)
        .map(|what| format!("one thread simulates this scenario; more do not support {what}"))
}

/// What of a scenario may change what is far away, or is not recorded in order.
fn unsupported(s: &Resolved) -> Option<&'static str> {
    let has = [
        (!s.interfaces.is_single(), "nodes with several interfaces or none"),
        (s.interfaces.radios.iter().any(|r| r.config.access_point.is_some()), "access points"),
        (!s.path_losses.is_empty(), "tables of path losses"),
        (!s.attacks.is_empty(), "attacks"),
        (!s.energy.is_empty(), "batteries"),
        (!s.applications.is_empty() || s.dtn.is_some(), "applications and bundles"),
        (s.flows.iter().any(|f| matches!(f.kind, FlowKind::Tcp(_))), "TCP"),
        (s.ipv6.is_some(), "IPv6"),
        (wayhop_protocols::library(s.protocol.description()).is_some(), "protocols from libraries"),
        (!s.captures.nodes.is_empty() || s.receptions.is_wanted(), "captures and receptions"),
        (s.identities, "packet identities"),
    ];
    has.into_iter().find_map(|(is, what)| is.then_some(what))
}
