//! The bounds of the search.

use std::sync::Arc;

use wayhop_testkit::explore::{Budget, Exploration, Rule, Topology};

use super::faults::Dsr;
use super::rules::{
    no_cached_path_visits_twice, no_frame_visits_twice, the_salvage_count_bounds_the_way,
    transmissions_are_bounded,
};
use crate::engine::state::Engine;
use crate::params::{Maintenance, Params};

/// The RFC's behaviour with constants that keep the number of different moments small.
pub(super) fn lean() -> Params {
    Params {
        // Discovery goes to everybody at once; the request to the neighbours only has a search of its own.
        ring_zero_search: false,
        // Delays make no difference to what can happen, only to when; replies that wait have a search of their own.
        broadcast_jitter_ms: 0,
        cached_reply_delay_us: 0,
        // Steps of one second.
        request_period_ms: 1_000,
        request_backoff_factor: 1,
        max_request_period_ms: 1_000,
        nonprop_request_timeout_ms: 1_000,
        send_buffer_timeout_s: 3,
        // Never: how long ago a route was used makes no difference then.
        route_cache_timeout_s: 0,
        maintenance: Maintenance::Link,
        ..Params::default()
    }
}

/// The same over a link layer that does not acknowledge: acknowledgements and retransmissions are DSR's own (section 8.3), all after one
/// second.
pub(super) fn by_itself() -> Params {
    Params {
        maintenance: Maintenance::Network,
        maint_holdoff_ms: 0,
        rexmt_timer_from_air: false,
        passive_ack_timeout_ms: 1_000,
        rexmt_timer_initial_ms: 1_000,
        rexmt_timer_min_ms: 1_000,
        rexmt_timer_max_ms: 1_000,
        ..lean()
    }
}

/// An exploration of engines that `make` wraps; everybody may send to the last node.
pub(super) fn exploration<P: Dsr>(
    topology: Topology,
    budget: Budget,
    p: &Params,
    make: impl Fn(Engine) -> P + Send + Sync + 'static,
) -> Exploration<P> {
    let (p, make) = (p.clone(), Arc::new(make));
    let (at_reboot, again) = (p.clone(), Arc::clone(&make));
    let rules: Vec<Rule<P>> = vec![
        no_frame_visits_twice,
        no_cached_path_visits_twice,
        the_salvage_count_bounds_the_way,
        transmissions_are_bounded,
    ];
    let first = move || make(Engine::new(p.clone()));
    Exploration::new(topology, budget, rules, first, move || again(Engine::new(at_reboot.clone())))
}
