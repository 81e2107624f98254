//! The tables for people and tests.

use wayhop_core::{Inspect, Time};

use crate::engine::state::Engine;

pub(crate) fn show(e: &Engine, now: Time, out: &mut dyn Inspect) {
    let next_full = e.next_full.since(now).as_millis();
    out.row("node", &[("seq", &e.seq), ("next_full_update_in_ms", &next_full)]);
    for (destination, r) in e.table.iter() {
        let state = if r.is_valid() { "valid" } else { "lost" };
        let advertised = r.advertise_at <= now;
        out.row(
            "routes",
            &[
                ("destination", &destination),
                ("state", &state),
                ("next_hop", &r.next_hop),
                ("hops", &r.hops),
                ("seq", &r.seq),
                ("advertised", &advertised),
                ("settling_ms", &r.settling.as_millis()),
            ],
        );
    }
    for (addr, r) in e.table.iter() {
        if let Some(at) = r.silent_at {
            out.row("neighbours", &[("address", &addr), ("lost_in_ms", &at.since(now).as_millis())]);
        }
    }
    if let Some(o) = &e.exits.outside {
        for reached in &o.reaches {
            out.row("gateway", &[("reaches", reached), ("mesh", &o.mesh)]);
        }
    }
    e.buffer.iter().for_each(|w| out.held("buffer", &w.packet));
}
