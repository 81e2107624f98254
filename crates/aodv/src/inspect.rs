//! The tables for people and tests.

use wayhop_core::{Inspect, Time};

use crate::state::Engine;
use crate::table::{Entry, State};

/// The destination, with the length of its prefix if it is a subnet.
fn name(r: &Entry) -> String {
    if r.prefix == 0 { r.destination.to_string() } else { format!("{}/{}", r.destination, r.prefix) }
}

pub(crate) fn show(e: &Engine, now: Time, out: &mut dyn Inspect) {
    out.row(
        "node",
        &[("seq", &e.seq), ("request_id", &e.request_id), ("requests_remembered", &e.seen.len())],
    );
    for r in e.table.iter() {
        let state = match r.state {
            State::Valid => "valid",
            State::Invalid => "invalid",
            State::Repair => "repair",
        };
        let seq = r.seq.map_or_else(|| "unknown".to_owned(), |s| s.to_string());
        let users: Vec<String> = r.precursors.iter().map(|a| a.to_string()).collect();
        out.row(
            "routes",
            &[
                ("destination", &name(r)),
                ("state", &state),
                ("next_hop", &r.next_hop),
                ("hops", &r.hops),
                ("seq", &seq),
                ("expires_in_ms", &r.expires.since(now).as_millis()),
                ("precursors", &users.join(" ")),
            ],
        );
    }
    for r in e.table.iter().filter(|r| r.search.is_on()) {
        out.row(
            "searches",
            &[
                ("destination", &r.destination),
                ("last_ttl", &r.search.last_ttl),
                ("at_full_ttl", &r.search.at_full_ttl),
                ("next_in_ms", &r.search.wait_until.since(now).as_millis()),
            ],
        );
    }
    for (addr, heard) in e.neighbours.iter() {
        out.row("neighbours", &[("address", &addr), ("heard_ms_ago", &now.since(heard).as_millis())]);
    }
    for (addr, until) in e.neighbours.blacklisted().filter(|&(_, until)| until > now) {
        out.row("blacklist", &[("address", &addr), ("ends_in_ms", &until.since(now).as_millis())]);
    }
    if let Some(o) = e.outside.as_ref().filter(|o| !o.reaches.is_empty()) {
        for reached in &o.reaches {
            out.row("gateway", &[("reaches", reached), ("mesh", &o.mesh)]);
        }
    }
    e.buffer.iter().for_each(|w| out.held("buffer", &w.packet));
}
