//! Parameters that change while the node runs.

use std::sync::Arc;

use wayhop_core::parameters::{FromStart, differences, keep_from_start, whole_set};
use wayhop_core::{Cx, DropReason, Refused, Span};

use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::params::{Metric, Params};

const FROM_START: [FromStart; 4] = [
    (
        &[
            "request_table_size",
            "request_table_ids",
            "request_ids_in_order",
            "cache_primary_routes",
            "cache_secondary_routes",
            "link_cache_nodes",
            "link_cache_links",
            "max_route_hops",
            "grat_table_size",
            "flow_table_size",
        ],
        "the size of a table is fixed when the node starts",
    ),
    (
        &["snoop_overheard", "maintenance", "location_option", "watchdog"],
        "the packets and positions that the protocol needs are fixed when the node starts",
    ),
    (
        &[
            "route_cache",
            "route_cache_timeout_s",
            "metric",
            "bad_links",
            "pathrater",
            "bad_link_timeout_s",
            "bad_link_distance_m",
            "bad_link_unlocated_timeout_s",
            "bad_link_probability",
            "bad_link_signal_dbm",
            "bad_link_path_loss_exponent",
            "grat_holdoff_by_route",
            "flow_state",
            "flow_timeout_s",
        ],
        "the format of what the node has learnt depends on it",
    ),
    (&["rexmt_tick_ms", "flow_recovery_wait_s"], "it counts from the start of the node"),
];

/// What the choice of ETX decides besides, whatever was given.
const FORCED_BY_ETX: [&str; 4] =
    ["route_cache", "ring_zero_search", "learn_from_requests", "learn_reverse_routes"];

impl Engine {
    /// Replaces the parameters, or rejects all of them.
    pub(crate) fn set_parameters(&mut self, cx: &mut Cx<'_>, json: &str) -> Result<(), Refused> {
        let given = whole_set(json, &*self.params, "DSR")?;
        let new = given.clone().clamped();
        let is_forced = |key: &str| given.metric == Metric::Etx && FORCED_BY_ETX.contains(&key);
        if let Some((key, given, nearest)) =
            differences(&given, &new).into_iter().find(|(key, ..)| !is_forced(key))
        {
            return Err(Refused(format!("{key} cannot be {given}; the nearest valid value is {nearest}")));
        }
        keep_from_start(&*self.params, &new, &FROM_START)?;
        self.take_over(cx, new);
        Ok(())
    }

    fn take_over(&mut self, cx: &mut Cx<'_>, new: Params) {
        let ms = |v: u32| Span::from_millis(v.into());
        self.blacklist.keep_for(ms(new.blacklist_probable_ms), ms(new.blacklist_expiry_ms));
        self.rexmt.resize(new.rexmt_buffer_packets.into());
        self.buffer.bound(new.send_buffer_packets.into(), Span::from_secs(new.send_buffer_timeout_s.into()));
        self.params = Arc::new(new);
        while let Some(p) = self.buffer.take_excess() {
            cx.drop(p, DropReason::BufferFull);
        }
        // Packets are waiting: apply the new rules to them, whichever kind of timer these require.
        if let Some(at) = self.buffer.next_expiry() {
            self.checking = self.params.send_buffer_check_max_ms > 0;
            if self.checking {
                cx.clear_timer(Timer::BufferExpiry.key());
                cx.set_timer(Timer::BufferCheck.key(), cx.now());
            } else {
                cx.clear_timer(Timer::BufferCheck.key());
                cx.set_timer(Timer::BufferExpiry.key(), at.max(cx.now()));
            }
        }
    }
}
