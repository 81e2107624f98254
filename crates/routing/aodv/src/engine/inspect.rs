//! The tables for people and tests.

use std::fmt::{self, Display, Formatter};

use wayhop_core::{Inspect, Maybe, Time};

use crate::engine::state::Engine;
use crate::routing_table::{RouteEntry, RouteState};

/// The destination, with the length of its prefix if it is a subnet. Texts are made for who reads them, not for who counts rows.
struct PrefixName<'a>(&'a RouteEntry);

impl Display for PrefixName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.prefix {
            0 => self.0.destination.fmt(f),
            n => write!(f, "{}/{n}", self.0.destination),
        }
    }
}

struct PrecursorList<'a>(&'a RouteEntry);

impl Display for PrecursorList<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, user) in self.0.precursors().iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            user.fmt(f)?;
        }
        Ok(())
    }
}

pub(crate) fn show(e: &Engine, now: Time, out: &mut dyn Inspect) {
    let requests = e.seen.as_ref().map_or(0, |seen| seen.len());
    out.row("node", &[("seq", &e.seq), ("request_id", &e.request_id), ("requests_remembered", &requests)]);
    let are_counted = out.counted("routes", e.table.len());
    let routes = e.table.iter().filter(|_| !are_counted);
    for r in routes {
        let state = match r.state {
            RouteState::Valid => "valid",
            RouteState::Invalid => "invalid",
            RouteState::Repair => "repair",
        };
        out.row(
            "routes",
            &[
                ("destination", &PrefixName(r)),
                ("state", &state),
                ("next_hop", &r.next_hop),
                ("hops", &r.hops),
                ("seq", &Maybe(r.seq)),
                ("expires_in_ms", &r.expires.since(now).as_millis()),
                ("precursors", &PrecursorList(r)),
            ],
        );
    }
    for r in e.table.iter().filter(|r| r.search().is_on()) {
        out.row(
            "searches",
            &[
                ("destination", &r.destination),
                ("last_ttl", &r.last_ttl),
                ("at_full_ttl", &r.search().at_full_ttl),
                ("next_in_ms", &r.search().wait_until.since(now).as_millis()),
            ],
        );
    }
    for n in e.neighbours.hellos.rows() {
        out.row("neighbours", &[("address", &n.addr), ("heard_ms_ago", &now.since(n.heard).as_millis())]);
    }
    for (addr, until) in e.neighbours.blacklist.iter().filter(|(_, until)| *until > now) {
        out.row("blacklist", &[("address", addr), ("ends_in_ms", &until.since(now).as_millis())]);
    }
    if let Some(o) = &e.outside {
        for reached in &o.reaches {
            out.row("gateway", &[("reaches", reached), ("mesh", &o.mesh)]);
        }
    }
    e.buffer.iter().for_each(|w| out.held("buffer", &w.packet));
}
