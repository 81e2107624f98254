//! The bounds of the search.

use std::sync::Arc;

use wayhop_testkit::explore::{Budget, Explorable, Exploration, Rule, Topology, no_loop, no_self_entry};

use crate::engine::state::Engine;
use crate::params::Params;

/// The default behaviour with constants that keep the number of different moments small. Each node has a moment of its own in the
/// period (a draw that is the same in each search), or all their updates would cross in all orders; what an update sets off
/// follows at the same moment.
pub(super) fn params() -> Params {
    Params {
        start_jitter_ms: 14_000,
        periodic_jitter_ms: 0,
        broadcast_jitter_ms: 0,
        min_triggered_interval_ms: 0,
        settling_ms: 0,
        // Two periods of silence: the search reaches them within its steps of time.
        allowed_missed_updates: 2,
        delete_period_ms: None,
        ..Params::rfc()
    }
}

/// Where changed ways settle.
pub(super) fn settling() -> Params {
    Params { settling_ms: 7_500, ..params() }
}

/// Numbers that roll over at the third update.
pub(super) const ROLLS_OVER: u32 = u32::MAX - 5;

/// A node that counts from here.
fn engine(p: &Params) -> Engine {
    let mut e = Engine::new(p.clone());
    e.seq = ROLLS_OVER;
    e
}

/// An exploration of engines that `make` wraps; everybody may send to the last node.
pub(super) fn exploration<P: Explorable>(
    topology: Topology,
    budget: Budget,
    p: &Params,
    make: impl Fn(Engine) -> P + Send + Sync + 'static,
) -> Exploration<P> {
    let make = Arc::new(make);
    let (at_start, at_reboot) = (p.clone(), p.clone());
    let first = Arc::clone(&make);
    let again = move || {
        let mut e = engine(&at_reboot);
        Arc::make_mut(&mut e.params).wait_after_reboot = true;
        make(e)
    };
    let rules: Vec<Rule<P>> = vec![no_loop, no_self_entry];
    Exploration {
        prompt: true,
        // Updates list their entries by address, so that a renaming changes their octets.
        symmetric: false,
        ..Exploration::new(topology, budget, rules, move || first(engine(&at_start)), again)
    }
}
