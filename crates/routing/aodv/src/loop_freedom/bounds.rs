//! The bounds of the search.

use std::sync::Arc;

use wayhop_testkit::explore::{
    Budget, Explorable, Exploration, Names, Topology, World, no_loop, no_self_entry,
};

use crate::engine::state::Engine;
use crate::params::Params;
use crate::routing_table::seq::newer;

/// The RFC's behaviour with constants that keep the number of different moments small.
pub(super) fn params() -> Params {
    Params {
        // Discovery goes to everybody at once and is not repeated: a lost message is not made good by a second one.
        ttl_start: 8,
        ttl_threshold: 7,
        net_diameter: 8,
        rreq_retries: 0,
        // Delays and rates make no difference to what can happen, only to when.
        broadcast_jitter_ms: 0,
        rreq_rate_limit: 0,
        rerr_rate_limit: 0,
        // Everything that expires within the same three seconds expires together.
        check_interval_ms: 3_000,
        active_route_timeout_ms: 3_000,
        my_route_timeout_ms: 6_000,
        delete_period_ms: Some(15_000),
        ..Params::rfc()
    }
}

/// Without replies to destinations that did not ask: the largest part of the messages, looked at in searches of their own.
pub(super) fn lean() -> Params {
    Params { gratuitous_rrep: false, ..params() }
}

/// Numbers that roll over at the second step.
pub(super) const ROLLS_OVER: u32 = u32::MAX - 1;
/// Numbers that do not.
pub(super) const SMALL: u32 = 5;

/// A node that counts from here.
fn engine(p: &Params, first_number: u32) -> Engine {
    let mut e = Engine::new(p.clone());
    e.seq = first_number;
    e
}

/// The sufficient condition for loop freedom: a node's next hop knows the destination by a newer
/// number, or by the same number and is nearer. A next hop that lost its route has a newer number;
/// otherwise it would accept the way back as news.
pub(super) fn next_hop_knows_better(w: &World<Engine>, names: Names) -> Option<String> {
    for (i, host) in w.nodes.iter().enumerate() {
        for e in host.protocol().table.iter().filter(|e| e.is_valid() && e.next_hop != e.destination) {
            let next = w.node_of(e.next_hop)?;
            let theirs = w.nodes[next].protocol().table.get(e.destination);
            let (Some(mine), Some((theirs, number))) = (e.seq, theirs.and_then(|t| Some((t, t.seq?)))) else {
                continue;
            };
            let better = newer(number, mine) || number == mine && theirs.is_valid() && theirs.hops < e.hops;
            if !better {
                let (i, next, to) = (names.node(i), names.node(next), names.of(e.destination));
                return Some(format!("{i} sends to {next} for {to}, which knows no better"));
            }
        }
    }
    None
}

/// An exploration of engines that `make` wraps; everybody may send to the last node.
pub(super) fn exploration<P: Explorable>(
    topology: Topology,
    budget: Budget,
    p: &Params,
    number: u32,
    make: impl Fn(Engine) -> P + Send + Sync + 'static,
) -> Exploration<P> {
    let make = Arc::new(make);
    let (at_start, at_reboot) = (p.clone(), p.clone());
    let first = Arc::clone(&make);
    Exploration::new(
        topology,
        budget,
        vec![no_loop, no_self_entry],
        move || first(engine(&at_start, number)),
        // Section 6.13: the number is lost.
        move || make(Engine::new(Params { wait_after_reboot: true, ..at_reboot.clone() })),
    )
}
