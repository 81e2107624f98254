//! What must hold in every state.

use wayhop_testkit::explore::{Names, World};

use crate::engine::state::Engine;
use crate::routing_table::seq::newer;

/// The sufficient condition for loop freedom: a node's next hop knows the destination by a newer
/// number, or by the same number and is nearer. A next hop that lost its route has a newer number;
/// otherwise it would accept the way back as news.
pub(super) fn next_hop_knows_better(w: &World<Engine>, names: Names) -> Option<String> {
    for (i, host) in w.nodes.iter().enumerate() {
        for (to, e) in host.protocol().table.iter().filter(|(to, e)| e.is_valid() && e.next_hop != *to) {
            let next = w.node_of(e.next_hop)?;
            let theirs = w.nodes[next].protocol().table.get(to);
            let better = theirs
                .is_some_and(|t| newer(t.seq, e.seq) || t.seq == e.seq && t.is_valid() && t.hops < e.hops);
            if !better {
                let (i, next, to) = (names.node(i), names.node(next), names.of(to));
                return Some(format!("{i} sends to {next} for {to}, which knows no better"));
            }
        }
    }
    None
}
