//! What a node shows of itself.

use wayhop_core::{Inspect, Time};

use crate::discovery::origin::Origin;
use crate::engine::state::Engine;

pub(crate) fn show(node: &Engine, now: Time, out: &mut dyn Inspect) {
    node.cache.inspect(now, out);
    node.requests.inspect(now, out);
    for w in node.buffer.iter() {
        let (waited, own) = (now.since(w.since).as_secs_f64(), w.state == Origin::Own);
        out.row("send_buffer", &[("to", &w.destination), ("waited_s", &waited), ("own", &own)]);
        out.held("send_buffer", &w.packet);
    }
    node.held_replies.inspect(out);
    node.blacklist.inspect(now, out);
    node.flows.inspect(now, out);
    node.links.inspect(now, out);
    node.rexmt.inspect(now, out);
    node.neighbours.inspect(now, out);
    if let Some(o) = node.outside.as_ref().filter(|o| !o.reaches.is_empty()) {
        for reached in &o.reaches {
            out.row("gateway", &[("reaches", reached), ("mesh", &o.mesh)]);
        }
    }
    if let Some(ratings) = &node.ratings {
        ratings.inspect(out);
    }
    for (_, p, _) in &node.unidirectional_requests {
        out.held("unidirectional_requests", p);
    }
}
